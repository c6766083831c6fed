"""Which daemon is asked, and what an error exits with."""

from __future__ import annotations

import io
import tempfile
from pathlib import Path

import pytest

from daemon.session import Session
from daemon.terminal import Screen
from recalld.errors import AlreadyRunning, NotFound, NotRunning, RecalldError, SettingsError


@pytest.fixture
def home():
    """A short path: a socket's long one would be replaced."""
    with tempfile.TemporaryDirectory(prefix="home") as folder:
        yield Path(folder)


@pytest.fixture
def session(home, monkeypatch):
    for name in ("RECALLD_SOCKET", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "XDG_STATE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(home))
    return Session(out=Screen(io.StringIO(), {}), err=Screen(io.StringIO(), {}))


def with_setting(session: Session, tmp_path: Path, value: str) -> Session:
    file = tmp_path / "config.toml"
    file.write_text(f"[daemon]\nsocket = {value}\n")
    session.config = str(file)
    return session


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (RecalldError("x"), 1),
        (NotFound("x"), 1),
        (SettingsError(("x",)), 2),
        (NotRunning("x"), 3),
        (AlreadyRunning("x", holder=1), 4),
    ],
)
def test_each_kind_of_error_has_its_exit_code(session, error, code):
    assert session.fail_with(error) == code


def test_hint_follows_the_last_mistake(session):
    session.fail_with(SettingsError(("one", "two\nlines"), hint="read the manual"))
    assert session.err.stream.getvalue() == (
        "recalld: one\nrecalld: two lines\nhint: read the manual\n"
    )


def test_flag_comes_before_environment_before_setting_before_default(
    session, home, tmp_path, monkeypatch
):
    usual = home / ".local/state/recalld/run/recalld.sock"
    assert session.socket_path == usual
    assert with_setting(session, tmp_path, '"/set/s"').socket_path == Path("/set/s")
    monkeypatch.setenv("RECALLD_SOCKET", "/env/s")
    assert session.socket_path == Path("/env/s")
    session.socket = "/flag/s"
    assert session.socket_path == Path("/flag/s")


@pytest.mark.parametrize(
    ("written", "meant"),
    [('"~/s"', "s"), ('"$HOME/s"', "s"), ('"sub/s"', "sub/s"), ('"./a/../s"', "s")],
)
def test_setting_is_read_as_the_daemon_reads_it(session, home, tmp_path, written, meant):
    found = with_setting(session, tmp_path, written)
    # A relative path counts from the settings file's folder, the others from the home.
    assert found.socket_path in (home / meant, tmp_path / meant)
    settings = found.load_settings({}).settings
    assert settings.daemon.socket == found.socket_path


@pytest.mark.parametrize("written", ['""', "7", "[]"])
def test_setting_that_is_no_path_counts_as_unset(session, home, tmp_path, written):
    usual = home / ".local/state/recalld/run/recalld.sock"
    assert with_setting(session, tmp_path, written).socket_path == usual


def test_named_settings_file_must_exist_and_the_usual_one_need_not(session):
    assert session.load_settings({}).file is None
    session.config = "/nowhere.toml"
    with pytest.raises(SettingsError):
        session.load_settings({})
