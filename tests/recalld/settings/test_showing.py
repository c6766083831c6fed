"""Settings as people see them: all of them, and an example."""

import itertools
import re
import tomllib

from recalld.settings.loading import load_settings
from recalld.settings.showing import example_settings, render_settings
from tests.recalld.settings.reading import ALL_KEYS, HOME, REPO, load


def flat(table, above=""):
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{above}{name}.")
        else:
            yield above + name, value


def test_example_file_sets_every_key_that_has_a_default_to_it():
    found = dict(flat(tomllib.loads((REPO / "config.example.toml").read_text("utf-8"))))
    assert found == {key: value for key, value in ALL_KEYS.items() if value is not None}


def test_example_file_shows_the_other_keys_commented_out_and_they_load_too():
    text = (REPO / "config.example.toml").read_text("utf-8")
    for key, default in ALL_KEYS.items():
        if default is None:
            name = key.rpartition(".")[2]
            assert f"\n# {name} = " in text
            text = text.replace(f"\n# {name} = ", f"\n{name} = ")
    assert set(dict(flat(tomllib.loads(text)))) == set(ALL_KEYS)


def test_example_file_is_valid_and_changes_nothing():
    example = load_settings(env={}, file=REPO / "config.example.toml", home=HOME)
    assert example.settings == load().settings


def test_example_file_is_the_one_that_config_init_writes():
    assert (REPO / "config.example.toml").read_text("utf-8") == example_settings()


def test_each_key_of_the_example_has_a_comment_above_it():
    for above, line in itertools.pairwise(example_settings().splitlines()):
        if re.match(r"(# )?[a-z_]+ = ", line):
            assert re.match(r"# [A-Z`]", above), line


def test_rendering_gives_every_key_in_order_with_value_and_origin(tmp_path):
    text = 'roots = ["~/notes"]\n[log]\nlevel = "debug"'
    rows = render_settings(load(text, tmp_path=tmp_path))
    assert [row[0] for row in rows] == list(ALL_KEYS)
    shown = {key: (value, origin) for key, value, origin in rows}
    assert shown["roots"] == ('[{ name = "notes", path = "/home/ana/notes" }]', "file")
    assert shown["log.level"] == ('"debug"', "file")
    assert shown["recall.min_relevance"] == ("unset", "default")
    assert shown["recall.neighbours"] == ("true", "default")
    assert shown["ingest.extensions"] == ('[".md", ".markdown"]', "default")
