import math
import select
import socket
import threading
import time

from daemon.waiting import StopSignal, ready
from tests.waiting import DEADLINE_S


def test_ready_socket_is_seen_before_and_after_the_stop():
    stop = StopSignal()
    one, two = socket.socketpair()
    with one, two:
        two.send(b"x")
        assert stop.wait_for(one, select.POLLIN, math.inf)
        stop.set()
        assert stop.wait_for(one, select.POLLIN, math.inf)
    stop.close()


def test_deadline_ends_a_wait():
    stop = StopSignal()
    one, two = socket.socketpair()
    with one, two:
        assert not stop.wait_for(one, select.POLLIN, time.monotonic() + 0.01)
        stop.wait(time.monotonic() + 0.01)
        assert not stop.is_set
    stop.close()


def test_stop_wakes_every_waiting_thread():
    stop = StopSignal()
    one, two = socket.socketpair()
    seen: list[bool] = []
    with one, two:
        threads = [
            threading.Thread(
                target=lambda: seen.append(stop.wait_for(one, select.POLLIN, math.inf))
            )
            for _ in range(3)
        ]
        for thread in threads:
            thread.start()
        stop.set()
        for thread in threads:
            thread.join(DEADLINE_S)
    assert seen == [False] * 3
    stop.close()


def test_stop_is_set_once():
    stop = StopSignal()
    assert stop.at == math.inf
    stop.set()
    at = stop.at
    stop.set()
    assert stop.at == at <= time.monotonic()
    stop.close()


def test_socket_whose_other_end_is_gone_is_ready_for_nothing_asked():
    one, two = socket.socketpair()
    with one:
        assert not ready(one, 0, 0.0)
        two.close()
        assert ready(one, 0, 0.0)
