"""The cells of a table row: what each holds, and below which head. It knows nothing of blocks or facts."""

from __future__ import annotations

import re

from ingest.markdown.markup import shown, without_struck

_CELL_BORDER = re.compile(r"(?<!\\)\|")


def split_cells(row: str) -> tuple[str, ...]:
    """The cells of a table row without markup; an escaped bar, or one in a link, parts nothing.

    A cell that is struck out as a whole keeps the marks of that.
    """
    protected = re.sub(r"`[^`\n]*`|\[\[[^\[\]\n]*\]\]", lambda m: m.group().replace("|", "\0"), row)
    cells = _CELL_BORDER.split(protected.strip())
    if cells and not cells[0].strip():
        cells = cells[1:]
    if cells and not cells[-1].strip():
        cells = cells[:-1]
    return tuple(shown(cell.replace("\\\0", "|").replace("\0", "|")) for cell in cells)


def told_cells(heads: tuple[str, ...], cells: tuple[str, ...]) -> tuple[tuple[str, str], ...]:
    """Cells with the heads of their columns; none of a row whose head is struck out, as all of it is then."""
    if cells and _is_struck(cells[0]):
        return ()
    headed = ((heads[n] if n < len(heads) else "", cell) for n, cell in enumerate(cells))
    return tuple(
        (head, cell) for head, cell in headed if cell and not _is_struck(cell) | _is_struck(head)
    )


def _is_struck(text: str) -> bool:
    return bool(text) and not without_struck(text)
