"""Another process that writes to a note without a pause."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def writing(path: Path, step: str) -> Iterator[None]:
    """Another process takes the step `i`, on the open file `f`, again and again."""
    code = (
        "import itertools, sys, time\n"
        "with open(sys.argv[1], 'r+b', buffering=0) as f:\n"
        "    print(flush=True)\n"
        "    for i in itertools.count():\n"
        f"        {step}\n"
    )
    writer = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    try:
        assert writer.stdout is not None
        writer.stdout.readline()
        yield
    finally:
        writer.kill()
        writer.communicate()
