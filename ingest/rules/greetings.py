"""Greetings and thanks that open a sentence, and the statement that may follow one without a comma.

What the statement is worth is not known here.
"""

from __future__ import annotations

import re

_GREETING = re.compile(
    r"(?:(?:me|user|assistant|ai):\s*)?(?:hi|hello|hey|thanks|thank you|good (?:morning|evening|night)"
    r"|you['’]re welcome"
    r"|cheers|bye|hallo|hoi|dank|bedankt|danke|guten|bonjour|salut|merci|bitte|tschüss|groetjes"
    r"|sure|great|awesome|nice)\b"
    r"|你好|谢谢|您好|こんにちは|ありがとう|よろしく|안녕|감사",
    re.IGNORECASE,
)
# Behind a greeting: what opens as a sentence of things, not of those who talk.
_STATED = re.compile(
    r"\s+(?:(?:all|everyone|there(?!\s(?:is|are|was|were)\b))\s+)?"
    r"((?:there\s(?:is|are|was|were)|the|an?|my|our|er\s(?:is|zijn)|de|het|een|mijn|onze?|es\sgibt|der|die|das(?!\s(?:ist|war)\b)|eine?|mein"
    r"|unser|il\sy\sa|les?|la|une?|mon|ma|notre)\s.*)",
    re.IGNORECASE | re.DOTALL,
)


def behind_greeting(text: str) -> str | None:
    """What is stated behind the greeting that a text opens with, "" for nothing; None where it opens with none."""
    greeting = _GREETING.match(text)
    if greeting is None:
        return None
    stated = _STATED.match(text, greeting.end())
    return stated[1] if stated else ""
