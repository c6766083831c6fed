"""What may be set, and who knows how that is checked."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from tests.recalld.settings.reading import ALL_KEYS, REPO, load, value_of


@pytest.mark.parametrize("key", ALL_KEYS)
def test_default_is_the_documented_one(key):
    loaded = load()
    expected = Path("/home/ana/.local/share/recalld") if key == "data_dir" else ALL_KEYS[key]
    found = value_of(loaded, key)
    assert (list(found) if isinstance(found, tuple) else found) == expected
    assert loaded.origins[key] == "default"


def test_settings_cannot_be_changed():
    loaded = load()
    with pytest.raises(ValidationError):
        loaded.settings.recall.limit = 3


def test_only_tables_and_parameters_import_pydantic():
    allowed = {REPO / "recalld/settings/tables.py", REPO / "recalld/parameters.py"}
    for package in ("recalld", "retrieval", "ingest", "daemon"):
        for module in sorted((REPO / package).rglob("*.py")):
            if module not in allowed:
                text = module.read_text("utf-8")
                assert "import pydantic" not in text, module
                assert "from pydantic" not in text, module


def test_paths_load_without_pydantic():
    code = "import sys, recalld.paths; sys.exit('pydantic' in sys.modules)"
    env = {**os.environ, "PYTHONPATH": str(REPO)}
    assert subprocess.run([sys.executable, "-c", code], check=False, env=env).returncode == 0
