from __future__ import annotations

import pytest

from ingest.rules.cells import split_cells, told_cells


@pytest.mark.parametrize(
    ("row", "cells"),
    [
        ("| a | b |", ("a", "b")),
        ("a | b", ("a", "b")),
        (r"| x \| y | [[t\|alias]] |", ("x | y", "alias")),
        ("| `p|q` | |", ("`p|q`", "")),
    ],
)
def test_cells_are_parted_by_bars_that_part(row, cells):
    assert split_cells(row) == cells


def test_what_is_struck_out_tells_nothing_and_neither_does_what_it_heads():
    heads = split_cells("| Host | ~~Port~~ | Disk | RAM |")
    assert told_cells(heads, split_cells("| db1 | 80 | ~~1 TB~~ | ~~2~~ 4 GB | more |")) == (
        ("Host", "db1"),
        ("RAM", "4 GB"),
        ("", "more"),
    )
    assert told_cells(heads, split_cells("| ~~db2~~ | 80 | 1 TB |")) == ()
    assert told_cells(heads, ()) == ()
