"""What a command of the command line works with: the screens, the options that all share, the daemon.

It must not know the commands. Settings are slow to read, so whoever only asks the daemon reads
nothing of them but the socket's path.
"""

from __future__ import annotations

import os
import string
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from daemon.render.lines import Line, Span, json_text, printable
from daemon.terminal import Screen
from recalld.client import Client
from recalld.errors import AlreadyRunning, NotRunning, RecalldError, SettingsError
from recalld.paths import settings_file
from recalld.sockets import socket_path

if TYPE_CHECKING:
    from recalld.settings.loading import Loaded

ANSWER_S = 60.0


@dataclass(slots=True)
class Session:
    """Where output goes, and what the options that all commands share say."""

    out: Screen
    err: Screen
    socket: str | None = None
    config: str | None = None
    as_json: bool = False

    @property
    def home(self) -> Path:
        """The user's home; / where there is none, as for some services."""
        try:
            return Path.home()
        except RuntimeError:
            return Path("/")

    @property
    def settings_file(self) -> Path:
        """The settings file that is read, whether or not it exists."""
        return Path(self.config) if self.config else settings_file(os.environ, self.home)

    @property
    def socket_path(self) -> Path:
        """Where the daemon listens, without reading more of the settings than that."""
        given = self.socket or os.environ.get("RECALLD_SOCKET")
        setting = None if given else _socket_setting(self.settings_file, self.home)
        return socket_path(flag=self.socket, env=os.environ, setting=setting, home=self.home)

    def load_settings(self, flags: Mapping[str, object]) -> Loaded:
        """All settings; a file that is named must exist, the usual one may be missing."""
        file = self.settings_file if self.config or self.settings_file.exists() else None
        return self.load_other(file, flags)

    def load_other(self, file: Path | None, flags: Mapping[str, object]) -> Loaded:
        """All settings as they would be with another settings file."""
        from recalld.settings.loading import load_settings  # noqa: PLC0415 - pydantic is slow to import

        flags = {**flags, "daemon.socket": self.socket}
        return load_settings(flags=flags, env=os.environ, file=file, home=self.home)

    def show(self, result: object, lines: Iterable[Line]) -> None:
        """The result itself with `--json`, else lines for people."""
        self.out.show([(Span(json_text(result)),)] if self.as_json else lines)

    def fail_with(self, error: RecalldError) -> int:
        """Tells every mistake and what can be done; gives the exit code."""
        mistakes = error.mistakes if isinstance(error, SettingsError) else (error.message,)
        for mistake in mistakes[:-1]:
            self.fail(mistake)
        self.fail(mistakes[-1], error.hint)
        return _exit_code(error)

    def fail(self, message: str, hint: str | None = None) -> None:
        """One line on standard error, and one for what can be done."""
        lines: list[Line] = [(Span(f"recalld: {printable(message)}", "bad"),)]
        if hint:
            lines.append((Span(f"hint: {printable(hint)}", "dim"),))
        self.err.show(lines)

    def connect(self, timeout_s: float = ANSWER_S) -> Client:
        """A connection to the daemon, to be entered."""
        return Client(self.socket_path, timeout_s)

    def ask(
        self, method: str, params: Mapping[str, object], timeout_s: float = ANSWER_S
    ) -> dict[str, object]:
        """The daemon's result; parameters that are None or empty are left to their defaults."""
        given = {key: value for key, value in params.items() if value not in (None, [], ())}
        with self.connect(timeout_s) as client:
            return client.call(method, given)


def _exit_code(error: RecalldError) -> int:
    if isinstance(error, SettingsError):
        return 2
    if isinstance(error, NotRunning):
        return 3
    return 4 if isinstance(error, AlreadyRunning) else 1


def _socket_setting(file: Path, home: Path) -> str | None:
    """`daemon.socket` of the settings file, absolute; None when it isn't set there."""
    try:
        table = tomllib.loads(file.read_bytes().decode("utf-8-sig"))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise SettingsError((f"{file}: cannot be read ({error.strerror})",)) from error
    except ValueError as error:
        raise SettingsError((f"{file}: is not TOML: {error}",)) from error
    section = table.get("daemon")
    value = section.get("socket") if isinstance(section, dict) else None
    if not isinstance(value, str) or not value:
        return None
    text = string.Template(value).safe_substitute(os.environ)
    text = str(home) + text[1:] if text == "~" or text.startswith("~/") else text
    return os.path.normpath(file.absolute().parent / text)
