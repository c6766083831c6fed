"""The records that methods give, as they go out on the wire.

The one module that knows the outside's names for them. It knows nothing of sockets, framing (`recalld.jsonrpc`) or of
how they came about.
"""

from __future__ import annotations

import math
import re

from recalld.records import Answered, DateInterval, Excerpt, Hit, Lines, Recalled

# Escape codes that act on a terminal, and marks that show text in another order than it has.
# Tab and line feed stay, and so do the joiners and direction marks that scripts need.
_UNSHOWABLE = re.compile(
    "\x1b\\[[0-?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"
)


def recalled_json(recalled: Recalled) -> dict[str, object]:
    """The result of `recall`; `explanation` is there only when it was asked for."""
    result: dict[str, object] = {
        "hits": [hit_json(hit) for hit in recalled.hits],
        "reason": recalled.reason,
        "unknown_words": [showable(word) for word in recalled.unknown_words],
        "degraded": list(recalled.degraded),
        "recall_id": recalled.recall_id,
        "took_ms": round(recalled.took_ms, 1),
    }
    if recalled.explanation is not None:
        result["explanation"] = recalled.explanation
    return result


def answered_json(answered: Answered) -> dict[str, object]:
    """The result of `answer`; `explanation`, of the recall behind it, is there only when it was asked for."""
    recalled = answered.recalled
    result: dict[str, object] = {
        "text": showable(answered.text),
        "citations": list(answered.citations),
        "hits": [hit_json(hit) for hit in recalled.hits],
        "reason": answered.reason,
        "degraded": list(recalled.degraded),
    }
    if recalled.explanation is not None:
        result["explanation"] = recalled.explanation
    return result


def hit_json(hit: Hit) -> dict[str, object]:
    """One hit of a recall's result.

    `path` is there only where the graph led to it, `passage` and `source_text` only where they were asked for.
    """
    path = {"path": [showable(part) for part in hit.path]} if hit.path else {}
    about = {"passage": hit.passage, "source_text": hit.source_text}
    return {
        "anchor": hit.anchor,
        "kind": hit.kind,
        "text": showable(hit.text),
        "context": [showable(part) for part in hit.context],
        "category": hit.category.value,
        "confidence": _rounded(hit.confidence),
        "relevance": _rounded(hit.relevance),
        "score": _rounded(hit.score),
        # The path is what opens the file, so it goes out as it is.
        "source": {
            "root": hit.source.root,
            "path": hit.source.path,
            "lines": _lines_json(hit.source.lines),
            "more": hit.source.more,
        },
        "dates": {
            "happened": _interval_json(hit.happened),
            "stated": hit.stated.isoformat() if hit.stated else None,
        },
        "superseded_by": hit.superseded_by,
        "supersedes": list(hit.supersedes),
        "conflicts_with": list(hit.conflicts_with),
        "tags": [showable(tag) for tag in hit.tags],
        "scope": hit.scope,
        **path,
        **{key: _excerpt_json(one) for key, one in about.items() if one is not None},
    }


def _excerpt_json(excerpt: Excerpt) -> dict[str, object]:
    text = None if excerpt.text is None else showable(excerpt.text)
    return {"lines": _lines_json(excerpt.lines), "text": text}


def _lines_json(lines: Lines) -> list[int]:
    return [lines.first, lines.last]


def showable(text: str) -> str:
    """`text` without terminal codes, control characters and overrides of the writing direction.

    Line feeds and tabs stay; the other line ends become line feeds.
    """
    return _UNSHOWABLE.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def _interval_json(interval: DateInterval | None) -> list[str] | None:
    return [interval.first.isoformat(), interval.last.isoformat()] if interval else None


def _rounded(number: float) -> float:
    # A float that JSON cannot hold would cost the client the whole answer.
    return round(number, 4) if math.isfinite(number) else 0.0
