"""Which note a link means. Pure: names and paths in, a path out.

The rule, as Obsidian users expect it: a path relative to the linking note, then a path from the root, then any note
whose path ends that way; of several, one in the same folder, then the shortest path, then the first by name.
"""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

_EXTENSIONS = (".md", ".markdown")


def folded(path: str) -> str:
    """A path as links compare it: composed, without case, without a note's extension."""
    plain = unicodedata.normalize("NFC", path).casefold().strip()
    for extension in _EXTENSIONS:
        plain = plain.removesuffix(extension)
    return plain


def name_key(path: str) -> str:
    """The folded last part of a path or target: what finds the candidates."""
    return posixpath.basename(folded(path).rstrip("/"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Resolved:
    """The path that a link means, None while there is none; `ambiguous` when the rule had to choose."""

    path: str | None
    ambiguous: bool = False


def resolve(target: str, from_path: str, candidates: Iterable[str]) -> Resolved:
    """Chooses among `candidates`, the paths in the same root whose `name_key` is the target's.

    An empty target means the linking note itself.
    """
    if not target.strip():
        return Resolved(path=from_path)
    folder = posixpath.dirname(from_path)
    wanted = folded(target).lstrip("/")
    beside = posixpath.normpath(posixpath.join(folded(folder), folded(target)))
    fitting = [path for path in candidates if _ends(folded(path), wanted, beside)]
    if not fitting:
        return Resolved(path=None)
    exact = [path for path in fitting if folded(path) == beside]
    from_root = [path for path in fitting if folded(path) == wanted and "/" in wanted]
    chosen = min(exact or from_root or fitting, key=lambda path: _preference(path, folder))
    sure = len(fitting) == 1 or ("/" in wanted and bool(exact or from_root))
    return Resolved(path=chosen, ambiguous=not sure)


def _ends(path: str, wanted: str, beside: str) -> bool:
    return path in (wanted, beside) or path.endswith("/" + wanted)


def _preference(path: str, folder: str) -> tuple[bool, int, int, str]:
    return (posixpath.dirname(path) != folder, path.count("/"), len(path), path)
