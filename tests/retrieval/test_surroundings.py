from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.chat import ModelHealth
from recalld.records import Around, Excerpt, Hit, Lines
from retrieval.fetching import get
from retrieval.reranking.service import Reranking
from retrieval.surroundings import widest
from tests.fakes import WordEmbedder
from tests.retrieval.asking import Memory

PROSE = (
    "The gateway listens on port 9090. It moved there because of Prometheus. "
    "Ana decided that in March."
)
NOTE = f"""# Gateway

{PROSE}

%% xdivorce %%

- 网关监听端口 9090。
- Poort 9090 is van de gateway. <!-- xsalary -->

password: hunter2hunter2
"""


@pytest.fixture
def memory(tmp_path) -> Iterator[Memory]:
    with Memory(tmp_path, embedder=WordEmbedder()) as made:
        made.take(gateway=NOTE)
        yield made


def hits(memory: Memory, query: str, around: Around | None = None, **options: float) -> list[Hit]:
    given = {"min_relevance": 0.0, "around": around, **options}
    return list(memory.hits(query, **given))


def about(memory: Memory, query: str, text: str, around: Around) -> Hit:
    return next(one for one in hits(memory, query, around) if text in one.text)


def test_nothing_comes_about_a_hit_unless_asked_for(memory):
    for around in (None, Around()):
        for hit in hits(memory, "gateway port", around):
            assert (hit.passage, hit.source_text) == (None, None)


def test_a_statement_brings_the_passage_that_it_was_taken_from(memory):
    hit = about(memory, "Ana decided March", "Ana decided", Around(passages=True))
    assert hit.text == "Ana decided that in March."
    assert hit.passage == Excerpt(lines=Lines(first=3, last=3), text=PROSE)
    assert hit.source_text is None


@pytest.mark.parametrize(
    ("note", "query"),
    [
        ("The gateway listens on port 9191.\n", "gateway 9191"),
        ("- Pas op voor poort 9191.\n", "poort 9191"),
        ("1. **网关**监听端口 9191。\n", "网关 9191"),
        ("> بوابة المنفذ 9191 مغلقة.\n", "المنفذ 9191"),
        ("```sh\ngatewayctl --port 9191\n```\n", "gatewayctl 9191"),
    ],
    ids=["sentence", "item", "emphasis", "quote", "code"],
)
def test_a_passage_that_says_no_more_than_its_hit_does_not_come(memory, note, query):
    memory.take(other=note)
    hit = about(memory, query, "9191", Around(passages=True))
    assert hit.passage is None


def test_lines_about_a_hit_are_those_that_get_gives(memory):
    for count in (1, 2, 5, 100, 10**30):
        hit = about(memory, "Ana decided March", "Ana decided", Around(lines=count))
        told = get(memory.vault.database, hit.anchor, lines_around=count).result["source_text"]
        assert hit.source_text is not None
        assert [hit.source_text.lines.first, hit.source_text.lines.last] == told["lines"]
        assert hit.source_text.text == told["text"]
        assert hit.passage is None


def test_what_is_private_or_secret_comes_neither_by_passage_nor_by_lines(memory):
    for hit in hits(memory, "gateway poort 网关 password", Around(passages=True, lines=100)):
        for excerpt in (hit.passage, hit.source_text):
            text = (excerpt.text if excerpt else None) or ""
            assert not [word for word in ("xdivorce", "xsalary", "hunter2") if word in text]
    lines = about(memory, "gateway", "gateway", Around(lines=100)).source_text
    assert lines is not None
    assert "password: [redacted]" in str(lines.text).split("\n")


def test_a_file_that_changed_and_was_not_read_yet_shows_what_is_known(memory):
    before = about(memory, "Ana decided March", "Ana decided", Around(passages=True, lines=3))
    memory.vault.write("gateway.md", "xunread\n\n" + NOTE.replace("<!-- xsalary -->", "xsalary"))
    after = about(memory, "Ana decided March", "Ana decided", Around(passages=True, lines=3))
    assert (after.passage, after.source_text) == (before.passage, before.source_text)
    memory.vault.look()
    moved = about(memory, "Ana decided March", "Ana decided", Around(passages=True, lines=3))
    assert moved.anchor == before.anchor
    assert moved.passage == Excerpt(lines=Lines(first=5, last=5), text=PROSE)


def test_lines_that_a_better_hit_brought_come_once(memory):
    some = hits(memory, "gateway port 9090 网关 poort", Around(lines=100))
    assert len(some) > 3
    assert [hit.source_text.text is not None for hit in some if hit.source_text] == [True] + [
        False
    ] * (len(some) - 1)
    assert len({hit.source_text.lines.last for hit in some if hit.source_text}) == 1


def test_notes_do_not_hide_one_anothers_lines(memory):
    memory.take(other="# Port\n\nThe gateway listens on port 9999.\n\nSo it is.\n")
    some = hits(memory, "gateway listens on port", Around(lines=2))
    shown = [hit.source.path for hit in some if hit.source_text and hit.source_text.text]
    assert {"gateway.md", "other.md"} <= set(shown)


@pytest.mark.parametrize("around", [Around(passages=True), Around(lines=2), Around(passages=True, lines=9)])  # fmt: skip
def test_what_comes_about_hits_keeps_to_the_budget_and_costs_no_hit(memory, around):
    plain = hits(memory, "gateway port 9090 poort", max_chars=10_000)
    texts = sum(len(hit.text) for hit in plain)
    sizes = set()
    for budget in (texts, texts + 40, texts + 150, texts + 400, 10_000):
        some = hits(memory, "gateway port 9090 poort", around, max_chars=budget)
        assert [hit.anchor for hit in some] == [hit.anchor for hit in plain]
        excerpts = [one for hit in some for one in (hit.passage, hit.source_text) if one]
        size = texts + sum(len(one.text or "") for one in excerpts)
        assert size <= budget
        sizes.add(size)
        assert excerpts
    assert len(sizes) > 1


def test_the_best_hit_has_what_is_about_it_first(memory):
    plain = hits(memory, "Ana decided in March")
    texts = sum(len(hit.text) for hit in plain)
    assert plain[0].text == "Ana decided that in March."
    around = Around(passages=True)
    first, *others = hits(memory, "Ana decided in March", around, max_chars=texts + len(PROSE))
    assert first.passage == Excerpt(lines=Lines(first=3, last=3), text=PROSE)
    assert all(hit.passage is None or hit.passage.text is None for hit in others)
    first, *_ = hits(memory, "Ana decided in March", around, max_chars=texts + len(PROSE) - 1)
    assert first.passage == Excerpt(lines=Lines(first=3, last=3), text=None)


def test_fewer_lines_come_where_more_do_not_fit(memory):
    texts = sum(len(hit.text) for hit in hits(memory, "Ana decided in March"))
    # Two lines before it and two after it, of which one is blank and one private.
    for room, shown in (
        (len(PROSE) - 1, None),
        (len(PROSE) + 2, [2, 3]),
        (len(PROSE) + 20, [1, 3]),
    ):
        first, *_ = hits(memory, "Ana decided in March", Around(lines=2), max_chars=texts + room)
        assert first.source_text is not None
        if shown is None:
            assert first.source_text == Excerpt(lines=Lines(first=3, last=3), text=None)
        else:
            assert [first.source_text.lines.first, first.source_text.lines.last] == shown


class Waited:
    """A reranker that leaves the order as it is, and lets something happen while it is waited for."""

    name = "waited"

    def __init__(self) -> None:
        self.meanwhile: Callable[[], object] = lambda: None

    def order(self, query: str, texts: Sequence[str]) -> tuple[int, ...]:
        self.meanwhile()
        return tuple(range(len(texts)))

    def health(self) -> ModelHealth:
        return ModelHealth(state="ok", hint=None, name=self.name, digest=None)

    def close(self) -> None:
        """There is nothing to close."""


def test_a_note_that_moves_while_a_reranker_is_waited_for_gives_no_other_lines(tmp_path):
    reranker = Waited()
    around = Around(passages=True, lines=2)
    with Memory(tmp_path, embedder=WordEmbedder(), reranking=Reranking(reranker)) as memory:
        memory.take(gateway=NOTE)
        still = about(memory, "Ana decided March", "Ana decided", around)
        assert still.source_text is not None
        assert PROSE in str(still.source_text.text)
        reranker.meanwhile = lambda: memory.take(gateway="A new first line.\n\n" + NOTE)
        moved = about(memory, "Ana decided March", "Ana decided", around)
        assert moved.source_text == Excerpt(lines=Lines(first=3, last=3), text=None)
        assert moved.passage == Excerpt(lines=Lines(first=3, last=3), text=PROSE)


numbered = st.dictionaries(st.integers(1, 30), st.text("ab 字", min_size=1, max_size=9))


@given(numbered, st.integers(1, 30), st.integers(0, 3), st.integers(0, 40), st.integers(0, 120))
def test_widest_is_as_wide_as_fits_and_no_wider(kept, first, height, around, most):
    lines = Lines(first=first, last=first + height)
    spread = Lines(first=max(1, lines.first - around), last=lines.last + around)
    kept = {number: text for number, text in kept.items() if spread.first <= number <= spread.last}
    kept.setdefault(first, "x")
    found = widest(kept, lines, around, most)
    assert spread.first <= found.lines.first <= lines.first
    assert lines.last <= found.lines.last <= spread.last
    every = widest(kept, lines, around, 10_000)
    if found.text is None:
        assert len(widest(kept, lines, 0, 10_000).text or "") > most
        return
    assert len(found.text) <= most
    shown = found.text.split("\n")
    assert shown == [kept.get(found.lines.first + at, "") for at in range(len(shown))]
    assert found.text in str(every.text)
    if len(every.text or "") <= most - 2 * around:
        # Blank lines at the end are paid for, though they are left out in the end.
        assert found == every
