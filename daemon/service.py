"""The user service of systemd: writes its units, tells the manager, and says what came of it.

It must not know what the service does, and never touches notes, memory or settings.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

from recalld.errors import SettingsError
from recalld.paths import state_dir
from recalld.sockets import socket_path

if TYPE_CHECKING:
    from recalld.settings.tables import Settings

UNITS = ("recalld.socket", "recalld.service")
# Options that work for a user's manager only together with PrivateUsers=, which some kernels forbid.
NAMESPACE_OPTIONS = frozenset(
    {"PrivateUsers", "ProtectSystem", "ReadWritePaths", "PrivateTmp", "PrivateDevices"}
    | {"ProtectKernelTunables", "ProtectControlGroups"}
)
# Where the service must look for the same files as the shell that installed it.
_KEPT_VARIABLES = ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME")


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was done, sentence by sentence; `ok` is false when the service does not do its work."""

    ok: bool
    messages: tuple[str, ...]
    facts: Mapping[str, object] = field(default_factory=dict)


class Service:
    """recalld's units for the user whose environment and home are given."""

    def __init__(
        self,
        *,
        env: Mapping[str, str],
        home: Path,
        socket: Path,
        load: Callable[[], Settings],
        config: str | None = None,
    ) -> None:
        self._env = env
        self._home = home
        self._socket = socket
        self._load = load
        self._config = config

    @property
    def folder(self) -> Path:
        """Where a user's units lie."""
        base = self._env.get("XDG_CONFIG_HOME", "")
        config_home = Path(base) if base.startswith("/") else self._home / ".config"
        return config_home / "systemd" / "user"

    def install(self) -> Report:
        """Writes both units, over older ones, and starts them where there is a manager to ask.

        Raises:
            SettingsError: The settings are wrong, or a path can't be written into a unit.
        """
        data_dir = self._load().data_dir
        writable = (data_dir, state_dir(self._env, self._home))
        for folder in writable:
            # A folder that is missing can't be made from inside the sandbox.
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        reachable = self._manager_answers()
        sandbox = not reachable or self._namespaces_work()
        units = {
            "recalld.socket": socket_unit(_template("recalld.socket"), self._listen_stream()),
            "recalld.service": service_unit(
                _template("recalld.service"),
                command=self._command(),
                writable=writable,
                environment={
                    name: self._env[name] for name in _KEPT_VARIABLES if self._env.get(name)
                },
                sandbox=sandbox,
            ),
        }
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, text in units.items():
            _replace(self.folder / name, text)
        messages = [f"wrote {self.folder / name}" for name in units]
        if not sandbox:
            messages.append("left out the file system sandbox: this kernel forbids user namespaces")
        if not reachable:
            messages.append(
                "no systemd user manager answers here, so nothing was started; in a login session: "
                "systemctl --user daemon-reload && systemctl --user enable --now " + " ".join(UNITS)
            )
            return Report(ok=True, messages=tuple(messages), facts={"started": False})
        started, told = self._start()
        return Report(
            ok=started,
            messages=(*messages, *told, self._linger_message()),
            facts={"started": started, "linger": self._lingers()},
        )

    def uninstall(self) -> Report:
        """Stops and disables the units and removes them; nothing else."""
        messages = []
        present = [name for name in UNITS if (self.folder / name).exists()]
        reachable = self._manager_answers()
        if present and reachable:
            self._systemctl("disable", "--now", *present)
        for name in present:
            (self.folder / name).unlink()
            messages.append(f"removed {self.folder / name}")
        if present and reachable:
            self._systemctl("daemon-reload")
        if not present:
            messages.append("the service is not installed")
        elif not reachable:
            messages.append(
                "no systemd user manager answers here; a running daemon was not stopped"
            )
        messages.append("notes, memory and settings are untouched")
        return Report(ok=True, messages=tuple(messages), facts={"removed": present})

    def status(self) -> Report:
        """Whether the units are there, enabled and active; `ok` when the service is active."""
        installed = all((self.folder / name).exists() for name in UNITS)
        if not installed:
            message = "the service is not installed (recalld service install)"
            return Report(ok=False, messages=(message,), facts={"installed": False})
        if not self._manager_answers():
            message = "the units are installed, but no systemd user manager answers here"
            return Report(ok=False, messages=(message,), facts={"installed": True})
        shown = self._systemctl(
            "show", "recalld.service", "--property=ActiveState,SubState,UnitFileState,StatusText"
        )
        state = dict(line.split("=", 1) for line in shown.stdout.splitlines() if "=" in line)
        enabled = state.get("UnitFileState") or "not enabled"
        active = f"{state.get('ActiveState', '?')} ({state.get('SubState', '?')})"
        messages = [f"service: {active}, {enabled}"]
        if state.get("StatusText"):
            messages.append(state["StatusText"])
        messages.append(self._linger_message())
        return Report(
            ok=state.get("ActiveState") == "active",
            messages=tuple(messages),
            facts={"installed": True, "linger": self._lingers(), **state},
        )

    def _start(self) -> tuple[bool, list[str]]:
        for arguments in (("daemon-reload",), ("enable", *UNITS), ("restart", *UNITS)):
            done = self._systemctl(*arguments)
            if done.returncode != 0:
                reason = " ".join(done.stderr.split())
                told = f"systemctl --user {arguments[0]} failed: {reason}"
                return False, [told, "journalctl --user -u recalld says more"]
        return True, ["the service runs, and starts with every login"]

    def _command(self) -> list[str]:
        """The command line of the service: this installation, and the settings file if named."""
        command = [str(installed_program()), "run"]
        if self._config:
            command += ["--config", str(Path(self._config).absolute())]
        return command

    def _listen_stream(self) -> str | None:
        """The socket where it is not the usual one; None leaves the manager's own runtime folder."""
        usual = socket_path(
            flag=None, env=_without_socket(self._env), setting=None, home=self._home
        )
        return None if self._socket == usual else str(self._socket)

    def _manager_answers(self) -> bool:
        return self._systemctl("show-environment").returncode == 0

    def _namespaces_work(self) -> bool:
        """Asks the manager itself to run something inside the sandbox; only it can tell."""
        tool = self._find("systemd-run")
        if tool is None:
            return True
        options = ("--property=PrivateUsers=yes", "--property=ProtectSystem=strict")
        arguments = ("--user", "--wait", "--quiet", "--collect", *options, "true")
        return self._run(tool, *arguments).returncode == 0

    def _lingers(self) -> bool | None:
        """Whether services run without a login; None when nobody can say."""
        tool = self._find("loginctl")
        if tool is None:
            return None
        shown = self._run(tool, "show-user", str(os.getuid()), "--property=Linger", "--value")
        return {"yes": True, "no": False}.get(shown.stdout.strip())

    def _linger_message(self) -> str:
        lingers = self._lingers()
        if lingers:
            return "lingering is on: recalld runs from boot, also while you are logged out"
        if lingers is None:
            return "whether lingering is on can't be told: recalld may stop when you log out"
        return (
            "lingering is off: recalld stops at your last logout and starts at the next login; "
            "to keep it running: loginctl enable-linger"
        )

    def _systemctl(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        tool = self._find("systemctl")
        if tool is None:
            return subprocess.CompletedProcess(arguments, 1, "", "systemctl is not installed")
        return self._run(tool, "--user", "--no-pager", *arguments)

    def _find(self, tool: str) -> str | None:
        return shutil.which(tool, path=self._env.get("PATH", os.defpath))

    def _run(self, *command: str) -> subprocess.CompletedProcess[str]:
        try:
            return subprocess.run(  # noqa: S603 - our own words; the tool was found on the user's PATH
                command,
                env=dict(self._env),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=120,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return subprocess.CompletedProcess(command, 1, "", "no answer within two minutes")


# ---------------------------------------------------------------- the units' text


def service_unit(
    template: str,
    *,
    command: list[str],
    writable: tuple[Path, ...],
    environment: Mapping[str, str],
    sandbox: bool,
) -> str:
    """The service's unit: the template with this command, these folders and variables.

    Without `sandbox` the options that need user namespaces are left out. Raises SettingsError for a
    path that no unit can hold.
    """
    lines = []
    for line in template.splitlines():
        option = line.partition("=")[0]
        if option in NAMESPACE_OPTIONS and not sandbox:
            continue
        if option == "ExecStart":
            lines.append("ExecStart=" + _command_line(command))
            lines += [
                f"Environment={quoted(f'{name}={value}')}" for name, value in environment.items()
            ]
        elif option == "ReadWritePaths":
            lines.append("ReadWritePaths=" + " ".join(quoted(str(path)) for path in writable))
        else:
            lines.append(line)
    return "\n".join(lines) + "\n"


def socket_unit(template: str, listen: str | None) -> str:
    """The socket's unit; `listen` replaces the template's path."""
    if listen is None:
        return template
    # The whole line is the path: no quotes there, only specifiers.
    path = _checked(listen).replace("%", "%%")
    return "".join(
        f"ListenStream={path}\n" if line.startswith("ListenStream=") else line
        for line in template.splitlines(keepends=True)
    )


def quoted(text: str) -> str:
    """`text` as one word of a unit's option: quotes, backslashes and specifiers are itself."""
    escaped = _checked(text).replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def installed_program() -> Path:
    """The absolute path of the `recalld` that runs now, as it was called: links are kept."""
    called = Path(sys.argv[0])
    if called.name == "recalld":
        return called.absolute()
    return Path(sys.executable).parent / "recalld"


def _command_line(command: list[str]) -> str:
    """A command with every word as it is; `$` begins a variable in all words but the first."""
    program, *arguments = command
    rest = [quoted(word).replace("$", "$$") for word in arguments]
    if not set("\"'\\") & set(program):
        return " ".join([quoted(program), *rest])
    # systemd takes no program whose path has quotes or backslashes, but any argument.
    words = ["/bin/sh", "-c", quoted('exec "$0" "$@"').replace("$", "$$")]
    return " ".join([*words, quoted(program).replace("$", "$$"), *rest])


def _checked(text: str) -> str:
    if any(ord(char) < 32 or ord(char) == 127 for char in text):
        raise SettingsError((f"a path with a control character can't stand in a unit: {text!r}",))
    return text


def _without_socket(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name != "RECALLD_SOCKET"}


def _template(name: str) -> str:
    return resources.files("daemon").joinpath(name).read_text(encoding="utf-8")


def _replace(path: Path, text: str) -> None:
    """Writes a unit so that the manager reads the old or the new one, never half."""
    temporary = path.with_name(f".{path.name}.new")
    temporary.write_text(text, encoding="utf-8", errors="surrogateescape")
    temporary.replace(path)
