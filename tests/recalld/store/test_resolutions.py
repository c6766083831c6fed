"""No words of users make a circle, in which every fact would be superseded and none found."""

from __future__ import annotations

import pytest

from ingest.agreement.stage import AgreeingStage
from recalld.errors import InvalidParams
from recalld.store.agreement import Resolution
from tests.ingest.keeping import Vault

JANUARY = "The database of Apollo runs on alfa."
MARCH = "The database of Apollo runs on bravo."
MAY = "The database of Apollo runs on charlie."


@pytest.fixture
def vault(tmp_path):
    with Vault(tmp_path) as running:
        for day, text in (("2026-01-01", JANUARY), ("2026-03-01", MARCH), ("2026-05-01", MAY)):
            running.write(f"{day}.md", f"# Apollo\n\n{text}\n")
        running.look()
        yield running


class Words:
    """What a user says of facts, by their words."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        self.stage = AgreeingStage(database=vault.database, writes=vault.writes, policy="supersede")
        self.compare()

    def compare(self) -> None:
        while self.stage.step():
            pass

    def uid(self, text: str) -> str:
        return str(self.vault.rows("SELECT uid FROM fact WHERE text = ?", text)[0][0])

    def say(self, one: str, other: str, verdict: str = "supersedes") -> None:
        word = Resolution(one=self.uid(one), other=self.uid(other), verdict=verdict)  # type: ignore[arg-type]  # one of two
        self.stage.resolve(word, 1)

    def standing(self) -> set[str]:
        rows = self.vault.rows("SELECT text FROM fact WHERE superseded_by IS NULL")
        return {row[0] for row in rows if row[0] in (JANUARY, MARCH, MAY)}


def test_a_circle_is_refused_with_what_to_take_back(vault):
    words = Words(vault)
    words.say(JANUARY, MARCH)
    words.say(MARCH, MAY)
    before = vault.rows("SELECT one, other FROM resolution ORDER BY 1")
    with pytest.raises(InvalidParams, match="what you said before") as refused:
        words.say(MAY, JANUARY)
    assert refused.value.hint is not None
    march, may = words.uid(MARCH)[:8], words.uid(MAY)[:8]
    assert f"recalld resolve fact:{march} fact:{may} --both" in refused.value.hint
    assert vault.rows("SELECT one, other FROM resolution ORDER BY 1") == before
    assert words.standing() == {JANUARY}
    words.say(MARCH, MAY, "both")
    words.say(MAY, JANUARY)
    assert JANUARY not in words.standing()
    assert words.standing()


def test_a_word_turned_round_is_no_circle(vault):
    words = Words(vault)
    words.say(JANUARY, MAY)
    words.say(MAY, JANUARY)
    assert MAY in words.standing()
    assert JANUARY not in words.standing()


def test_a_word_that_nobody_can_take_back_stands_in_no_ones_way(vault):
    words = Words(vault)
    words.say(JANUARY, MARCH)
    words.say(MARCH, MAY)
    vault.write("2026-03-01.md", "# Apollo\n\nIt rained.\n")
    vault.look()
    words.compare()
    words.say(MAY, JANUARY)
    assert words.standing() == {MAY}
    vault.write("2026-03-01.md", f"# Apollo\n\n{MARCH}\n")
    vault.look()
    words.compare()
    assert words.standing()


def test_what_rules_find_puts_no_loser_above_its_winner(vault):
    words = Words(vault)
    assert words.standing() == {MAY}
    # By their days May stands above March, and March above January.
    words.say(JANUARY, MAY)
    assert words.standing() == {JANUARY}
    vault.write("2026-05-01.md", "# Apollo\n\nIt rained.\n")
    vault.look()
    words.compare()
    assert words.standing() == {MARCH}
    vault.write("2026-05-01.md", f"# Apollo\n\n{MAY}\n")
    vault.look()
    words.compare()
    assert words.standing() == {JANUARY}
