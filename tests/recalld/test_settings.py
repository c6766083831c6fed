"""What may be set, from where, and how mistakes are told."""

import itertools
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from recalld.errors import SettingsError
from recalld.settings import Loaded, example_settings, load_settings, render_settings

REPO = Path(__file__).parents[2]
HOME = Path("/home/ana")

NO_HALF_LIFE = (
    "recall.half_life_days.error (file): errors never decay, so they have no half-life; "
    "remove this key"
)

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


def flat(table, above=""):
    for name, value in table.items():
        if isinstance(value, dict):
            yield from flat(value, f"{above}{name}.")
        else:
            yield above + name, value


# ---------------------------------------------------------------- defaults and the example


@pytest.mark.parametrize("key", ALL_KEYS)
def test_default_is_the_documented_one(key):
    loaded = load()
    expected = Path("/home/ana/.local/share/recalld") if key == "data_dir" else ALL_KEYS[key]
    found = value_of(loaded, key)
    assert (list(found) if isinstance(found, tuple) else found) == expected
    assert loaded.origins[key] == "default"


def test_origins_name_every_key_and_no_other():
    assert set(load().origins) == set(ALL_KEYS)


def test_data_dir_follows_xdg_data_home_unless_that_is_relative():
    assert load(env={"XDG_DATA_HOME": "/srv/data"}).settings.data_dir == Path("/srv/data/recalld")
    assert load(env={"XDG_DATA_HOME": "data"}).settings.data_dir == HOME / ".local/share/recalld"


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


# ---------------------------------------------------------------- order and origins


def test_flag_wins_over_environment_over_file_over_default(tmp_path):
    text = "[recall]\nlimit = 3\nmax_chars = 500\nneighbours = false\n"
    env = {"RECALLD_RECALL__LIMIT": "4", "RECALLD_RECALL__MAX_CHARS": "600"}
    loaded = load(text, tmp_path=tmp_path, env=env, flags={"recall.limit": 5})
    recall = loaded.settings.recall
    assert (recall.limit, recall.max_chars, recall.neighbours) == (5, 600, False)
    assert loaded.origins["recall.limit"] == "flag"
    assert loaded.origins["recall.max_chars"] == "env RECALLD_RECALL__MAX_CHARS"
    assert loaded.origins["recall.neighbours"] == "file"
    assert loaded.origins["log.level"] == "default"
    assert loaded.file == tmp_path / "config.toml"


def test_flag_of_none_counts_as_not_given():
    assert load(flags={"daemon.socket": None, "log.level": None}).origins["log.level"] == "default"


def test_empty_variable_counts_as_unset():
    assert load(env={"RECALLD_SOCKET": "", "RECALLD_LOG__LEVEL": ""}).settings.daemon.socket is None


def test_recalld_socket_means_the_daemons_socket():
    loaded = load(env={"RECALLD_SOCKET": "/run/me.sock"})
    assert loaded.settings.daemon.socket == Path("/run/me.sock")
    assert loaded.origins["daemon.socket"] == "env RECALLD_SOCKET"


@pytest.mark.parametrize(
    ("variable", "text", "key", "value"),
    [
        ("RECALLD_INGEST__QUIET_MS", "250", "ingest.quiet_ms", 250),
        ("RECALLD_RECALL__NEIGHBOURS", "False", "recall.neighbours", False),
        ("RECALLD_RECALL__MIN_RELEVANCE", "0.25", "recall.min_relevance", 0.25),
        ("RECALLD_RECALL__HALF_LIFE_DAYS__TOOL", "90", "recall.half_life_days.tool", 90),
        ("RECALLD_LOG__LEVEL", "debug", "log.level", "debug"),
        ("RECALLD_INGEST__EXTENSIONS", ".md:.txt", "ingest.extensions", (".md", ".txt")),
        ("RECALLD_INGEST__EXTENSIONS", '[".md"]', "ingest.extensions", (".md",)),
        ("RECALLD_DATA_DIR", "~/2026", "data_dir", HOME / "2026"),
    ],
)
def test_variable_is_read_by_the_type_of_its_key(variable, text, key, value):
    assert value_of(load(env={variable: text}), key) == value


def test_variables_of_other_programs_are_left_alone():
    load(env={"RECALLD_BUILD_HOST": "x", "PATH": "/bin", "LANG": "nl_NL.UTF-8"})


# ---------------------------------------------------------------- mistakes


def test_every_mistake_is_told_at_once(tmp_path):
    text = """
quite_ms = 1
[ingest]
quiet_ms = "soon"
max_note_byte = 5
[recall]
limit = 51
[recall.half_life_days]
error = 7
[log]
level = "loud"
"""
    env = {"RECALLD_EMBEDDING__BATCH": "many", "RECALLD_DAEMON__SOKET": "/x"}
    told = mistakes(text, tmp_path=tmp_path, env=env, flags={"daemon.max_connections": 0})
    expected = [
        "quite_ms (file): is not a setting; did you mean ingest.quiet_ms?",
        'ingest.quiet_ms = "soon" (file): must be a whole number from 0 to 60_000',
        "ingest.max_note_byte (file): is not a setting; did you mean ingest.max_note_bytes?",
        "recall.limit = 51 (file): must be a whole number from 1 to 50",
        NO_HALF_LIFE,
        'log.level = "loud" (file): must be one of "debug", "info", "warning", "error"',
        'embedding.batch = "many" (env RECALLD_EMBEDDING__BATCH): must be a whole number from 1 to 1_024',
        "daemon.soket (env RECALLD_DAEMON__SOKET): is not a setting; did you mean daemon.socket?",
        "daemon.max_connections = 0 (flag): must be a whole number from 1 to 4_096",
    ]
    assert sorted(told) == sorted(expected)


def test_broken_file_does_not_hide_the_mistakes_of_the_environment(tmp_path):
    told = mistakes("[ingest\n", tmp_path=tmp_path, env={"RECALLD_RECALL__LIMIT": "0"})
    assert len(told) == 2
    assert "config.toml: is not TOML" in told[0]
    assert "line 1" in told[0]
    assert told[1].startswith("recall.limit = 0 (env RECALLD_RECALL__LIMIT)")


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("[recall]\nlimit = true", "recall.limit = true"),
        ("[recall]\nlimit = 8.0", "recall.limit = 8.0"),
        ('[recall]\nlimit = "8"', 'recall.limit = "8"'),
        ("[recall]\nneighbours = 1", "recall.neighbours = 1"),
        ("[recall]\nmin_relevance = 1.01", "recall.min_relevance = 1.01"),
        ("[recall]\nmin_relevance = nan", "recall.min_relevance = nan"),
        ("[schedule]\nscan_every_min = inf", "schedule.scan_every_min = inf"),
        ("[schedule]\nscan_every_min = 0", "schedule.scan_every_min = 0"),
        ("[ingest]\nextensions = []", "ingest.extensions = []"),
        ('[ingest]\nextensions = ["md"]', 'ingest.extensions = ["md"]'),
        ("[ingest]\nmass_deletion_share = 0", "ingest.mass_deletion_share = 0"),
        ("[ingest]\nquiet_ms = 5000", "ingest.longest_wait_ms = 3_000: must be at least"),
        ("[log]\nlevel = 3", "log.level = 3"),
        ('[llm]\nmodel = ""', 'llm.model = "" (file): must be text, not empty'),
        ("[llm]\nhost = 11434", "llm.host = 11_434 (file): must be text"),
        ("[llm]\nnum_ctx = 512", "llm.num_ctx = 512"),
        ('[llm]\nprovider = "cloud"', 'llm.provider = "cloud"'),
        ('[llm]\nallow_remote = "yes"', 'llm.allow_remote = "yes"'),
        ("[daemon]\nsocket = 3", "daemon.socket = 3"),
        ('[daemon]\nsocket = ""', 'daemon.socket = ""'),
        ("data_dir = []", "data_dir = []"),
        ("ingest = 3", "ingest = 3 (file): must be a table"),
        ("[recall.limit]\na = 1", "recall.limit = { a = 1 }"),
        ("roots = 3", "roots = 3"),
        ('roots = "~/notes"', 'roots = "~/notes"'),
        ("roots = [3]", "roots[0].path = 3"),
        ('roots = [""]', 'roots[0].path = ""'),
        ('roots = [{ name = "x" }]', 'roots[0] = { name = "x" } (file): must have a path'),
        ('roots = [{ path = "/a", name = 3 }]', "roots[0].name = 3"),
        ('roots = [{ path = "/a", name = " " }]', 'roots[0].name = " "'),
        ('roots = [{ path = "/a", name = "a/b" }]', 'roots[0].name = "a/b"'),
        ('roots = [{ path = "/a", nam = "b" }]', "roots[0].nam (file): is not a setting"),
        ('roots = ["~bob/notes"]', 'roots[0].path = "~bob/notes"'),
        ('roots = ["$NOPE/notes"]', 'roots[0].path = "$NOPE/notes" (file): the variable NOPE'),
        ('roots = ["/a/$"]', 'roots[0].path = "/a/$"'),
    ],
)
def test_wrong_value_is_one_sentence_that_begins_with_key_and_value(tmp_path, text, starts):
    told = mistakes(text, tmp_path=tmp_path)
    assert len(told) == 1
    assert told[0].startswith(starts)


def test_file_that_is_named_must_be_there(tmp_path):
    with pytest.raises(SettingsError, match="cannot be read"):
        load_settings(env={}, file=tmp_path / "none.toml", home=HOME)


def test_file_that_is_not_utf8_is_refused_and_a_byte_order_mark_is_not(tmp_path):
    file = tmp_path / "config.toml"
    file.write_bytes(b'data_dir = "/caf\xe9"')
    with pytest.raises(SettingsError, match="must be UTF-8"):
        load_settings(env={}, file=file, home=HOME)
    file.write_bytes('\ufeffdata_dir = "/café"'.encode())
    assert load_settings(env={}, file=file, home=HOME).settings.data_dir == Path("/café")


def test_error_says_what_to_do():
    with pytest.raises(SettingsError) as raised:
        load(env={"RECALLD_RECALL__LIMIT": "0"})
    assert "recalld config init" in raised.value.hint


key_parts = st.text("abcdefghijklmnopqrstuvwxyz_0123456789", min_size=1, max_size=12)
plain_values = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
any_values = st.recursive(
    plain_values, lambda v: st.lists(v, max_size=3) | st.dictionaries(key_parts, v, max_size=3)
)


@pytest.mark.slow
@settings(deadline=None, max_examples=100)
@given(flags=st.dictionaries(st.sampled_from(sorted(ALL_KEYS)) | key_parts, any_values, max_size=5))
def test_any_value_for_any_key_is_settings_or_sentences(flags):
    told, rows = (), []
    try:
        rows = render_settings(load(flags=flags))
    except SettingsError as error:
        told = error.mistakes
    assert all(isinstance(each, str) and each for each in told)
    assert bool(told) != (len(rows) == len(ALL_KEYS))


# ---------------------------------------------------------------- roots and paths


def roots_of(loaded: Loaded) -> list[tuple[str, str]]:
    return [(root.name, str(root.path)) for root in loaded.settings.roots]


def test_roots_are_paths_or_tables_with_home_and_variables_replaced(tmp_path):
    text = 'roots = ["~/notes", { name = "werk", path = "$WORK/笔记" }, "/srv/a/../b/"]'
    loaded = load(text, tmp_path=tmp_path, env={"WORK": "/srv/werk"})
    assert roots_of(loaded) == [
        ("notes", "/home/ana/notes"),
        ("werk", "/srv/werk/笔记"),
        ("b", "/srv/b"),
    ]


def test_relative_path_counts_from_the_file_that_holds_it(tmp_path):
    loaded = load('roots = ["notes"]\ndata_dir = "../data"', tmp_path=tmp_path)
    assert loaded.settings.roots[0].path == tmp_path / "notes"
    assert loaded.settings.data_dir == tmp_path.parent / "data"


def test_root_that_is_not_there_yet_is_no_mistake(tmp_path):
    assert roots_of(load(f'roots = ["{tmp_path}/not-mounted"]', tmp_path=tmp_path))


def test_folders_on_the_command_line_add_to_those_in_the_file(tmp_path):
    loaded = load('roots = ["/srv/a"]', tmp_path=tmp_path, flags={"roots": (Path("/srv/b"),)})
    assert roots_of(loaded) == [("a", "/srv/a"), ("b", "/srv/b")]
    assert loaded.origins["roots"] == "file + flag"
    assert load(flags={"roots": ["/srv/b"]}).origins["roots"] == "flag"
    assert load(flags={"roots": ()}).origins["roots"] == "default"


def test_folder_on_the_command_line_that_is_set_already_is_one_root(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    flags = {"roots": [f"{tmp_path}/link"]}
    loaded = load(f'roots = ["{tmp_path}/a"]', tmp_path=tmp_path, flags=flags)
    assert roots_of(loaded) == [("a", f"{tmp_path}/a")]


def test_roots_in_the_environment_replace_those_of_the_file(tmp_path):
    env = {"RECALLD_ROOTS": "/srv/b:~/c"}
    loaded = load('roots = ["/srv/a"]', tmp_path=tmp_path, env=env)
    assert roots_of(loaded) == [("b", "/srv/b"), ("c", "/home/ana/c")]


def test_dollar_in_a_path_from_the_shell_is_kept():
    for written in (Path("/srv/$a"), "/srv/$a"):
        assert load(flags={"roots": [written]}).settings.roots[0].path == Path("/srv/$a")


def test_equal_names_are_refused_with_the_way_out(tmp_path):
    told = mistakes('roots = ["/a/notes", "/b/notes"]', tmp_path=tmp_path)
    assert len(told) == 1
    assert 'both named "notes"' in told[0]
    assert '{ name = "…", path = "/b/notes" }' in told[0]


def test_nested_roots_are_refused_in_either_order(tmp_path):
    for text in ('roots = ["/a", "/a/b"]', 'roots = ["/a/b", "/a"]'):
        told = mistakes(text, tmp_path=tmp_path)
        assert len(told) == 1
        assert told[0].startswith("roots: /a/b lies inside /a ")


def test_neighbours_with_a_common_beginning_are_not_nested(tmp_path):
    assert len(load('roots = ["/a/note", "/a/notes"]', tmp_path=tmp_path).settings.roots) == 2


def test_roots_that_overlap_through_a_symlink_are_refused(tmp_path):
    (tmp_path / "vault" / "work").mkdir(parents=True)
    (tmp_path / "elsewhere").symlink_to(tmp_path / "vault" / "work")
    (tmp_path / "same").symlink_to(tmp_path / "vault")
    told = mistakes(f'roots = ["{tmp_path}/vault", "{tmp_path}/elsewhere"]', tmp_path=tmp_path)
    assert f"{tmp_path}/elsewhere lies inside {tmp_path}/vault" in told[0]
    told = mistakes(f'roots = ["{tmp_path}/vault", "{tmp_path}/same"]', tmp_path=tmp_path)
    assert "are the same folder" in told[0]


def test_root_that_is_a_file_is_refused(tmp_path):
    (tmp_path / "note.md").write_text("hello")
    told = mistakes(f'roots = ["{tmp_path}/note.md"]', tmp_path=tmp_path)
    assert "is a file; a root must be a folder" in told[0]


# ---------------------------------------------------------------- showing, freezing, layering


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


def test_settings_cannot_be_changed():
    loaded = load()
    with pytest.raises(ValidationError):
        loaded.settings.recall.limit = 3


def test_only_settings_and_protocol_import_pydantic():
    allowed = {REPO / "recalld/settings.py", REPO / "recalld/parameters.py"}
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
