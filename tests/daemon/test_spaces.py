"""The change from one embedding model to another, step by step, with both models in the test's hands."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from daemon.spaces import VectorSpaces
from daemon.status import Change, EmbeddingModel
from recalld.errors import ModelUnavailable, TransientModelError
from recalld.models.embedder import Embedder
from recalld.store.spaces import spaces
from tests.fakes import WordEmbedder
from tests.ingest.keeping import Vault

DOWN = TransientModelError("no answer", hint="start it")


def small() -> WordEmbedder:
    return WordEmbedder(identity="small@1", name="small", dimension=8)


def large(identity: str = "large@1") -> WordEmbedder:
    return WordEmbedder(identity=identity, name="large", dimension=12)


class Memory:
    """Three notes, and the models that are there."""

    def __init__(self, vault: Vault) -> None:
        self.vault = vault
        for number in range(3):
            vault.write(f"{number}.md", f"Statement number {number} is here.\n")
        vault.look()
        # What recall was told to go by.
        self.told: list[str] = []
        self.now = 0.0

    def open(self, embedder: WordEmbedder | None, *there: WordEmbedder) -> VectorSpaces:
        """A start with this model in the settings, and others that can still be had."""
        self.configured = embedder

        def load() -> tuple[Embedder | None, EmbeddingModel]:
            if self.configured is None:
                return None, EmbeddingModel(space=None, state="down", hint="start it")
            return self.configured, EmbeddingModel(
                space=self.configured.space, state="ok", hint=None
            )

        known = {one.space.identity: one for one in there}
        made = VectorSpaces(
            database=self.vault.database,
            writes=self.vault.writes,
            batch=1,
            load=load,
            reopen=known.get,
            clock=lambda: self.now,
        )
        made.tell_changes(lambda model: self.told.append(model.space.identity))
        return made

    def in_use(self) -> tuple[str, int]:
        """The space in use, and how many vectors it has."""
        with self.vault.database.reader() as connection:
            stored = spaces(connection).in_use
        assert stored is not None
        sql = "SELECT count(*) FROM vector WHERE space = ?"
        return stored.identity, self.vault.rows(sql, stored.space_id)[0][0]

    def all_vectors(self) -> list[tuple[int, int]]:
        """Length of the vectors and how many have it, of all spaces."""
        return self.vault.rows("SELECT length(embedding), count(*) FROM vector GROUP BY 1")


def drain(made: VectorSpaces) -> int:
    """Works off all there is; how many steps that took."""
    steps = 0
    while (done := made.step()).asked or done.tidied:
        steps += 1
    return steps


def identity(made: VectorSpaces) -> str | None:
    return made.embedder.space.identity if made.embedder else None


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    with Vault(tmp_path) as vault:
        yield Memory(vault)


@pytest.fixture
def filled(memory) -> Memory:
    drain(memory.open(small()))
    assert memory.in_use() == ("small@1", 3)
    return memory


def test_first_model_is_used_at_once_and_changes_nothing_when_it_comes_again(filled):
    made = filled.open(again := small())
    assert made.answers()
    assert made.change() is None
    assert drain(made) == 0
    assert again.statements == []


def test_recall_goes_by_the_old_model_until_the_new_vectors_are_whole(filled):
    new = large()
    made = filled.open(new, old := small())
    assert identity(made) == "small@1"
    assert made.answers()
    assert made.change() == Change(model="large", recall_uses="small", done=0, total=3)
    made.step()
    made.step()
    assert made.change() == Change(model="large", recall_uses="small", done=2, total=3)
    assert filled.in_use() == ("small@1", 3)
    assert filled.told == []
    drain(made)
    assert filled.told == ["large@1"]
    assert identity(made) == "large@1"
    assert made.change() is None
    assert filled.in_use() == ("large@1", 3)
    assert filled.all_vectors() == [(12, 3)], "the old ones are gone"
    assert (len(new.statements), len(old.statements)) == (3, 0)


def test_notes_that_come_and_go_meanwhile_are_right_in_the_end(filled):
    made = filled.open(large(), small())
    made.step()
    filled.vault.write("new.md", "Something new came meanwhile.\n")
    (filled.vault.path / "0.md").unlink()
    filled.vault.write("1.md", "Statement number one has changed.\n")
    filled.vault.look()
    drain(made)
    assert filled.in_use() == ("large@1", 3)
    texts = filled.vault.rows("SELECT text FROM statement JOIN vector ON statement_id = id")
    assert {row[0] for row in texts} == {
        "Something new came meanwhile.",
        "Statement number one has changed.",
        "Statement number 2 is here.",
    }
    assert filled.all_vectors() == [(12, 3)]


def test_new_notes_are_found_by_the_old_model_before_the_change_goes_on(filled):
    made = filled.open(large(), old := small())
    filled.vault.write("new.md", "Something new came meanwhile.\n")
    filled.vault.look()
    made.step()
    assert old.statements == ["new: Something new came meanwhile."]
    assert filled.in_use() == ("small@1", 4)


def test_restart_in_the_middle_goes_on_where_it_was(filled):
    made = filled.open(large(), small())
    made.step()
    again = filled.open(new := large(), small())
    assert again.change() == Change(model="large", recall_uses="small", done=1, total=3)
    drain(again)
    assert len(new.statements) == 2
    assert filled.in_use() == ("large@1", 3)


def test_going_back_half_way_and_afterwards_costs_nothing(filled):
    made = filled.open(large(), small())
    made.step()
    back = filled.open(old := small(), large())
    assert back.change() is None
    assert identity(back) == "small@1"
    drain(back)
    assert filled.all_vectors() == [(8, 3)]
    forth = filled.open(new := large(), small())
    drain(forth)
    assert len(new.statements) == 2, "the one that was made is known"
    home = filled.open(old, large())
    drain(home)
    assert old.statements == []
    assert filled.in_use() == ("small@1", 3)


def test_third_model_takes_over_from_the_second(filled):
    made = filled.open(large(), small())
    made.step()
    third = filled.open(large("third@1"), small())
    assert identity(third) == "small@1"
    drain(third)
    assert filled.in_use() == ("third@1", 3)


def test_old_model_that_is_gone_leaves_keywords_until_the_new_vectors_are_whole(filled):
    made = filled.open(large())
    assert identity(made) == "large@1"
    assert not made.answers()
    assert made.change() == Change(model="large", recall_uses=None, done=0, total=3)
    made.step()
    assert not made.answers()
    again = filled.open(large())
    assert again.change() == Change(model="large", recall_uses=None, done=1, total=3)
    drain(again)
    assert again.answers()
    assert again.change() is None
    assert filled.all_vectors() == [(12, 3)]


def test_old_model_that_fails_meanwhile_is_told_and_does_not_hold_up_the_new_one(filled):
    made = filled.open(large(), old := small())
    filled.vault.write("new.md", "Something new came meanwhile.\n")
    filled.vault.look()
    old.failure = DOWN
    made.step()
    change = made.change()
    assert change is not None
    assert (change.recall_uses, made.answers(), made.is_changing) == (None, False, True)
    drain(made)
    assert filled.in_use() == ("large@1", 4)
    assert made.answers()


def test_new_model_that_fails_is_told_and_recall_does_not_suffer(filled):
    made = filled.open(new := large(), small())
    new.failure = DOWN
    with pytest.raises(TransientModelError):
        made.step()
    assert made.answers()
    assert filled.in_use() == ("small@1", 3)
    new.failure = None
    drain(made)
    assert filled.in_use() == ("large@1", 3)


def test_without_the_model_of_the_settings_recall_goes_on_with_what_there_is(filled):
    made = filled.open(None, small())
    assert identity(made) == "small@1"
    assert made.answers()
    assert made.model.state == "down"
    nothing = filled.open(None)
    assert nothing.embedder is None
    assert not nothing.answers()
    assert drain(nothing) == 0
    assert filled.in_use() == ("small@1", 3), "what there is stays"


# ---------------------------------------------------------------- by hand


def test_by_hand_everything_is_made_again_beside_what_is_in_use(filled):
    made = filled.open(only := small())
    assert made.reembed() == Change(model="small", recall_uses="small", done=0, total=3)
    assert made.answers()
    assert made.reembed() == Change(model="small", recall_uses="small", done=0, total=3)
    drain(made)
    assert len(only.statements) == 3
    assert filled.in_use() == ("small@1", 3)
    assert filled.all_vectors() == [(8, 3)]


def test_by_hand_begun_and_killed_it_goes_on_at_the_next_start(filled):
    made = filled.open(small())
    made.reembed()
    made.step()
    again = filled.open(only := small())
    assert again.change() == Change(model="small", recall_uses="small", done=1, total=3)
    drain(again)
    assert len(only.statements) == 2


def test_by_hand_weights_that_were_replaced_are_noticed(filled):
    made = filled.open(small())
    filled.configured = WordEmbedder(identity="small@2", name="small", dimension=8)
    made.reembed()
    drain(made)
    assert filled.in_use() == ("small@2", 3)
    assert filled.told[-1] == "small@2"


def test_weights_that_nobody_can_tell_apart_leave_keywords_when_made_again_by_hand(memory):
    server = WordEmbedder(identity="openai/m@unknown/none/8", name="m", dimension=8)
    made = memory.open(server)
    drain(made)
    change = made.reembed()
    assert change == Change(model="m", recall_uses=None, done=0, total=3)
    assert not made.answers()
    drain(made)
    assert made.answers()
    assert len(server.statements) == 6


def test_by_hand_without_a_model_says_why(filled):
    made = filled.open(None)
    with pytest.raises(ModelUnavailable) as raised:
        made.reembed()
    assert raised.value.hint == "start it"
    filled.configured = large()
    made.reembed()
    drain(made)
    assert filled.in_use() == ("large@1", 3)
