"""A user's file of questions, in TOML or JSON lines, into records: every mistake is told, with its place. Pure.

TOML: a table `[[questions]]` each. JSON lines: an object each. The keys are the same.
"""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime

from recalld.errors import InvalidParams
from recalld.jsonrpc import shortened
from recalld.parameters import RecallParams
from retrieval.evaluation.questions import Piece, Place, Question

# A filter of a question is one of recall's, under the same name.
FILTERS = (
    *("kinds", "categories", "roots", "paths", "tags", "scope"),
    *("since", "until", "as_of", "min_relevance"),
)
_KEYS = ("question", "words", "source", "nothing", "id", "category", "today", "filters")
_ABOVE = ("questions", "today")
_HEADING = re.compile(r"^[ \t]*\[\[[ \t]*questions[ \t]*\]\]", re.MULTILINE)
_SOURCE = re.compile(r"(?P<path>.+?)(?::(?P<first>\d+)(?:-(?P<last>\d+))?)?", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Read:
    """The questions of a file, or the mistakes in it: where there is one mistake, no question counts."""

    questions: tuple[Question, ...] = ()
    # A sentence each, beginning with its place.
    mistakes: tuple[str, ...] = ()


@dataclass(slots=True)
class _Entry:
    """One entry being read: where it stands, and what is wrong with it."""

    where: str
    table: Mapping[str, object]
    wrong: list[str] = field(default_factory=list)

    def refuse(self, sentence: str) -> None:
        self.wrong.append(f"{self.where}: {sentence}")


def read_questions(text: str, *, is_toml: bool) -> Read:
    """The questions in a file's text, or every mistake in it."""
    wrong: list[str] = []
    above: Mapping[str, object] = {}
    if is_toml:
        entries, above = _of_toml(text, wrong)
    else:
        entries = _of_lines(text, wrong)
    top = _Entry(where="above the questions", table=above)
    day = _day(top, "today")
    questions = [_question(entry, number, day) for number, entry in enumerate(entries, 1)]
    wrong += [*top.wrong, *(sentence for entry in entries for sentence in entry.wrong)]
    made = [each for each in questions if each is not None]
    if not wrong:
        wrong += _twice(entries, made)
    if not entries and not wrong:
        wrong.append("there is no question in it; begin one with [[questions]], or a JSON object")
    return Read(mistakes=tuple(wrong)) if wrong else Read(questions=tuple(made))


def _of_toml(text: str, wrong: list[str]) -> tuple[list[_Entry], Mapping[str, object]]:
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        wrong.append(f"it is not TOML: {error}")
        return [], {}
    wrong += [
        f"{_unknown(key, _ABOVE)}; a question begins with [[questions]]"
        for key in table
        if key not in _ABOVE
    ]
    given = table.pop("questions", [])
    if not isinstance(given, list) or not all(isinstance(each, dict) for each in given):
        wrong.append("questions must be tables, each under [[questions]]")
        return [], table
    lines = [text.count("\n", 0, match.start()) + 1 for match in _HEADING.finditer(text)]
    # A heading inside a text of several lines would count too; then the number must do.
    places = [f"line {line}" for line in lines] if len(lines) == len(given) else []
    return [
        _Entry(where=places[at] if places else f"question {at + 1}", table=each)
        for at, each in enumerate(given)
    ], table


def _of_lines(text: str, wrong: list[str]) -> list[_Entry]:
    entries = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            value = json.loads(line)
        except ValueError as error:
            wrong.append(f"line {number}: is not JSON: {error}")
            continue
        if isinstance(value, dict):
            entries.append(_Entry(where=f"line {number}", table=value))
        else:
            wrong.append(f'line {number}: must be a JSON object, such as {{"question": …}}')
    return entries


def _question(entry: _Entry, number: int, day: date | None) -> Question | None:
    """The question of an entry; None when something is wrong with it, which the entry then says."""
    for key in entry.table:
        if key not in _KEYS:
            entry.refuse(_unknown(key, _KEYS))
    text = _text(entry, "question")
    if text is None and not entry.table.get("question"):
        entry.refuse("it needs a `question`, as text")
    pieces = _pieces(entry)
    params = _filters(entry, text or "?")
    made = _text(entry, "id") or f"q{number}"
    categories = _texts(entry, "category")
    today = _day(entry, "today") or day
    if entry.wrong or text is None or params is None:
        return None
    return Question(
        id=made,
        text=text,
        pieces=pieces,
        categories=tuple(dict.fromkeys(categories)),
        limits=params.filter,
        min_relevance=params.min_relevance,
        today=today,
    )


def _pieces(entry: _Entry) -> tuple[Piece, ...]:
    """What should come; nothing where nothing should, or where the entry is wrong."""
    words = tuple(_wordings(each) for each in _texts(entry, "words"))
    sources = list(_sources(entry))
    nothing = entry.table.get("nothing", False)
    if not isinstance(nothing, bool):
        entry.refuse("`nothing` must be true or false")
    elif nothing and (words or sources):
        entry.refuse("it wants `nothing` and names an answer; leave one of them out")
    elif not nothing and not {"words", "source"} & entry.table.keys():
        entry.refuse("it needs `words`, a `source`, or `nothing = true` where nothing should come")
    if any(not each for each in words):
        entry.refuse("`words` has one that is only signs; give letters or digits")
    if words:
        return (Piece(words=words, places=tuple(place for each in sources for place in each)),)
    return tuple(Piece(places=each) for each in sources)


def _wordings(text: str) -> tuple[str, ...]:
    parts = (part.strip() for part in text.split("|"))
    return tuple(part for part in parts if any(char.isalnum() for char in part))


def _sources(entry: _Entry) -> Iterator[tuple[Place, ...]]:
    """The places of each piece of the answer; those of one piece stand for one another."""
    given = entry.table.get("source", [])
    if given in ("", [], {}) and "source" in entry.table:
        entry.refuse("`source` must not be empty")
    for each in given if isinstance(given, list) else [given]:
        if isinstance(each, str):
            places = [_place_of_text(entry, part.strip()) for part in each.split("|")]
        elif isinstance(each, Mapping):
            places = [_place_of_table(entry, each)]
        else:
            entry.refuse('`source` must be text such as "servers/list.md:12-14", or a list of such')
            continue
        yield tuple(place for place in places if place is not None)


def _place_of_text(entry: _Entry, text: str) -> Place | None:
    match = _SOURCE.fullmatch(text)
    if match is None:
        entry.refuse('`source` must be text such as "servers/list.md:12-14"')
        return None
    first = int(match["first"]) if match["first"] else None
    return _place(entry, match["path"], first, int(match["last"]) if match["last"] else first)


def _place_of_table(entry: _Entry, table: Mapping[str, object]) -> Place | None:
    for key in table:
        if key not in ("path", "lines"):
            entry.refuse(f"source.{_unknown(key, ('path', 'lines'))}")
    path, lines = table.get("path"), table.get("lines")
    if not isinstance(path, str) or not path.strip():
        entry.refuse("`source` needs a `path`, as text")
        return None
    if lines is None:
        return _place(entry, path, None, None)
    numbers = lines if isinstance(lines, list) else [lines]
    whole = [each for each in numbers if isinstance(each, int) and not isinstance(each, bool)]
    if len(whole) != len(numbers) or len(whole) not in (1, 2):
        entry.refuse("`source.lines` must be a line, or the first and the last: [12, 14]")
        return None
    return _place(entry, path, whole[0], whole[-1])


def _place(entry: _Entry, path: str, first: int | None, last: int | None) -> Place | None:
    if first is not None and last is not None and not 1 <= first <= last:
        entry.refuse(f"the lines {first}-{last} of `source` must count up from 1")
        return None
    return Place(path=path, first=first, last=last)


def _filters(entry: _Entry, text: str) -> RecallParams | None:
    given = entry.table.get("filters", {})
    if not isinstance(given, Mapping):
        entry.refuse('`filters` must be a table, such as { tags = ["work"] }')
        return None
    known = {}
    for key, value in given.items():
        if key in FILTERS:
            known[key] = value.isoformat() if isinstance(value, date) else value
        else:
            entry.refuse(f"filters.{_unknown(key, FILTERS)}")
    try:
        return RecallParams.parse({"query": text, **known})
    except InvalidParams as error:
        hint = f" {error.hint}" if error.hint else ""
        entry.refuse(f"`filters`: {error.message}{hint}".replace("`query`", "`question`"))
        return None


def _text(entry: _Entry, key: str) -> str | None:
    value = entry.table.get(key)
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    if key == "id" and isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    entry.refuse(f"`{key}` must be text that is not empty")
    return None


def _texts(entry: _Entry, key: str) -> list[str]:
    """A text or a list of texts."""
    value = entry.table.get(key, [])
    given = value if isinstance(value, list) else [value]
    texts = [each for each in given if isinstance(each, str) and each.strip()]
    if len(texts) != len(given) or (key in entry.table and not given):
        entry.refuse(f"`{key}` must be text, or a list of texts, none of them empty")
    return texts


def _day(entry: _Entry, key: str) -> date | None:
    value = entry.table.get(key)
    if isinstance(value, datetime):
        return value.date()
    if value is None or isinstance(value, date):
        return value
    try:
        return date.fromisoformat(value) if isinstance(value, str) else _no_day()
    except ValueError:
        entry.refuse(f"`{key}` must be a day such as 2026-03-31, not {shortened(str(value))}")
        return None


def _no_day() -> date:
    raise ValueError


def _twice(entries: Sequence[_Entry], questions: Sequence[Question]) -> list[str]:
    """A mistake for each id that an earlier question has too."""
    at: dict[str, str] = {}
    wrong = []
    for entry, question in zip(entries, questions, strict=True):
        if question.id in at:
            wrong.append(f"{entry.where}: the id {question.id} is that of {at[question.id]} too")
        at.setdefault(question.id, entry.where)
    return wrong


def _unknown(key: object, known: Sequence[str]) -> str:
    name = shortened(str(key))
    near = difflib.get_close_matches(name, known, n=1)
    return f"`{name}` is no key here; " + (
        f"did you mean `{near[0]}`?" if near else f"known are {', '.join(known)}"
    )
