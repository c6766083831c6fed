"""Questions about things that hardly any notes mention, by language, and words without sense; in `foreign.toml`."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache
from importlib import resources

from retrieval.text.tongues import UNKNOWN, Tongue


@cache
def foreign_questions() -> dict[Tongue, tuple[str, ...]]:
    """By language code. The same questions in the same order in each, so that only the language differs."""
    return {language: some for language, some in foreign_texts().items() if language != UNKNOWN}


@cache
def foreign_texts() -> dict[Tongue, tuple[str, ...]]:
    """All that is put to a memory: the questions, and as UNKNOWN what are no words of any language."""
    return {language: tuple(some) for language, some in tomllib.loads(_text()).items()}


@cache
def wording() -> str:
    """Differs when any of it does."""
    told = "\n".join(f"{key}: {one}" for key, some in foreign_texts().items() for one in some)
    return hashlib.blake2b(told.encode(), digest_size=8).hexdigest()


def _text() -> str:
    return resources.files(__package__).joinpath("foreign.toml").read_text(encoding="utf-8")
