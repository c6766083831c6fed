"""A language model that answers well: it copies the sentences that it is given, block by block."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ingest.deep.prompt import SYSTEM
from ingest.deep.trial import SENTENCE
from ingest.rules.sentences import split_sentences
from tests.fake_ollama import Step

_BLOCK = re.compile(r"^\[(\d+)\] (?:\(.*?\) )?", re.MULTILINE)
_PAIR = re.compile(r"^Pair \d+\nA: ", re.MULTILINE)
_FENCED = re.compile(r"<<<NOTE TEXT\n(.*)\nNOTE TEXT>>>", re.DOTALL)
_MARKS = re.compile(r"^(?:[-*+>#]|\d+[.)])\s+|\[[ x]\]\s+", re.MULTILINE)


def asked_blocks(body: Mapping[str, Any]) -> list[str]:
    """The texts of the blocks in a request; none where it is a probe or about pairs of facts."""
    user = str(body["messages"][-1]["content"])
    fenced = _FENCED.search(user)
    if fenced is None or asked_pairs(body):
        return []
    starts = list(_BLOCK.finditer(fenced[1]))
    ends = [found.start() for found in starts[1:]] + [len(fenced[1])]
    return [fenced[1][found.end() : end].strip() for found, end in zip(starts, ends, strict=True)]


def answer(facts: Iterable[Mapping[str, object]]) -> Step:
    """An answer with these facts; what they leave out is filled in."""
    filled = [
        {
            "block": 1,
            "category": "knowledge",
            "confidence": 0.8,
            "date": "",
            "entities": [],
            "relations": [],
            **fact,
        }
        for fact in facts
    ]
    return Step(text=json.dumps({"facts": filled}, ensure_ascii=False))


def say(*statements: str) -> Step:
    """An answer with these statements, all of the first block."""
    return answer({"statement": statement} for statement in statements)


def asked_pairs(body: Mapping[str, Any]) -> int:
    """How many pairs of facts a request is about; 0 where it is no such question."""
    return len(_PAIR.findall(str(body["messages"][-1]["content"])))


def judged(body: Mapping[str, Any], verdict: str = "independent") -> Step:
    """An answer that says the same of each pair."""
    numbers = map(str, range(1, asked_pairs(body) + 1))
    return Step(text=json.dumps(dict.fromkeys(numbers, verdict)))


def copied(body: Mapping[str, Any]) -> Step:
    """Every sentence of every block as a fact; pairs of facts have nothing to do with each other."""
    if asked_pairs(body):
        return judged(body)
    return answer(
        {"block": number, "statement": sentence}
        for number, text in enumerate(asked_blocks(body), 1)
        for sentence in sentences(text)
    )


def sentences(text: str) -> list[str]:
    """The sentences of a block without its marks."""
    plain = " ".join(_MARKS.sub("", text).split())
    return [plain[start:end].strip() for start, end in split_sentences(plain)]


def scripted(answers: Mapping[str, Step]) -> Callable[[dict[str, Any]], Step]:
    """Answers by what a request holds: the first key found in the text of its blocks; else copies."""

    def given(body: dict[str, Any]) -> Step:
        text = "\n".join(asked_blocks(body))
        for key, step in answers.items():
            if key in text:
                return step
        return copied(body)

    return given


def of_notes(answer: Callable[[dict[str, Any]], Step]) -> Callable[[dict[str, Any]], Step]:
    """An answer to all but the plain sentence that a model is tried out with, which it copies."""
    return lambda body: copied(body) if asked_blocks(body) == [SENTENCE] else answer(body)


def has_examples(body: Mapping[str, Any]) -> bool:
    """Whether the request shows the prompt's examples."""
    return bool(body["messages"][0]["content"] == SYSTEM)
