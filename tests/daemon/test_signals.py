"""Signals reach whoever waits, and a hang-up is told from a terminal's end."""

from __future__ import annotations

import os
import signal

from daemon.signals import SignalInbox
from tests.waiting import DEADLINE_S


def test_signals_come_in_order_and_only_orders_to_stop_stop():
    with SignalInbox() as inbox:
        os.kill(os.getpid(), signal.SIGHUP)
        assert inbox.wait(DEADLINE_S) == signal.SIGHUP
        assert not inbox.stopping
        os.kill(os.getpid(), signal.SIGTERM)
        assert inbox.wait(DEADLINE_S) == signal.SIGTERM
        assert inbox.stopping


def test_nothing_comes_in_time():
    with SignalInbox() as inbox:
        assert inbox.wait(0.001) is None


def test_ignored_hangup_stays_ignored_and_handlers_are_given_back():
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with SignalInbox() as inbox:
            os.kill(os.getpid(), signal.SIGHUP)
            assert inbox.wait(0.01) is None
        assert signal.getsignal(signal.SIGHUP) == signal.SIG_IGN
    finally:
        signal.signal(signal.SIGHUP, before)
