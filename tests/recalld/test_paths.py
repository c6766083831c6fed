"""Where files are, by environment and home folder."""

from pathlib import Path

import pytest

from recalld.paths import data_dir, settings_file, state_dir

HOME = Path("/home/ana")


@pytest.mark.parametrize(
    ("place", "variable", "default", "end"),
    [
        (settings_file, "XDG_CONFIG_HOME", "/home/ana/.config", "recalld/config.toml"),
        (data_dir, "XDG_DATA_HOME", "/home/ana/.local/share", "recalld"),
        (state_dir, "XDG_STATE_HOME", "/home/ana/.local/state", "recalld"),
    ],
)
def test_place_follows_its_xdg_variable_when_that_is_absolute(place, variable, default, end):
    assert place({variable: "/srv/x"}, HOME) == Path("/srv/x") / end
    for unset in ({}, {variable: ""}, {variable: "relative/x"}):
        assert place(unset, HOME) == Path(default) / end
