"""Questions about things that hardly any notes mention, in several languages; they are in `foreign.toml`."""

from __future__ import annotations

import hashlib
import tomllib
from functools import cache
from importlib import resources

from retrieval.text.tongues import Tongue


@cache
def foreign_questions() -> dict[Tongue, tuple[str, ...]]:
    """By language code. The same questions in the same order in each, so that only the language differs."""
    return {language: tuple(questions) for language, questions in tomllib.loads(_text()).items()}


@cache
def wording() -> str:
    """Differs when the questions do."""
    told = "\n".join(f"{key}: {one}" for key, some in foreign_questions().items() for one in some)
    return hashlib.blake2b(told.encode(), digest_size=8).hexdigest()


def _text() -> str:
    return resources.files(__package__).joinpath("foreign.toml").read_text(encoding="utf-8")
