from __future__ import annotations

from pathlib import Path

from daemon.reloading import difference
from recalld.settings.loading import load_settings
from recalld.settings.tables import Settings


def settings(tmp_path: Path, *roots: str, **flags: object) -> Settings:
    for root in roots:
        (tmp_path / root).mkdir(exist_ok=True)
    dotted = {name.replace("__", "."): value for name, value in flags.items()}
    given = {"roots": [str(tmp_path / root) for root in roots], **dotted}
    return load_settings(flags=given, env={}, file=None, home=tmp_path).settings


def test_equal_settings_differ_in_nothing(tmp_path):
    found = difference(settings(tmp_path, "a"), settings(tmp_path, "a"))
    assert (found.gone, found.come, found.taken, found.restart) == ((), (), frozenset(), ())


def test_roots_come_and_go(tmp_path):
    found = difference(settings(tmp_path, "a", "b"), settings(tmp_path, "b", "c"))
    assert [root.name for root in found.gone] == ["a"]
    assert [root.name for root in found.come] == ["c"]
    assert found.restart == ()


def test_tables_that_can_be_taken_are_told_from_those_that_cannot(tmp_path):
    new = settings(
        tmp_path, recall__limit=3, schedule__scan_every_min=1, ingest__quiet_ms=1, log__level="debug",
        recall__half_life_days__tool=3,
    )  # fmt: skip
    found = difference(settings(tmp_path), new)
    assert found.taken == {"recall", "schedule", "log"}
    assert found.restart == ("ingest.quiet_ms",)
