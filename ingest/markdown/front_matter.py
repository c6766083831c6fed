"""The header of a note: where it ends, and its title, date, tags and aliases.

Whatever the header's quality, this gives what can be read and a `Problem` for the rest. Values are read as the text
they are written as: no YAML type is resolved and no tag is obeyed, so no object is ever built. It knows nothing of
the note's body.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import islice

import yaml

from recalld.records import Problem

SIZE_LIMIT_BYTES = 64 * 1024
ALIAS_LIMIT = 20
DEPTH_LIMIT = 20
_WORDS_LENGTH = 60

_Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
# PyYAML leaks other kinds than its own on odd input.
_YAML_FAILURES = (
    yaml.YAMLError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    RecursionError,
    OverflowError,
)
_KEY_LINE = re.compile(r"[\"']?([^\W\d][\w .-]{0,60}?)[\"']?[ \t]*:(?:[ \t]+(.*))?$")
_ITEM_LINE = re.compile(r"[ \t]*-[ \t]+(.*)$")
_ISO_DAY = re.compile(r"(\d{4})[-/.](\d{1,2})[-/.](\d{1,2})(?!\d)|(\d{4})(\d{2})(\d{2})(?!\d)")
_TEMPLATE = re.compile(r"\{\{.*\}\}|<%.*%>")
_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_SPELLINGS = {"tag": "tags", "alias": "aliases"}


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontMatter:
    """What a note's header says."""

    # How many lines the header takes, its two marks included; 0 when there is none.
    line_count: int = 0
    title: str = ""
    date: date | None = None
    tags: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    # All short texts, and lists of such, by key in small letters.
    properties: tuple[tuple[str, tuple[str, ...]], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Value:
    """A value as written: a scalar or a list of scalars; neither when it is something else or nothing."""

    line: int
    scalar: str | None = None
    items: tuple[str, ...] | None = None
    is_usable: bool = True

    @property
    def words(self) -> tuple[str, ...]:
        """What is written there, one text or several, without what is longer than a few words."""
        texts = (self.scalar or "",) if self.items is None else self.items
        return tuple(text for text in texts if 0 < len(text) <= _WORDS_LENGTH)


def read_front_matter(lines: Sequence[str]) -> FrontMatter:
    """The header that begins on the very first line, or an empty record with `line_count` 0.

    Args:
        lines: The note's lines without their ends. Never raises, whatever they hold.
    """
    if not lines or not _is_mark(lines[0].removeprefix("\ufeff")):
        return FrontMatter(problems=_find_misplaced(lines))
    end = _find_end(lines)
    if end is None:
        return FrontMatter(problems=_find_unclosed(lines))
    header = lines[1:end]
    if _is_text_between_rules(header):
        return FrontMatter()
    values, problems = _read_values(header)
    return _interpret(values, problems, line_count=end + 1)


def _find_end(lines: Sequence[str]) -> int | None:
    for number, line in enumerate(islice(lines, 1, None), 1):
        if line[:3] in ("---", "...") and line.rstrip(" \t") in ("---", "..."):
            return number
    return None


def _is_mark(line: str) -> bool:
    return line.rstrip(" \t") == "---"


def _is_text_between_rules(header: Sequence[str]) -> bool:
    """Whether the note begins with a rule and prose: a blank line, and nothing that names a key."""
    if any(map(_KEY_LINE.match, header)):
        return False
    blank_count = sum(not line.strip() for line in header)
    return 0 < blank_count < len(header)


def _find_unclosed(lines: Sequence[str]) -> tuple[Problem, ...]:
    if len(lines) < 2 or not lines[1].strip():
        return ()
    message = "The header is never closed by a line `---`; it is read as text."
    return (Problem(line=1, kind="front_matter.unclosed", message=message),)


def _find_misplaced(lines: Sequence[str]) -> tuple[Problem, ...]:
    first = next((n for n, line in enumerate(lines) if line.strip()), 0)
    is_header = (
        first > 0
        and _is_mark(lines[first])
        and first + 1 < len(lines)
        and _KEY_LINE.match(lines[first + 1])
    )
    if not is_header:
        return ()
    message = "A header must begin on the first line; this one is read as text."
    return (Problem(line=first + 1, kind="front_matter.misplaced", message=message),)


# ---------------------------------------------------------------- reading


def _read_values(header: Sequence[str]) -> tuple[dict[str, _Value], list[Problem]]:
    text = "\n".join(header)
    if _is_too_large(text):
        message = f"The header is larger than {SIZE_LIMIT_BYTES} bytes; it can't be searched."
        problem = _problem(1, "too_large", message)
        return _read_leniently(text[:SIZE_LIMIT_BYTES].split("\n")), [problem]
    try:
        values, problem_found = _read_events(yaml.parse(text, Loader=_Loader), header)
    except _YAML_FAILURES as error:
        problem_found = _describe(error)
    if problem_found is None:
        return values, []
    return _read_leniently(header), [problem_found]


def _is_too_large(text: str) -> bool:
    return len(text) > SIZE_LIMIT_BYTES or len(text.encode("utf-8", "replace")) > SIZE_LIMIT_BYTES


def _read_events(
    events: Iterable[yaml.Event], header: Sequence[str]
) -> tuple[dict[str, _Value], Problem | None]:
    """The values of the top level, read off the parser's events: nothing is composed, no alias is followed.

    The values are of no use when a problem comes with them.
    """
    values: dict[str, _Value] = {}
    depth = aliases = 0
    key: str | None = None
    items: list[str] = []
    is_key = True
    for event in events:
        at = event.start_mark.line if event.start_mark else 0
        if isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
            if depth == 1 and not is_key and key is not None and values[key].items is not None:
                values[key] = replace(values[key], items=tuple(items))
            is_key = not is_key if depth == 1 else is_key
            continue
        if not isinstance(event, yaml.NodeEvent):
            continue
        opens = isinstance(event, yaml.CollectionStartEvent)
        if depth == 0 and not isinstance(event, yaml.MappingStartEvent):
            message = "The header holds no `key: value` lines."
            return values, _problem(at + 2, "not_a_mapping", message)
        if depth == 1 and is_key:
            key = _key(event.value) if isinstance(event, yaml.ScalarEvent) else None
        elif depth == 1 and key is not None:
            values[key] = _read_node(event, at, header)
            items = []
        elif depth == 2 and isinstance(event, yaml.ScalarEvent) and event.value:
            items.append(str(event.value))
        aliases += isinstance(event, yaml.AliasEvent)
        is_key = not is_key if depth == 1 and not opens else is_key
        depth += opens
        if aliases > ALIAS_LIMIT or depth > DEPTH_LIMIT:
            message = "The header has too many aliases or levels."
            return values, _problem(at + 2, "too_complex", message)
    return values, None


def _read_node(event: yaml.NodeEvent, line_index: int, header: Sequence[str]) -> _Value:
    line = line_index + 2
    if isinstance(event, yaml.SequenceStartEvent):
        return _Value(line=line, items=())
    if not isinstance(event, yaml.ScalarEvent):
        return _Value(line=line, is_usable=False)
    if event.style or event.value not in _NULLS:
        return _Value(line=line, scalar=str(event.value))
    # `tags: #a #b` is a comment to YAML; whoever wrote it meant tags.
    match = _KEY_LINE.match(header[line_index]) if line_index < len(header) else None
    rest = (match[2] or "").strip() if match else ""
    return _Value(line=line, scalar=rest if re.match(r"#[^\s#]", rest) else None)


def _read_leniently(header: Sequence[str]) -> dict[str, _Value]:
    """`key: value` line by line, with `- item` lines below an empty value; everything else is passed over."""
    values: dict[str, _Value] = {}
    items: dict[str, list[str]] = {}
    key = ""
    for number, line in enumerate(header, 2):
        item = _ITEM_LINE.match(line)
        if item and key and values[key].scalar is None:
            items.setdefault(key, []).append(_unquote(item[1]))
        elif match := _KEY_LINE.match(line.lstrip("\t")):
            key = _key(match[1])
            values[key] = _read_scalar(number, (match[2] or "").strip())
    return {
        key: replace(value, items=tuple(items[key])) if key in items else value
        for key, value in values.items()
    }


def _read_scalar(line: int, written: str) -> _Value:
    if _TEMPLATE.fullmatch(written):
        return _Value(line=line, is_usable=False)
    if written.startswith("[") and written.endswith("]"):
        items = (_unquote(item) for item in written[1:-1].split(","))
        return _Value(line=line, items=tuple(item for item in items if item))
    return _Value(line=line, scalar=_unquote(written) or None)


def _unquote(written: str) -> str:
    written = written.strip()
    is_quoted = len(written) > 1 and written[0] == written[-1] and written[0] in "\"'"
    return written[1:-1] if is_quoted else written


def _key(written: str) -> str:
    key = written.strip().lower()
    return _SPELLINGS.get(key, key)


# ---------------------------------------------------------------- interpreting


def _interpret(
    values: Mapping[str, _Value], problems: list[Problem], *, line_count: int
) -> FrontMatter:
    problems = [*problems, *_find_bad_values(values)]
    title = values.get("title")
    day = values.get("date")
    return FrontMatter(
        line_count=line_count,
        title=" ".join((title.scalar or "").split()) if title else "",
        date=_read_day(day.scalar or "") if day else None,
        tags=_read_tags(values.get("tags")),
        aliases=_read_aliases(values.get("aliases")),
        problems=tuple(problems),
        properties=tuple((key, texts) for key, value in values.items() if (texts := value.words)),
    )


def _find_bad_values(values: Mapping[str, _Value]) -> list[Problem]:
    found = []
    for key, value in values.items():
        written = value.scalar or ""
        looks_like_day = key == "date" or re.fullmatch(r"\d{4}-\d{1,2}-\d{1,2}", written.strip())
        if written and looks_like_day and _read_day(written) is None:
            found.append(_problem(value.line, "date", f"`{key}` is not a date that can be read."))
        elif not value.is_usable and key in ("title", "date", "tags", "aliases"):
            found.append(_problem(value.line, "value", f"`{key}` cannot be read."))
    return found


def _read_day(written: str) -> date | None:
    match = _ISO_DAY.match(written.strip())
    if match is None:
        return None
    year, month, day = (int(group) for group in match.groups() if group is not None)
    try:
        return date(year, month, day)
    except ValueError:
        return None


def _read_tags(value: _Value | None) -> tuple[str, ...]:
    if value is None:
        return ()
    written = (
        value.items if value.items is not None else re.split(r"[,\s，、]+", value.scalar or "")
    )
    return _distinct(tag.strip().lstrip("#").strip("/ ") for tag in written)


def _read_aliases(value: _Value | None) -> tuple[str, ...]:
    if value is None:
        return ()
    written = value.items if value.items is not None else (value.scalar or "").split(",")
    return _distinct(" ".join(alias.split()) for alias in written)


def _distinct(words: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(word for word in words if word))


def _problem(line: int, kind: str, message: str) -> Problem:
    return Problem(line=line, kind=f"front_matter.{kind}", message=message)


def _describe(error: BaseException) -> Problem:
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    what = getattr(error, "problem", None) or "it cannot be read as YAML"
    line = mark.line + 2 if mark is not None else 1
    return _problem(line, "invalid", f"The header is not valid YAML: {what}.")
