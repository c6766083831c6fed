import contextlib
import json
import select
import socket
import threading
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.peers import LineBuffer, Peer, ServerLimits
from daemon.waiting import StopSignal
from recalld.errors import NotFound, TooLarge
from tests.daemon.serving import EventLog, answer_of, asked, echo, lines_of
from tests.waiting import DEADLINE_S

MIB = 1024 * 1024


def drained(buffer: LineBuffer):
    while (line := buffer.next_line()) is not None:
        yield line


@given(st.lists(st.binary(max_size=30).map(lambda b: b.replace(b"\n", b"")), max_size=6), st.data())
def test_lines_come_out_whole_wherever_they_are_cut(lines, data):
    sent = b"".join(line + b"\n" for line in lines) + b"rest"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(sent)), max_size=8)))
    buffer = LineBuffer(100)
    found = []
    for start, end in zip([0, *cuts], [*cuts, len(sent)], strict=True):
        buffer.feed(sent[start:end])
        found += drained(buffer)
    assert found == lines
    assert buffer.rest() == b"rest"
    assert not buffer


def test_line_at_the_limit_passes_and_one_byte_more_does_not():
    buffer = LineBuffer(10)
    buffer.feed(b"x" * 10)
    assert buffer.next_line() is None
    buffer.feed(b"\n")
    assert buffer.next_line() == b"x" * 10
    buffer.feed(b"x" * 11)
    with pytest.raises(TooLarge):
        buffer.next_line()
    whole = LineBuffer(10)
    whole.feed(b"x" * 11 + b"\n")
    with pytest.raises(TooLarge):
        whole.next_line()


class Talk:
    """A client that talks with a peer's thread."""

    def __init__(self, methods=None, *, said: bytes = b"", **limits):
        """`said` is what the client has sent before the peer begins to listen."""
        self.client, server = socket.socketpair()
        self.client.settimeout(DEADLINE_S)
        self.client.sendall(said)
        self.stop = StopSignal()
        self.log = EventLog()
        methods = methods or {"echo": echo}
        self.peer = Peer(server, methods, ServerLimits(**limits), self.stop, self.log)
        self.thread = threading.Thread(target=self.peer.run, name="peer under test")
        self.thread.start()

    def ended(self) -> bool:
        self.thread.join(DEADLINE_S)
        return not self.thread.is_alive()


@contextlib.contextmanager
def talk(methods=None, *, said: bytes = b"", **limits):
    talking = Talk(methods, said=said, **limits)
    try:
        yield talking
    finally:
        # Shut down first: a generator of lines that is still held keeps the socket from closing.
        with contextlib.suppress(OSError):
            talking.client.shutdown(socket.SHUT_RDWR)
        talking.client.close()
        assert talking.ended()
        talking.stop.close()


def test_ten_requests_in_one_write_are_answered_in_order():
    with talk() as t:
        t.client.sendall(b"".join(asked(request_id=n, n=n) for n in range(10)))
        answers = lines_of(t.client)
        assert [next(answers)["id"] for _ in range(10)] == list(range(10))


def test_request_in_many_writes_with_letters_cut_is_whole():
    with talk() as t:
        line = (
            json.dumps(
                {"jsonrpc": "2.0", "id": "é", "method": "echo", "params": {"q": "漢字 ไทย 🚀"}},
                ensure_ascii=False,
            ).encode()
            + b"\n"
        )
        for byte in line:
            t.client.sendall(bytes([byte]))
        assert answer_of(t.client) == {"jsonrpc": "2.0", "id": "é", "result": {"q": "漢字 ไทย 🚀"}}


@pytest.mark.parametrize("size", [63 * 1024, 65 * 1024, 900 * 1024])
def test_long_lines_within_the_limit_work(size):
    with talk() as t:
        sender = threading.Thread(target=t.client.sendall, args=(asked(text="x" * size),))
        sender.start()
        assert len(answer_of(t.client)["result"]["text"]) == size
        sender.join()


def test_line_over_the_limit_is_refused_and_the_connection_closed():
    with talk() as t:
        t.client.sendall(b"x" * (2 * MIB) + b"\n")
        (answer,) = lines_of(t.client)
        assert (answer["id"], answer["error"]["code"]) == (None, -32003)
        assert answer["error"]["data"]["kind"] == "too_large"
        t.client.close()
        assert t.ended()


def test_requests_before_a_line_too_long_are_answered():
    with talk(max_line_bytes=1000) as t:
        t.client.sendall(asked(request_id=1) + b"x" * 5000)
        assert [a.get("id") for a in lines_of(t.client)] == [1, None]


def test_half_closed_client_gets_its_answers():
    with talk() as t:
        t.client.sendall(asked(request_id=1) + asked(request_id=2).rstrip(b"\n"))
        t.client.shutdown(socket.SHUT_WR)
        assert [a["id"] for a in lines_of(t.client)] == [1, 2]


def test_half_a_line_then_close_ends_quietly():
    with talk() as t:
        t.client.sendall(b'{"jsonrpc":')
        t.client.close()
        assert t.ended()
        assert "request.failed" not in t.log.names()


def test_half_a_line_then_silence_is_dropped_and_told_why():
    with talk(half_line_timeout_s=0.05) as t:
        t.client.sendall(b'{"jsonrpc":')
        (answer,) = lines_of(t.client)
        assert answer["error"]["code"] == -32600
        assert "0.05 s" in answer["error"]["message"]


def test_one_byte_at_a_time_does_not_prolong_the_half_line_limit():
    with talk(half_line_timeout_s=0.1) as t:
        end = time.monotonic() + DEADLINE_S
        answered = False
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            while not answered and time.monotonic() < end:
                t.client.sendall(b"x")
                answered = bool(select.select([t.client], [], [], 0.01)[0])
        assert answered


def test_silent_client_is_closed_after_the_idle_limit():
    with talk(idle_timeout_s=0.05, said=asked()) as t:
        assert [a["id"] for a in lines_of(t.client)] == [1]


def test_client_that_never_reads_is_dropped():
    with talk({"big": lambda _: {"text": "x" * 5 * MIB}}, write_timeout_s=0.05) as t:
        t.client.sendall(asked("big"))
        assert t.ended()
        assert "connection.dropped" in t.log.names()


def test_client_that_reads_slowly_gets_all_of_a_large_answer():
    with talk({"big": lambda _: {"text": "x" * 5 * MIB}}) as t:
        t.client.sendall(asked("big"))
        assert len(answer_of(t.client)["result"]["text"]) == 5 * MIB


def test_client_that_closes_before_the_answer_is_no_failure():
    closed = threading.Event()

    def late(_params):
        assert closed.wait(DEADLINE_S)
        return {}

    with talk({"late": late}) as t:
        t.client.sendall(asked("late") * 3)
        t.client.close()
        closed.set()
        assert t.ended()
        assert t.peer.hung_up
        assert "request.failed" not in t.log.names()


def test_batch_is_one_array_without_its_notifications():
    note = b'{"jsonrpc":"2.0","method":"echo"}'
    with talk() as t:
        t.client.sendall(
            b"["
            + asked(request_id="a").strip()
            + b","
            + note
            + b",7,"
            + asked("nope", 2).strip()
            + b"]\n"
        )
        answer = answer_of(t.client)
        assert [(a["id"], a.get("error", {}).get("code")) for a in answer] == [
            ("a", None),
            (None, -32600),
            (2, -32601),
        ]


def test_notifications_are_carried_out_and_never_answered():
    done: list[object] = []

    def note(params):
        done.append(params)
        raise NotFound("It is not there.")

    with talk({"note": note, "echo": echo}) as t:
        line = b'{"jsonrpc":"2.0","method":"note","params":{"n":1}}'
        t.client.sendall(
            line
            + b"\n["
            + line
            + b"]\n\n"
            + b'{"jsonrpc":"2.0","method":"nope"}\n'
            + asked(request_id=5)
        )
        assert answer_of(t.client)["id"] == 5
        assert done == [{"n": 1}, {"n": 1}]


def test_errors_come_back_and_the_connection_lives_on():
    def missing(_params):
        raise NotFound("There is no fact:a1.", hint="Look with recall.")

    def broken(_params):
        raise ValueError("/home/ana/secret")

    methods = {
        "missing": missing,
        "broken": broken,
        "nan": lambda _: {"a": float("nan")},
        "odd": lambda _: object(),
        "echo": echo,
    }
    with talk(methods) as t:
        t.client.sendall(
            b"".join(asked(name, name) for name in methods) + b"junk\n" + asked("missin", 9)
        )
        answers = lines_of(t.client)
        got = [next(answers) for _ in range(7)]
    codes = [a.get("error", {}).get("code") for a in got]
    assert codes == [-32001, -32603, -32603, -32603, None, -32700, -32601]
    assert got[0]["error"]["data"] == {"kind": "not_found", "hint": "Look with recall."}
    assert got[6]["error"]["data"]["hint"] == "Did you mean `missing`?"
    assert "secret" not in json.dumps(got)
    assert "Traceback" not in json.dumps(got)
    assert t.log.names().count("request.failed") == 3


def test_hostile_lines_are_answered_and_the_connection_lives_on():
    with talk() as t:
        t.client.sendall(
            b"[" * 10_000
            + b"\n"
            + b'"\xff"\n'
            + asked(q="\ud83d")
            + b"\x00\n"
            + asked(q="before\x00after", request_id=2)
        )
        answers = lines_of(t.client)
        got = [next(answers) for _ in range(5)]
    assert [a.get("error", {}).get("code") for a in got] == [-32700, -32700, None, -32700, None]
    assert got[2]["result"] == {"q": "\ufffd"}
    assert got[4]["result"] == {"q": "before\x00after"}


def test_request_in_flight_is_finished_and_the_next_is_told_to_stop():
    begun, go = threading.Event(), threading.Event()

    def slow(_params):
        begun.set()
        assert go.wait(DEADLINE_S)
        return {}

    with talk({"slow": slow}) as t:
        t.client.sendall(
            b"["
            + asked("slow", 1).strip()
            + b","
            + asked("slow", 2).strip()
            + b"]\n"
            + asked("slow", 3)
        )
        assert begun.wait(DEADLINE_S)
        t.stop.set()
        go.set()
        batch, single = lines_of(t.client)
        assert "result" in batch[0]
        assert (batch[1]["id"], batch[1]["error"]["code"]) == (2, -32006)
        assert (single["id"], single["error"]["code"]) == (3, -32006)


def test_abandoned_request_is_answered_with_stopping_once():
    begun, go = threading.Event(), threading.Event()

    def hung(_params):
        begun.set()
        assert go.wait(DEADLINE_S)
        return {}

    with talk({"hung": hung}) as t:
        t.client.sendall(asked("hung", 7))
        assert begun.wait(DEADLINE_S)
        t.stop.set()
        t.peer.abandon()
        (answer,) = lines_of(t.client)
        assert (answer["id"], answer["error"]["data"]["kind"]) == (7, "stopping")
        go.set()
        assert t.ended()
        t.peer.abandon()


def test_peer_that_floods_cannot_hold_up_a_stop():
    with talk() as t:
        flooding = threading.Event()

        def flood():
            with contextlib.suppress(OSError):
                while True:
                    t.client.send(asked())
                    flooding.set()

        sender = threading.Thread(target=flood)
        sender.start()
        assert flooding.wait(DEADLINE_S)
        t.stop.set()
        assert t.ended()
        sender.join()
