"""A daemon in a process of its own that can be killed: predictable vectors, the settings of the tests.

`python -m tests.cases.daemon_process BASE` says `ready` once recall works and `settled` once nothing waits, then stops.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

from daemon.lock import InstanceLock
from daemon.logging import configure_logging
from tests.fakes import WordEmbedder
from tests.running import RunningDaemon


def main(base: Path) -> None:
    """Runs until everything is in the index."""
    configure_logging(level="warning", log_format="json")
    running = RunningDaemon(base, embedder=WordEmbedder())
    with InstanceLock(running.data), running:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        assert running.app is not None
        while not running.app.settled():
            time.sleep(0.005)
        sys.stdout.write("settled\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
