"""What may be set, and what it may be: the settings as tables of keys with bounds, defaults and descriptions.

It must not know what the settings are for: each package is handed its own small model and reads nothing else. Nor does
it know where values come from.
"""

from __future__ import annotations

import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    StringConstraints,
    ValidationError,
    model_validator,
)
from pydantic.fields import FieldInfo

from recalld.settings.sources import shown

Ending = Annotated[str, StringConstraints(pattern=r"^\.[^./\\\s]+$")]


def _from(least: float, default: object, most: float, says: str) -> Any:
    """A number from `least` to `most`, both allowed."""
    return Field(default=default, ge=least, le=most, description=says)


def _above(floor: float, default: float, most: float, says: str) -> Any:
    """A number above `floor`, at most `most`."""
    return Field(default=default, gt=floor, le=most, description=says)


def _is(default: object, says: str) -> Any:
    """A value that its type bounds."""
    return Field(default=default, description=says)


def _text(default: str, says: str) -> Any:
    """Text with something to read in it."""
    return Field(default=default, min_length=1, pattern=r"\S", description=says)


class _Model(BaseModel):
    """Frozen and strict: text is never taken for a number, and an unknown key is a mistake."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, allow_inf_nan=False)


class RootSettings(_Model):
    """A watched folder. `path` is absolute, as the user wrote it: symlinks are not resolved."""

    name: str
    path: Path


class IngestSettings(_Model):
    """How notes are read, and when their absence is believed."""

    quiet_ms: int = _from(0, 300, 60_000, "Milliseconds without a change before a note is read.")
    longest_wait_ms: int = _from(
        0, 3_000, 600_000, "Milliseconds after which a note that keeps changing is read anyway."
    )
    max_note_bytes: int = _from(
        1_000, 10_000_000, 1_000_000_000, "Bytes; a larger file is left out and named in `status`."
    )
    empty_grace_s: float = _from(
        0, 5, 3_600, "Seconds that a note must stay empty before its facts are retracted."
    )
    mass_deletion_count: int = _from(
        1, 10, 1_000_000, "Notes that vanish together; with the share below, a mass deletion."
    )
    mass_deletion_share: float = _above(
        0, 0.5, 1, "Share of a root's notes, 0 to 1; with the count above, a mass deletion."
    )
    deletion_grace_h: float = _from(
        0, 24, 8_760, "Hours that a mass deletion is held, unless `recalld sync` confirms it."
    )
    extensions: tuple[Ending, ...] = Field(
        default=(".md", ".markdown"), min_length=1, description="Endings of files that are notes."
    )

    on_conflict: Literal["supersede", "keep_both", "review"] = _is(
        "supersede",
        "`supersede`: the newer by its own date wins; `keep_both`: both hold; `review`: until you say.",
    )

    @model_validator(mode="after")
    def _waits_fit(self) -> IngestSettings:
        if self.longest_wait_ms < self.quiet_ms:
            wrong = f"ingest.longest_wait_ms = {shown(self.longest_wait_ms)}"
            raise ValueError(f"{wrong}: must be at least ingest.quiet_ms ({shown(self.quiet_ms)})")
        return self


class EmbeddingSettings(_Model):
    """The model that turns statements into vectors."""

    provider: Literal["embedded", "ollama", "openai", "off"] = _is(
        "embedded",
        "`embedded`: comes with recalld; `ollama`, `openai`: at a server; `off`: keywords and links.",
    )
    model: str = _text("bge-m3", "Name of the model at a server; the embedded one has no choice.")
    host: str = _is(
        "", "Address of that server; empty: `llm.host` if of the same kind, else as that is found."
    )
    threads: int = _from(1, 1, 64, "Threads that an embedding may use.")
    batch: int = _from(1, 16, 1_024, "Statements at a time; a question waits for one batch.")


class LlmSettings(_Model):
    """The language model that extracts facts; without one rules do."""

    provider: Literal["auto", "ollama", "openai", "off"] = _is(
        "auto",
        "`auto`: Ollama, whenever it answers and has the model; `openai`: any server of that dialect.",
    )
    model: str = _text("gemma3:4b", "Name of the model; recalld never downloads one.")
    host: str = _is(
        "",
        "Address of the server; empty: `$OLLAMA_HOST`, or port 11434 (openai: 8080) of this machine.",
    )
    allow_remote: bool = _is(
        False,  # noqa: FBT003 - it is the default
        "Whether notes may be sent to a model server on another machine.",
    )
    allow_cloud: bool = _is(
        False,  # noqa: FBT003 - it is the default
        "Whether Ollama may forward notes to a model of its makers (`-cloud`).",
    )
    num_ctx: int = _from(
        2_048, 8_192, 1_048_576, "Tokens of the model's window; a prompt takes half at most."
    )
    timeout_s: float = _above(
        0, 120, 3_600, "Seconds without a word from the model; an answer may take twice as long."
    )
    api_key_env: str = _is("", "Name of the variable with the server's key; empty: none is sent.")


class RerankSettings(_Model):
    """The model that has a second look at the order of the best hits, if any."""

    provider: Literal["off", "openai", "llm"] = _is(
        "off",
        "`openai`: a reranking model at a server with `/rerank`; `llm`: the language model grades.",
    )
    model: str = _text("bge-reranker-v2-m3", "Name of the reranking model; `llm` has its own.")
    host: str = _is(
        "",
        "Address of that server; empty: `llm.host` if that is `openai`, or port 8080 of this machine.",
    )
    timeout_s: float = _above(0, 2, 30, "Seconds; a later order is left out, and ours stands.")
    depth: int = _from(2, 20, 50, "Hits from the top that it is shown.")


class HalfLifeDays(_Model):
    """Days after which a fact of a category weighs half. Errors have none: they never decay."""

    knowledge: float = _above(0, 365, 36_500, "Days; a fact never weighs below half.")
    preference: float = _above(0, 365, 36_500, "Days; a fact never weighs below half.")
    tool: float = _above(0, 180, 36_500, "Days.")
    timeline: float = _above(0, 30, 36_500, "Days. There is no `error`: errors never decay.")


class RecallSettings(_Model):
    """How a question is answered where it does not say so itself."""

    limit: int = _from(1, 8, 50, "Hits in an answer.")
    max_chars: int = _from(200, 4_000, 1_000_000, "Characters of text in an answer.")
    min_relevance: float | None = _from(
        0, None, 1, "Relevance, 0 to 1, below which nothing is shown; unset: calibrated."
    )
    neighbours: bool = _is(True, "Whether a short passage gains from those beside it.")  # noqa: FBT003 - it is the default
    half_life_days: HalfLifeDays = HalfLifeDays()


class DaemonSettings(_Model):
    """The socket, its limits, and how long stopping may take."""

    socket: Path | None = _is(None, "Path of the socket; unset: in the session's runtime folder.")
    max_connections: int = _from(1, 64, 4_096, "Connections at a time; more are refused.")
    max_line_bytes: int = _from(1_024, 1_048_576, 67_108_864, "Bytes of one request.")
    half_line_timeout_s: float = _above(0, 30, 3_600, "Seconds in which a begun request must end.")
    idle_timeout_s: float = _above(0, 600, 86_400, "Seconds until a silent connection is closed.")
    stop_timeout_s: float = _above(0, 5, 300, "Seconds that stopping may take.")


class ScheduleSettings(_Model):
    """How often what no event announced is looked for."""

    scan_every_min: float = _above(0, 10, 10_080, "Minutes between scans by size and time.")
    full_hash_every_h: float = _above(0, 24, 8_760, "Hours between scans that read every note.")
    maintenance_every_h: float = _above(0, 24, 8_760, "Hours between tidying the database.")
    watch_check_every_s: float = _above(
        0, 5, 3_600, "Seconds between checks that each root is there and is watched."
    )


class LogSettings(_Model):
    """What is logged, to standard error."""

    level: Literal["debug", "info", "warning", "error"] = _is(
        "info", "Least level that is logged; text of notes appears at `debug` only."
    )
    format: Literal["auto", "json", "console"] = _is(
        "auto", "`auto`: `console` on a terminal, else `json`."
    )


class Settings(_Model):
    """Everything that may be set. Hand each package its own part, never the whole."""

    roots: tuple[RootSettings, ...] = _is(
        (), 'Folders to watch, such as "~/notes" or { name = "work", path = "~/work/notes" }.'
    )
    data_dir: Path = Field(description="Folder of the database; unset: `$XDG_DATA_HOME/recalld`.")
    ingest: IngestSettings = IngestSettings()
    embedding: EmbeddingSettings = EmbeddingSettings()
    llm: LlmSettings = LlmSettings()
    recall: RecallSettings = RecallSettings()
    rerank: RerankSettings = RerankSettings()
    daemon: DaemonSettings = DaemonSettings()
    schedule: ScheduleSettings = ScheduleSettings()
    log: LogSettings = LogSettings()


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """A dotted key that holds a value."""

    # Without None; a list is `tuple`.
    kinds: tuple[object, ...]
    # Where there is none, what pydantic puts there.
    default: object
    description: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Unfit:
    """A mistake in a tree of settings."""

    # The dotted key or table.
    key: str
    # The sentence of a rule that goes over several keys; else empty.
    said: str


def check(tree: Mapping[str, Any]) -> Settings | tuple[Unfit, ...]:
    """The settings that a tree of values holds, or every mistake in it."""
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        return tuple(
            Unfit(
                key=".".join(part for part in each["loc"] if isinstance(part, str)),
                said=str(each.get("ctx", {}).get("error", "")),
            )
            for each in error.errors()
        )


@cache
def keys() -> Mapping[str, Key]:
    """Every dotted key that holds a value, as TOML needs them: plain keys before tables."""
    return {
        key: Key(kinds=_kinds(leaf), default=leaf.default, description=leaf.description or "")
        for key, leaf in _leaves().items()
    }


@cache
def tables() -> frozenset[str]:
    """Every dotted key that is a table."""
    return frozenset(key.rpartition(".")[0] for key in _leaves() if "." in key)


def allowed(key: str) -> str:
    """What a value of a key may be, in words; not for keys that hold paths."""
    leaf = _leaves()[key]
    kinds = _kinds(leaf)
    if get_origin(kinds[0]) is Literal:
        return "one of " + ", ".join(shown(choice) for choice in get_args(kinds[0]))
    if tuple in kinds:
        return 'a list of endings that begin with a dot, such as [".md"]'
    if bool in kinds:
        return "true or false"
    if str in kinds:
        return "text, not empty" if leaf.metadata else "text"
    noun = "a whole number" if int in kinds else "a number"
    rules = {name: getattr(rule, name) for rule in leaf.metadata for name in rule.__slots__}
    low = f"from {shown(rules['ge'])}" if "ge" in rules else f"above {shown(rules['gt'])}, up"
    return f"{noun} {low} to {shown(rules['le'])}"


@cache
def _leaves() -> Mapping[str, FieldInfo]:
    return dict(_walk(Settings, ""))


def _walk(model: type[BaseModel], above: str) -> Iterator[tuple[str, FieldInfo]]:
    tables = []
    for name, leaf in model.model_fields.items():
        if isinstance(leaf.annotation, type) and issubclass(leaf.annotation, BaseModel):
            tables.append((leaf.annotation, f"{above}{name}."))
        else:
            yield above + name, leaf
    for table, below in tables:
        yield from _walk(table, below)


def _kinds(leaf: FieldInfo) -> tuple[object, ...]:
    kind = leaf.annotation
    if get_origin(kind) is tuple:
        return (tuple,)
    if get_origin(kind) in (Union, types.UnionType):
        return tuple(each for each in get_args(kind) if each is not type(None))
    return (kind,)
