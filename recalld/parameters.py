"""The methods' parameters as they come off the wire.

The one module that knows their names, defaults and limits. It knows nothing of sockets, framing (`recalld.jsonrpc`) or
of how a method is carried out.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Annotated, ClassVar, Literal, Self, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from recalld.errors import InvalidParams
from recalld.jsonrpc import shortened
from recalld.records import Around, Category, Kind, RecallFilter

MAX_QUERY_CHARACTERS = 10_000


_T = TypeVar("_T")


# SQLite binds each item; a longer list is a mistake, not a question.
_MAX_ITEMS = 100


_MAX_ITEM_CHARACTERS = 1000


# SQLite takes no integer of more than 64 bits, and no list is that long.
_MOST_OFFSET = 1_000_000_000


def _iso_date(value: object) -> object:
    if value is None:
        return None
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value, re.ASCII):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise ValueError("is not a day of the calendar") from None
    raise ValueError("is not an ISO date such as 2026-03-31")


def _category(value: object) -> object:
    return _member(value, tuple(Category))


def _kind(value: object) -> object:
    return _member(value, ("fact", "passage"))


def _verdict(value: object) -> object:
    return _member(value, ("supersedes", "both"))


def _member(value: object, known: tuple[str, ...]) -> str:
    """The one of `known` that `value` equals; ValueError with the nearest, or all of them."""
    for member in known:
        if value == member:
            return member
    near = difflib.get_close_matches(value, known, n=1) if isinstance(value, str) else []
    meant = f"did you mean {near[0]}?" if near else f"known are {', '.join(known)}"
    raise ValueError(f"has the unknown value {shortened(str(value))} ({meant})")


_Text = Annotated[str, Field(max_length=_MAX_ITEM_CHARACTERS)]


_Texts = Annotated[list[_Text], Field(max_length=_MAX_ITEMS)]


_Date = Annotated[date | None, BeforeValidator(_iso_date)]


class Params(BaseModel):
    """The parameters of one method; made by `parse`, frozen after."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)
    method: ClassVar[str]

    @classmethod
    def parse(cls, params: Mapping[str, object]) -> Self:
        """The checked parameters; null counts as not given.

        Raises InvalidParams with every mistake in one sentence, and the nearest known key as hint.
        """
        given = {key: value for key, value in params.items() if value is not None}
        try:
            return cls.model_validate(given)
        except ValidationError as error:
            raise _invalid(
                cls, error.errors(include_url=False, include_context=False, include_input=False)
            ) from None


class PingParams(Params):
    """`ping` takes none."""

    method = "ping"


class StatusParams(Params):
    """`status` takes none."""

    method = "status"


class RecallParams(Params):
    """What `recall` takes, and `explain` where it is given no recall id."""

    method = "recall"

    query: Annotated[str, Field(max_length=MAX_QUERY_CHARACTERS)]
    limit: Annotated[int, Field(ge=1, le=50)] = 8
    kinds: Annotated[
        list[Annotated[Kind, BeforeValidator(_kind)]], Field(max_length=_MAX_ITEMS)
    ] = [
        "fact",
        "passage",
    ]
    categories: Annotated[
        list[Annotated[Category, BeforeValidator(_category)]], Field(max_length=_MAX_ITEMS)
    ] = []
    roots: _Texts = []
    paths: _Texts = []
    tags: _Texts = []
    scope: _Texts = []
    since: _Date = None
    until: _Date = None
    as_of: _Date = None
    # 0 never rejects; None leaves the calibrated threshold in force.
    min_relevance: Annotated[float | None, Field(ge=0, le=1)] = None
    max_chars: Annotated[int, Field(ge=1)] = 4000
    explain: bool = False
    # Whether each hit brings the passage that it was taken from.
    passages: bool = False
    # Lines of the note about each hit; with 0 none come.
    lines_around: Annotated[int, Field(ge=0)] = 0

    @classmethod
    def parse(cls, params: Mapping[str, object]) -> Self:
        """As every `parse`; `since` after `until` is refused too."""
        found = super().parse(params)
        if found.since and found.until and found.since > found.until:
            raise InvalidParams(
                f"`since` ({found.since}) is after `until` ({found.until}).", hint="Swap the two."
            )
        return found

    @property
    def around(self) -> Around:
        """What comes about each hit."""
        return Around(passages=self.passages, lines=self.lines_around)

    @property
    def filter(self) -> RecallFilter:
        """What hits are limited to; an empty `kinds` means both."""
        return RecallFilter(
            kinds=_distinct(self.kinds) or ("fact", "passage"),
            categories=_distinct(self.categories),
            roots=_distinct(self.roots),
            paths=_distinct(self.paths),
            tags=_distinct(self.tags),
            scopes=_distinct(self.scope),
            since=self.since,
            until=self.until,
            as_of=self.as_of,
        )


class AnswerParams(RecallParams):
    """What `answer` takes: all that `recall` takes."""

    method = "answer"


class ExplainParams(Params):
    """What `explain` takes with the id of an earlier recall."""

    method = "explain"

    recall_id: _Text


class GetParams(Params):
    """What `get` takes."""

    method = "get"

    anchor: Annotated[str, Field(min_length=1, max_length=_MAX_ITEM_CHARACTERS)]
    lines_around: Annotated[int, Field(ge=0)] = 0


class RelatedParams(Params):
    """What `related` takes: an anchor or the name of an entity."""

    method = "related"

    anchor: Annotated[str | None, Field(min_length=1, max_length=_MAX_ITEM_CHARACTERS)] = None
    entity: Annotated[str | None, Field(min_length=1, max_length=_MAX_ITEM_CHARACTERS)] = None
    hops: Annotated[int, Field(ge=1, le=3)] = 1
    limit: Annotated[int, Field(ge=1, le=200)] = 20

    @classmethod
    def parse(cls, params: Mapping[str, object]) -> Self:
        """As every `parse`; one of `anchor` and `entity` is needed, and not both."""
        found = super().parse(params)
        if (found.anchor is None) == (found.entity is None):
            raise InvalidParams(
                "`related` needs `anchor` or `entity`, and not both.",
                hint="An anchor looks like fact:a3f1c0d2; an entity is a name.",
            )
        return found


class ConflictsParams(Params):
    """What `conflicts` takes."""

    method = "conflicts"

    limit: Annotated[int, Field(ge=1, le=200)] = 20
    offset: Annotated[int, Field(ge=0, le=_MOST_OFFSET)] = 0


class ResolveParams(Params):
    """What `resolve` takes: a fact, the one it is set against, and what holds."""

    method = "resolve"

    anchor: Annotated[str, Field(min_length=1, max_length=_MAX_ITEM_CHARACTERS)]
    over: Annotated[str, Field(min_length=1, max_length=_MAX_ITEM_CHARACTERS)]
    verdict: Annotated[Literal["supersedes", "both"], BeforeValidator(_verdict)] = "supersedes"


class RebuildGraphParams(Params):
    """`rebuild_graph` takes none."""

    method = "rebuild_graph"


class ReembedParams(Params):
    """`reembed` takes none."""

    method = "reembed"


class ReextractParams(Params):
    """What `reextract` takes."""

    method = "reextract"

    # Only what was given up; else also what another model or prompt read.
    parked: bool = False


class SyncParams(Params):
    """What `sync` takes."""

    method = "sync"

    # Empty = everything.
    paths: _Texts = []
    # Hash every note instead of trusting size and time.
    full: bool = False
    # Until the index equals the notes: words, vectors, and what rules say of facts.
    wait: bool = False
    # Longer, until the language model has nothing left to do, or is not there to do it.
    refined: bool = False
    # Names of roots whose held mass deletion is to be carried out.
    confirm_deletions: _Texts = []


def parse_explain(params: Mapping[str, object]) -> ExplainParams | RecallParams:
    """`explain` in either of its forms: a recall id alone, or the parameters of a recall."""
    if params.get("recall_id") is not None:
        return ExplainParams.parse(params)
    if params.get("query") is None:
        raise InvalidParams("`explain` needs `recall_id` or `query`.")
    return RecallParams.parse({key: value for key, value in params.items() if key != "recall_id"})


def _distinct(values: Iterable[_T]) -> tuple[_T, ...]:
    return tuple(dict.fromkeys(values))


def _invalid(model: type[Params], mistakes: list[ErrorDetails]) -> InvalidParams:
    shown = [_sentence_part(model, mistake) for mistake in mistakes[:3]]
    more = f"; and {len(mistakes) - 3} more" if len(mistakes) > 3 else ""
    return InvalidParams("; ".join(shown) + more + ".", hint=_hint(model, mistakes))


def _sentence_part(model: type[Params], mistake: ErrorDetails) -> str:
    name = ".".join(shortened(str(part)) for part in mistake["loc"])
    if mistake["type"] == "extra_forbidden":
        return f"`{name}` is no parameter of `{model.method}`"
    if mistake["type"] == "missing":
        return f"`{name}` is required"
    message = mistake["msg"].removeprefix("Value error, ")
    return f"`{name}` {re.sub('^(Input|String|List) ', '', message)}"


def _hint(model: type[Params], mistakes: list[ErrorDetails]) -> str | None:
    known = sorted(model.model_fields)
    for mistake in mistakes:
        if mistake["type"] == "extra_forbidden":
            near = difflib.get_close_matches(str(mistake["loc"][0]), known, n=1)
            if near:
                return f"Did you mean `{near[0]}`?"
            return f"Known are {', '.join(known)}." if known else "It takes no parameters."
    return None
