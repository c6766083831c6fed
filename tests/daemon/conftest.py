"""A home of its own for each test of the command line, and a daemon in it where one is wanted."""

from __future__ import annotations

import os

import pytest

from tests.daemon.commands.calling import RESULTS
from tests.daemon.fakes import FakeDaemon


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
