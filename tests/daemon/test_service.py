"""Units that a real analyser accepts, and honest words where there is no manager."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from daemon.service import NAMESPACE_OPTIONS, UNITS, Service, quoted, service_unit, socket_unit
from recalld.errors import SettingsError
from tests.waiting import DEADLINE_S

ROOT = Path(__file__).parents[2]
TEMPLATE = (ROOT / "systemd" / "recalld.service").read_text()


def unit(folder: Path, *, sandbox: bool = True, **changes) -> str:
    options = {
        "command": [str(folder / "recalld"), "run"],
        "writable": (folder / "data", folder / "state"),
        "environment": {},
        **changes,
    }
    return service_unit(TEMPLATE, sandbox=sandbox, **options)


def options_of(text: str) -> list[str]:
    return [line.partition("=")[0] for line in text.splitlines() if "=" in line and line[0] != "#"]


def test_shipped_units_are_those_of_the_systemd_folder():
    for name in UNITS:
        assert (ROOT / "daemon" / name).read_text() == (ROOT / "systemd" / name).read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "name", ["plain", 'Ann\'s "notes" 100% of it', "日記 $HOME", "back\\slash"]
)
@pytest.mark.parametrize("sandbox", [True, False])
def test_analyser_accepts_the_units_whatever_the_path(tmp_path, name, sandbox):
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("systemd-analyze is not installed")
    folder = tmp_path / name
    folder.mkdir()
    program = folder / "recalld"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    environment = {"XDG_DATA_HOME": str(folder)}
    (tmp_path / "recalld.service").write_text(
        unit(folder, sandbox=sandbox, environment=environment)
    )
    (tmp_path / "recalld.socket").write_text(
        socket_unit((ROOT / "systemd" / "recalld.socket").read_text(), str(folder / "sock"))
    )
    done = subprocess.run(
        [tool, "verify", "--user", "--man=no", *(str(tmp_path / each) for each in UNITS)],
        env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    ours = [line for line in (done.stdout + done.stderr).splitlines() if "recalld" in line]
    assert ours == []
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
def test_analyser_would_tell_a_program_that_is_not_there(tmp_path):
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("systemd-analyze is not installed")
    (tmp_path / "recalld.service").write_text(unit(tmp_path))
    done = subprocess.run(
        [tool, "verify", "--user", "--man=no", str(tmp_path / "recalld.service")],
        env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": os.environ["PATH"]},
        capture_output=True,
        text=True,
        timeout=DEADLINE_S,
        check=False,
    )
    assert "recalld is not executable" in done.stderr


def test_command_is_absolute_quoted_and_without_specifiers_or_variables():
    text = unit(Path("/h"), command=["/home/a b/100%/recalld", "run", "--config", "/c/$x.toml"])
    assert 'ExecStart="/home/a b/100%%/recalld" "run" "--config" "/c/$$x.toml"\n' in text


def test_program_that_systemd_would_refuse_is_started_through_a_shell():
    text = unit(Path("/h"), command=["/home/Ann's $/recalld", "run"])
    start = 'ExecStart=/bin/sh -c "exec \\"$$0\\" \\"$$@\\"" "/home/Ann\'s $$/recalld" "run"\n'
    assert start in text


def test_settings_errors_and_a_held_folder_are_not_retried():
    assert "RestartPreventExitStatus=2 4\n" in unit(Path("/h"))
    assert "Restart=on-failure\n" in unit(Path("/h"))


def test_without_namespaces_only_their_options_go():
    full, less = options_of(unit(Path("/h"))), options_of(unit(Path("/h"), sandbox=False))
    assert [each for each in full if each not in NAMESPACE_OPTIONS] == less
    assert set(full) - set(less) == NAMESPACE_OPTIONS
    assert "NoNewPrivileges" in less


@given(
    st.text(st.characters(min_codepoint=32, exclude_characters="\x7f", exclude_categories=["Cs"]))
)
def test_quoting_can_be_undone_as_systemd_does(text):
    word = quoted(text)
    assert word[0] == word[-1] == '"'
    inner, found, index = word[1:-1], "", 0
    while index < len(inner):
        if inner[index] in "\\%":
            index += 1
            assert inner[index] in '\\"%'
        else:
            assert inner[index] != '"'
        found += inner[index]
        index += 1
    assert found == text


@pytest.mark.parametrize("path", ["/a\nExecStart=/bin/sh", "/a\x00", "/a\x7f"])
def test_path_that_would_end_its_line_is_refused(path):
    with pytest.raises(SettingsError):
        quoted(path)


def test_usual_socket_keeps_the_managers_own_folder():
    template = (ROOT / "systemd" / "recalld.socket").read_text()
    assert socket_unit(template, None) == template
    assert "ListenStream=%t/recalld/recalld.sock\n" in template
    assert "SocketMode=0600\n" in template
    assert "DirectoryMode=0700\n" in template


# ---------------------------------------------------------------- installing

# Plays the named tool: writes down how it was called, and answers as the test says.
TOOL = """#!{python}
import os, sys
with open({diary!r}, "a") as diary:
    diary.write(" ".join([os.path.basename(sys.argv[0]), *sys.argv[1:]]) + "\\n")
answers = {answers!r}
for words, (code, text) in answers.items():
    if words in " ".join(sys.argv):
        (sys.stderr if code else sys.stdout).write(text)
        sys.exit(code)
"""


class Machine:
    """A home and a PATH with tools that answer as told."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "Ann 100%"
        self.home.mkdir()
        self.tools = folder / "bin"
        self.tools.mkdir()
        self.diary = folder / "diary"
        self.env = {"PATH": str(self.tools), "HOME": str(self.home)}

    def tool(self, name: str, **answers: tuple[int, str]) -> None:
        told = {key.replace("_", "-"): value for key, value in answers.items()}
        path = self.tools / name
        path.write_text(TOOL.format(python=sys.executable, diary=str(self.diary), answers=told))
        path.chmod(0o755)

    def calls(self) -> list[str]:
        return self.diary.read_text().splitlines() if self.diary.exists() else []

    def service(self, **changes) -> Service:
        settings = SimpleNamespace(data_dir=self.home / "memory")
        socket = self.home / ".local/state/recalld/run/recalld.sock"
        options = {"env": self.env, "home": self.home, "socket": socket, "load": lambda: settings}
        return Service(**{**options, **changes})

    @property
    def units(self) -> Path:
        return self.home / ".config" / "systemd" / "user"


@pytest.fixture
def machine(tmp_path):
    return Machine(tmp_path)


def test_without_a_manager_the_units_are_written_and_it_is_said(machine):
    report = machine.service().install()
    assert report.ok
    assert report.facts == {"started": False}
    assert "no systemd user manager answers" in report.messages[-1]
    text = (machine.units / "recalld.service").read_text()
    assert f'"{machine.home}/memory"'.replace("%", "%%") in text
    assert (machine.home / "memory").stat().st_mode & 0o777 == 0o700
    assert sorted(each.name for each in machine.units.iterdir()) == sorted(UNITS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("linger", "words"), [("yes", "lingering is on"), ("no", "lingering is off")]
)
def test_with_a_manager_the_service_is_started_and_lingering_explained(machine, linger, words):
    machine.tool("systemctl")
    machine.tool("systemd-run")
    machine.tool("loginctl", show_user=(0, linger + "\n"))
    report = machine.service().install()
    assert report.ok
    assert words in report.messages[-1]
    assert report.facts == {"started": True, "linger": linger == "yes"}
    assert [call for call in machine.calls() if call.startswith("systemctl")] == [
        "systemctl --user --no-pager show-environment",
        "systemctl --user --no-pager daemon-reload",
        "systemctl --user --no-pager enable recalld.socket recalld.service",
        "systemctl --user --no-pager restart recalld.socket recalld.service",
    ]


@pytest.mark.slow
def test_kernel_without_user_namespaces_gets_the_unit_without_sandbox(machine):
    machine.tool("systemctl")
    machine.tool("systemd-run", PrivateUsers=(1, "Failed to set up user namespacing"))
    report = machine.service().install()
    assert "ProtectSystem" not in (machine.units / "recalld.service").read_text()
    assert any("user namespaces" in message for message in report.messages)


@pytest.mark.slow
def test_failed_start_is_told_and_not_a_success(machine):
    machine.tool("systemctl", restart=(1, "Job for recalld.service failed.\n"))
    report = machine.service().install()
    assert not report.ok
    assert "systemctl --user restart failed: Job for recalld.service failed." in report.messages


def test_settings_file_socket_and_folders_of_the_installer_go_into_the_units(machine):
    machine.env["XDG_DATA_HOME"] = "/srv/data 1%"
    machine.service(config="my.toml", socket=Path("/run/x y/s%.sock")).install()
    text = (machine.units / "recalld.service").read_text()
    assert f'"--config" "{str(Path.cwd()).replace("%", "%%")}/my.toml"' in text
    assert 'Environment="XDG_DATA_HOME=/srv/data 1%%"' in text
    assert "ListenStream=/run/x y/s%%.sock\n" in (machine.units / "recalld.socket").read_text()


def test_wrong_settings_install_nothing(machine):
    def load():
        raise SettingsError(("roots: nothing",))

    with pytest.raises(SettingsError):
        machine.service(load=load).install()
    assert not machine.units.exists()


@pytest.mark.slow
def test_uninstall_removes_the_units_and_leaves_everything_else(machine):
    machine.tool("systemctl")
    service = machine.service()
    service.install()
    note = machine.home / "notes" / "a.md"
    memory = machine.home / "memory" / "memory.db"
    for path in (note, memory):
        path.parent.mkdir(exist_ok=True)
        path.write_text("kept")
    report = service.uninstall()
    assert report.facts == {"removed": list(UNITS)}
    assert list(machine.units.iterdir()) == []
    assert note.read_text() == memory.read_text() == "kept"
    assert machine.calls()[-2:] == [
        "systemctl --user --no-pager disable --now recalld.socket recalld.service",
        "systemctl --user --no-pager daemon-reload",
    ]


def test_uninstall_of_nothing_says_so(machine):
    assert machine.service().uninstall().messages[0] == "the service is not installed"


@pytest.mark.slow
def test_status_tells_what_the_manager_knows(machine):
    assert not machine.service().status().ok
    machine.service().install()
    assert "no systemd user manager" in machine.service().status().messages[0]
    machine.tool(
        "systemctl",
        show_environment=(0, ""),
        show=(
            0,
            "ActiveState=active\nSubState=running\nUnitFileState=enabled\nStatusText=idle: 3 notes\n",
        ),
    )
    report = machine.service().status()
    assert report.ok
    assert report.messages[:2] == ("service: active (running), enabled", "idle: 3 notes")
