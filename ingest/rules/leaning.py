"""Sentences that mean little without the one before them (`It leaks.`, `Deze ook.`).

Only how a sentence opens is known here.
"""

from __future__ import annotations

import re

# `Het`, `er`, `es` and `il` are pronouns only before some verbs, articles or fillers before the rest.
_LEANING = re.compile(
    r"""
    (?:it|it['’]s|this|that|that['’]s|these|those|they|they['’]re|he|she|both|neither|default|which
      |the\ (?:same|latter|former)|for\ (?:example|instance|this|that)|as\ (?:such|a\ result)
      |in\ (?:this|that|these|those|such)|such|similarly|likewise|moreover|furthermore|additionally
      |meanwhile|whereas|otherwise|however|therefore|instead|then|also|so|but|and|because
      |het\ (?:is|was|wordt|werd|heeft|had|kan|kon|moet|moest|gaat|ging|zal|zou|werkt|werkte|staat|stond
        |komt|kwam|geeft|maakt|duurt|duurde|kost|kostte|betekent|helpt|blijft|lijkt|doet|deed|mag|ligt
        |draait|zorgt|bevat|gebruikt|biedt|toont|laat|vraagt|vereist|lukt|lukte)
      |dit|deze|zij|ze|hij|daarom|daardoor|hierdoor|anders|ook|maar|en
      |es(?!\ gibt|\ gab)|dies|diese[rsmn]?|sie|dadurch|daher|deshalb|sonst|auch|aber|und
      |er(?!\ (?:is|zijn|was|waren|wordt|worden|werd|komt|komen|staat|staan|kan|kunnen|moet|moeten|gaat
        |bestaat|bestaan|mag|zit|zitten|ligt|liggen)\b)
      |il(?!\ (?:y\ a|faut)\b)|elle|ils|elles|cela|ceci|ce|c['’]est|cette|ces|sinon|donc|mais|et
    )(?![\w'’-])
  | [它牠祂他她这這那该此]|因此|然而|不过|例如|比如|所以|但是|而且|否则
  | (?:それ|これ|その|この|そこ|ここ|彼|だから|つまり|例えば|たとえば|ただし|なお|しかし|また)
  | (?:이것|그것|이는|이를|그는|그녀|그들|따라서|그러나|하지만)
    """,
    re.VERBOSE | re.IGNORECASE,
)


def leans(text: str) -> bool:
    """Whether a sentence starts with a word that points back to the one before it."""
    return _LEANING.match(text.lstrip("\"'“‘(*")) is not None
