"""Any result as an outline."""

from __future__ import annotations

from hypothesis import given

from daemon.render.outline import tree_lines
from tests.daemon.render.shown import anything, steers, text


@given(anything)
def test_any_json_becomes_an_outline_that_steers_nothing(value):
    assert not steers(text(tree_lines(value)))
