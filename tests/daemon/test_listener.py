import os
import socket
import stat

import pytest

from daemon.listener import bound_listener, inherited_listener
from recalld.errors import SocketError


@pytest.fixture
def path(tmp_path):
    return tmp_path / "made" / "here" / "recalld.sock"


def dead_socket(path):
    """The file that a killed daemon leaves."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_UNIX) as left:
        left.bind(str(path))


def mode(path):
    return stat.S_IMODE(path.lstat().st_mode)


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
def test_modes_do_not_depend_on_the_umask(path, mask):
    before = os.umask(mask)
    try:
        listener = bound_listener(path)
        assert os.umask(mask) == mask
    finally:
        os.umask(before)
    assert (mode(path), mode(path.parent), mode(path.parent.parent)) == (0o600, 0o700, 0o700)
    listener.close()
    assert not path.exists()


def test_dead_socket_is_replaced(path):
    dead_socket(path)
    listener = bound_listener(path)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    listener.close()


def test_live_socket_is_refused_and_left(path):
    first = bound_listener(path)
    with pytest.raises(SocketError, match="Another daemon answers there"):
        bound_listener(path)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    first.close()


def test_live_socket_with_a_full_queue_is_refused(path):
    path.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX) as busy, socket.socket(socket.AF_UNIX) as waiting:
        busy.bind(str(path))
        busy.listen(0)
        waiting.connect(str(path))
        with pytest.raises(SocketError, match="Another daemon"):
            bound_listener(path)


def test_socket_of_another_type_is_refused_and_left(path):
    path.parent.mkdir(parents=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
        other.bind(str(path))
        with pytest.raises(SocketError, match="Another daemon"):
            bound_listener(path)
        assert path.exists()


@pytest.mark.parametrize("make", ["file", "folder", "dangling", "link_to_socket", "fifo"])
def test_what_is_no_socket_is_refused_and_never_deleted(path, make):
    path.parent.mkdir(parents=True)
    if make == "file":
        path.write_text("mine")
    elif make == "folder":
        path.mkdir()
    elif make == "dangling":
        path.symlink_to("nowhere")
    elif make == "fifo":
        os.mkfifo(path)
    else:
        dead_socket(path.with_name("other"))
        path.symlink_to("other")
    before = path.lstat()
    with pytest.raises(SocketError, match="not a socket") as caught:
        bound_listener(path)
    assert caught.value.hint
    assert path.lstat() == before


def test_folder_that_others_can_write_to_is_refused(path):
    path.parent.mkdir(parents=True)
    path.parent.chmod(0o777)
    with pytest.raises(SocketError, match="written to by other users"):
        bound_listener(path)
    assert not path.exists()


def test_dead_socket_of_another_user_is_left(path):
    if os.geteuid() != 0:
        pytest.skip("only root can make another user's file")
    dead_socket(path)
    os.chown(path, 12345, -1)
    with pytest.raises(SocketError, match="another user"):
        bound_listener(path)
    assert path.exists()


def test_path_that_is_too_long_or_below_a_file_is_refused(tmp_path):
    with pytest.raises(SocketError, match="over 107 bytes"):
        bound_listener(tmp_path / ("x" * 120))
    (tmp_path / "file").touch()
    with pytest.raises(SocketError, match="can't be made"):
        bound_listener(tmp_path / "file" / "r.sock")


def test_closing_leaves_a_socket_that_has_taken_the_place(path):
    first = bound_listener(path)
    path.unlink()
    second = bound_listener(path)
    first.close()
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
    second.close()
    assert not path.exists()


def test_closing_after_the_file_is_gone_is_quiet(path):
    listener = bound_listener(path)
    path.unlink()
    listener.close()


def test_inherited_socket_is_closed_and_its_file_left(path):
    path.parent.mkdir(parents=True)
    handed = socket.socket(socket.AF_UNIX)
    handed.bind(str(path))
    handed.listen()
    inherited_listener(handed).close()
    assert handed.fileno() == -1
    assert path.exists()


def test_only_a_listening_unix_socket_can_be_inherited():
    with socket.socket(socket.AF_UNIX) as idle, pytest.raises(SocketError):
        inherited_listener(idle)
    with socket.socket(socket.AF_INET) as inet, pytest.raises(SocketError):
        inherited_listener(inet)
