import json
from dataclasses import replace
from datetime import date

from recalld.records import Answered, Category, DateInterval, Excerpt, Hit, Lines, Recalled, Source
from recalld.results import answered_json, hit_json, recalled_json, showable

HIT = Hit(
    anchor="fact:a3f1c0d2",
    kind="fact",
    text="Deploy fails.",
    context=("Deploy", "Incidents"),
    category=Category.ERROR,
    confidence=0.8,
    relevance=0.83,
    score=1.42,
    source=Source(root="notes", path="deploy.md", lines=Lines(first=41, last=42), more=2),
    happened=DateInterval(first=date(2026, 3, 2), last=date(2026, 3, 2)),
    stated=date(2026, 3, 4),
)
RECALLED = Recalled(
    hits=(HIT,), reason=None, unknown_words=(), degraded=("llm",), recall_id="r-1", took_ms=1.0
)


def test_a_hit_says_how_the_graph_led_to_it():
    path = ("deploy pipeline", "runs on", "Ver\x1b[31mcel")
    assert hit_json(replace(HIT, path=path))["path"] == ["deploy pipeline", "runs on", "Vercel"]
    assert "path" not in hit_json(HIT)


def test_hit_has_the_shape_of_the_protocol():
    assert hit_json(HIT) == {
        "anchor": "fact:a3f1c0d2",
        "kind": "fact",
        "text": "Deploy fails.",
        "context": ["Deploy", "Incidents"],
        "category": "error",
        "confidence": 0.8,
        "relevance": 0.83,
        "score": 1.42,
        "source": {"root": "notes", "path": "deploy.md", "lines": [41, 42], "more": 2},
        "dates": {"happened": ["2026-03-02", "2026-03-02"], "stated": "2026-03-04"},
        "superseded_by": None,
        "supersedes": [],
        "conflicts_with": [],
        "tags": [],
        "scope": "global",
    }


def test_a_hit_brings_what_is_about_it_only_where_there_is_something():
    passage = Excerpt(lines=Lines(first=40, last=44), text="Deploy\x1b[31m fails.\r\nAlways.")
    lines = Excerpt(lines=Lines(first=41, last=42), text=None)
    told = hit_json(replace(HIT, passage=passage, source_text=lines))
    assert told == {
        **hit_json(HIT),
        "passage": {"lines": [40, 44], "text": "Deploy fails.\nAlways."},
        "source_text": {"lines": [41, 42], "text": None},
    }
    assert not {"passage", "source_text"} & hit_json(HIT).keys()


def test_recalled_has_the_shape_of_the_protocol():
    recalled = Recalled(
        hits=(HIT,),
        reason=None,
        unknown_words=("zyx",),
        degraded=("vectors",),
        recall_id="r-1",
        took_ms=7.94,
    )
    body = json.loads(json.dumps(recalled_json(recalled)))
    assert body == {
        "hits": [hit_json(HIT)],
        "reason": None,
        "unknown_words": ["zyx"],
        "degraded": ["vectors"],
        "recall_id": "r-1",
        "took_ms": 7.9,
    }


def test_explanation_goes_out_only_where_there_is_one():
    recalled = Recalled(
        hits=(),
        reason="no_evidence",
        unknown_words=(),
        degraded=(),
        recall_id="r",
        took_ms=1,
        explanation={"a": 1},
    )
    assert recalled_json(recalled)["explanation"] == {"a": 1}


def test_shown_text_has_no_terminal_codes_and_keeps_every_script():
    assert showable("\x1b[31mred\x1b[0m\x07\x9b \u202eevil\u2066") == "red evil"
    kept = "عربى\u200f שלום 👨\u200d👩\u200d👧 می\u200cخواهم\tไทย\nend"
    assert showable(kept) == kept
    assert showable("a\r\nb\rc") == "a\nb\nc"


def test_an_answer_has_its_five_keys_and_the_explanation_only_when_asked_for():
    answered = Answered(
        recalled=RECALLED,
        text="Deploy\x1b[31m fails. [fact:a3f1c0d2]",
        citations=(HIT.anchor,),
        reason="unsupported",
        dropped=(("The moon.", "words"),),
    )
    result = {
        "text": "Deploy fails. [fact:a3f1c0d2]",
        "citations": ["fact:a3f1c0d2"],
        "hits": [hit_json(HIT)],
        "reason": "unsupported",
        "degraded": ["llm"],
    }
    assert answered_json(answered) == result
    explained = replace(answered, recalled=replace(RECALLED, explanation={"why": 1}))
    assert answered_json(explained) == {**result, "explanation": {"why": 1}}
