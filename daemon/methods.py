"""The methods of the socket: parameters checked, services asked, results in the protocol's shapes."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path

import structlog

from daemon.counting import RecallCounts
from daemon.extracting import ExtractLoop
from daemon.ingesting import IngestLoop
from daemon.status import Change, StatusReport
from ingest.agreement.stage import AgreeingStage
from ingest.regraph import rebuild_graph
from recalld import __version__
from recalld.errors import InvalidParams, ModelUnavailable
from recalld.parameters import (
    AnswerParams,
    ConflictsParams,
    ExplainParams,
    GetParams,
    PingParams,
    RebuildGraphParams,
    RecallParams,
    ReembedParams,
    ReextractParams,
    RelatedParams,
    ResolveParams,
    StatusParams,
    SyncParams,
    parse_explain,
)
from recalld.results import answered_json, recalled_json
from recalld.store.agreement import Resolution
from recalld.store.connection import Database
from recalld.store.writers import Writes
from retrieval.answer.service import Answers
from retrieval.disagreeing import conflict_of, list_conflicts, two_facts
from retrieval.fetching import get
from retrieval.graph.relating import related
from retrieval.recall import Recall

_log = structlog.get_logger("recall")

Method = Callable[[dict[str, object]], object]
# While `sync` waits it looks this often whether the daemon is stopping.
_LOOK_S = 0.05


class Methods:
    """What clients may ask. Called from many threads."""

    def __init__(
        self,
        *,
        recall: Recall,
        answers: Answers,
        database: Database,
        writes: Writes,
        counts: RecallCounts,
        ingest: IngestLoop,
        extract: ExtractLoop | None,
        agreeing: AgreeingStage,
        reembed: Callable[[], Change | None],
        on_resolved: Callable[[], None],
        status: StatusReport,
        defaults: Mapping[str, object],
    ) -> None:
        """`defaults` are recall's from the settings, for requests that don't say.

        `reembed` has all vectors made again; `on_resolved` is called when a user has spoken on two facts.
        """
        self._recall = recall
        self._answers = answers
        self._database = database
        self._writes = writes
        self._counts = counts
        self._ingest = ingest
        self._extract = extract
        self._agreeing = agreeing
        self._reembed = reembed
        self._on_resolved = on_resolved
        self._status = status
        self._defaults = defaults

    def use_defaults(self, defaults: Mapping[str, object]) -> None:
        """Takes other defaults of recall, from the next request on."""
        self._defaults = defaults

    def table(self) -> dict[str, Method]:
        """Each method by its name."""
        return {
            "ping": self.ping,
            "recall": self.recall,
            "answer": self.answer,
            "get": self.get,
            "explain": self.explain,
            "related": self.related,
            "rebuild_graph": self.rebuild_graph,
            "conflicts": self.conflicts,
            "resolve": self.resolve,
            "reextract": self.reextract,
            "reembed": self.reembed,
            "sync": self.sync,
            "status": self.status,
        }

    def ping(self, params: dict[str, object]) -> dict[str, object]:
        """Who answers."""
        PingParams.parse(params)
        return {"version": __version__, "pid": os.getpid()}

    def recall(self, params: dict[str, object]) -> dict[str, object]:
        """Hits for a query."""
        return self._recalled(RecallParams.parse(self._with_defaults(params)))

    def answer(self, params: dict[str, object]) -> dict[str, object]:
        """An answer in sentences that cite hits, or the hits as a list."""
        asked = AnswerParams.parse(self._with_defaults(params))
        started = time.perf_counter()
        answered, facts = self._answers.answer(
            asked.query,
            limits=asked.filter,
            limit=asked.limit,
            max_chars=asked.max_chars,
            min_relevance=asked.min_relevance,
            explain=asked.explain,
            around=asked.around,
        )
        self._counts.add(facts)
        _log.info(
            "question.answered",
            recall_id=answered.recalled.recall_id,
            count=len(answered.citations),
            dropped=[reason for _, reason in answered.dropped],
            duration_ms=round((time.perf_counter() - started) * 1000, 1),
            reason=answered.reason,
        )
        return answered_json(answered)

    def _with_defaults(self, params: Mapping[str, object]) -> dict[str, object]:
        """The parameters with the settings for those that are not given, or null."""
        given = {key: value for key, value in params.items() if value is not None}
        return {**self._defaults, **given}

    def _recalled(self, asked: RecallParams) -> dict[str, object]:
        recalled, facts = self._recall.recall(
            asked.query,
            limits=asked.filter,
            limit=asked.limit,
            max_chars=asked.max_chars,
            min_relevance=asked.min_relevance,
            explain=asked.explain,
            around=asked.around,
        )
        self._counts.add(facts)
        _log.info(
            "recall.answered",
            recall_id=recalled.recall_id,
            count=len(recalled.hits),
            duration_ms=round(recalled.took_ms, 1),
            reason=recalled.reason,
        )
        return recalled_json(recalled)

    def get(self, params: dict[str, object]) -> dict[str, object]:
        """A fact, passage or note whole."""
        asked = GetParams.parse(params)
        fetched = get(self._database, asked.anchor, lines_around=asked.lines_around)
        if fetched.facts:
            now_ms = int(time.time() * 1000)
            self._writes.post(lambda writers: writers.usage.read(fetched.facts, now_ms))
        return fetched.result

    def explain(self, params: dict[str, object]) -> dict[str, object]:
        """How an answer came about, of an earlier recall or of a new one."""
        asked = parse_explain(params)
        if isinstance(asked, RecallParams):
            asked = RecallParams.parse(self._with_defaults(params))
        if isinstance(asked, ExplainParams):
            return self._recall.explain(asked.recall_id)
        recalled, _ = self._recall.recall(
            asked.query,
            limits=asked.filter,
            limit=asked.limit,
            max_chars=asked.max_chars,
            min_relevance=asked.min_relevance,
            explain=True,
            around=asked.around,
        )
        result = recalled_json(recalled)
        explanation = result.pop("explanation")
        return {**result, **explanation} if isinstance(explanation, dict) else result

    def related(self, params: dict[str, object]) -> dict[str, object]:
        """The things round an entity or an anchor."""
        asked = RelatedParams.parse(params)
        return related(
            self._database,
            anchor=asked.anchor,
            entity=asked.entity,
            hops=asked.hops,
            limit=asked.limit,
        )

    def conflicts(self, params: dict[str, object]) -> dict[str, object]:
        """The pairs of facts that disagree."""
        asked = ConflictsParams.parse(params)
        return list_conflicts(self._database, limit=asked.limit, offset=asked.offset)

    def resolve(self, params: dict[str, object]) -> dict[str, object]:
        """Keeps a user's word on two facts."""
        asked = ResolveParams.parse(params)
        one, other = two_facts(self._database, asked.anchor, asked.over)
        word = Resolution(one=one, other=other, verdict=asked.verdict)
        self._agreeing.resolve(word, int(time.time() * 1000))
        self._on_resolved()
        return conflict_of(self._database, one, other)

    def rebuild_graph(self, params: dict[str, object]) -> dict[str, object]:
        """Computes the graph again from what is stored."""
        RebuildGraphParams.parse(params)
        return asdict(rebuild_graph(self._writes))

    def reextract(self, params: dict[str, object]) -> dict[str, object]:
        """Gives blocks that were given up, or read by another model or prompt, their turn again."""
        asked = ReextractParams.parse(params)
        if self._extract is None:
            raise ModelUnavailable(
                "no language model is used", hint='set llm.provider = "auto", and restart recalld'
            )
        queued = self._extract.retry(only_parked=asked.parked)
        return {"queued": queued, "model": asdict(self._extract.health)}

    def reembed(self, params: dict[str, object]) -> dict[str, object]:
        """Has all vectors made again, by the embedding model of the settings as it is now."""
        ReembedParams.parse(params)
        change = self._reembed()
        return {"reembedding": None if change is None else asdict(change)}

    def sync(self, params: dict[str, object]) -> dict[str, object]:
        """Looks at the disk now."""
        asked = SyncParams.parse(params)
        for name in asked.confirm_deletions:
            if name not in self._ingest.keepers:
                known = ", ".join(sorted(self._ingest.keepers)) or "none"
                raise InvalidParams(f"no root is named {name!r}", hint=f"known are {known}")
            self._ingest.keepers[name].confirm_deletions()
        if asked.paths and not asked.full and not asked.confirm_deletions:
            self._hint(asked.paths)
        else:
            self._ingest.ask_scan(full=asked.full)
        queued = self._ingest.waiting().dirty
        is_done = self._status.refined if asked.refined else self._status.settled
        while (asked.wait or asked.refined) and not is_done() and not self._status.stopping:
            time.sleep(_LOOK_S)
        return {"queued": queued}

    def _hint(self, paths: list[str]) -> None:
        for path in paths:
            found = False
            for name, keeper in self._ingest.keepers.items():
                relative = _below(path, keeper.path)
                if relative is not None:
                    self._ingest.hint(name, [relative])
                    found = True
            if not found:
                raise InvalidParams(
                    f"{path} lies below no root",
                    hint="give a path below a root, absolute or relative to it",
                )

    def status(self, params: dict[str, object]) -> dict[str, object]:
        """The truth about the daemon."""
        StatusParams.parse(params)
        if self._extract is not None:
            self._extract.look_now()
        return self._status.result()


def _below(path: str, root: Path) -> str | None:
    """A path relative to a root; None when it is absolute and lies elsewhere."""
    if not Path(path).is_absolute():
        clean = os.path.normpath(path)
        return None if _leads_out(clean) else ("" if clean == "." else clean)
    for base in (root, root.resolve()):
        relative = os.path.relpath(path, base)
        if relative == ".":
            return ""
        if not _leads_out(relative):
            return relative
    return None


def _leads_out(relative: str) -> bool:
    return relative == ".." or relative.startswith("../")
