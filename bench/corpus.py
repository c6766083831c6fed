"""A private copy of a vault with its data folder, kept between runs because its vectors are dear.

The copy is written to by measurements and made equal to the original before each of them.
"""

from __future__ import annotations

import hashlib
import os
import random
import shutil
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Corpus:
    """A vault to measure with: `original` is only read, `vault` and `data` are ours."""

    original: Path
    home: Path

    @property
    def vault(self) -> Path:
        """The copy that the daemon watches."""
        return self.home / "vault"

    @property
    def data(self) -> Path:
        """The data folder that knows the copy's vectors."""
        return self.home / "data"

    def notes(self) -> list[str]:
        """The notes' paths relative to the vault, sorted."""
        found = self.original.rglob("*.md")
        paths = (path.relative_to(self.original) for path in found if path.is_file())
        return sorted(str(path) for path in paths if not _hidden(path))

    def restore(self) -> None:
        """Makes the copy equal to the original; files that are equal are not touched."""
        wanted = _files(self.original)
        for path in _files(self.vault) - wanted:
            (self.vault / path).unlink()
        for path in sorted(wanted):
            target, content = self.vault / path, (self.original / path).read_bytes()
            if not target.is_file() or target.read_bytes() != content:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content)
        for folder, _, _ in os.walk(self.vault, topdown=False):
            if Path(folder) != self.vault and not any(Path(folder).iterdir()):
                Path(folder).rmdir()

    def titles(self, count: int, seed: int = 0) -> list[tuple[str, str]]:
        """(path, title) of `count` notes at random, each title once: the first heading, else the file name."""
        found: dict[str, str] = {}
        for path in self.notes():
            found.setdefault(_title(self.original / path), path)
        pairs = sorted((path, heading) for heading, path in found.items())
        return random.Random(seed).sample(pairs, min(count, len(pairs)))

    def folder_of_about(self, count: int) -> tuple[str, list[str]]:
        """The folder whose number of notes, those below it included, is nearest to `count`."""
        below: dict[str, list[str]] = {}
        for path in self.notes():
            for folder in list(Path(path).parents)[:-1]:
                below.setdefault(str(folder), []).append(path)
        if not below:
            raise ValueError(f"{self.original} has no folder with notes")
        return min(below.items(), key=lambda one: (abs(len(one[1]) - count), one[0]))


def open_corpus(original: Path) -> Corpus:
    """The corpus of a vault, copied on first use to the user's cache, under a hash of its files."""
    digest = hashlib.blake2b(digest_size=6)
    for path in sorted(original.rglob("*")):
        if path.is_file() and not path.is_symlink():
            content = hashlib.blake2b(path.read_bytes()).digest()
            digest.update(str(path.relative_to(original)).encode() + b"\0" + content)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    corpus = Corpus(original=original, home=cache / "recalld-bench" / digest.hexdigest())
    if not corpus.vault.exists():
        shutil.copytree(original, corpus.vault)
    for folder, _, names in os.walk(corpus.vault):
        for path in (Path(folder), *(Path(folder, name) for name in names)):
            mode = path.stat().st_mode
            # A change of mode is a change to a daemon that watches.
            if not mode & 0o200:
                path.chmod(mode | 0o200)
    corpus.restore()
    return corpus


def _files(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


def _hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def _title(path: Path) -> str:
    for line in path.read_text("utf-8", "replace").splitlines():
        if line.startswith("# ") and len(line) > 6:
            return line[2:].strip()
    return path.stem
