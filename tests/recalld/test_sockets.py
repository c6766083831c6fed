import os
import socket
from pathlib import Path

import pytest

from recalld.errors import SocketError
from recalld.sockets import MAX_PATH_BYTES, check_folder, fallback_folder, peer_uid, socket_path

HOME = Path("/home/ana")


def path_of(*, flag=None, setting=None, **env):
    return socket_path(flag=flag, env=env, setting=setting, home=HOME)


def test_first_that_is_set_wins():
    env = {
        "RECALLD_SOCKET": "/e.sock",
        "XDG_RUNTIME_DIR": "/run/user/7",
        "XDG_STATE_HOME": "/state",
    }
    assert path_of(flag="/f.sock", setting="/s.sock", **env) == Path("/f.sock")
    assert path_of(setting="/s.sock", **env) == Path("/e.sock")
    del env["RECALLD_SOCKET"]
    assert path_of(setting="/s.sock", **env) == Path("/s.sock")
    assert path_of(**env) == Path("/run/user/7/recalld/recalld.sock")
    del env["XDG_RUNTIME_DIR"]
    assert path_of(**env) == Path("/state/recalld/run/recalld.sock")
    assert path_of() == Path("/home/ana/.local/state/recalld/run/recalld.sock")


def test_empty_and_relative_folders_count_as_not_set():
    env = {"RECALLD_SOCKET": "", "XDG_RUNTIME_DIR": "run", "XDG_STATE_HOME": ""}
    assert path_of(flag="", setting="", **env) == HOME / ".local/state/recalld/run/recalld.sock"


def test_tilde_is_the_given_home():
    assert path_of(setting="~/r.sock") == HOME / "r.sock"


def test_path_of_107_bytes_is_kept_and_of_108_is_shortened():
    at_limit = "/" + "é" * 53
    assert len(at_limit.encode()) == MAX_PATH_BYTES
    assert path_of(flag=at_limit) == Path(at_limit)
    assert path_of(flag=at_limit + "x").parent == fallback_folder(os.geteuid())


def test_short_path_is_deterministic_and_differs_by_path():
    long, other = "/" + "a" * 200, "/" + "b" * 200
    runtime = {"XDG_RUNTIME_DIR": "/run/user/7"}
    assert path_of(flag=long, **runtime) == path_of(setting=long, **runtime)
    assert path_of(flag=long, **runtime) != path_of(flag=other, **runtime)
    assert path_of(flag=long, **runtime).parent == Path("/run/user/7/recalld")


@pytest.mark.parametrize("runtime", ["", "/run/user/7", "/" + "r" * 95, "/" + "r" * 300])
def test_every_path_fits_the_system(runtime):
    path = path_of(flag="/" + "x" * 4000, XDG_RUNTIME_DIR=runtime)
    assert len(os.fsencode(path)) <= MAX_PATH_BYTES


@pytest.mark.parametrize(
    ("mode", "refused"),
    [(0o700, False), (0o755, False), (0o770, True), (0o777, True), (0o1777, False)],
)
def test_folder_others_can_write_to_is_refused_unless_sticky(tmp_path, mode, refused):
    folder = tmp_path / "run"
    folder.mkdir()
    folder.chmod(mode)
    if not refused:
        check_folder(folder, uid=os.geteuid())
        return
    with pytest.raises(SocketError, match="other users") as caught:
        check_folder(folder, uid=os.geteuid())
    assert caught.value.hint is not None
    assert "chmod 700" in caught.value.hint


def test_folder_of_another_user_is_refused(tmp_path):
    if os.geteuid() == 0:
        os.chown(tmp_path, 12345, -1)
        with pytest.raises(SocketError, match="another user"):
            check_folder(tmp_path, uid=0)
    else:
        with pytest.raises(SocketError, match="another user"):
            check_folder(tmp_path, uid=os.geteuid() + 1)


def test_missing_folder_is_fine_and_a_file_is_not(tmp_path):
    check_folder(tmp_path / "missing", uid=os.geteuid())
    (tmp_path / "file").touch()
    with pytest.raises(SocketError, match="not a folder"):
        check_folder(tmp_path / "file", uid=os.geteuid())


@pytest.fixture
def fallback():
    """A fallback folder that no real user has."""
    folder = fallback_folder(3_000_000_000 + os.getpid())
    yield folder
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        folder.rmdir()


def test_fallback_folder_must_be_ours_with_0700(fallback):
    fallback.mkdir(mode=0o700)
    uid = int(fallback.name.removeprefix("recalld-"))
    with pytest.raises(SocketError, match="another user"):
        check_folder(fallback, uid=uid)
    if os.geteuid() == 0:
        os.chown(fallback, uid, -1)
        check_folder(fallback, uid=uid)
        fallback.chmod(0o750)
        with pytest.raises(SocketError, match="open to other users"):
            check_folder(fallback, uid=uid)


def test_fallback_folder_that_is_a_link_is_refused(fallback, tmp_path):
    fallback.symlink_to(tmp_path)
    with pytest.raises(SocketError, match="not a folder"):
        check_folder(fallback, uid=int(fallback.name.removeprefix("recalld-")))


def test_peer_of_a_socket_pair_is_us():
    one, two = socket.socketpair(socket.AF_UNIX)
    with one, two:
        assert peer_uid(one) == os.geteuid()
