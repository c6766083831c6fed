"""The settings for people: those that hold, each with its origin, and an example with every key."""

from __future__ import annotations

from recalld.settings.loading import Loaded
from recalld.settings.sources import shown
from recalld.settings.tables import Settings, keys

# What the example shows for keys whose default is computed or is nothing.
_SAMPLES = {
    "data_dir": '"~/.local/share/recalld"',
    "recall.min_relevance": "0.4",
    "daemon.socket": '"$XDG_RUNTIME_DIR/recalld/recalld.sock"',
}


def render_settings(loaded: Loaded) -> list[tuple[str, str, str]]:
    """Every dotted key with its value as TOML would have it and its origin, for people to read."""
    return [(key, _rendered(loaded.settings, key), loaded.origins[key]) for key in keys()]


def example_settings() -> str:
    """A settings file with every key and its default; one without a default is commented out."""
    lines = ["# The settings of recalld, with their defaults. Keep only what you change.", ""]
    table = ""
    for key, leaf in keys().items():
        above, _, name = key.rpartition(".")
        if above != table:
            lines += ["", f"[{above}]"]
            table = above
        lines.append(f"# {leaf.description}")
        value = _SAMPLES.get(key) or shown(leaf.default)
        lines.append(f"# {name} = {value}" if key in _SAMPLES else f"{name} = {value}")
    return "\n".join(lines) + "\n"


def _rendered(settings: Settings, key: str) -> str:
    value: object = settings
    for part in key.split("."):
        value = getattr(value, part)
    if key == "roots":
        value = [root.model_dump() for root in settings.roots]
    return "unset" if value is None else shown(value)
