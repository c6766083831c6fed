import contextlib
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.errors import InvalidParams
from recalld.parameters import (
    AnswerParams,
    ConflictsParams,
    ExplainParams,
    GetParams,
    PingParams,
    RebuildGraphParams,
    RecallParams,
    ReextractParams,
    RelatedParams,
    StatusParams,
    SyncParams,
    parse_explain,
)
from recalld.records import Around, Category, RecallFilter


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


def test_conflicts_can_be_left_out_up_to_what_a_database_counts():
    assert ConflictsParams.parse({"offset": 10**9}).offset == 10**9
    with pytest.raises(InvalidParams):
        ConflictsParams.parse({"offset": 10**30})


def test_related_takes_an_anchor_or_a_name():
    RebuildGraphParams.parse({})
    asked = RelatedParams.parse({"entity": "deploy pipeline"})
    assert (asked.anchor, asked.entity, asked.hops, asked.limit) == (None, "deploy pipeline", 1, 20)
    assert RelatedParams.parse({"anchor": "fact:a3f1c0d2", "hops": 3}).hops == 3
    for params in ({}, {"anchor": "a", "entity": "b"}):
        assert "`anchor` or `entity`" in mistake(params, RelatedParams).message
    assert "hops" in mistake({"entity": "x", "hops": 4}, RelatedParams).message


def test_explain_takes_a_recall_id_or_a_recall():
    by_id = parse_explain({"recall_id": "r-1"})
    assert isinstance(by_id, ExplainParams)
    by_query = parse_explain({"query": "q", "recall_id": None, "limit": 3})
    assert isinstance(by_query, RecallParams)
    assert by_query.limit == 3
    for params in ({}, {"recall_id": "r-1", "query": "q"}):
        with pytest.raises(InvalidParams):
            parse_explain(params)


@pytest.mark.parametrize("wrong", [-1, 1.5, "2", True])
def test_lines_around_are_a_count(wrong):
    assert "`lines_around`" in mistake({"query": "q", "lines_around": wrong}).message


@given(
    st.dictionaries(
        st.sampled_from(["query", "limit", "kinds", "since", "tags", "x"]),
        st.none() | st.text(max_size=5) | st.integers() | st.lists(st.text(max_size=3), max_size=2),
    )
)
def test_any_parameters_are_taken_or_refused_cleanly(params):
    with contextlib.suppress(InvalidParams):
        assert isinstance(RecallParams.parse(params).filter, RecallFilter)


def test_answer_takes_what_recall_takes_and_names_itself():
    assert AnswerParams.model_fields.keys() == RecallParams.model_fields.keys()
    with pytest.raises(InvalidParams, match="`limmit` is no parameter of `answer`"):
        AnswerParams.parse({"query": "x", "limmit": 1})
    with pytest.raises(InvalidParams, match="is after `until`"):
        AnswerParams.parse({"query": "x", "since": "2026-02-01", "until": "2026-01-01"})
