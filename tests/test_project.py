"""The project as a whole: its documents say what is so, and its files lie where they should."""

import itertools
import re
import subprocess
import urllib.parse
from pathlib import Path

import click
import pytest

import recalld
from recalld.errors import SettingsError
from recalld.settings.loading import load_settings
from recalld.settings.showing import render_settings

REPO = Path(__file__).parents[1]
PACKAGES = ("recalld", "retrieval", "ingest", "daemon")
DOCUMENTS = sorted([*REPO.glob("*.md"), *(REPO / "docs").rglob("*.md")])
README = (REPO / "README.md").read_text("utf-8")
MAKEFILE = (REPO / "Makefile").read_text("utf-8")
VAULT = REPO / "examples" / "notes"

FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`[^`\n]+`")


def prose(document: Path) -> str:
    return CODE.sub("", FENCE.sub("", document.read_text("utf-8")))


def code(text: str) -> str:
    """Everything in fences and code spans: what a reader will type."""
    fences = FENCE.findall(text)
    return "\n".join([*fences, *CODE.findall(FENCE.sub("", text))])


def documented(document: str) -> dict[str, list[str]]:
    """The rows of the settings tables: key to default, allowed, meaning."""
    rows = re.findall(
        r"^\| `([a-z_.]+)` \| (.*) \|$", (REPO / document).read_text("utf-8"), re.MULTILINE
    )
    return {key: [cell.strip() for cell in rest.split(" | ")] for key, rest in rows}


def settings_rows() -> dict[str, str]:
    loaded = load_settings(env={}, file=None, home=Path("/home/ana"))
    return {key: value for key, value, _ in render_settings(loaded)}


# ---------------------------------------------------------------- documents


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(REPO)))
def test_relative_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)\s]+)\)", prose(document)):
        if not re.match(r"[a-z]+:|#", target):
            path = urllib.parse.unquote(target.partition("#")[0])
            assert (document.parent / path).exists(), target


def test_make_targets_in_the_documents_exist():
    targets = set(re.findall(r"^([a-z]+):", MAKEFILE, re.MULTILINE))
    for document in DOCUMENTS:
        text = document.read_text("utf-8")
        named = set(re.findall(r"\bmake ([a-z]+)\b", code(text)))
        assert named <= targets, document.name


def test_readme_names_run_and_test():
    assert {"run", "test"} <= set(re.findall(r"^make ([a-z]+)$", README, re.MULTILINE))


@pytest.mark.parametrize("document", ["README.md", "docs/configuration.md"])
def test_commands_in_the_documents_exist(document):
    from daemon.cli import cli

    lines = re.findall(r"(?:^|`)recalld ([a-z]+(?: [a-z]+)?)", code_of(document), re.MULTILINE)
    assert lines
    for line in lines:
        command: click.Command = cli
        for word in line.split():
            if not isinstance(command, click.Group):
                break
            assert word in command.commands, f"recalld {line}"
            command = command.commands[word]


def code_of(document: str) -> str:
    return code((REPO / document).read_text("utf-8"))


def test_changelog_has_the_current_version():
    changelog = (REPO / "CHANGELOG.md").read_text("utf-8")
    assert f"## [{recalld.__version__}]" in changelog


def test_decisions_are_numbered_without_gaps_and_have_every_part():
    decisions = sorted((REPO / "docs" / "adr").glob("*.md"))
    assert [int(path.name[:4]) for path in decisions] == list(range(1, len(decisions) + 1))
    for path in decisions:
        text = path.read_text("utf-8")
        parts = re.findall(r"^## (.*)$", text, re.MULTILINE)
        assert parts == ["Context", "Decision", "Consequences", "Rejected"], path.name
        assert text.startswith(f"# {int(path.name[:4])}. ")


# ---------------------------------------------------------------- settings in the documents


def test_settings_page_has_every_key_with_its_default():
    rows = documented("docs/configuration.md")
    expected = settings_rows()
    assert list(rows) == list(expected)
    for key, value in expected.items():
        shown = "unset" if key == "data_dir" or value == "unset" else f"`{value}`"
        assert rows[key][0] == shown, key


@pytest.mark.parametrize("key", settings_rows())
def test_settings_page_says_what_is_allowed(key):
    wrong = 3 if key == "roots" else object()
    with pytest.raises(SettingsError) as raised:
        load_settings(flags={key: wrong}, env={}, file=None, home=Path("/home/ana"))
    (mistake,) = raised.value.mistakes
    assert mistake.endswith(": must be " + documented("docs/configuration.md")[key][1])


def test_settings_named_in_the_documents_exist():
    keys = set(settings_rows())
    tables = {key.rpartition(".")[0] for key in keys} - {""}
    for document in DOCUMENTS:
        spans = CODE.findall(FENCE.sub("", document.read_text("utf-8")))
        for span in spans:
            name = span.strip("`").partition(" ")[0]
            known_table = any(name.startswith(f"{table}.") for table in tables)
            if known_table and re.fullmatch(r"[a-z_.]+", name) and not name.endswith(".py"):
                assert name in keys | tables, f"{document.name}: {name}"


# ---------------------------------------------------------------- code and tests


def test_each_test_module_mirrors_a_module():
    for test in (REPO / "tests").rglob("test_*.py"):
        parts = test.relative_to(REPO / "tests").parts
        if len(parts) > 1 and parts[0] in PACKAGES:
            folder = REPO.joinpath(*parts[:-1])
            module = parts[-1].removeprefix("test_").removesuffix(".py")
            found = (folder / f"{module}.py").exists() or (folder / module).is_dir()
            # tests/recalld/test_vectors.py may stand for recalld/store/vectors.py
            assert found or list((REPO / parts[0]).rglob(f"{module}.py")), test.relative_to(REPO)


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_is_over_600_lines(package):
    for module in (REPO / package).rglob("*.py"):
        lines = len(module.read_text("utf-8").splitlines())
        assert lines <= 600, f"{module.relative_to(REPO)}: {lines} lines"


@pytest.mark.parametrize("package", PACKAGES)
def test_each_module_says_what_it_is_for(package):
    for module in (REPO / package).rglob("*.py"):
        assert module.read_text("utf-8").startswith('"""'), module.relative_to(REPO)


# ---------------------------------------------------------------- example vault


def vault_notes() -> dict[str, str]:
    return {
        str(path.relative_to(VAULT)): path.read_text("utf-8")
        for path in VAULT.rglob("*.md")
        if "templates" not in path.parts
    }


def test_example_vault_has_notes_enough():
    assert len(vault_notes()) >= 18


@pytest.mark.parametrize(
    ("feature", "pattern"),
    [
        ("front matter", r"\A---\ntitle: .*\n(?:.*\n)*?---$"),
        ("broken front matter", r'\A---\ntitle: "[^"]*$\n'),
        ("wikilink with alias", r"\[\[[^\]|]+\|[^\]]+\]\]"),
        ("link to a block", r"\[\[[^\]]+#\^[a-z-]+"),
        ("markdown link", r"\[[^\]]+\]\([^)]+\.md"),
        ("embed", r"!\[\[[^\]]+\]\]"),
        ("block id", r"^.*\^[a-z-]+$"),
        ("tag in the text", r"\s#[a-z]+/[a-z]+"),
        ("nested list", r"^(?:\t| {2,})- "),
        ("open task", r"^\s*- \[ \] "),
        ("closed task", r"^\s*- \[x\] "),
        ("table", r"^\| --- \|"),
        ("callout", r"^> \[!\w+\]"),
        ("footnote", r"^\[\^\w+\]: "),
        ("fence", r"^ *```\w+$"),
        ("HTML comment", r"<!-- .* -->"),
        ("private comment", r"%%"),
        ("display math", r"^\$\$$"),
        ("ISO date", r"\b2026-\d\d-\d\d\b"),
        ("relative date", r"\b(?:yesterday|last week)\b"),
        ("Dutch", r"\bde ketel\b"),
        ("Chinese", r"部署"),
    ],
)
def test_example_vault_shows(feature, pattern):
    assert any(
        re.search(pattern, text, re.MULTILINE | re.IGNORECASE) for text in vault_notes().values()
    ), feature


def test_example_vault_states_one_fact_in_several_notes_and_in_two_languages():
    holders = [text for text in vault_notes().values() if "tulip-harbour-7" in text]
    assert len(holders) >= 3
    assert any("wificode" in text for text in holders)


@pytest.fixture
def make_run(tmp_path):
    """Runs `make run` with a `recalld` that only prints its arguments, a line each."""
    (tmp_path / "bin").mkdir()
    for name in ("recalld", "python"):
        (tmp_path / "bin" / name).write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
        (tmp_path / "bin" / name).chmod(0o755)

    def run(*variables: str) -> subprocess.CompletedProcess[str]:
        command = ["make", "-s", "-o", ".venv/.installed", f"BIN={tmp_path}/bin", "run", *variables]
        return subprocess.run(command, cwd=REPO, capture_output=True, text=True, check=False)

    return run


def test_make_run_asks_the_example_vault_in_three_languages(make_run):
    words = make_run().stdout.splitlines()
    assert words[:2] == ["run", "examples/notes"]
    questions = [after for word, after in itertools.pairwise(words) if word == "--ask"]
    assert len(questions) == 3
    assert questions[0].startswith("Which")
    assert "cv-ketel" in questions[1]
    assert "部署" in questions[2]


def test_make_run_asks_other_notes_nothing(make_run, tmp_path):
    notes = tmp_path / "Anna's $notes, 笔记"
    notes.mkdir()
    words = make_run(f"NOTES={notes}".replace("$", "$$")).stdout.splitlines()
    assert words[:2] == ["run", str(notes)]
    assert "--ask" not in words


def test_make_run_says_when_the_folder_is_not_there(make_run, tmp_path):
    done = make_run(f"NOTES={tmp_path}/none")
    assert done.returncode != 0
    assert f"There is no folder {tmp_path}/none" in done.stderr


# ---------------------------------------------------------------- CI


def test_ci_runs_the_test_command_that_the_readme_gives():
    marked = re.search(r"^<!-- ci:test -->\n```sh\n(.*?)```$", README, re.MULTILINE | re.DOTALL)
    assert marked is not None
    assert marked[1].strip() == "make test"
    ci = (REPO / ".ci" / "run").read_text("utf-8")
    assert ci.startswith("#!/usr/bin/env bash\n")
    assert "set -euo pipefail" in ci
    assert "README.md" in ci
    assert "make check" in ci
    assert (REPO / ".ci" / "run").stat().st_mode & 0o111


def test_no_document_or_module_names_a_path_of_the_machine_it_was_written_on():
    private = re.compile(r"(?<![\w.~$}])/(?:work|root)/\w")
    files = [*DOCUMENTS, *(m for p in PACKAGES for m in (REPO / p).rglob("*.py"))]
    for file in files:
        assert not private.search(file.read_text("utf-8")), file.relative_to(REPO)
