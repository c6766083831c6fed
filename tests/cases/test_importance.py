"""What a note says matters: from its file to `get` and `explain`, and back when the note says so no more."""

from __future__ import annotations

import pytest

from tests.fakes import WordEmbedder
from tests.running import RunningDaemon

pytestmark = pytest.mark.slow

LOCK = "The bike lock opens with the small key."


def importance(daemon: RunningDaemon) -> tuple[float, float]:
    """Of the fact, and what it adds to its score."""
    hit = daemon.recall("which key opens the bike lock")[0]
    explained = daemon.call("explain", query="which key opens the bike lock")
    parts = next(one["parts"] for one in explained["candidates"] if one["anchor"] == hit["anchor"])
    value = daemon.call("get", anchor=hit["anchor"])["importance"]
    return value, round(parts["prior.importance"], 6)


def test_importance_follows_the_places_that_state_a_fact(tmp_path):
    with RunningDaemon(tmp_path, embedder=WordEmbedder()) as daemon:
        daemon.write("note.md", f"{LOCK}\n")
        daemon.settle()
        assert importance(daemon) == (0.5, 0.0)
        other = daemon.write("sub/note.md", f"> [!warning]\n> {LOCK}\n")
        daemon.settle()
        assert importance(daemon) == (0.8, 0.06)
        other.unlink()
        daemon.settle()
        assert importance(daemon) == (0.5, 0.0)
        daemon.write("note.md", f"#archived\n\n{LOCK}\n")
        daemon.settle()
        assert importance(daemon) == (0.3, -0.04)
        daemon.write("note.md", f"---\nimportance: 1\n---\n\n{LOCK}\n")
        daemon.settle()
        assert importance(daemon) == (1.0, 0.1)
