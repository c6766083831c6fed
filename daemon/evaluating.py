"""A run of questions against the memory as it is: the daemon's own recall in this process, over the file read-only.

It works with or without a daemon, and leaves no trace: nothing is written, so no recall is counted.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from daemon.models import load_embedder
from daemon.recalling import open_recall, recall_options
from daemon.status import EmbeddingModel
from recalld.errors import SettingsError
from recalld.models.embedder import Embedder
from recalld.paths import DATABASE_NAME
from recalld.settings.tables import Settings
from recalld.store.connection import ReadOnlyDatabase
from recalld.store.spaces import spaces
from recalld.store.standing import content_mark, note_paths, statements_without_vector
from retrieval.evaluation.asking import Asked, ask, judged
from retrieval.evaluation.comparing import compare
from retrieval.evaluation.knobs import Knob, KnobError, Variant, each_turned, place_of, points
from retrieval.evaluation.matching import same_note
from retrieval.evaluation.metrics import Judged, figures, figures_by_category
from retrieval.evaluation.questions import Question
from retrieval.evaluation.reading import read_questions
from retrieval.evaluation.report import (
    comparison_json,
    configuration_json,
    failed_json,
    figures_json,
    stages_json,
    sweep_json,
)
from retrieval.evaluation.stages import effects, warnings
from retrieval.recall import Recall

_KNOBS_HINT = "docs/evaluation.md lists the settings of ranking with what each allows"

Load = Callable[[Settings], tuple[Embedder | None, EmbeddingModel]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """An open memory: recall over it, how it ranks by its settings, and what is amiss with it."""

    database: ReadOnlyDatabase
    recall: Recall
    variant: Variant
    model: str | None
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What is to be found out, as the command line has it."""

    # Each `name=value`, for this run only.
    settings: tuple[str, ...] = ()
    # Each as `points` takes it.
    sweeps: tuple[str, ...] = ()
    # Each `name=value`, of the other settings.
    overrides: tuple[str, ...] = ()
    # Other settings; None: the same with the overrides.
    other: Settings | None = None
    margin: float = 0.02

    @property
    def compares(self) -> bool:
        """Whether other settings are judged."""
        return bool(self.overrides) or self.other is not None


def questions_of(file: Path) -> tuple[Question, ...]:
    """The questions of a file: JSON lines where it ends in `.jsonl`, `.ndjson` or `.json`, else TOML.

    Raises:
        SettingsError: with every mistake in it, or why it can't be read.
    """
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise SettingsError((f"{file}: {error.strerror or error}",)) from error
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        raise SettingsError((f"{file}: line {line}: is not UTF-8",)) from error
    is_toml = file.suffix.lower() not in (".jsonl", ".ndjson", ".json")
    read = read_questions(text.replace("\r\n", "\n"), is_toml=is_toml)
    if read.mistakes:
        raise SettingsError(
            tuple(f"{file}: {mistake}" for mistake in read.mistakes),
            hint="docs/evaluation.md describes the file; examples/questions.toml is one",
        )
    return read.questions


def only_of(questions: Sequence[Question], categories: Sequence[str]) -> tuple[Question, ...]:
    """The questions of these categories; all of them where none is named.

    Raises:
        SettingsError: a category that no question has.
    """
    if not categories:
        return tuple(questions)
    known = {name for question in questions for name in question.categories}
    unknown = [name for name in categories if name not in known]
    if unknown:
        told = ", ".join(sorted(known)) or "none"
        raise SettingsError(
            tuple(f"no question has the category {name}" for name in unknown),
            hint=f"known are {told}",
        )
    return tuple(one for one in questions if {*one.categories} & {*categories})


@contextmanager
def opened(settings: Settings, load: Load = load_embedder) -> Iterator[Memory]:
    """The memory of these settings, with recall as the daemon composes it.

    Raises:
        StoreError: there is none, or it can't be read.
    """
    with ExitStack() as stack:
        database = ReadOnlyDatabase(settings.data_dir / DATABASE_NAME)
        stack.callback(database.close)
        embedder, model = load(settings)
        told = []
        if embedder is None and settings.embedding.provider != "off":
            told.append(f"the embedding model is {model.state}, so vectors take no part")
        if embedder is not None and (reason := _unusable(database, embedder)):
            told.append(f"{reason}, so vectors take no part")
            embedder = None
        if embedder is not None:
            told += _waiting(database)
        recall = open_recall(database, embedder, settings.recall, degraded=tuple)
        stack.callback(recall.close)
        yield Memory(
            database=database,
            recall=recall,
            variant=Variant(
                options=recall_options(settings.recall), calibration=recall.meaning.calibration
            ),
            model=embedder.space.name if embedder is not None else None,
            warnings=tuple(told),
        )


def evaluate(
    settings: Settings,
    questions: Sequence[Question],
    wishes: Wishes,
    load: Load = load_embedder,
) -> dict[str, object]:
    """The result of a run, as plain values.

    Raises:
        SettingsError: a wish names what there is not, or takes no value.
        StoreError: there is no memory, or it can't be read.
    """
    started = time.perf_counter()
    with opened(settings, load) as memory:
        variant = _turned(memory.variant, wishes.settings)
        # Told before anything is asked.
        curves = [_points(variant, sweep) for sweep in wishes.sweeps]
        before = _mark(memory.database)
        asked = ask(memory.recall, questions)
        present = judged(memory.recall, asked, variant)
        whole = figures(present)
        result: dict[str, object] = {
            "model": memory.model,
            "settings": configuration_json(variant),
            "figures": figures_json(whole),
            "categories": {
                name: figures_json(each) for name, each in figures_by_category(present).items()
            },
        }
        told = [*memory.warnings, *_unknown_notes(memory.database, questions)]
        if curves:
            result["sweeps"] = [
                sweep_json(
                    knob,
                    place_of(variant, knob),
                    (
                        (value, figures(judged(memory.recall, asked, knob.put(variant, value))))
                        for value in values
                    ),
                )
                for knob, values in curves
            ]
        if wishes.compares:
            result["comparison"] = _compared(
                memory, asked, present, variant, settings, wishes, load
            )
        if not curves and not wishes.compares:
            made = effects(
                asked, variant, present, lambda other: judged(memory.recall, asked, other)
            )
            result["stages"] = stages_json(made, whole)
            told += warnings(made, len(questions))
        result["failed"] = failed_json(present, _unjudged(memory.recall, asked, present, variant))
        if _mark(memory.database) != before:
            told.append("the memory changed meanwhile: let the daemon settle, and run it again")
        result["warnings"] = told
        result["took_s"] = round(time.perf_counter() - started, 2)
        return result


def _compared(
    memory: Memory,
    asked: Sequence[Asked],
    present: Sequence[Judged],
    variant: Variant,
    settings: Settings,
    wishes: Wishes,
    load: Load,
) -> dict[str, object]:
    other = wishes.other or settings
    questions = [one.question for one in asked]
    if (other.data_dir, other.embedding) == (settings.data_dir, settings.embedding):
        base = variant
        if wishes.other is not None:
            options = recall_options(other.recall)
            base = _turned(replace(memory.variant, options=options), wishes.settings)
        turned = _turned(base, wishes.overrides)
        judged_other = judged(memory.recall, asked, turned)
    else:
        # Another memory, such as one with another model: the same questions, asked of it.
        with opened(other, load) as second:
            turned = _turned(second.variant, (*wishes.settings, *wishes.overrides))
            judged_other = judged(second.recall, ask(second.recall, questions), turned)
    return {
        **comparison_json(
            compare(present, judged_other, margin=wishes.margin),
            wishes.margin,
            present,
            judged_other,
        ),
        "figures": figures_json(figures(judged_other)),
        "settings": configuration_json(turned),
    }


def _unjudged(
    recall: Recall, asked: Sequence[Asked], present: Sequence[Judged], variant: Variant
) -> dict[str, Judged]:
    """By id, the answerable questions that came back empty, as they are without a threshold."""
    missed = [
        Asked(question=replace(one.question, min_relevance=0.0), searched=one.searched)
        for one, each in zip(asked, present, strict=True)
        if one.question.answerable and not each.hits
    ]
    return {each.question.id: each for each in judged(recall, missed, variant)}


def _turned(variant: Variant, settings: Sequence[str]) -> Variant:
    try:
        return each_turned(variant, settings)
    except KnobError as error:
        raise SettingsError(error.mistakes, hint=_KNOBS_HINT) from error


def _points(variant: Variant, sweep: str) -> tuple[Knob, tuple[float, ...]]:
    try:
        return points(variant, sweep)
    except KnobError as error:
        raise SettingsError(error.mistakes, hint=_KNOBS_HINT) from error


def _unusable(database: ReadOnlyDatabase, embedder: Embedder) -> str | None:
    """Why the stored vectors can't be asked by this model; None where they can."""
    if database.vectors_problem is not None:
        return database.vectors_problem
    with database.reader() as connection:
        stored = spaces(connection).in_use
    if stored is not None and stored.identity == embedder.space.identity:
        return None
    # Vectors of two models are never compared.
    held = stored.name if stored is not None else "no model"
    return f"the memory has vectors of {held}, and the settings name {embedder.space.name}"


def _waiting(database: ReadOnlyDatabase) -> Iterator[str]:
    with database.reader() as connection:
        waiting = statements_without_vector(connection)
    if waiting:
        yield f"{waiting} statements have no vector yet: `recalld sync --wait` waits for them"


def _mark(database: ReadOnlyDatabase) -> tuple[int, ...]:
    with database.reader() as connection:
        return content_mark(connection)


def _unknown_notes(database: ReadOnlyDatabase, questions: Sequence[Question]) -> Iterator[str]:
    """A sentence for each source that no note of the memory is."""
    with database.reader() as connection:
        known = note_paths(connection)
    for question in questions:
        for piece in question.pieces:
            for place in piece.places:
                if not any(same_note(path, place.path) for path in known):
                    yield f"{question.id}: the memory has no note {place.path}"
