"""Calling the command line in this process, against a daemon that answers as it is told."""

from __future__ import annotations

from click.testing import CliRunner

from daemon.cli import cli
from tests.daemon.fakes import ANSWER, FOUND, HIT, STATUS, FakeDaemon

RESULTS = {
    "recall": FOUND,
    "answer": ANSWER,
    "get": HIT,
    "explain": {"channels": [{"name": "keywords", "ranks": [1, 2]}], "evidence": 0.5},
    "status": STATUS,
    "sync": {"queued": 3},
}


def call(*words: str):
    return CliRunner().invoke(cli, words)


def answering(daemon: FakeDaemon, method: str, result: dict[str, object]) -> None:
    daemon._results[method] = result
