"""What a statement is about, as far as its own words name it.

`The deadline`, `the book`, `it` and whatever an order does are definite only inside their note: two notes that say
`The deadline is …` speak of two deadlines. `Apollo`, `db-2` and `the production database` are the same wherever they
are said. Where the form does not tell, a subject counts as one that names nothing. It must not know of notes or facts.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from importlib import resources

from retrieval.grounding.wording import Wording, listed, negation, predicates, updates
from retrieval.text.scripts import fold
from retrieval.text.words import language_of

# A statement below a list's item begins with the item.
BELOW = " › "
# l'équipe, n'utilise
_ELIDED = re.compile(r"(?<!\w)([lndLND])['’](?=\w)")
_WORD = re.compile(r"`[^`\s]+`|[^\W_](?:[\w'’./:@#+-]*\w)?[+#]*")
_DIGITS_IN = re.compile(r"[^\W\d_].*\d|\d.*[^\W\d_]|[^\W_][_./:@][^\W_]")
_HUMPED = re.compile(r"[a-z][A-Z]|[A-Z][a-z]+[A-Z]")
_NAME = re.compile(r"[A-ZÀ-ÖØ-ÞΑ-ΩА-Я][\w'’-]*[a-zß-öø-ÿα-ωа-я]")
_WITHOUT_SPACES = re.compile("[ぁ-ヺ\u4e00-\u9fff]")
_KANA = re.compile("[ぁ-ゖ]")
_TOPIC = re.compile("は|が|も")
_RUN_OF_KIND = re.compile("[ァ-ヺー]{3,}|[\u4e00-\u9fff]{2,}|[A-Za-z]{2,}")
_GENITIVE = re.compile("的|の")
# What was done; ge- and its endings make most participles of Dutch and German.
# Between its words a subject has no such mark.
_BROKEN = re.compile(r"[,;:!?()](?=\s)|\s[-–—]\s|[.](?=\s)")
_PARTICIPLE = re.compile(r"\w{0,6}ge[^\W\d_]{2,}(?:d|t|en)")
_ONCE_IN_RUNS = re.compile(
    r"[今昨]天|[今昨]日|[了过過](?=\s?[\d一二两三四五六七八九十])|た[。\s]*$"
)
# Letters; a longer noun of Dutch or German is made of several.
_LONG_NOUN = 14
# Characters; a longer subject in Chinese says which of its kind.
_LONG_RUN = 5
_MOST_IN_NAME = 3


@dataclass(frozen=True, slots=True)
class Subject:
    """Who or what a statement is about, in words that are equal only for the same."""

    words: tuple[str, ...]
    # Whether the words say which one it is, wherever they stand.
    is_naming: bool
    # Whether they do so by a name, not by what it is for: `Apollo`, not `the production database`.
    is_name: bool
    # Whether it is followed by a form of being, as `the serial number is`: what every thing has one of.
    is_attribute: bool = False


@lru_cache(maxsize=1 << 12)
def subject_of(text: str, names: tuple[str, ...] = ()) -> Subject | None:
    """The subject of a statement; None where it has none, as an order, or none that can be told from the rest.

    `names` are the names in the text, as written.
    """
    text = updates()["now"].without(unicodedata.normalize("NFKC", text))
    text = _ELIDED.sub(r"\1' ", " ".join(text.split()))
    if BELOW in text:
        return None
    found = _in_runs(text) if _WITHOUT_SPACES.search(text) is not None else None
    return found or _in_words(text, names)


def is_verb(word: str) -> bool:
    """Whether it is one of the verbs that follow a subject in most sentences, such as forms of being and having."""
    return fold(word) in _lists()["verbs"]


@lru_cache(maxsize=1 << 10)
def is_object_telling(text: str) -> bool:
    """Whether what comes after the verb says which thing it is: `leads the platform team`."""
    found = list(_WORD.finditer(text))
    end = _verb(text, found, {m.start(): at for at, m in enumerate(found)}, 1)
    rest = [m[0] for m in found[end + 1 :]] if end is not None else []
    return any(_DIGITS_IN.search(word) for word in rest) or _tells_which(rest, is_first=False)


@lru_cache(maxsize=1 << 10)
def is_told_of_once(text: str) -> bool:
    """Whether it tells what somebody did or what was, not how something is, as far as its form tells."""
    if _ONCE_IN_RUNS.search(text):
        return True
    words = [fold(m[0]) for m in _WORD.finditer(text)]
    lists = _lists()
    if not words or not lists["past"].isdisjoint(words):
        return True
    if (
        words[0].endswith("ed")
        or _PARTICIPLE.fullmatch(words[0])
        or _PARTICIPLE.fullmatch(words[-1])
    ):
        return True
    is_somebody = words[0] in lists["writers"] | (lists["stand_ins"] - lists["determiners"])
    return is_somebody and (len(words) == 1 or words[1] not in lists["verbs"])


def _in_words(text: str, names: tuple[str, ...]) -> Subject | None:
    found = list(_WORD.finditer(text))
    words = [m[0] for m in found]
    starts = {m.start(): at for at, m in enumerate(found)}
    lists = _lists()
    first = 1 if words and fold(words[0]) in lists["determiners"] else 0
    end = _verb(text, found, starts, first + 1)
    if end is None or _BROKEN.search(text[: found[end].start()]):
        return None
    inner = words[first:end]
    plain = tuple(fold(word.strip("`")) for word in inner)
    if not first and len(plain) == 1 and plain[0] in lists["stand_ins"]:
        return Subject(plain, is_naming=False, is_name=False)
    if not first and plain[0] in lists["writers"] and len(plain) == 1:
        return Subject(plain, is_naming=True, is_name=True)
    telling = inner[_last_belonging(plain) :]
    # Every noun of German has a capital.
    is_german = fold(words[0]) in lists["german"] or language_of(text) == "de"
    is_name = _has_name(
        inner, names, verb=fold(words[end]), is_first=not first, is_german=is_german
    )
    is_telling = is_name or _tells_which(telling, is_first=not first)
    return Subject(plain, is_telling, is_name, fold(words[end]) in listed("copulas"))


def _verb(
    text: str, found: Sequence[re.Match[str]], starts: dict[int, int], least: int
) -> int | None:
    """The place of the first word that begins what is said of the subject."""
    verbs = _lists()["verbs"]
    places = [at for at, m in enumerate(found) if at >= least and fold(m[0]) in verbs]
    for wording in _predicates():
        if wording.phrases is not None:
            places += [starts.get(m.start(), 0) for m in wording.phrases.finditer(text)]
        places += [at for at, m in enumerate(found) if m[0].lower() in wording.words]
    return min((at for at in places if at >= least), default=None)


def _last_belonging(plain: Sequence[str]) -> int:
    """Where the innermost of `the owner of the car of Ana` begins."""
    belonging = _lists()["belonging"]
    return max((at + 1 for at, word in enumerate(plain[:-1]) if word in belonging), default=0)


def _has_name(
    inner: Sequence[str], names: Iterable[str], *, verb: str, is_first: bool, is_german: bool
) -> bool:
    lists = _lists()
    known = {word for name in names if _NAME.match(name) for word in name.split()}
    for at, word in enumerate(inner):
        bare = word.strip("`")
        if _DIGITS_IN.search(bare) or (_HUMPED.search(bare) and len(bare) > 2):
            return True
        if not _NAME.fullmatch(bare) or fold(bare) in lists["stand_ins"]:
            continue
        if bare in known or (not is_german and (at or not is_first)):
            return True
    if not is_first or not _NAME.fullmatch(inner[0]):
        return False
    # `Ana lives`, but not `Lunch is` or `Backups are`.
    return len(inner) == 1 and verb not in lists["common_verbs"] and _is_act(verb)


def _is_act(verb: str) -> bool:
    """Whether it is none of the verbs that every thing has, such as forms of being and having."""
    return verb not in _lists()["verbs"] or verb in ("runs", "drives", "draait", "läuft")


def _tells_which(inner: Sequence[str], *, is_first: bool) -> bool:
    """Whether a noun has something before it that says which one: `production database`, `Produktionsdatenbank`."""
    lists = _lists()
    plain = [fold(word) for word in inner]
    if plain and plain[0] in lists["determiners"]:
        plain, is_first = plain[1:], False
    end = next((at for at, word in enumerate(plain) if word in lists["placing"]), len(plain))
    telling = [word for word in plain[:end] if word not in lists["relational"] and len(word) > 1]
    if is_first or not telling:
        return False
    return len(telling) > 1 or len(telling[0]) >= _LONG_NOUN


def _in_runs(text: str) -> Subject | None:
    """The subject in a script without spaces: up to the topic's mark, else up to the first verb."""
    if _KANA.search(text):
        marked = _TOPIC.search(text, 1)
        end = marked.start() if marked is not None else None
    else:
        starts = [m.start() for p in _inside() for m in p.finditer(text) if m.start()]
        end = min(starts, default=None)
    if end is None:
        return None
    said = "".join(char for char in text[:end] if char not in "`\"'“”「」『』 ")
    if not said:
        return None
    if (writer := re.match(_raw()["writers_inside"], said)) is not None:
        is_writer = writer.end() == len(said)
        return Subject((said,), is_naming=is_writer, is_name=is_writer)
    owner = _GENITIVE.split(said)[0]
    is_name = _is_name_in_runs(owner)
    is_attribute = text[end : end + 1] in listed("copulas") and _TOPIC.match(text[end]) is None
    return Subject((said,), is_name or _tells_which_in_runs(owner), is_name, is_attribute)


def _is_name_in_runs(said: str) -> bool:
    raw = _raw()
    if re.search(r"[A-Za-z]", said):
        words = re.findall(r"[A-Za-z][\w./:@-]+", said)
        return any(_DIGITS_IN.search(word) or _NAME.match(word) for word in words)
    if re.search(f"(?<=.)(?:{raw['honoured']})$", said):
        return True
    in_han = len(said) <= _MOST_IN_NAME and not _KANA.search(said)
    return in_han and len(said) > 1 and said[0] in raw["surnames"] + raw["familiar"]


def _tells_which_in_runs(said: str) -> bool:
    parts = _RUN_OF_KIND.findall(said)
    return len(parts) > 1 or (
        len(said) >= _LONG_RUN and all("\u4e00" <= c <= "\u9fff" for c in said)
    )


@cache
def _predicates() -> tuple[Wording, ...]:
    return (*predicates().values(), *updates().values(), negation())


@cache
def _inside() -> tuple[re.Pattern[str], ...]:
    patterns = (wording.inside for wording in _predicates())
    return (re.compile(_raw()["verbs_inside"]), *(p for p in patterns if p is not None))


@cache
def _lists() -> dict[str, frozenset[str]]:
    return {name: frozenset(map(fold, words.split())) for name, words in _raw().items()}


@cache
def _raw() -> dict[str, str]:
    text = resources.files(__package__).joinpath("subjects.toml").read_text(encoding="utf-8")
    return tomllib.loads(text)


def frequencies() -> frozenset[str]:
    """The words that say how often."""
    return _lists()["often"]
