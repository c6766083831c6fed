"""Whatever happened to the notes, and in whatever order facts were compared, what was found is what comparing all finds."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from itertools import count, product
from pathlib import Path
from zlib import crc32

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import initialize, precondition, rule

from ingest.agreement.judging import JudgingStage
from ingest.agreement.stage import AgreeingStage
from recalld.errors import InvalidParams, TransientModelError
from recalld.records import Category, FactId
from recalld.store.agreement import Resolution
from recalld.store.connection import execute
from recalld.store.succession import MOST_IN_SERIES, MOST_SHARING
from tests.cases.test_equals_rebuild import PATHS, QUICK_DISK, HereWrites, Notes, Store
from tests.ingest.agreement.judges import ScriptedJudge

FOUND = {
    "links": "SELECT a.uid, b.uid, kind, weight, fact_link.origin, reason FROM fact_link"
    " JOIN fact AS a ON a.id = from_fact JOIN fact AS b ON b.id = to_fact",
    "successors": "SELECT a.uid, b.uid FROM fact AS a LEFT JOIN fact AS b ON b.id = a.superseded_by",
    "keys": "SELECT key, uid FROM fact_key JOIN fact ON fact.id = fact_id",
}
# Facts that are above themselves.
CIRCLES = """
    WITH RECURSIVE above (lowest, id) AS (
      SELECT id, superseded_by FROM fact WHERE superseded_by IS NOT NULL UNION
      SELECT lowest, superseded_by FROM above JOIN fact USING (id) WHERE superseded_by IS NOT NULL)
    SELECT lowest FROM above WHERE lowest = id
"""
CLAIMS = (
    "The production database runs on db1.",
    "The production database runs on db2.",
    "The production database runs on db2 since June.",
    "The Production Database runs on db1.",
    "The production database now runs on db3.",
    "The production database does not run on db1.",
    "Ana likes tea.",
    "Ana does not like tea.",
    "alpha has 64 GB of memory.",
    "beta has 64 GB of memory.",
    "alpha has 64GB of memory",
    "alpha has 128 GB of memory.",
    "Deploy failed because alpha has 64 GB of memory.",
    "Der Vertrag wird verlängert.",
    "Der Vertrag wird nicht verlängert.",
    "数据库运行在东京的服务器上。",
    "数据库运行在大阪的服务器上。",
    "Ana sings.",
    "`Ana` sings.",
    "Port is 5432.",
    "Port is 5433.",
    "## alpha",
    "## beta",
)
SYLLABLES = tuple(f"{one}{other}" for other in "aeiou" for one in "bdfklmnprt")
HEADS = ("", "---\ndate: 2026-02-01\n---\n", "---\ndate: 2026-05-01\n---\n", "# Named\n\n")


# Times in the order of asking.
CLOCK = count(1)
VERDICTS = ("duplicate", "extends", "contradicts", "independent", "no such verdict")


def _verdict(by: str, one: str, other: str) -> str:
    return VERDICTS[crc32("|".join((by, *sorted((one, other)))).encode()) % len(VERDICTS)]


def found_in(store: Store) -> dict[str, list[tuple[object, ...]]]:
    return {
        name: sorted(execute(store.database.writer, sql), key=repr) for name, sql in FOUND.items()
    }


class Compared(Notes):
    """Notes change, users speak, categories settle, and some facts are compared in between."""

    @initialize(policy=st.sampled_from(("supersede", "supersede", "keep_both", "review")))
    def begin(self, policy: str) -> None:
        self.policy = policy

    def stage(self) -> AgreeingStage:
        store = self.store
        return AgreeingStage(
            database=store.database, writes=HereWrites(store.database), policy=self.policy
        )

    def uids(self) -> list[str]:
        return [row[0] for row in execute(self.store.database.writer, "SELECT uid FROM fact")]

    @rule(
        path=st.sampled_from(PATHS[:4]),
        head=st.sampled_from(HEADS),
        claims=st.lists(st.sampled_from(CLAIMS), min_size=1, max_size=5),
        hinted=st.booleans(),
    )
    def claim(self, path: str, head: str, claims: list[str], hinted: bool) -> None:
        target = self.vault / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(head + "\n\n".join(claims) + "\n")
        if hinted:
            self.store.look(frozenset({path}))

    @rule()
    def compare(self) -> None:
        while self.stage().step():
            pass

    @rule()
    def begin_and_crash(self) -> None:
        HereWrites(self.store.database).call(lambda writers: writers.agreement.begin(2))

    @precondition(lambda self: self._there())
    @rule(data=st.data(), head=st.sampled_from(HEADS))
    def put_another_head(self, data: st.DataObject, head: str) -> None:
        path = data.draw(st.sampled_from(self._there()))
        body = (self.vault / path).read_text().rpartition("---\n")[2].removeprefix("# Named\n\n")
        (self.vault / path).write_text(head + body)
        self.store.look(frozenset({path}))

    @precondition(lambda self: len(self.uids()) > 1)
    @rule(data=st.data(), verdict=st.sampled_from(("supersedes", "both")))
    def resolve(self, data: st.DataObject, verdict: str) -> None:
        one, other = data.draw(st.permutations(self.uids()))[:2]
        with suppress(InvalidParams):
            self.stage().resolve(Resolution(one=one, other=other, verdict=verdict), 1)

    @precondition(lambda self: self.uids())
    @rule(data=st.data(), category=st.sampled_from((Category.ERROR, Category.TOOL)))
    def categorise(self, data: st.DataObject, category: Category) -> None:
        ids = [row[0] for row in execute(self.store.database.writer, "SELECT id FROM fact")]
        one = FactId(data.draw(st.sampled_from(ids)))
        writes = HereWrites(self.store.database)
        writes.call(lambda writers: writers.usage.categorise([(one, category)]))

    @rule(steps=st.integers(1, 4), outage=st.booleans(), by=st.sampled_from(("one", "another")))
    def ask_a_model(self, steps: int, outage: bool, by: str) -> None:
        """Answers follow from the words and the model; an outage in the middle is a crash as well."""
        model = ScriptedJudge(lambda one, other: _verdict(by, one, other))
        judging = JudgingStage(
            database=self.store.database,
            writes=HereWrites(self.store.database),
            model=model,
            answers=lambda: not outage,
            now_ms=lambda: next(CLOCK),
            has_embedder=False,
        )
        for number in range(steps):
            if outage and number == steps - 1:
                model.replies = ["no answer", TransientModelError("away", state="down")]
            with suppress(TransientModelError):
                judging.step(by)

    @rule()
    def equals_comparing_all(self) -> None:
        stage = self.stage()
        while stage.step():
            pass
        found = found_in(self.store)
        HereWrites(self.store.database).call(lambda writers: writers.agreement.compare_all_again())
        while stage.step():
            pass
        again = found_in(self.store)
        for name, rows in again.items():
            assert found[name] == rows, name
        assert execute(self.store.database.writer, CIRCLES) == []

    def teardown(self) -> None:
        try:
            if hasattr(self, "policy"):
                self.store.look(None)
                self.equals_comparing_all()
        finally:
            super().teardown()


TestAgreementRebuild = pytest.mark.slow(Compared.TestCase)
TestAgreementRebuild.settings = settings(
    max_examples=30,
    stateful_step_count=25,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)


@pytest.mark.slow
def test_word_that_comes_to_be_everywhere_counts_no_more_and_counts_again_when_it_is_rarer():
    """The keys of a pair are shared by too many others, then not, and the pair is lost and found."""
    with tempfile.TemporaryDirectory(dir=QUICK_DISK) as folder:
        vault = Path(folder) / "vault"
        vault.mkdir()
        (vault / "2026-01-01.md").write_text("Young zebras prefer oats.\n")
        (vault / "2026-02-01.md").write_text("Young zebras do not prefer oats.\n")
        store = Store(Path(folder) / "memory.db", vault)
        stage = AgreeingStage(
            database=store.database, writes=HereWrites(store.database), policy="supersede"
        )

        def settle() -> int:
            store.look(None)
            while stage.step():
                pass
            sql = "SELECT count(*) FROM fact_link WHERE kind = 'contradicts'"
            return execute(store.database.writer, sql)[0][0]

        try:
            assert settle() == 1
            crowd = vault / "crowd.md"
            crowd.write_text(
                "\n\n".join(
                    f"Young zebras prefer oats {one}{other}."
                    for one, other in product(SYLLABLES[: MOST_SHARING // 8 + 1], SYLLABLES[:8])
                )
            )
            assert settle() == 0
            crowd.unlink()
            assert settle() == 1
        finally:
            store.close()


def test_wording_that_a_log_repeats_with_other_numbers_is_no_disagreement(tmp_path):
    """Three weights disagree; a log of them does not; when it is cut to three they disagree again."""
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "stays.md").write_text("This note stays.\n")
    store = Store(tmp_path / "memory.db", vault)
    stage = AgreeingStage(
        database=store.database, writes=HereWrites(store.database), policy="supersede"
    )

    def superseded_in_log_of(days: int) -> int:
        for day in range(1, 29):
            path = vault / f"2026-02-{day:02}.md"
            path.unlink(missing_ok=True)
            if day <= days:
                path.write_text(f"The weight of the old oak table is {70 + day} kg.\n")
        store.look(None)
        while stage.step():
            pass
        sql = "SELECT count(*) FROM fact WHERE superseded_by IS NOT NULL"
        return int(str(execute(store.database.writer, sql)[0][0]))

    try:
        assert superseded_in_log_of(3) == 2
        assert superseded_in_log_of(MOST_IN_SERIES + 1) == 0
        assert superseded_in_log_of(3) == 2
    finally:
        store.close()
