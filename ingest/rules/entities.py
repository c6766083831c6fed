"""What a sentence names: wikilinks, code, tags, and names.

A capital says little where a sentence begins, and nothing in German, so a capitalised word is a name only
if it is written so in mid-sentence elsewhere, or is known from other notes. Categories and dates are not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from recalld.records import Entity

_LIMIT = 12
_LONGEST = 60
_TITLE_WORDS = 3
_CODE = re.compile(r"(?<!`)(`++)(.{1,500}?)(?<!`)\1(?!`)")
_WIKILINK = re.compile(r"\[\[([^\[\]\n|#^]+)[^\[\]\n]*\]\]")
_LABELLED = re.compile(r"\[\[([^\[\]\n|#^]+)[^\[\]\n|]*\|([^\[\]\n|]+)\]\]")
_TAG = re.compile(r"(?<![\w/&#])#([^\W\d][\w/-]*)")
_QUOTED = re.compile(r"「([^「」\n]{1,20})」|『([^『』\n]{1,20})』|《([^《》\n]{1,20})》")
_URL = re.compile(r"\b[a-z]+://\S+|\bwww\.\S+")

_WORD = r"[A-ZÀ-ÖØ-ÞĀ-Ž][\w&+-]*(?:\.(?=\w)[\w-]+)*"
# `University of Ghent`, `Leonardo da Vinci`, `Jan van Eyck`; the particle needs a capital on both sides.
_NAME = re.compile(
    rf"(?<![\w.`@/#-])(?<!\d\ ){_WORD}"
    rf"(?:\ (?:(?:of|de|van|der|den|von|zu|la|le|du|da|di|del|the|van\ de[rn]?)\ )?{_WORD}"
    r"|\ \d{1,2}(?![\w.:]))*"
)
_INSIDE = re.compile(r"[\w\u00c0-\u024f,;)%。、的は]\ ?$")
_SHAPED = re.compile(r"[a-z]+[A-Z]|[A-Z][a-z]+[A-Z]|[A-Z]{2,}[a-z]{2,}")
_GERMAN = re.compile(r"\b(?:der|die|das|und|ist|nicht|ein|eine|mit|auf|für|wird|sind|ich|wir)\b")
_NO_NAMES = frozenset(
    """
    i i'm i'll i've i'd monday tuesday wednesday thursday friday saturday sunday january february march april may
    june july august september october november december ok tv pm am note todo fixme tip warning important example
    me assistant user you the a an this that these those it he she they we if when while where what who why how
    and or but so as at by for from in of on to with no not yes
    """.split()  # noqa: SIM905 - a word list is read more easily as text
)


def find_entities(text: str, source: str, names: frozenset[str]) -> tuple[Entity, ...]:
    """What a sentence names, in order of kind, then of place; at most twelve, none twice.

    Args:
        text: The sentence without markup but with code in backticks.
        source: The same as written, where wikilinks still show.
        names: Names that may be trusted anywhere (`collect_names`, and those of other notes).
    """
    found: dict[str, Entity] = {}
    outside_code = _URL.sub(" ", _CODE.sub(lambda m: "`" * len(m.group()), text))
    for kind, told in (
        ("wikilink", (m[1].strip() for m in _WIKILINK.finditer(_CODE.sub("", source)))),
        ("code", (m[2].strip() for m in _CODE.finditer(text))),
        ("tag", (m[1] for m in _TAG.finditer(outside_code))),
        ("name", _iter_names(outside_code, names)),
    ):
        for name in told:
            key = name.casefold()
            if name and len(name) <= _LONGEST and key not in found and re.search(r"\w", name):
                found[key] = Entity(name=name, kind=kind)  # type: ignore[arg-type]  # one of its words
    return tuple(found.values())[:_LIMIT]


def link_labels(source: str) -> dict[str, str]:
    """What a sentence, as written, shows for the target of a wikilink: `Sietske` of `[[sietske-bouma|Sietske]]`."""
    return {
        m[1].strip(): m[2].strip()
        for m in _LABELLED.finditer(_CODE.sub("", source.replace("\\|", "|")))
    }


def title_names(title: str) -> frozenset[str]:
    """The names that a note's title shows: all of it, where it is short and begins with a capital."""
    name = " ".join(title.split())
    is_short = 0 < len(name.split(" ")) <= _TITLE_WORDS
    return frozenset({name} if is_short and _NAME.fullmatch(name) and _is_name(name) else ())


def collect_names(texts: Iterable[str]) -> frozenset[str]:
    """Names that a note's sentences show to be names: capitalised in mid-sentence.

    In German, whose nouns are all capitalised, and in titles, only an unusual shape (`GitHub`, `VLAN`) counts.
    """
    names: set[str] = set()
    for text in texts:
        plain = _URL.sub(" ", _CODE.sub(lambda m: "`" * len(m.group()), text))
        capitals_tell = not _GERMAN.search(plain) and not is_title(plain)
        for m in _NAME.finditer(plain):
            if _is_shaped(m.group()) or (capitals_tell and _INSIDE.search(plain, 0, m.start())):
                names.update(name for name in (m.group(),) if _is_name(name))
    return frozenset(names)


def _iter_names(text: str, names: frozenset[str]) -> Iterator[str]:
    for m in _NAME.finditer(text):
        name = m.group()
        if name in names or _is_shaped(name):
            if _is_name(name):
                yield name
            continue
        # `Yesterday Postgres` at the start of a sentence: the name is what remains of it.
        words = name.split(" ")
        tails = (" ".join(words[n:]) for n in range(1, len(words)))
        heads = (" ".join(words[:n]) for n in range(len(words) - 1, 0, -1))
        known = next((part for part in (*tails, *heads) if part in names), None)
        if known is not None:
            yield known
    for m in _QUOTED.finditer(text):
        yield next(filter(None, m.groups()))


def _is_name(name: str) -> bool:
    return len(name) > 1 and name.lower() not in _NO_NAMES


def _is_shaped(name: str) -> bool:
    """Whether its shape alone makes it a name: `GitHub`, `PostgreSQL`."""
    return " " not in name and _SHAPED.search(name) is not None


def is_title(text: str) -> bool:
    """Whether most of its longer words are capitalised, as titles in English are."""
    words = re.findall(r"[^\W\d_]{2,}", text)
    return len(words) >= 4 and sum(word[0].isupper() for word in words) * 10 >= len(words) * 7
