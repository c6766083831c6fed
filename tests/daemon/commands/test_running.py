"""What is checked before the daemon runs."""

from __future__ import annotations

from tests.daemon.commands.calling import call


def test_run_without_a_folder_is_a_settings_error(place):
    done = call("run")
    assert done.exit_code == 2
    assert "no folder to watch" in done.stderr


def test_run_with_wrong_settings_exits_2_so_that_it_is_not_restarted(place):
    (place / ".config/recalld").mkdir(parents=True)
    (place / ".config/recalld/config.toml").write_text("quiet = 1\n")
    assert call("run", str(place)).exit_code == 2
