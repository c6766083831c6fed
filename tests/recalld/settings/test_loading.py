"""From where settings come, and how mistakes are told."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recalld.errors import SettingsError
from recalld.settings.loading import load_settings
from recalld.settings.showing import render_settings
from tests.recalld.settings.reading import ALL_KEYS, HOME, load, mistakes, value_of

NO_HALF_LIFE = (
    "recall.half_life_days.error (file): errors never decay, so they have no half-life; "
    "remove this key"
)


def test_origins_name_every_key_and_no_other():
    assert set(load().origins) == set(ALL_KEYS)


def test_data_dir_follows_xdg_data_home_unless_that_is_relative():
    assert load(env={"XDG_DATA_HOME": "/srv/data"}).settings.data_dir == Path("/srv/data/recalld")
    assert load(env={"XDG_DATA_HOME": "data"}).settings.data_dir == HOME / ".local/share/recalld"


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
        ('[llm]\nmodel = " \u3000"', 'llm.model = " \u3000" (file): must be text, not empty'),
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
