"""What the tests of settings share: every key with its default, and a way to load."""

from pathlib import Path

import pytest

from recalld.errors import SettingsError
from recalld.settings.loading import Loaded, load_settings

REPO = Path(__file__).parents[3]


HOME = Path("/home/ana")


ALL_KEYS = {
    "roots": [],
    "data_dir": None,
    "ingest.quiet_ms": 300,
    "ingest.longest_wait_ms": 3000,
    "ingest.max_note_bytes": 10_000_000,
    "ingest.empty_grace_s": 5,
    "ingest.mass_deletion_count": 10,
    "ingest.mass_deletion_share": 0.5,
    "ingest.deletion_grace_h": 24,
    "ingest.extensions": [".md", ".markdown"],
    "ingest.on_conflict": "supersede",
    "embedding.provider": "embedded",
    "embedding.model": "bge-m3",
    "embedding.host": "",
    "embedding.threads": 1,
    "embedding.batch": 16,
    "llm.provider": "auto",
    "llm.model": "gemma3:4b",
    "llm.host": "",
    "llm.allow_remote": False,
    "llm.allow_cloud": False,
    "llm.num_ctx": 8192,
    "llm.timeout_s": 120,
    "llm.api_key_env": "",
    "recall.limit": 8,
    "recall.max_chars": 4000,
    "recall.min_relevance": None,
    "recall.neighbours": True,
    "recall.half_life_days.knowledge": 365,
    "recall.half_life_days.preference": 365,
    "recall.half_life_days.tool": 180,
    "recall.half_life_days.timeline": 30,
    "rerank.provider": "off",
    "rerank.model": "bge-reranker-v2-m3",
    "rerank.host": "",
    "rerank.timeout_s": 2,
    "rerank.depth": 20,
    "daemon.socket": None,
    "daemon.max_connections": 64,
    "daemon.max_line_bytes": 1_048_576,
    "daemon.half_line_timeout_s": 30,
    "daemon.idle_timeout_s": 600,
    "daemon.stop_timeout_s": 5,
    "schedule.scan_every_min": 10,
    "schedule.full_hash_every_h": 24,
    "schedule.maintenance_every_h": 24,
    "schedule.watch_check_every_s": 5,
    "log.level": "info",
    "log.format": "auto",
}


def load(file_text=None, *, tmp_path=None, env=None, flags=None, home=HOME) -> Loaded:
    file = None
    if file_text is not None:
        file = tmp_path / "config.toml"
        file.write_text(file_text, encoding="utf-8")
    return load_settings(flags=flags or {}, env=env or {}, file=file, home=home)


def mistakes(file_text=None, **rest) -> tuple[str, ...]:
    with pytest.raises(SettingsError) as raised:
        load(file_text, **rest)
    return raised.value.mistakes


def value_of(loaded: Loaded, key: str):
    value = loaded.settings
    for part in key.split("."):
        value = getattr(value, part)
    return value
