"""The records that travel between the rooms: frozen, typed, with no behaviour beyond their own fields.

Lines are 1-based and inclusive, as editors and agents count them. Dates are `datetime.date`, without a zone:
a note says a day, not an instant. Nothing here knows of SQL, files or sockets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from typing import Final, Literal, NewType, Self

RootId = NewType("RootId", int)
NoteId = NewType("NoteId", int)
BlockId = NewType("BlockId", int)
PassageId = NewType("PassageId", int)
StatementId = NewType("StatementId", int)
FactId = NewType("FactId", int)
EntityId = NewType("EntityId", int)

# Of what no note says that it matters more or less than others.
NEUTRAL_IMPORTANCE = 0.5


class Category(StrEnum):
    """What kind of knowledge a fact is; it decides the half-life."""

    KNOWLEDGE = "knowledge"
    ERROR = "error"
    TIMELINE = "timeline"
    PREFERENCE = "preference"
    TOOL = "tool"


class BlockKind(StrEnum):
    """The Markdown unit that a block is."""

    FRONT_MATTER = "front_matter"
    HEADING = "heading"
    PARAGRAPH = "paragraph"
    LIST_ITEM = "list_item"
    TABLE = "table"
    FENCE = "fence"
    QUOTE = "quote"
    CALLOUT = "callout"
    FOOTNOTE = "footnote"
    HTML = "html"
    COMMENT = "comment"
    MATH = "math"
    RULE = "rule"
    DEFINITION = "definition"
    BLANK = "blank"


# Of what belongs to nobody in particular.
GLOBAL_SCOPE: Final = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class Lines:
    """A span of lines, 1-based and inclusive; `last >= first`."""

    first: int
    last: int


@dataclass(frozen=True, slots=True, kw_only=True)
class DateInterval:
    """Days from `first` to `last`, both included; one day when they are equal."""

    first: date
    last: date

    @classmethod
    def from_iso(cls, first: str | None, last: str | None) -> Self | None:
        """The days from one ISO day to another; None where either is not known."""
        if not first or not last:
            return None
        return cls(first=date.fromisoformat(first), last=date.fromisoformat(last))


@dataclass(frozen=True, slots=True, kw_only=True)
class FileStat:
    """What tells one state of a file from another without reading it. Sizes in bytes."""

    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int
    device: int


# ---------------------------------------------------------------- a note, parsed


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One Markdown unit. The `raw` texts of a note's blocks, joined, are the note."""

    kind: BlockKind
    lines: Lines
    # Exactly the note's own lines, with their line ends.
    raw: str
    # What may be stored and searched: `raw` without private parts (comments, `%%…%%`), without base64
    # payloads, with secrets masked, and with as many lines as `raw` has, so that spans stay true.
    text: str
    # Headings above the block, outermost first, without the block's own text when it is a heading.
    heading_path: tuple[str, ...] = ()
    # The language word of a fence, the type of a callout; empty otherwise.
    info: str = ""
    # Heading level 1-6; 0 for every other kind.
    level: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class NoteLink:
    """A link from a note to another, as written; never a web address, never from code."""

    kind: Literal["wikilink", "markdown", "embed"]
    # Path or name as written, decoded (`B%20C.md` -> `B C.md`), without fragment or alias. Empty = the note itself.
    target: str
    # Heading text or `^block-id` after `#`; empty when there is none.
    fragment: str
    # Alias or link text; empty when there is none.
    label: str
    line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """Something about a note that its owner should know; the note is indexed all the same."""

    line: int
    # A stable word, such as `front_matter.unclosed`, `fence.unclosed`, `encoding.replaced`.
    kind: str
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedNote:
    """A note as blocks, with what its head says."""

    # Front-matter title, else the first level-1 heading, else "" (the caller falls back to the file name).
    title: str
    # Front-matter date (with its time dropped); None when absent or unreadable.
    date: date | None
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    blocks: tuple[Block, ...]
    links: tuple[NoteLink, ...]
    problems: tuple[Problem, ...]
    # Those of `tags` that the head has, and where the text has the others: (line, tag), each time.
    head_tags: tuple[str, ...] = ()
    tag_places: tuple[tuple[int, str], ...] = ()
    # What the head says in a few words, by key in small letters: one value, or those of a list.
    properties: tuple[tuple[str, tuple[str, ...]], ...] = ()


# ---------------------------------------------------------------- what extraction gives


@dataclass(frozen=True, slots=True, kw_only=True)
class Relation:
    """Subject, predicate and object, each as the text has it; the predicate is one snake_case word."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Entity:
    """Something named in a fact, as written. Its normalised name is its identity."""

    name: str
    kind: Literal["wikilink", "code", "name", "tag"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedFact:
    """One atomic statement that stands on its own, with what rules or a model found in it."""

    text: str
    # Relative to the block: 1 is the block's first line.
    lines: Lines
    # None = the rules could not tell; the nearest prototype decides once there is a vector.
    category: Category | None
    # 0..1
    confidence: float
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    happened: DateInterval | None = None
    # True when the text means the same outside its note; false when it needs its headings to be understood.
    # It decides identity: `Port is 5432.` under two headings is two facts.
    stands_alone: bool = True
    # 0..1
    importance: float = NEUTRAL_IMPORTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidLink:
    """A link between two facts of a note that the note itself says; `reason` is a stable word for how.

    `caused_by` runs from what came of something to what it came of, `temporal` from the later to the earlier.
    """

    from_fact: ExtractedFact
    to_fact: ExtractedFact
    kind: Literal["caused_by", "temporal"]
    reason: Literal["says_result", "says_cause", "says_later", "says_earlier", "next_step"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedStatement:
    """A sentence-sized piece of a passage, as written: the unit that is embedded.

    It may state several facts, or none.
    """

    text: str
    # Relative to the block: 1 is the block's first line.
    lines: Lines
    facts: tuple[ExtractedFact, ...] = ()
    # 0..1: of its facts the highest, and of what a model finds in it.
    importance: float = NEUTRAL_IMPORTANCE


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedPassage:
    """A block, or a piece of a long one (about 1,200 characters): the unit that is searched and ranked."""

    text: str
    # Relative to the block.
    lines: Lines
    statements: tuple[ExtractedStatement, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtractedBlock:
    """What one block gives. No passages: nothing in it is to be searched (a rule, a comment, a blank)."""

    block: Block
    # The sentence before a list, table or fence that says what it is ("Set these:"); empty when there is none.
    lead_in: str
    passages: tuple[ExtractedPassage, ...]
    # How its facts stand to those before them, in it or in the block before it under the same headings.
    links: tuple[SaidLink, ...] = ()


# ---------------------------------------------------------------- what recall gives

Kind = Literal["fact", "passage"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallFilter:
    """What hits are limited to; an empty tuple or None leaves that side open. It acts inside each search."""

    kinds: tuple[Kind, ...] = ("fact", "passage")
    categories: tuple[Category, ...] = ()
    roots: tuple[str, ...] = ()
    # Globs on the path relative to the root: `*` within a name, `**` across folders.
    paths: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    scopes: tuple[str, ...] = ()
    since: date | None = None
    until: date | None = None
    as_of: date | None = None

    @property
    def limits_facts(self) -> bool:
        """Whether a passage must state a fact that fits, not merely lie in the right note."""
        dated = self.since or self.until or self.as_of
        return bool(self.categories or self.scopes or dated) or "passage" not in self.kinds

    @property
    def takes_passages(self) -> bool:
        """Whether a passage that states no fact may fit: as knowledge, of everybody's, from its note's day."""
        return (
            "passage" in self.kinds
            and (not self.categories or Category.KNOWLEDGE in self.categories)
            and (not self.scopes or GLOBAL_SCOPE in self.scopes)
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a hit stands: the first of its places, and how many more there are."""

    root: str
    path: str
    lines: Lines
    more: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Around:
    """What is wanted about hits, beside the hits themselves."""

    # Whether the passage comes with the statement.
    passages: bool = False
    # Lines of the note before and after it; 0 = not even its own.
    lines: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Excerpt:
    """A piece of a note, without private parts and with secrets masked."""

    lines: Lines
    # None where there is no room for it, or a better hit has brought it.
    text: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One thing recalled."""

    anchor: str
    kind: Kind
    text: str
    # Heading path, then the lead-in where there is one.
    context: tuple[str, ...]
    category: Category
    confidence: float
    # 0..1, comparable between queries.
    relevance: float
    # Orders hits of one answer; means nothing else.
    score: float
    source: Source
    happened: DateInterval | None
    stated: date | None
    superseded_by: str | None = None
    supersedes: tuple[str, ...] = ()
    conflicts_with: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    scope: str = GLOBAL_SCOPE
    # How the graph led to it, names and what is said between them in turn; empty when it did not.
    path: tuple[str, ...] = ()
    # What it was taken from, where that was asked for and says more than `text`.
    passage: Excerpt | None = None
    # The lines about it, where they were asked for.
    source_text: Excerpt | None = None


Reason = Literal["no_evidence", "nothing_matches_filter", "empty_memory"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """The answer to a recall: hits best first, or none and why."""

    hits: tuple[Hit, ...]
    reason: Reason | None
    unknown_words: tuple[str, ...]
    degraded: tuple[str, ...]
    recall_id: str
    took_ms: float
    explanation: dict[str, object] | None = field(default=None)


# Why an answer is empty, or is the list of hits instead of sentences: what recall says of itself, how the model is
# doing, or what is wrong with what it said.
AnswerReason = Literal[
    Reason,
    "model_off",
    "model_missing",
    "model_down",
    "model_slow",
    "model_busy",
    "model_loading",
    "model_failed",
    "unreadable",
    "unsupported",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """The answer to a question: sentences with anchors, the hits as a list, or nothing and why."""

    recalled: Recalled
    text: str = ""
    # Anchors in the order in which the text first names them; each is one of a hit.
    citations: tuple[str, ...] = ()
    # None: a model's sentences, each borne out by the hits it names.
    reason: AnswerReason | None = None
    # What the model said and no hit bears out, each with a word for why.
    dropped: tuple[tuple[str, str], ...] = ()
