"""Whatever happened to the notes, the graph kept step by step is the graph computed again from what is stored."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import rule, run_state_machine_as_test

from ingest.regraph import rebuild_graph
from tests.cases.test_equals_rebuild import PAIRS, QUICK_DISK, SAID, HereWrites, Notes, Store

REPO = Path(__file__).parents[2]
SHARED = Path(os.environ.get("RECALLD_SHARED", REPO.parent / "shared"))
_GRAPH = ("entities", "names", "mentions", "relations", "links", "said links", "fact links")

# The kinds of links between facts that the checks came across, with what each was found by.
KINDS_MET: set[tuple[str, str]] = set()


def graph_of(store: Store) -> dict[str, list[tuple[object, ...]]]:
    said = store.says()
    return {name: said[name] for name in _GRAPH}


def check(store: Store) -> None:
    before = graph_of(store)
    done = rebuild_graph(HereWrites(store.database))
    assert done.changed == 0
    assert graph_of(store) == before
    KINDS_MET.update((str(row[2]), str(row[5])) for row in before["fact links"])


class Regraphed(Notes):
    """Rebuilds after every few steps, in the middle of looks too: what is stored is whole at any time."""

    @rule()
    def equals_its_rebuild(self) -> None:
        check(self.store)

    def teardown(self) -> None:
        try:
            self.store.look(None)
            check(self.store)
            # Whatever was drawn, each kind of link has come and is checked at the end, on top of it.
            for number, text in enumerate((*SAID, *(text for pair in PAIRS for text in pair))):
                (self.vault / f"last-{number}.md").write_text(f"{text}\n")
            self.store.look(None)
            check(self.store)
        finally:
            super().teardown()


@pytest.mark.slow
def test_graph_kept_step_by_step_is_the_graph_computed_again():
    KINDS_MET.clear()
    run_state_machine_as_test(
        Regraphed,
        settings=settings(
            max_examples=60,
            stateful_step_count=20,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
    assert {
        ("caused_by", "says_result"),
        ("caused_by", "says_cause"),
        ("temporal", "says_later"),
        ("temporal", "next_step"),
        ("related", "same_link"),
        ("related", "same_names"),
    } <= KINDS_MET


@pytest.mark.slow
@pytest.mark.parametrize(("name", "most"), [("til-jbranchaud", 120), ("kepano-obsidian", None)])
def test_real_notes_have_the_graph_that_a_rebuild_gives(name, most):
    vault = SHARED / "data" / "vaults" / name
    if not vault.is_dir():
        pytest.skip(f"{vault} is not there: set RECALLD_SHARED")
    paths = sorted(path for path in vault.rglob("*.md") if path.is_file())[:most]
    with tempfile.TemporaryDirectory(dir=QUICK_DISK) as folder:
        copy = Path(folder) / "vault"
        for path in paths:
            target = copy / path.relative_to(vault)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        store = Store(Path(folder) / "memory.db", copy)
        try:
            store.look(None)
            assert all(graph_of(store)[part] for part in ("entities", "names", "mentions"))
            check(store)
        finally:
            store.close()
