"""Each known model gets its own prefixes, whatever tag or owner its name has."""

import pytest

from recalld.models.prefixes import prefixes


@pytest.mark.parametrize(
    ("model", "query", "statement"),
    [
        ("nomic-embed-text:latest", "search_query: ", "search_document: "),
        ("nomic-embed-text-v2-moe", "search_query: ", "search_document: "),
        ("multilingual-e5-large", "query: ", "passage: "),
        ("jeffh/intfloat-multilingual-e5-small:f16", "query: ", "passage: "),
        ("bge-m3:latest", "", ""),
        ("snowflake-arctic-embed2:latest", "query: ", ""),
        ("something-else", "", ""),
    ],
)
def test_prefixes_by_name(model, query, statement):
    found = prefixes(model)
    assert (found.query, found.statement) == (query, statement)


def test_models_that_want_an_instruction_get_it_before_the_question_only():
    qwen = prefixes("qwen3-embedding:0.6b")
    assert qwen.query.startswith("Instruct: ")
    assert qwen.query.endswith("\nQuery:")
    assert prefixes("mxbai-embed-large").query.startswith("Represent this sentence")
    assert qwen.statement == prefixes("mxbai-embed-large").statement == ""


def test_rules_are_told_apart():
    names = ("nomic-embed-text", "qwen3-embedding", "multilingual-e5-large", "bge-m3", "other")
    assert len({prefixes(name).rule for name in names}) == 5
