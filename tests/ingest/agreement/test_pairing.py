"""A question costs a model seconds: which facts are worth one, and which are not."""

from __future__ import annotations

import pytest

from tests.fakes import WordEmbedder
from tests.ingest.agreement.judges import Memory

INSTALLED, NONE = "`gemma3:4b` is installed on `felix`.", "There are no models on `felix` at all."


@pytest.fixture
def memory(tmp_path):
    made = Memory(tmp_path)
    yield made
    made.store.close()


def test_vectors_say_what_is_worth_a_question(tmp_path):
    """`felix` is in all of them, but one has to do with none of the others."""
    opened, locked = (
        "The door of `felix` stays open at night.",
        "At night someone locks the door of `felix`.",
    )
    cat = "Our neighbours call their cat `felix` and feed it every day."
    memory = Memory(tmp_path, embedder=WordEmbedder())
    for name, text in (("a", opened), ("b", locked), ("c", cat)):
        memory.write(f"{name}.md", f"{text}\n")
    memory.model.verdict = lambda one, other: "contradicts"
    memory.settle()
    assert memory.model.pairs == {frozenset((opened, locked))}
    assert ("contradicts", "llm") in memory.kinds()
    memory.store.close()


def test_what_was_written_at_once_is_asked_about_only_where_few_speak_of_the_same(memory):
    """A paragraph does not disagree, nor does a note but for what it says of things that are hardly ever named."""
    cellar, attic = (
        "We keep the spare wheels of the cart in the cellar.",
        "We keep the spare wheels of the cart in the attic.",
    )
    memory.write("a.md", f"{cellar}\n\n{attic}\n")
    memory.settle()
    memory.write("a.md", f"{INSTALLED} {NONE}\n")
    memory.settle()
    assert memory.model.pairs == set()
    memory.write("a.md", f"{INSTALLED}\n\n{NONE}\n\n{cellar}\n")
    memory.write("b.md", f"{attic}\n")
    memory.settle()
    assert memory.model.pairs == {frozenset((INSTALLED, NONE)), frozenset((cellar, attic))}


def test_what_a_note_says_of_other_days_is_as_if_other_notes_said_it(memory):
    one = "The boats of the harbour were sold on 3 May 2026."
    other = "Some boats of the harbour are kept in sheds since 5 June 2026."
    memory.write("a.md", f"{one}\n\n{other}\n")
    memory.settle()
    assert memory.model.pairs == {frozenset((one, other))}


def test_log_of_numbers_is_not_asked_about(memory):
    for day in range(1, 29):
        memory.write(f"2026-02-{day:02}.md", f"The weight of the old oak table is {70 + day} kg.\n")
    memory.settle()
    assert memory.model.asked == []
    assert memory.links() == []


def test_conflict_without_a_common_name_is_found_by_meaning(tmp_path):
    one, other = "Backups go to the cellar each night.", "Nothing is ever saved downstairs."
    meaning = [
        frozenset({"backup", "save"}),
        frozenset({"cellar", "downstair"}),
        frozenset({"night", "ever"}),
    ]
    memory = Memory(tmp_path, embedder=WordEmbedder(synonyms=meaning))
    memory.write("a.md", f"{one}\n")
    memory.write("b.md", f"{other}\n")
    memory.model.verdict = lambda *pair: "contradicts" if {*pair} == {one, other} else "independent"
    memory.settle()
    assert memory.kinds() == [("contradicts", "llm")]
    memory.store.close()


@pytest.mark.parametrize(
    ("one", "other"),
    [
        # A code is one word, however many pieces the index keeps of it.
        ("No models are installed on felix.", "gemma3:4b is installed on felix."),
        ("There are no models on felix.", "gemma3:4b runs fine on felix since the last upgrade."),
        (
            "Op felix staan geen modellen.",
            "De grote gemma3:4b draait sinds gisteren goed op felix.",
        ),
        ("felix上没有任何模型。", "gemma3:4b在felix这台机器里面运行得很好。"),
        # A rare name inside both.
        (
            "The spare key of Zonnedael is blue.",
            "Bo painted all things at Zonnedael yellow last week.",
        ),
    ],
)
def test_a_rare_word_leads_to_what_denies_it_and_a_rare_name_to_all(memory, one, other):
    memory.write("a.md", f"# Log\n\n{one}\n")
    memory.write("b.md", f"# Log\n\n{other}\n")
    memory.write("c.md", "# Log\n\nThe cat sleeps in the garden.\n")
    memory.settle()
    assert memory.model.pairs == {frozenset((one, other))}


def test_a_rare_word_alone_is_worth_no_question(memory):
    memory.write("a.md", "The old kettle in the shed is red.\n")
    memory.write("b.md", "Ana bought a kettle and twelve cups at the market.\n")
    memory.settle()
    assert memory.model.pairs == set()


def test_a_word_that_many_passages_have_leads_nowhere(memory):
    for number, beast in enumerate(("cats", "dogs", "hens", "cows", "pigs", "bees", "owls") * 4):
        memory.write(f"{number}.md", f"The {beast} of farm {number} eat at felix.\n")
    none = "There are no models on felix."
    memory.write("z.md", f"{none}\n")
    memory.settle()
    assert not any(none in pair for pair in memory.model.pairs)
