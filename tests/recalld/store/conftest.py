import pytest

from tests.recalld.store.building import Shelf


@pytest.fixture
def shelf(tmp_path):
    made = Shelf(tmp_path / "memory.db")
    yield made
    made.database.close()
