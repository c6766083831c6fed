"""Secrets of every kind in notes: no request, page, answer or log line of a whole daemon with a language model has one."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing

import pytest

from tests.copying import copied
from tests.fake_ollama import FakeOllama
from tests.fakes import WordEmbedder
from tests.ingest.masking.labelled import SECRETS
from tests.running import RunningDaemon

pytestmark = pytest.mark.slow

# Shorter ones, and words of other lines, may stand in a database by chance.
TELLING = sorted({s for _, s in SECRETS if len(s) >= 6 and re.search(r"[a-z][0-9]|[0-9][a-z]", s)})
HEADER = """---
title: "Vault %%qz1private%% and password: qz2title7"
wachtwoord: qz3header8
aliases: ["pw: qz4alias9", "plain <!-- qz5comment --> name"]
logins:
  - passwort: qz6item3
---
"""
IN_HEADER = ["qz1private", "qz2title7", "qz3header8", "qz4alias9", "qz5comment", "qz6item3"]


def told(daemon: RunningDaemon, queries: list[str]) -> str:
    """What recall, get and status say, in small letters; paths are addresses and left out."""
    said: list[object] = [daemon.call("status")]
    for query in queries:
        about = {"passages": True, "lines_around": 50, "limit": 50, "max_chars": 500_000}
        hits = daemon.call("recall", query=query, min_relevance=0, **about)["hits"]
        said += [{**hit, "source": {**hit["source"], "path": ""}} for hit in hits]
    for (uid,) in daemon.rows("SELECT uid FROM passage"):
        passage = daemon.call("get", anchor=f"passage:{uid}", lines_around=50)
        said.append({**passage, "source": None, "sources": None})
    return json.dumps(said, ensure_ascii=False).lower()


def test_no_labelled_secret_reaches_the_model_the_database_or_an_answer(tmp_path):
    with FakeOllama() as fake:
        fake.answer = copied
        settings = {"llm.provider": "ollama", "llm.host": fake.url}
        with RunningDaemon(tmp_path, embedder=WordEmbedder(), settings=settings) as daemon:
            daemon.write("header.md", HEADER + "# Vault\n\nThe router is old.\n")
            for number, (text, _) in enumerate(SECRETS):
                daemon.write(
                    f"n{number}.md", f"# Note {number}\n\nThe garden is green.\n\n{text}\n"
                )
            daemon.settle()
            said = told(daemon, ["garden green", "password", "vault router"])
            files = sorted(path for path in daemon.data.rglob("*") if path.is_file())
            pages = b"".join(path.read_bytes() for path in files).lower()
        asked = json.dumps([call.body for call in fake.asked], ensure_ascii=False).lower()
    assert "the garden is green" in said
    assert "the garden is green" in asked
    assert "[redacted]" in asked
    for secret in (*TELLING, *IN_HEADER):
        assert secret.lower() not in asked, secret
        assert secret.lower() not in said, secret
        assert secret.lower().encode() not in pages, secret


def test_secret_in_a_file_name_is_in_no_title_request_or_word_of_the_index(tmp_path):
    with FakeOllama() as fake:
        fake.answer = copied
        settings = {"llm.provider": "ollama", "llm.host": fake.url}
        embedder = WordEmbedder()
        with RunningDaemon(tmp_path, embedder=embedder, settings=settings) as daemon:
            daemon.write("password=qz7name4.md", "# Keys\n\nThe router is old.\n")
            daemon.write("wachtwoord qz8name5z.md", "The switch is new.\n")
            daemon.settle()
            titles = [row[0] for row in daemon.rows("SELECT title FROM note ORDER BY title")]
            words = " ".join(row[0] for row in daemon.rows("SELECT term FROM passage_vocabulary"))
        asked = json.dumps([call.body for call in fake.asked], ensure_ascii=False).lower()
    assert titles == ["Keys", "wachtwoord [redacted]"]
    for secret in ("qz7name4", "qz8name5z"):
        assert secret not in asked
        assert secret not in words
        assert secret not in " ".join(embedder.statements).lower()


def test_what_a_model_gave_before_a_secret_was_masked_is_dropped(tmp_path):
    with RunningDaemon(tmp_path) as daemon:
        daemon.settle()
        database = daemon.data / "memory.db"
    results = [("a", "The password of the NAS is qz9cached1."), ("b", "The garden is green.")]
    with closing(sqlite3.connect(database)) as connection, connection:
        connection.executemany(
            "INSERT INTO extraction_cache (key, result, used_at) VALUES (?, ?, ?)",
            [(key.encode(), json.dumps([text]), 1 << 60) for key, text in results],
        )
    assert b"qz9cached1" in database.read_bytes()
    with RunningDaemon(tmp_path, settings={"schedule.maintenance_every_h": 0.00005}) as daemon:
        daemon.wait_for(lambda status: status["stages"]["maintenance"]["last_ok"] is not None)
        kept = daemon.rows("SELECT result FROM extraction_cache")
    assert kept == [('["The garden is green."]',)]
    assert b"qz9cached1" not in database.read_bytes()
