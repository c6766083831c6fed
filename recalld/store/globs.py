"""Globs over the paths of notes, as patterns whose time grows with the length of the path, not with a power of it.

Notes, roots and SQL are not known here.
"""

from __future__ import annotations

import re
import unicodedata

_TOKEN = re.compile(r"(\*\*/?|\*|\?|\[[^\]]+\])")
_GAPS = {"": "", "**/": "(?:.*?/)??", "**": ".*?", "*": "[^/]*?"}


def path_pattern(glob: str) -> re.Pattern[str]:
    """A glob as a pattern over a whole path in NFC: `*` and `?` stay within a name, `**` crosses folders.

    A glob without wildcards means that file, or all below that folder; one with brackets means
    that as well, since folders are called `old [2020]` too.
    """
    plain = unicodedata.normalize("NFC", glob).removeprefix("./").strip("/")
    literal = re.escape(plain) + r"(?:/.*)?" if plain else r"(?!)"
    if not any(mark in plain for mark in "*?["):
        return re.compile(literal, re.DOTALL)
    try:
        return re.compile(f"{_wild(plain)}|{literal}", re.DOTALL)
    except re.error:
        return re.compile(literal, re.DOTALL)


def _wild(glob: str) -> str:
    """What stands behind a wildcard is taken where it first fits, for good.

    A later place could only end later and leave less to what follows, so it is tried no more; only where the glob
    ends the path must end too, and there each place is tried once.
    """
    pieces: list[tuple[str, list[tuple[str, str]]]] = [("", [("", "")])]
    for part in filter(None, _TOKEN.split(glob)):
        if part.startswith("**"):
            pieces.append((part, [("", "")]))
        elif part == "*":
            pieces[-1][1].append((part, ""))
        else:
            star, run = pieces[-1][1][-1]
            pieces[-1][1][-1] = (star, run + _fixed(part))
    *before, (gap, runs) = pieces
    firm = "".join(f"(?>{_GAPS[one]}{''.join(map(_firm, those))})" for one, those in before)
    return f"{firm}{_GAPS[gap]}{''.join(map(_firm, runs[:-1]))}{_GAPS[runs[-1][0]]}{runs[-1][1]}"


def _firm(run: tuple[str, str]) -> str:
    star, text = run
    return f"(?>{_GAPS[star]}{text})"


def _fixed(part: str) -> str:
    """A pattern of one character for a wildcard of one, else the part's own characters."""
    if part == "?":
        return "[^/]"
    if len(part) > 2 and part.startswith("[") and part.endswith("]"):
        inner = part[1:-1].replace("\\", r"\\").replace("[", r"\[")
        # Not even a negated one crosses folders.
        return "(?!/)[" + ("^" + inner[1:] if inner[0] in "!^" else inner) + "]"
    return re.escape(part)
