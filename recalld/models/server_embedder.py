"""An embedding model at a server, behind the Embedder protocol: batches, bad texts, bad vectors, identity.

A server may refuse a whole batch for one text, leave a vector out, or give one that is no direction; none
of that may reach the store, nor keep the good ones from it. It must not know which server it is.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol

import numpy as np

from recalld.errors import PermanentModelError
from recalld.models.embedder import EmbeddingSpace, Matrix, Vector, encodable
from recalld.models.prefixes import prefixes

BATCH = 32
# Shorter than this a text is not cut further; the server refuses it for another reason.
_SHORTEST = 16
_DIGEST_CHECK_S = 30.0
# No threshold was measured for the model, so evidence must be strong: nearly all words, or a close meaning
# and half the words. It is raised for models that find everything alike.
_LEAST_TAU = 0.75
_ABOVE_UNRELATED = 0.3
_SLOPE = 6.0
# Kind, model, weights, rule of prefixes, dimension.
_IDENTITY = re.compile(r"(?P<kind>ollama|openai)/(?P<model>.+)@[^@/]+/[^/]+/\d+")
# Nothing in one of these has to do with another; how alike a model finds them is its zero.
_UNRELATED = (
    "The invoice for the new bicycle was paid in March.",
    "Postgres listens on port 5432 of the second server.",
    "De kat slaapt het liefst op de vensterbank.",
    "Für den Teig braucht man 500 Gramm Mehl.",
    "Le train pour Lyon part de la voie neuf.",
    "杭州的西湖在春天最美。",
    "会議は来週の火曜日に延期された。",
    "Photosynthesis turns light into sugar.",
)


class TextRefused(Exception):
    """The server refused what was sent, perhaps for one text of many, perhaps for its length."""


class AnswerUnreadable(Exception):
    """Something in the answer is no vector."""


class VectorSource(Protocol):
    """Raw vectors from a server."""

    @property
    def kind(self) -> str:
        """The kind of server, a word."""
        ...

    @property
    def model(self) -> str:
        """The model's full name."""
        ...

    def digest(self) -> str | None:
        """What tells these weights from others of the same name; None when the server doesn't tell.

        Raises:
            TransientModelError, PermanentModelError: see each.
        """
        ...

    def vectors(self, texts: Sequence[str]) -> list[list[float | None]]:
        """A vector a text, in order, as the server gave them: any number of any length.

        Raises:
            TextRefused, AnswerUnreadable, TransientModelError, PermanentModelError: see each.
        """
        ...

    def close(self) -> None:
        """Cuts calls under way and refuses later ones."""
        ...


class ServerEmbedder:
    """An embedding model at a server; see Embedder."""

    def __init__(
        self, source: VectorSource, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """Asks the server for the model and a first few vectors, which tell the dimension.

        Raises:
            TransientModelError: It doesn't answer now.
            PermanentModelError: It hasn't the model, or the model makes no vectors.
        """
        self._source = source
        self._clock = clock
        self._prefixes = prefixes(source.model)
        self._digest = source.digest()
        self._checked_at = clock()
        self._lock = threading.Lock()
        self._space = self._first_space()

    @property
    def space(self) -> EmbeddingSpace:
        """See Embedder. Its threshold is not calibrated; see `calibration_hint`."""
        return self._space

    @property
    def calibration_hint(self) -> str:
        """What the user should know about relevance with this model."""
        return (
            f"the relevance of {self._space.name} is not calibrated, so weak evidence is refused; "
            "set recall.min_relevance if too little is found"
        )

    def embed_query(self, text: str) -> Vector:
        """See Embedder; all NaN where the model could not make one."""
        with self._lock:
            due = self._clock() - self._checked_at >= _DIGEST_CHECK_S
        if due:
            self._check_weights()
        vector: Vector = self._embedded([text], self._prefixes.query)[0]
        return vector

    def embed_statements(self, texts: Sequence[str], starts: Sequence[int] = ()) -> Matrix:  # noqa: ARG002 - the protocol's
        """See Embedder. An empty text is a row of NaN, and is not sent."""
        found = self._embedded(texts, self._prefixes.statement)
        if len(texts):
            # After the vectors: what is stored under this space was made by these weights.
            self._check_weights()
        return found

    def close(self) -> None:
        """Cuts calls under way and refuses later ones."""
        self._source.close()

    def _first_space(self) -> EmbeddingSpace:
        model = self._source.model
        try:
            rows = self._source.vectors([self._prefixes.statement + text for text in _UNRELATED])
        except (TextRefused, AnswerUnreadable) as error:
            raise PermanentModelError(
                f"{model} makes no vectors: {error}",
                hint="set embedding.model to an embedding model, such as bge-m3",
                state="missing",
            ) from error
        dimension = len(rows[0]) if rows else 0
        unit = _unit_rows(rows, dimension)
        if dimension < 2 or len(rows) != len(_UNRELATED) or np.isnan(unit).any():
            raise PermanentModelError(
                f"{model} makes no usable vectors",
                hint="set embedding.model to an embedding model, such as bge-m3",
                state="missing",
            )
        return EmbeddingSpace(
            identity=f"{self._source.kind}/{model}@{self._digest or 'unknown'}"
            f"/{self._prefixes.rule}/{dimension}",
            name=model,
            dimension=dimension,
            tau=_threshold(unit),
            slope=_SLOPE,
        )

    def _check_weights(self) -> None:
        digest = self._source.digest()
        with self._lock:
            self._checked_at = self._clock()
        if digest != self._digest:
            raise PermanentModelError(
                f"{self._source.model} was replaced at the server",
                hint="`recalld reembed` embeds everything anew with the new weights",
                state="missing",
            )

    def _embedded(self, texts: Sequence[str], prefix: str) -> Matrix:
        found = np.full((len(texts), self._space.dimension), np.nan, np.float32)
        sound = [_sound(text) for text in texts]
        wanted = [place for place, text in enumerate(sound) if text]
        for start in range(0, len(wanted), BATCH):
            places = wanted[start : start + BATCH]
            found[places] = self._rows([prefix + sound[place] for place in places], len(prefix))
        return found

    def _rows(self, texts: list[str], kept: int) -> Matrix:
        """Unit rows of these texts; NaN where there is none. `kept` characters of each are its prefix."""
        try:
            rows = self._source.vectors(texts)
            if len(rows) == len(texts):
                return self._checked(rows)
        except TextRefused:
            if len(texts) == 1 and len(texts[0]) - kept > _SHORTEST:
                shorter = kept + (len(texts[0]) - kept) * 2 // 3
                return self._rows([texts[0][:shorter]], kept)
        except AnswerUnreadable:
            pass
        # Of a batch with a wrong count nobody knows which vector is whose: none of it is used.
        if len(texts) == 1:
            return np.full((1, self._space.dimension), np.nan, np.float32)
        half = len(texts) // 2
        return np.concatenate([self._rows(texts[:half], kept), self._rows(texts[half:], kept)])

    def _checked(self, rows: list[list[float | None]]) -> Matrix:
        dimension = self._space.dimension
        lengths = {len(row) for row in rows}
        if len(rows) > 1 and len(lengths) == 1 and dimension not in lengths:
            raise PermanentModelError(
                f"{self._source.model} gives {lengths.pop()} dimensions, and gave {dimension}",
                hint="`recalld reembed` embeds everything anew",
                state="missing",
            )
        return _unit_rows(rows, dimension)


def named_in(identity: str) -> tuple[str, str] | None:
    """The kind of server and the model that made a space, by its identity; None where it is no server's."""
    found = _IDENTITY.fullmatch(identity)
    return (found["kind"], found["model"]) if found else None


def _unit_rows(rows: list[list[float | None]], dimension: int) -> Matrix:
    """The rows at length one; NaN where a row has another length, a gap, or no direction."""
    found = np.full((len(rows), dimension), np.nan, np.float64)
    for place, row in enumerate(rows):
        if len(row) == dimension:
            found[place] = [np.nan if value is None else value for value in row]
    with np.errstate(all="ignore"):
        lengths = np.linalg.norm(found, axis=1, keepdims=True)
        usable = np.isfinite(lengths) & (lengths > 1e-6)
        unit = np.where(usable, found / lengths, np.nan)
    return unit.astype(np.float32)


def _threshold(unrelated: Matrix) -> float:
    """Tau for a model that finds these unrelated statements as alike as it does."""
    alike = unrelated @ unrelated.T
    np.fill_diagonal(alike, -1)
    return round(max(_LEAST_TAU, float(alike.max()) + _ABOVE_UNRELATED), 2)


def _sound(text: str) -> str:
    """The text without what JSON or a tokenizer trips over; empty when nothing is left."""
    return encodable(text.replace("\0", " ")).strip()
