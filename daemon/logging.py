"""Configures logging, once: structlog and the standard library's loggers, to standard error.

Whoever logs imports structlog's `get_logger` and nothing from here. It must not know what is
logged.
"""

from __future__ import annotations

import logging
import os
import re
import sys
import threading
from io import StringIO
from typing import Literal, TextIO

import structlog
from structlog.typing import EventDict, ExcInfo, Processor, WrappedLogger

from ingest.masking.redaction import redact

Level = Literal["debug", "info", "warning", "error"]
Format = Literal["auto", "json", "console"]

# Libraries that tell every file event, run of a job, parser rule or request at a level that we show.
_TALKATIVE = ("watchdog", "apscheduler", "markdown_it", "httpx", "httpcore")
# What the daemon itself says in constants.
_OWN_KEYS = frozenset({"event", "level", "timestamp", "recall_id"})
_CONTROLS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def configure_logging(*, level: Level, log_format: Format) -> None:
    """Sends every log event of `level` and above to standard error, a line each.

    Format `auto` is for people on a terminal and JSON elsewhere. A second call replaces the first.
    A broken standard error never breaks what was being logged about.
    """
    number = getattr(logging, level.upper())
    for_people = log_format == "console" or (log_format == "auto" and sys.stderr.isatty())
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.make_filtering_bound_logger(number),
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*shared, _foreign_event],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            *(_console_processors() if for_people else _json_processors()),
        ],
    )
    handler = _QuietHandler(_CurrentStderr())
    handler.setFormatter(formatter)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(number)
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(number, logging.WARNING))
    logging.captureWarnings(capture=True)
    threading.excepthook = _log_crashed_thread


def _json_processors() -> list[Processor]:
    return [
        structlog.processors.format_exc_info,
        _mask_secrets,
        structlog.processors.JSONRenderer(ensure_ascii=True, sort_keys=False),
    ]


def _console_processors() -> list[Processor]:
    return [
        _mask_secrets,
        _show_controls,
        structlog.dev.ConsoleRenderer(
            colors=sys.stderr.isatty() and not os.environ.get("NO_COLOR"),
            exception_formatter=_write_traceback,
        ),
    ]


def _write_traceback(stream: TextIO, exc_info: ExcInfo) -> None:
    written = StringIO()
    structlog.dev.plain_traceback(written, exc_info)
    stream.write(redact(written.getvalue())[0])


def _foreign_event(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """A library's sentence as `library.logged`, since an event's name must be a constant."""
    record: logging.LogRecord = event["_record"]
    return {**event, "event": "library.logged", "library": record.name, "message": event["event"]}


def _mask_secrets(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """A file name, or what a library says of one, may hold a secret."""
    return {
        key: redact(value)[0] if isinstance(value, str) and key not in _OWN_KEYS else value
        for key, value in event.items()
    }


def _show_controls(_logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
    """A file name may hold an escape sequence; a terminal must never see it raw."""
    return {
        key: _CONTROLS.sub("\ufffd", value) if isinstance(value, str) else value
        for key, value in event.items()
    }


def _log_crashed_thread(crash: threading.ExceptHookArgs) -> None:
    if crash.exc_value is not None:
        structlog.get_logger().error(
            "thread.crashed",
            thread=crash.thread.name if crash.thread else None,
            exc_info=crash.exc_value,
        )


class _CurrentStderr:
    """Whatever `sys.stderr` is when a line is written: a progress bar puts itself in its place."""

    def write(self, text: str) -> int:
        return sys.stderr.write(text)

    def flush(self) -> None:
        sys.stderr.flush()


class _QuietHandler(logging.StreamHandler[_CurrentStderr]):
    """Drops what can't be written: the reader of our log is gone, or its disk is full."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802 - its name there
        pass
