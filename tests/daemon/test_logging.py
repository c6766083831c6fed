"""One line an event, on standard error, whoever logs."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap

import pytest

from tests.waiting import DEADLINE_S

# A fresh interpreter: logging is configured for a whole process.
pytestmark = pytest.mark.slow


def logged(script: str, *, level: str = "info", log_format: str = "json") -> str:
    setup = (
        "import logging, structlog, sys, threading, warnings\n"
        "from daemon.logging import configure_logging\n"
        f"configure_logging(level={level!r}, log_format={log_format!r})\n"
        "log = structlog.get_logger()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", setup + textwrap.dedent(script)],
        capture_output=True,
        text=True,
        check=True,
        timeout=DEADLINE_S,
    )
    assert done.stdout == ""
    return done.stderr


def events(script: str, **options: str) -> list[dict[str, object]]:
    return [json.loads(line) for line in logged(script, **options).splitlines()]


def test_event_is_one_json_line_with_level_and_utc_time():
    [event] = events("log.info('note.ingested', root='notes', path='日記.md', count=3)")
    assert event.pop("timestamp").endswith("Z")
    assert event == {
        "event": "note.ingested", "level": "info", "root": "notes", "path": "日記.md", "count": 3,
    }  # fmt: skip


@pytest.mark.parametrize("log_format", ["json", "console"])
def test_no_secret_of_a_file_name_is_logged(log_format):
    script = """
        log.warning('note.rejected', note='keys/password=tulip9.md')
        name = 'wacht' + 'woord=daisy8.md'
        try: open(name)
        except OSError: log.error('job.failed', exc_info=True)
    """
    said = logged(script, log_format=log_format)
    assert "note.rejected" in said
    assert "FileNotFoundError" in said
    assert "password=[redacted]" in said
    assert "wachtwoord=[redacted]" in said


def test_below_the_level_nothing_is_logged():
    script = "log.debug('a'); log.info('b'); log.warning('c'); log.error('d')"
    assert [event["event"] for event in events(script, level="warning")] == ["c", "d"]


def test_exception_stays_on_its_line():
    [event] = events(
        """
        try: 1 / 0
        except ZeroDivisionError: log.error('job.failed', exc_info=True)
        """
    )
    assert "ZeroDivisionError" in event["exception"]


def test_libraries_log_through_it_from_warning_on():
    found = events(
        """
        for name in ('watchdog.observers', 'apscheduler.scheduler', 'httpx'):
            logging.getLogger(name).info('file %s changed', 'a.md')
            logging.getLogger(name).warning('queue of %d overflowed', 7)
        logging.getLogger('another').info('hello')
        """,
        level="debug",
    )
    assert [(each["library"], each["message"], each["level"]) for each in found] == [
        ("watchdog.observers", "queue of 7 overflowed", "warning"),
        ("apscheduler.scheduler", "queue of 7 overflowed", "warning"),
        ("httpx", "queue of 7 overflowed", "warning"),
        ("another", "hello", "info"),
    ]
    assert {each["event"] for each in found} == {"library.logged"}


def test_warning_of_python_is_a_line_too():
    [event] = events("warnings.warn('old ways')")
    assert event["library"] == "py.warnings"


def test_context_is_on_every_line():
    script = "structlog.contextvars.bind_contextvars(recall_id='r-1'); log.info('recall.answered')"
    assert events(script)[0]["recall_id"] == "r-1"


def test_thread_that_crashes_is_named():
    [event] = events(
        "t = threading.Thread(target=lambda: 1 / 0, name='recalld-writer'); t.start(); t.join()"
    )
    assert (event["event"], event["thread"]) == ("thread.crashed", "recalld-writer")
    assert "ZeroDivisionError" in event["exception"]


def test_console_shows_no_control_characters_and_no_colours_when_piped():
    text = logged(
        "log.info('note.ingested', path='a\\x1b]0;x\\x07\\x9b1m.md')", log_format="console"
    )
    assert "note.ingested" in text
    assert not any(ord(each) < 32 or 127 <= ord(each) < 160 for each in text.replace("\n", ""))


def test_second_configuration_replaces_the_first():
    found = events(
        "configure_logging(level='error', log_format='json'); log.info('a'); log.error('b')"
    )
    assert [each["event"] for each in found] == ["b"]


def test_closed_standard_error_breaks_nothing():
    assert logged("sys.stderr.close(); log.info('a'); logging.getLogger('x').error('b')") == ""


def test_lone_surrogate_of_an_undecodable_file_name_is_logged():
    [event] = events("log.info('note.rejected', path='caf\\udce9.md')")
    assert event["path"] == "caf\udce9.md"
