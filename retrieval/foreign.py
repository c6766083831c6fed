"""Questions about things that hardly any notes mention, in several languages; they are in `foreign.toml`."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources


@cache
def foreign_questions() -> dict[str, tuple[str, ...]]:
    """By language code. The same questions in the same order in each, so that only the language differs."""
    text = resources.files(__package__).joinpath("foreign.toml").read_text(encoding="utf-8")
    return {language: tuple(questions) for language, questions in tomllib.loads(text).items()}
