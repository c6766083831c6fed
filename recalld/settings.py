"""The settings: what may be set, what it may be, and where each value came from.

A value comes from the command line, else the environment, else the file, else its default. This
module must not know what the settings are for: each package is handed its own small model and
reads nothing else.
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

from recalld import paths
from recalld.errors import SettingsError
from recalld.settings_roots import NamedFolder, read_path, read_roots
from recalld.settings_sources import Reading, read_env, read_file, read_flags, shown

Ending = Annotated[str, StringConstraints(pattern=r"^\.[^./\\\s]+$")]
_ALIASES = {"socket": "daemon.socket"}
_REFUSED = {
    "recall.half_life_days.error": "errors never decay, so they have no half-life; remove this key"
}
# What the example shows for keys whose default is computed or is nothing.
_SAMPLES = {
    "data_dir": '"~/.local/share/recalld"',
    "recall.min_relevance": "0.4",
    "daemon.socket": '"$XDG_RUNTIME_DIR/recalld/recalld.sock"',
}


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
    """Text that is not empty."""
    return Field(default=default, min_length=1, description=says)


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
class Loaded:
    """Settings, and for every dotted key where its value came from.

    An origin is `flag`, `env NAME`, `file` or `default`; that of `roots` may be two of them joined
    by ` + `, because folders on the command line add to the others.
    """

    settings: Settings
    origins: Mapping[str, str]
    file: Path | None


def load_settings(
    *,
    flags: Mapping[str, object] = types.MappingProxyType({}),
    env: Mapping[str, str],
    file: Path | None,
    home: Path,
) -> Loaded:
    """Settings from the command line, the environment, the file and the defaults, in that order.

    Args:
        flags: Dotted key to value; None counts as not given. `roots` adds to the other roots.
        env: `RECALLD_INGEST__QUIET_MS` sets `ingest.quiet_ms`, `RECALLD_SOCKET` sets
            `daemon.socket`. Lists are separated by `:`, or written as in TOML.
        file: A TOML file that must be there; None when there is none.
        home: What `~` stands for.

    Raises:
        SettingsError: With every mistake, each naming the key, the value and what is allowed.
    """
    kinds = {key: _kinds(leaf) for key, leaf in _leaves().items()}
    reading = Reading(env=env, home=home, kinds=kinds, tables=_tables(), refused=_REFUSED)
    if file is not None:
        read_file(reading, file)
    read_env(reading, aliases=_ALIASES)
    set_roots = reading.given.pop("roots", None)
    read_flags(reading, flags)
    more_roots = reading.given.pop("roots", None)
    given_roots = [given for given in (set_roots, more_roots) if given and given.value != ()]
    settings = _validated(reading, read_roots(reading, *given_roots))
    if settings is None or reading.mistakes:
        hint = "`recalld config init` writes a file with every key, its default and its unit"
        raise SettingsError(tuple(reading.mistakes), hint=hint)
    origins = {
        key: reading.given[key].origin if key in reading.given else "default" for key in kinds
    }
    origins["roots"] = " + ".join(given.origin for given in given_roots) or "default"
    return Loaded(settings=settings, origins=origins, file=file)


def render_settings(loaded: Loaded) -> list[tuple[str, str, str]]:
    """Every dotted key with its value as TOML would have it and its origin, for people to read."""
    return [(key, _rendered(loaded.settings, key), loaded.origins[key]) for key in _leaves()]


def example_settings() -> str:
    """A settings file with every key and its default; one without a default is commented out."""
    lines = ["# The settings of recalld, with their defaults. Keep only what you change.", ""]
    table = ""
    for key, leaf in _leaves().items():
        above, _, name = key.rpartition(".")
        if above != table:
            lines += ["", f"[{above}]"]
            table = above
        lines.append(f"# {leaf.description}")
        value = _SAMPLES.get(key) or shown(leaf.default)
        lines.append(f"# {name} = {value}" if key in _SAMPLES else f"{name} = {value}")
    return "\n".join(lines) + "\n"


def _rendered(settings: Settings, key: str) -> str:
    value: object = settings
    for part in key.split("."):
        value = getattr(value, part)
    if key == "roots":
        value = [root.model_dump() for root in settings.roots]
    return "unset" if value is None else shown(value)


def _validated(reading: Reading, roots: tuple[NamedFolder, ...]) -> Settings | None:
    tree: dict[str, Any] = {
        "roots": tuple(RootSettings(name=root.name, path=root.path) for root in roots),
        "data_dir": paths.data_dir(reading.env, reading.home),
    }
    for key, given in reading.given.items():
        value = given.value
        if Path in reading.kinds[key]:
            value = read_path(reading, key, given)
        # A path that is none has been told already; its default keeps the rest checkable.
        if value is not None:
            _put(tree, key, tuple(value) if isinstance(value, list) else value)
    try:
        return Settings.model_validate(tree)
    except ValidationError as error:
        wrong = [_sentence(reading, each["loc"], each.get("ctx", {})) for each in error.errors()]
        reading.mistakes += dict.fromkeys(wrong)
        return None


def _put(tree: dict[str, Any], key: str, value: object) -> None:
    *above, name = key.split(".")
    for part in above:
        tree = tree.setdefault(part, {})
    tree[name] = value


def _sentence(reading: Reading, loc: tuple[int | str, ...], context: Mapping[str, object]) -> str:
    """One mistake that pydantic found, as key, value, origin and what is allowed."""
    key = ".".join(part for part in loc if isinstance(part, str))
    if key not in reading.given:
        return str(context["error"])
    given = reading.given[key]
    return f"{key} = {shown(given.value)} ({given.origin}): must be {_allowed(_leaves()[key])}"


def _allowed(leaf: FieldInfo) -> str:
    """What a value may be, in words."""
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
    """Every dotted key that holds a value, as TOML needs them: plain keys before tables."""
    return dict(_walk(Settings, ""))


@cache
def _tables() -> frozenset[str]:
    """Every dotted key that is a table."""
    return frozenset(key.rpartition(".")[0] for key in _leaves() if "." in key)


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
    """The types that a key takes, without None; a list is `tuple`."""
    kind = leaf.annotation
    if get_origin(kind) is tuple:
        return (tuple,)
    if get_origin(kind) in (Union, types.UnionType):
        return tuple(each for each in get_args(kind) if each is not type(None))
    return (kind,)
