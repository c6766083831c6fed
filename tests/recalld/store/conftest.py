from datetime import date
from pathlib import Path

import pytest

from recalld.records import Category
from tests.recalld.store.building import Shelf, block, change, fact


@pytest.fixture
def shelf(tmp_path):
    made = Shelf(tmp_path / "memory.db")
    yield made
    made.database.close()


@pytest.fixture
def filled(shelf):
    """Four notes in two roots, each with the word `up`."""
    error = fact("Alpha is up.", category=Category.ERROR)
    shelf.put("a.md", block("a", "Alpha is up.", error), tags=["ops/db"], dated=date(2026, 1, 1))
    happened = fact("Beta is up.", happened=(date(2026, 2, 10), date(2026, 2, 12)))
    shelf.put("sub/b.md", block("b", "Beta is up.", happened), tags=["opsy"])
    shelf.put("sub/c.md", block("c", "Gamma is up."))
    other = shelf.writers.notes.put_root("other", Path("/other"), 1, 3)
    shelf.writers.notes.apply(
        change(
            other, "d.md", block("d", "Delta is up.", fact("Delta is up.")), dated=date(2025, 1, 1)
        )
    )
    return shelf
