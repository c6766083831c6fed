"""A home of its own for each test of the command line, a daemon in it where one is wanted, and signals as usual."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from tests.daemon.commands.calling import RESULTS
from tests.daemon.fakes import FakeDaemon


@pytest.fixture(autouse=True)
def hangup_is_heard() -> Iterator[None]:
    """Whoever started the tests may have it ignored, as nohup does."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A home of its own, without anything of the tester's environment."""
    for name in [each for each in os.environ if each.startswith(("XDG_", "RECALLD_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    return tmp_path


@pytest.fixture
def daemon(place):
    with FakeDaemon(place / "run" / "recalld" / "recalld.sock", dict(RESULTS)) as running:
        yield running
