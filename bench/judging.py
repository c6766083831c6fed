"""Answers over the socket, judged by the figures of `recalld eval`: by the lines of the evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from recalld.records import Category, Hit, Lines, Source
from retrieval.evaluation.metrics import Figures, Judged, Share, judge
from retrieval.evaluation.questions import Piece, Place, Question


def question_of(query: Mapping[str, Any]) -> Question:
    """A set's query as a question; the same words in several places are one piece of evidence."""
    places: dict[str, list[Place]] = {}
    for gold in query["gold"] if query["answerable"] else []:
        first, last = gold["lines"]
        key = gold["text"].strip() or f"{gold['file']}:{first}"
        places.setdefault(key, []).append(Place(path=gold["file"], first=first, last=last))
    return Question(
        id=query["id"],
        text=query["question"],
        pieces=tuple(Piece(places=tuple(each)) for each in places.values()),
        categories=(query["category"],) if query.get("category") else (),
    )


def judged(query: Mapping[str, Any], answer: Mapping[str, Any]) -> Judged:
    """A query with its answer, as `bench.quality.ask` gives it."""
    return judge(question_of(query), [_hit(result) for result in answer["results"]])


def _hit(result: Mapping[str, Any]) -> Hit:
    first, last = result["lines"]
    return Hit(
        anchor="",
        kind="fact",
        text=result["text"],
        context=(),
        category=Category.KNOWLEDGE,
        confidence=1.0,
        relevance=result["score"],
        score=0.0,
        source=Source(root="", path=result["path"], lines=Lines(first=first, last=last)),
        happened=None,
        stated=None,
    )


def table(groups: Mapping[str, Figures]) -> str:
    """Figures by group as Markdown, with Wilson's 95 % interval of the first."""
    rows = ["| | n | Hit@1 | 95 % | Hit@5 | Hit@10 | MRR | nDCG@5 | false rejections | empty |"]
    rows.append("|---" + "|---:" * 9 + "|")
    for name, one in groups.items():
        low, high = one.hit_at_1.interval
        cells: Sequence[str] = (
            name,
            str(one.n),
            _share(one.hit_at_1),
            f"{low:.3f}–{high:.3f}" if one.hit_at_1.of else "-",
            _share(one.hit_at_5),
            _share(one.hit_at_10),
            _mean(one.mrr),
            _mean(one.ndcg_at_5),
            _share(one.false_rejections),
            _share(one.empty),
        )
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def _share(share: Share) -> str:
    return _mean(share.value)


def _mean(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
