import contextlib
import json
from dataclasses import replace
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.errors import InvalidParams
from recalld.protocol import (
    AnswerParams,
    ExplainParams,
    GetParams,
    PingParams,
    RebuildGraphParams,
    RecallParams,
    ReextractParams,
    RelatedParams,
    StatusParams,
    SyncParams,
    answered_json,
    hit_json,
    parse_explain,
    recalled_json,
    showable,
)
from recalld.records import (
    Answered,
    Around,
    Category,
    DateInterval,
    Excerpt,
    Hit,
    Lines,
    Recalled,
    RecallFilter,
    Source,
)

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


def mistake(params, model=RecallParams) -> InvalidParams:
    with pytest.raises(InvalidParams) as caught:
        model.parse(params)
    assert caught.value.message.endswith(".")
    assert "\n" not in caught.value.message
    return caught.value


def test_recall_defaults_are_the_protocols():
    params = RecallParams.parse({"query": "why?"})
    assert (params.limit, params.min_relevance, params.max_chars, params.explain) == (
        8,
        None,
        4000,
        False,
    )
    assert params.filter == RecallFilter()
    assert params.around == Around(passages=False, lines=0)


def test_recall_takes_every_parameter_into_the_filter():
    params = RecallParams.parse(
        {
            "query": "q",
            "limit": 50,
            "kinds": ["fact"],
            "categories": ["error", "tool", "error"],
            "roots": ["notes"],
            "paths": ["work/**"],
            "tags": ["ops"],
            "scope": ["global", "project:x"],
            "since": "2026-01-01",
            "until": "2026-12-31",
            "as_of": "2026-06-30",
            "min_relevance": 0,
            "max_chars": 1,
            "explain": True,
            "passages": True,
            "lines_around": 3,
        }
    )
    assert params.filter == RecallFilter(
        kinds=("fact",),
        categories=(Category.ERROR, Category.TOOL),
        roots=("notes",),
        paths=("work/**",),
        tags=("ops",),
        scopes=("global", "project:x"),
        since=date(2026, 1, 1),
        until=date(2026, 12, 31),
        as_of=date(2026, 6, 30),
    )
    assert params.min_relevance == 0
    assert params.around == Around(passages=True, lines=3)


def test_empty_kinds_mean_both_and_null_means_not_given():
    params = RecallParams.parse({"query": "q", "kinds": [], "limit": None, "since": None})
    assert params.filter.kinds == ("fact", "passage")
    assert params.limit == 8


@pytest.mark.parametrize(
    "query", ["", " ", '"', "a\x00b", "'; DROP TABLE facts;--", "记忆", "🚀", "x" * 10_000]
)
def test_any_text_is_a_query(query):
    assert RecallParams.parse({"query": query}).query == query


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({}, "`query` is required"),
        ({"query": 3}, "`query` should be a valid string"),
        ({"query": "x" * 10_001}, "10000 characters"),
        ({"query": "q", "limit": 0}, "`limit`"),
        ({"query": "q", "limit": 51}, "less than or equal to 50"),
        ({"query": "q", "limit": "5"}, "valid integer"),
        ({"query": "q", "limit": True}, "valid integer"),
        ({"query": "q", "limit": 10**30}, "`limit`"),
        ({"query": "q", "kinds": ["facts"]}, "did you mean fact?"),
        ({"query": "q", "categories": ["eror"]}, "did you mean error?"),
        ({"query": "q", "categories": ["zzz"]}, "known are knowledge, error, timeline"),
        ({"query": "q", "categories": [{}]}, "unknown value"),
        ({"query": "q", "tags": "ops"}, "`tags` should be a valid list"),
        ({"query": "q", "tags": [1]}, "`tags.0`"),
        ({"query": "q", "tags": ["t"] * 101}, "100 items"),
        ({"query": "q", "since": "yesterday"}, "ISO date"),
        ({"query": "q", "since": "2026-02-30"}, "not a day"),
        ({"query": "q", "since": 5}, "ISO date"),
        ({"query": "q", "since": "२०२६-०१-०१"}, "ISO date"),
        ({"query": "q", "since": "2026-02-02", "until": "2026-02-01"}, "is after"),
        ({"query": "q", "min_relevance": 1.1}, "less than or equal to 1"),
        ({"query": "q", "max_chars": 0}, "`max_chars`"),
        ({"query": "q", "explain": "yes"}, "boolean"),
    ],
)
def test_mistakes_are_named_in_one_sentence(params, words):
    assert words in mistake(params).message


def test_unknown_key_names_the_nearest():
    error = mistake({"query": "q", "limt": 3})
    assert error.message == "`limt` is no parameter of `recall`."
    assert error.hint == "Did you mean `limit`?"
    assert "Known are" in (mistake({"query": "q", "zzzzz": 3}).hint or "")
    assert mistake({"x": 1}, PingParams).hint == "It takes no parameters."


def test_many_mistakes_are_counted():
    assert mistake({f"x{number}": 1 for number in range(20)}).message.endswith("and 18 more.")


def test_other_methods_take_their_parameters():
    PingParams.parse({})
    StatusParams.parse({})
    assert GetParams.parse({"anchor": "fact:a3f1c0d2"}).lines_around == 0
    assert "anchor" in mistake({"anchor": ""}, GetParams).message
    assert "lines_around" in mistake({"anchor": "a", "lines_around": -1}, GetParams).message
    sync = SyncParams.parse(
        {"paths": ["a.md"], "full": True, "wait": True, "confirm_deletions": ["notes"]}
    )
    assert (sync.paths, sync.full, sync.wait, sync.confirm_deletions) == (
        ["a.md"],
        True,
        True,
        ["notes"],
    )
    assert SyncParams.parse({}) == SyncParams(
        paths=[], full=False, wait=False, confirm_deletions=[]
    )


def test_reextract_takes_all_or_what_was_given_up():
    assert not ReextractParams.parse({}).parked
    assert ReextractParams.parse({"parked": True}).parked
    assert "parked" in mistake({"parked": "yes"}, ReextractParams).message


def test_related_takes_an_anchor_or_a_name():
    RebuildGraphParams.parse({})
    asked = RelatedParams.parse({"entity": "deploy pipeline"})
    assert (asked.anchor, asked.entity, asked.hops, asked.limit) == (None, "deploy pipeline", 1, 20)
    assert RelatedParams.parse({"anchor": "fact:a3f1c0d2", "hops": 3}).hops == 3
    for params in ({}, {"anchor": "a", "entity": "b"}):
        assert "`anchor` or `entity`" in mistake(params, RelatedParams).message
    assert "hops" in mistake({"entity": "x", "hops": 4}, RelatedParams).message


def test_a_hit_says_how_the_graph_led_to_it():
    path = ("deploy pipeline", "runs on", "Ver\x1b[31mcel")
    assert hit_json(replace(HIT, path=path))["path"] == ["deploy pipeline", "runs on", "Vercel"]
    assert "path" not in hit_json(HIT)


def test_explain_takes_a_recall_id_or_a_recall():
    by_id = parse_explain({"recall_id": "r-1"})
    assert isinstance(by_id, ExplainParams)
    by_query = parse_explain({"query": "q", "recall_id": None, "limit": 3})
    assert isinstance(by_query, RecallParams)
    assert by_query.limit == 3
    for params in ({}, {"recall_id": "r-1", "query": "q"}):
        with pytest.raises(InvalidParams):
            parse_explain(params)


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


@pytest.mark.parametrize("wrong", [-1, 1.5, "2", True])
def test_lines_around_are_a_count(wrong):
    assert "`lines_around`" in mistake({"query": "q", "lines_around": wrong}).message


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


@given(
    st.dictionaries(
        st.sampled_from(["query", "limit", "kinds", "since", "tags", "x"]),
        st.none() | st.text(max_size=5) | st.integers() | st.lists(st.text(max_size=3), max_size=2),
    )
)
def test_any_parameters_are_taken_or_refused_cleanly(params):
    with contextlib.suppress(InvalidParams):
        assert isinstance(RecallParams.parse(params).filter, RecallFilter)


RECALLED = Recalled(
    hits=(HIT,), reason=None, unknown_words=(), degraded=("llm",), recall_id="r-1", took_ms=1.0
)


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


def test_answer_takes_what_recall_takes_and_names_itself():
    assert AnswerParams.model_fields.keys() == RecallParams.model_fields.keys()
    with pytest.raises(InvalidParams, match="`limmit` is no parameter of `answer`"):
        AnswerParams.parse({"query": "x", "limmit": 1})
    with pytest.raises(InvalidParams, match="is after `until`"):
        AnswerParams.parse({"query": "x", "since": "2026-02-01", "until": "2026-01-01"})
