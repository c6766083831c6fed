"""A daemon in a process of its own that can be killed: predictable vectors, the settings of the tests.

`python -m tests.cases.daemon_process BASE [OLLAMA]` says `ready` once recall works and `settled` once nothing waits, then stops.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from daemon.lock import InstanceLock
from daemon.logging import configure_logging
from tests.fakes import WordEmbedder
from tests.running import RunningDaemon


def main(base: Path, ollama: str | None) -> None:
    """Runs until everything is in the index; with a language model where the address of one is given."""
    configure_logging(level="warning", log_format="json")
    llm = {"llm.provider": "ollama", "llm.host": ollama} if ollama else {}
    running = RunningDaemon(base, embedder=WordEmbedder(), settings=llm)
    with InstanceLock(running.data), running:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        assert running.app is not None
        while not running.app.refined():
            time.sleep(0.005)
        sys.stdout.write("settled\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else None)
