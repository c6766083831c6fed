"""A daemon in a process of its own that changes to a larger embedding model, slowly, and waits to be killed.

`python -m tests.cases.model_change_process BASE`
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from pathlib import Path

from daemon.logging import configure_logging
from recalld.models.embedder import Matrix
from tests.cases.test_model_change import BATCH, large, small
from tests.fakes import WordEmbedder
from tests.running import RunningDaemon
from tests.waiting import DEADLINE_S

_BATCH_S = 0.3


class Slow(WordEmbedder):
    """Takes its time for a batch."""

    def embed_statements(self, texts: Sequence[str], starts: Sequence[int] = ()) -> Matrix:
        threading.Event().wait(_BATCH_S)
        return super().embed_statements(texts, starts)


def main(base: Path) -> None:
    """Runs until it is killed, or for as long as a test waits."""
    configure_logging(level="warning", log_format="json")
    new = large()
    new.__class__ = Slow
    with RunningDaemon(base, embedder=new, former=small(), settings=BATCH):
        threading.Event().wait(DEADLINE_S)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
