"""The embedding thread as `status` shows it."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path

from recalld.models.embedder import Matrix
from tests.fakes import WordEmbedder
from tests.running import DEADLINE_S, RunningDaemon


class HeldEmbedder(WordEmbedder):
    """Embeds no statement before it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.released = threading.Event()

    def embed_statements(self, texts: Sequence[str]) -> Matrix:
        assert self.released.wait(DEADLINE_S)
        return super().embed_statements(texts)


def test_status_counts_down_what_waits_for_a_vector(tmp_path: Path) -> None:
    embedder = HeldEmbedder()
    with RunningDaemon(tmp_path, embedder=embedder) as daemon:
        try:
            daemon.write("tea.md", "# Tea\n\nThe kettle of Mira holds two litres of water.\n")
            daemon.wait_for(lambda s: s["queue"]["dirty"] == 0 and s["queue"]["embed"] > 0)
        finally:
            embedder.released.set()
        daemon.wait_for(lambda s: s["state"] == "idle" and s["queue"]["embed"] == 0)
