"""An anchor leads to its statement for as long as the statement stands, whatever happens round it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrieval.fetching import get
from tests.ingest.keeping import Vault

# What is watched: prose, lists, tables and code, with and without words that lean on their heading.
STATEMENTS = (
    "The gateway listens on port 9090. It moved there in March 2026.",
    "Port is 9090.",
    "De uitrol faalde op 2026-03-02 om drie uur. Daarna liep alles weer.",
    "烤箱在十点关闭。部署失败了。",
    "バックアップは毎週日曜日に走る。",
    "เซิร์ฟเวอร์สำรองอยู่ที่ชั้นสอง",
    "إعادة التشغيل تستغرق دقيقتين.",
    "Marlow repaired the boiler yesterday.",
    "Gisteren was de schijf vol.",
    "昨天磁盘满了。",
    "- use tabs\n  - never spaces\n- Zeilen haben 100 Zeichen",
    "| name | port |\n|---|---|\n| web | 80 |\n| mail | 25 |",
    "Set these:\n\n- A=1\n- B=2",
    "```sh\nmake all --jobs 4\n```",
    "> quoted wisdom of the gateway",
    "The password: hunter2hunter2 is old. %% private %%",
    "A long one about gardens. " * 80,
)
OTHERS = (
    "# Servers",
    "### Uitrol",
    "Marlow met Ana in Utrecht.",
    "Yesterday we met Marlow in the office.",
    "Port is 9090.",
    "The gateway listens on port 9090.",
    "The gateway listens on port 9191.",
    "- loose item\n- [ ] open task",
    "Before a list:",
    "```\nunlabelled code\n```",
    "%% hidden %%",
    "<!--\nhidden\n\nlines\n-->",
    "---",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "See [[gateway|the gateway]] and #ops.",
    "会议改到周五。",
    "Term\n: what it means",
    "[^1]: A footnote.",
)
FRONTS = ("", "---\ntags: [ops]\n---\n\n", "---\ntitle: Other\naliases: [x]\n---\n\n")


class State(NamedTuple):
    """A note round the statement, at one time."""

    front: str
    before: list[str]
    after: list[str]
    name: str
    # Days by which the file is younger than before.
    days: int
    # Of another note beside it.
    other: str

    def text(self, statement: str) -> str:
        blocks = [*self.before, "# Target", statement, "## Rest", "So far.", *self.after]
        return self.front + "\n\n".join(blocks) + "\n"


states = st.builds(
    State,
    st.sampled_from(FRONTS),
    st.lists(st.sampled_from(OTHERS), max_size=4),
    st.lists(st.sampled_from(OTHERS), max_size=4),
    st.sampled_from(["a.md", "b.md", "map/字.md"]),
    st.integers(0, 400),
    st.sampled_from(OTHERS),
)


def anchors(vault: Vault, name: str) -> dict[str, str]:
    """The text behind each anchor of the statement's block, by passages and facts."""
    below = " WHERE heading_path = '[\"Target\"]' AND note.path = ?"
    passages = vault.rows(
        "SELECT 'passage:' || substr(passage.uid, 1, 8), passage.text FROM passage"
        " JOIN block ON block.id = block_id JOIN note ON note.id = passage.note_id" + below,
        name,
    )
    facts = vault.rows(
        "SELECT DISTINCT 'fact:' || substr(fact.uid, 1, 8), fact.text FROM fact"
        " JOIN fact_source ON fact_id = fact.id JOIN passage ON passage.id = passage_id"
        " JOIN block ON block.id = block_id JOIN note ON note.id = passage.note_id" + below,
        name,
    )
    return dict([*passages, *facts])


@pytest.mark.slow
@given(st.sampled_from(STATEMENTS), st.lists(states, min_size=2, max_size=4))
@settings(
    deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_an_anchor_outlives_every_edit_that_leaves_its_statement_alone(
    tmp_path_factory: pytest.TempPathFactory, statement: str, history: list[State]
) -> None:
    with Vault(tmp_path_factory.mktemp("anchors")) as vault:
        before, known = "", {}
        saved_s = 1_700_000_000
        for state in history:
            target = vault.path / state.name
            target.parent.mkdir(exist_ok=True)
            if before and before != state.name:
                (vault.path / before).rename(target)
                vault.look()
            written = state.text(statement)
            saved_s += state.days * 86400
            os.utime(vault.write(state.name, written), (saved_s, saved_s))
            vault.write("beside.md", state.other + "\n")
            vault.look()
            known = known or anchors(vault, state.name)
            assert known
            assert anchors(vault, state.name) == known
            for anchor, text in known.items():
                check_place(vault, anchor, text, Path(state.name), written)
            before = state.name


def check_place(vault: Vault, anchor: str, text: str, path: Path, written: str) -> None:
    """The anchor leads to its text, in the lines where the note has it now."""
    told = get(vault.database, anchor).result
    assert told["text"] == text
    place = next(one for one in told["sources"] if one["path"] == str(path))  # type: ignore[attr-defined] # JSON
    first, last = place["lines"]
    lines = "".join("\n".join(written.split("\n")[first - 1 : last]).split())
    assert re.findall(r"\w+", text)[-1] in lines
