"""What each known embedding model wants before a question and before a statement. Without it they lose much.

By the model's name, as its makers publish it. A version counts the rules: another rule is another space.
"""

from __future__ import annotations

from dataclasses import dataclass

_INSTRUCTION = "Given a question, retrieve the notes that answer it"
_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Prefixes:
    """Text put before questions and statements; `rule` names it and belongs to a space's identity."""

    rule: str
    query: str
    statement: str


_RULES = (
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("qwen3-embedding", f"Instruct: {_INSTRUCTION}\nQuery:", ""),
    ("e5-mistral", f"Instruct: {_INSTRUCTION}\nQuery: ", ""),
    ("e5-large-instruct", f"Instruct: {_INSTRUCTION}\nQuery: ", ""),
    ("e5", "query: ", "passage: "),
    ("mxbai-embed", "Represent this sentence for searching relevant passages: ", ""),
    ("snowflake-arctic-embed2", "query: ", ""),
    (
        "snowflake-arctic-embed",
        "Represent this sentence for searching relevant passages: ",
        "",
    ),
    ("embeddinggemma", "task: search result | query: ", "title: none | text: "),
    ("bge-m3", "", ""),
)


def prefixes(model: str) -> Prefixes:
    """The prefixes of the model with this name; empty ones, under the rule `none`, where it isn't known."""
    name = model.lower().replace("_", "-")
    for known, query, statement in _RULES:
        if known in name:
            return Prefixes(rule=f"{known}-{_VERSION}", query=query, statement=statement)
    return Prefixes(rule="none", query="", statement="")
