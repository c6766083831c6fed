"""Kept results of a model that may be kept no longer."""

from __future__ import annotations

from recalld.store.deep import cached_extraction
from recalld.store.results import drop_results


def kept(shelf, count):
    with shelf.reader() as connection:
        found = [cached_extraction(connection, b"%04d" % number) for number in range(count)]
    return [result for result in found if result is not None]


def test_unfit_results_are_dropped_once_a_version(shelf):
    count = 1203
    for number in range(count):
        shelf.writers.deep.keep(b"%04d" % number, f'"{number}"', number)
    looked: list[str] = []

    def is_unfit(result: str) -> bool:
        looked.append(result)
        return result.endswith('7"')

    connection = shelf.writers.connection
    assert drop_results(connection, is_unfit, version="a") == 120
    assert len(looked) == len(set(looked)) == count
    assert len(kept(shelf, count)) == count - 120
    assert drop_results(connection, is_unfit, version="a") == 0
    assert len(looked) == count
    assert drop_results(connection, lambda _: True, version="b") == count - 120
    assert kept(shelf, count) == []
