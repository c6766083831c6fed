"""How much a language model is asked about a folder of notes: to read it, and to compare what it read.

    python -m bench.asking FOLDER [--notes N]

No model runs: one that copies every sentence, and calls no two facts the same, stands in for it, so the figures are of
what is asked and of the shortest answer that says it. Vectors are the embedded model's. Tokens are counted as the
client counts them before it sends anything: hardly ever too few.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from bench.report import commit
from daemon.writer import WriterThread
from ingest.agreement.judging import JudgingStage, judge_of
from ingest.agreement.stage import AgreeingStage
from ingest.deep.extraction import DeepStage, extractor_of
from ingest.embedding import EmbeddingStage
from ingest.keeper import KeeperOptions, RootKeeper
from ingest.rules.sentences import split_sentences
from recalld.models.chat import ChatReply, ChatRequest, ModelHealth, prompt_budget_chars
from recalld.models.embedded import EmbeddedModel
from recalld.models.tokens import most_tokens
from recalld.store.connection import Database, execute

_WINDOW = 8192
_HEALTH = ModelHealth(state="ok", hint=None, name="copying", digest="0")
_BLOCK = re.compile(r"^\[(\d+)\] (?:\(.*?\) )?", re.MULTILINE)
_PAIR = re.compile(r"^Pair (\d+)$", re.MULTILINE)
_FENCED = re.compile(r"<<<NOTE TEXT\n(.*)\nNOTE TEXT>>>", re.DOTALL)
_MARKS = re.compile(r"^(?:[-*+>#]|\d+[.)])\s+|\[[ x]\]\s+", re.MULTILINE)


@dataclass(slots=True)
class Asked:
    """What one kind of question came to. The system prompt is the same each time: servers keep it."""

    calls: int = 0
    pairs: int = 0
    system_tokens: int = 0
    user_tokens: int = 0
    answer_tokens: int = 0

    def line(self, name: str) -> str:
        """A row of a table."""
        return (
            f"| {name} | {self.calls} | {self.pairs or ''} | {self.system_tokens:,} |"
            f" {self.user_tokens:,} | {self.answer_tokens:,} |"
        )


@dataclass(slots=True)
class Copying:
    """A ChatModel that copies, and counts."""

    reading: Asked = field(default_factory=Asked)
    comparing: Asked = field(default_factory=Asked)
    prompt_budget_chars: int = prompt_budget_chars(_WINDOW)

    def complete(self, request: ChatRequest) -> ChatReply:
        """See ChatModel."""
        pairs = _PAIR.findall(request.user)
        asked = self.comparing if pairs else self.reading
        value: object = dict.fromkeys(pairs, "independent")
        text = json.dumps(value if pairs else {"facts": _copied(request.user)}, ensure_ascii=False)
        asked.calls += 1
        asked.pairs += len(pairs)
        asked.system_tokens += most_tokens(request.system)
        asked.user_tokens += most_tokens(request.user)
        asked.answer_tokens += most_tokens(text)
        return ChatReply(
            text=text, prompt_tokens=None, finished="stop", model=_HEALTH.name, digest="0"
        )

    def health(self) -> ModelHealth:
        """See ChatModel."""
        return _HEALTH

    def cancel(self) -> None:
        """Nothing hangs."""

    def close(self) -> None:
        """Nothing hangs."""


def _copied(user: str) -> list[dict[str, object]]:
    fenced = _FENCED.search(user)
    text = fenced[1] if fenced else ""
    starts = list(_BLOCK.finditer(text))
    ends = [found.start() for found in starts[1:]] + [len(text)]
    return [
        {
            "block": int(found[1]),
            "statement": sentence,
            "category": "knowledge",
            "confidence": 0.8,
            "date": "",
        }
        for found, end in zip(starts, ends, strict=True)
        for sentence in _sentences(text[found.end() : end])
    ]


def _sentences(text: str) -> Iterator[str]:
    plain = " ".join(_MARKS.sub("", text).split())
    return (plain[start:end].strip() for start, end in split_sentences(plain))


@contextmanager
def _copy_of(folder: Path, most: int | None) -> Iterator[tuple[Path, Path]]:
    """The first notes of a folder by name, and a place for data."""
    with tempfile.TemporaryDirectory() as temporary:
        vault, data = Path(temporary) / "vault", Path(temporary) / "data"
        for path in sorted(folder.rglob("*.md"))[:most]:
            target = vault / path.relative_to(folder)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)
        yield vault, data


def measure(vault: Path, data: Path) -> tuple[Copying, int, int]:
    """What is asked of a model about a vault, the number of notes, and of facts in the end."""
    database, model = Database(data / "memory.db"), Copying()
    writer = WriterThread(database)
    options = KeeperOptions(
        max_note_bytes=10_000_000,
        empty_grace_s=5,
        mass_deletion_count=1000,
        mass_deletion_share=1,
        deletion_grace_s=3600,
        own_paths=(data,),
    )
    keeper = RootKeeper(
        name="vault",
        path=vault,
        database=database,
        writes=writer,
        options=options,
        now=time.time,
        new_uid=lambda: uuid.uuid4().hex,
    )
    agreeing = AgreeingStage(database=database, writes=writer, policy="supersede")
    agreeing.adopt()
    deep = DeepStage(database=database, writes=writer, model=model, now_ms=_now_ms)
    vectors = EmbeddingStage(
        database=database, writes=writer, embedder=EmbeddedModel(threads=1), batch=32
    )
    vectors.adopt()
    judging = JudgingStage(
        database=database,
        writes=writer,
        model=model,
        answers=deep.answers,
        now_ms=_now_ms,
        has_embedder=True,
    )
    for _ in keeper.look(None):
        pass
    while deep.step(extractor_of(_HEALTH)).outcome != "nothing":
        pass
    more = True
    while more:
        while vectors.step().asked or agreeing.step():
            pass
        more = judging.step(judge_of(_HEALTH)).outcome != "nothing"
    with database.reader() as connection:
        notes = execute(connection, "SELECT count(*) FROM note")[0][0]
        facts = execute(connection, "SELECT count(*) FROM fact")[0][0]
    writer.stop()
    database.close()
    return model, notes, facts


def _now_ms() -> int:
    return int(time.time() * 1000)


def main(words: list[str]) -> int:
    """Prints the table; an exit code."""
    parser = argparse.ArgumentParser(prog="python -m bench.asking")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notes", type=int, default=None)
    given = parser.parse_args(words)
    with _copy_of(given.folder, given.notes) as (vault, data):
        model, notes, facts = measure(vault, data)
    print(f"{given.folder.name}: {notes} notes, {facts} facts, commit {commit()}")
    print("| asked to | calls | pairs | system tokens | user tokens | answer tokens |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    print(model.reading.line("read"))
    print(model.comparing.line("compare"))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
