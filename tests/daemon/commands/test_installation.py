"""The settings, from the command line."""

from __future__ import annotations

import json

from tests.daemon.commands.calling import call


def test_config_path_is_the_xdg_one_or_the_named_one(place):
    assert call("config", "path").stdout == f"{place}/.config/recalld/config.toml\n"
    assert call("config", "path", "--config", "/x.toml").stdout == "/x.toml\n"


def test_config_init_writes_a_file_that_show_reads_and_never_overwrites(place):
    assert call("config", "init").exit_code == 0
    file = place / ".config/recalld/config.toml"
    before = file.read_text()
    done = call("config", "init")
    assert done.exit_code == 2
    assert "exists already" in done.stderr
    assert file.read_text() == before
    shown = call("config", "show", "--json")
    assert json.loads(shown.stdout)["ingest.quiet_ms"]["origin"] == "file"


def test_config_show_says_where_a_value_comes_from(place, monkeypatch):
    monkeypatch.setenv("RECALLD_INGEST__QUIET_MS", "250")
    done = call("config", "show")
    [line] = [each for each in done.stdout.splitlines() if each.startswith("ingest.quiet_ms ")]
    assert "= 250  (env RECALLD_INGEST__QUIET_MS)" in line


def test_every_mistake_in_the_settings_has_its_line(place):
    file = place / "my.toml"
    file.write_text("[ingest]\nquiet_ms = -1\nfrob = 2\n")
    done = call("config", "show", "--config", str(file))
    assert done.exit_code == 2
    assert sum(line.startswith("recalld: ") for line in done.stderr.splitlines()) == 2
