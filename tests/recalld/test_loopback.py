"""Which addresses are allowed, and what each way of writing one means."""

import pytest

from recalld.errors import PermanentModelError
from recalld.models.loopback import OLLAMA_PORT, ServerAddress, is_loopback, read_address


def read(text, *, allow_remote=False):
    return read_address(text, port=OLLAMA_PORT, allow_remote=allow_remote, setting="llm.host")


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("", "http://127.0.0.1:11434"),
        ("  ", "http://127.0.0.1:11434"),
        ("127.0.0.1", "http://127.0.0.1:11434"),
        ("127.8.0.1:56789", "http://127.8.0.1:56789"),
        (":56789", "http://127.0.0.1:56789"),
        ("localhost:1", "http://localhost:1"),
        ("LOCALHOST", "http://localhost:11434"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("0.0.0.0:8000/", "http://127.0.0.1:8000"),
        ("[::]:8000", "http://[::1]:8000"),
        ("[::1]", "http://[::1]:11434"),
        ("http://127.0.0.1", "http://127.0.0.1:80"),
        ("https://127.0.0.1", "https://127.0.0.1:443"),
        ("http://127.0.0.1:11434/ollama/", "http://127.0.0.1:11434/ollama"),
        ("127.0.0.1:11434/path", "http://127.0.0.1:11434/path"),
    ],
)
def test_address_of_this_machine_is_completed_as_ollama_does(text, url):
    assert read(text) == ServerAddress(url=url, loopback=True)


@pytest.mark.parametrize(
    "text",
    [
        "192.168.1.5",
        "example.com:11434",
        "https://ollama.com",
        "http://localhost.example.com",
        "http://127.0.0.1.example.com",
        "[2001:db8::1]",
        "[::ffff:10.0.0.1]",
        "2130706433",
        "0x7f000001",
    ],
)
def test_address_elsewhere_needs_leave(text):
    with pytest.raises(PermanentModelError, match="not this machine") as raised:
        read(text)
    assert "llm.allow_remote = true" in raised.value.hint
    assert not read(text, allow_remote=True).loopback


@pytest.mark.parametrize(
    "text",
    [
        "ftp://127.0.0.1",
        "unix:///run/x",
        "http://127.0.0.1:port",
        "127.0.0.1:99999",
        "http://[::1",
        "two words",
        "http://ann:secret@127.0.0.1",
        "http://127.0.0.1@example.com",
        "http://127.0.0.1/?q=1",
        "http://127.0.0.1/#x",
    ],
)
def test_what_is_no_plain_address_is_refused_with_the_way_to_write_it(text):
    with pytest.raises(PermanentModelError) as raised:
        read(text, allow_remote=True)
    assert "llm.host" in raised.value.message + raised.value.hint
    assert "secret" not in raised.value.message


def test_only_numbers_are_known_to_be_this_machine():
    assert is_loopback("127.0.0.1")
    assert is_loopback("::1")
    assert is_loopback("::ffff:127.0.0.1")
    assert not is_loopback("10.0.0.1")
    assert not is_loopback("localhost")
