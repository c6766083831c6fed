"""The deep stage over a real store and a real client of a fake server: tries, pieces, parking, the cache."""

from __future__ import annotations

import json
from collections.abc import Iterator

import pytest

from ingest.deep.extraction import DeepStage, extractor_of
from ingest.deep.trial import SENTENCE
from ingest.rules.extractor import RULES_VERSION
from recalld.errors import ModelError, TransientModelError
from recalld.models.chat import ChatReply, ChatRequest, ModelHealth, check_fits
from recalld.models.tokens import fewest_tokens
from tests.copying import asked_blocks, copied, has_examples, of_notes, say, scripted, sentences
from tests.fake_ollama import Step
from tests.ingest.keeping import Vault

PORT = "The gateway listens on port 9090."
MIRROR = "The mirror lives in Groningen."
BOILER = "The boiler shows code F28 in winter."
HEALTH = ModelHealth(state="ok", hint=None, name="m", digest="0123456789abcdef")
EXTRACTOR = extractor_of(HEALTH)


class ScriptedChat:
    """A ChatModel that answers as a step says, and raises what it is told."""

    def __init__(self, *, window: int = 8192) -> None:
        self.answer = copied
        self.failures: list[ModelError] = []
        # Raised for every request that holds a key.
        self.poison: dict[str, ModelError] = {}
        self.requests: list[ChatRequest] = []
        self.window = window

    @property
    def prompt_budget_chars(self) -> int:
        return (self.window // 2 - 64) * 2

    def complete(self, request: ChatRequest) -> ChatReply:
        check_fits(request, self.window)
        self.requests.append(request)
        if self.failures:
            raise self.failures.pop(0)
        for key, error in self.poison.items():
            if key in request.user:
                raise error
        step: Step = self.answer(self.body(request))
        return ChatReply(
            text=step.text,
            prompt_tokens=fewest_tokens(request.user),
            finished="length" if step.reason == "length" else "stop",
            model="m",
            digest=None,
        )

    @staticmethod
    def body(request: ChatRequest) -> dict:
        return {"messages": [{"content": request.system}, {"content": request.user}]}

    @property
    def asked(self) -> list[list[str]]:
        """The blocks of each request; an empty list is a probe."""
        return [asked_blocks(self.body(one)) for one in self.requests]

    def health(self) -> ModelHealth:
        return HEALTH

    def cancel(self) -> None:
        pass

    def close(self) -> None:
        pass


class Deep(Vault):
    """A vault with a stage whose clock is the vault's."""

    def __init__(self, base, **chat: int) -> None:
        super().__init__(base)
        self.model = ScriptedChat(**chat)
        self.stage = DeepStage(
            database=self.database,
            writes=self.writes,
            model=self.model,
            now_ms=lambda: int(self.now * 1000),
        )

    def put(self, text: str, path: str = "a.md") -> None:
        self.write(path, text)
        self.look()

    def run(self, most: int = 50) -> list[str]:
        """Steps until nothing waits, the clock going on in between; the outcomes."""
        outcomes = []
        for _ in range(most):
            done = self.stage.step(EXTRACTOR)
            if done.outcome == "nothing":
                next_try = self.stage.next_try_ms()
                if next_try is None:
                    return outcomes
                self.now = max(self.now, next_try / 1000)
                continue
            outcomes.append(done.outcome)
        raise AssertionError(f"no end of it: {outcomes}")

    def by(self) -> dict[str, str]:
        rows = self.rows("SELECT text, extractor FROM fact")
        return {text: extractor.partition(":")[0] for text, extractor in rows}


@pytest.fixture
def deep(tmp_path) -> Iterator[Deep]:
    with Deep(tmp_path) as made:
        yield made


def slow(state="slow") -> TransientModelError:
    return TransientModelError("no answer", state=state)


def test_extractor_names_model_weights_and_prompt():
    assert EXTRACTOR == "llm:m:0123456789ab@facts@1"
    assert extractor_of(ModelHealth(state="ok", hint=None, name="m", digest=None)) == (
        "llm:m:@facts@1"
    )


def test_blocks_of_one_note_go_together_and_notes_apart(deep):
    deep.put(f"# A\n\n{PORT}\n\n{MIRROR}\n")
    deep.put(f"{BOILER}\n", "b.md")
    assert deep.run() == ["accepted", "accepted"]
    assert sorted(deep.model.asked, key=len) == [[BOILER], [PORT, MIRROR]]
    assert deep.by() == {PORT: "llm", MIRROR: "llm", BOILER: "llm"}


@pytest.mark.parametrize("text", [PORT * 10, "网关监听端口九千零九十。" * 30, "ประตูฟังพอร์ต " * 30])
@pytest.mark.parametrize(("window", "examples"), [(2048, False), (3072, True), (8192, True)])
def test_first_try_fits_in_every_window_that_may_be_set(tmp_path, text, window, examples):
    with Deep(tmp_path, window=window) as deep:
        deep.put(f"{text}\n", "a note whose name is rather long, as names of notes are.md")
        deep.model.answer = lambda _: Step(text='{"facts": []}')
        assert deep.stage.step(EXTRACTOR).outcome == "accepted"
        assert {has_examples(deep.model.body(one)) for one in deep.model.requests} == {examples}


def test_nothing_that_waits_is_no_call(deep):
    assert deep.stage.step(EXTRACTOR).outcome == "nothing"
    deep.put("# Only a heading\n\n```\ncode = 1\n```\n")
    assert deep.stage.step(EXTRACTOR).outcome == "nothing"
    assert deep.model.requests == []


def test_fact_stands_at_the_lines_that_say_it(deep):
    deep.put(f"{PORT}\nBackups are made at night.\n{MIRROR}\n")
    deep.run()
    lines = dict(deep.rows("SELECT fact.text, fact_source.line_from FROM fact"
                           " JOIN fact_source ON fact_id = fact.id"))  # fmt: skip
    assert lines[PORT] == 1
    assert lines[MIRROR] >= 2


@pytest.mark.parametrize("state", ["busy", "loading", "missing", "off"])
def test_outage_is_told_and_uses_up_nothing(deep, state):
    deep.put(f"{PORT}\n")
    deep.model.failures.append(slow(state))
    with pytest.raises(ModelError):
        deep.stage.step(EXTRACTOR)
    assert deep.model.asked == [[PORT]], "no second question to a model that is away"
    assert deep.rows("SELECT attempts, extraction FROM block") == [(0, "pending")]
    assert deep.run() == ["accepted"]


@pytest.mark.parametrize("state", ["slow", "down"])
def test_failure_is_an_outage_when_the_model_answers_nothing_else(deep, state):
    deep.put(f"{PORT}\n")
    deep.model.failures += [slow(state), slow(state)]
    with pytest.raises(ModelError):
        deep.stage.step(EXTRACTOR)
    assert deep.model.asked == [[PORT], []]
    assert deep.rows("SELECT attempts FROM block") == [(0,)]


@pytest.mark.parametrize("state", ["slow", "down", None])
def test_failure_is_the_texts_fault_when_the_model_answers_another_question(deep, state):
    deep.put(f"# A\n\n{PORT}\n\n{BOILER}\n")
    deep.model.poison["F28"] = slow(state)
    outcomes = deep.run()
    assert outcomes.count("failed") == 3
    assert deep.by() == {PORT: "llm", BOILER: RULES_VERSION}
    assert deep.rows("SELECT parked_reason FROM block WHERE extraction = 'parked'") == [
        ("no answer",)
    ]


def test_a_models_fact_is_as_important_as_what_it_was_taken_from(deep):
    text = f"{MIRROR}\n\nImportant: {PORT[0].lower()}{PORT[1:]} {BOILER}\n"
    deep.put(text)
    deep.model.answer = lambda _: say(PORT, BOILER, MIRROR)
    deep.run()
    shown = "SELECT text, importance FROM fact ORDER BY text"
    assert set(deep.by().values()) == {"llm"}
    assert deep.rows(shown) == [(BOILER, 0.5), (PORT, 0.8), (MIRROR, 0.5)]
    deep.put(f"---\narchived: true\n---\n{text}")
    deep.run()
    assert set(deep.by().values()) - {RULES_VERSION} == {"llm"}
    assert (BOILER, 0.3) in deep.rows(shown)
    asked = len(deep.model.requests)
    deep.put(text)
    deep.run()
    assert deep.rows(shown) == [(BOILER, 0.5), (PORT, 0.8), (MIRROR, 0.5)]
    assert len(deep.model.requests) == asked, "what a model said of a text is known"


def test_second_try_is_alone_and_without_examples(deep):
    deep.put(f"# A\n\n{PORT}\n\n{BOILER}\n")
    deep.model.answer = scripted({"F28": Step(text="{}")})
    deep.run()
    with_boiler = [one for one in deep.model.requests if "F28" in one.user]
    assert [has_examples(deep.model.body(one)) for one in with_boiler] == [True, False, False]
    assert [asked_blocks(deep.model.body(one)) for one in with_boiler[1:]] == [[BOILER], [BOILER]]


def test_third_try_is_in_pieces(deep):
    text = " ".join(f"Shelf number {n} holds the boxes of {1980 + n}." for n in range(20))
    deep.put(f"{text}\n")

    def overwhelmed(body):
        return Step(text="{}") if len(" ".join(asked_blocks(body))) > 600 else copied(body)

    deep.model.answer = overwhelmed
    assert deep.run() == ["failed", "failed", "accepted"]
    assert set(deep.by()) == set(sentences(text))
    assert deep.rows("SELECT attempts, extraction FROM block") == [(0, "done")]


@pytest.mark.slow
def test_long_block_goes_in_pieces_and_none_is_asked_twice(deep):
    text = " ".join(f"Shelf number {n} holds the boxes of {1980 + n}." for n in range(200))
    deep.put(f"{text}\n")
    # The third piece meets an outage; the first two are not asked for again.
    original = deep.model.complete

    def complete(request):
        if len(deep.model.requests) == 2:
            deep.model.failures.append(slow("busy"))
        return original(request)

    deep.model.complete = complete  # type: ignore[method-assign] # the fake's own
    with pytest.raises(ModelError):
        deep.stage.step(EXTRACTOR)
    assert set(deep.by().values()) == {RULES_VERSION}
    assert deep.run() == ["accepted"]
    asked = [text for texts in deep.model.asked for text in texts]
    assert len(asked) == len(set(asked)) + 1
    assert max(map(len, asked)) <= 1600
    assert set(sentences(text)) == set(deep.by())


@pytest.mark.slow
@pytest.mark.parametrize("window", [4096, 8192])
def test_dense_script_that_does_not_fit_is_split_and_no_attempt_is_used(tmp_path, window):
    text = "".join(f"第{n}号书架放着{1980 + n}年的箱子和文件。" for n in range(120))
    with Deep(tmp_path, window=window) as deep:
        deep.put(f"{text}\n")
        assert deep.run() == ["accepted"]
        assert len(deep.model.requests) > 1
        assert set(deep.by().values()) == {"llm"}
        assert len(deep.by()) >= 100


@pytest.mark.slow
def test_many_blocks_that_do_not_fit_together_go_in_smaller_chunks(tmp_path):
    lines = [f"第{n}号书架放着{1980 + n}年的箱子，钥匙在办公室里面的柜子上。" for n in range(60)]
    with Deep(tmp_path, window=4096) as deep:
        deep.put("\n\n".join(lines) + "\n")
        assert set(deep.run()) == {"accepted"}
        assert deep.rows("SELECT max(attempts) FROM block") == [(0,)]
        assert len(deep.by()) == 60


def test_answer_cut_at_the_limit_is_no_answer(deep):
    deep.put(f"{PORT}\n")
    deep.model.answer = of_notes(lambda _: Step(text=say(PORT).text, reason="length"))
    assert deep.run() == ["failed"] * 3
    assert deep.by() == {PORT: RULES_VERSION}


def test_invented_facts_alone_are_tried_once_more_then_parked_with_their_count(deep):
    deep.put(f"{PORT}\n")
    deep.model.answer = of_notes(lambda _: say("The gateway listens on port 9091."))
    deep.run()
    assert deep.model.asked == [[PORT], [PORT], [SENTENCE]]
    assert deep.by() == {PORT: RULES_VERSION}
    [(state, refused)] = deep.rows("SELECT extraction, refused FROM block")
    assert (state, json.loads(refused)) == ("parked", {"number": 1})


def test_what_is_no_statement_alone_is_no_answer_to_be_asked_for_again(deep):
    deep.put("![[Albums.base]]\n")
    deep.model.answer = of_notes(lambda _: say("![[Albums.base]]"))
    deep.run()
    assert deep.model.asked == [["![[Albums.base]]"]]
    [(state, refused)] = deep.rows("SELECT extraction, refused FROM block")
    assert (state, json.loads(refused)) == ("done", {"fragment": 1})


def test_no_facts_from_a_long_text_are_asked_for_twice_and_from_a_short_one_once(deep):
    long = " ".join(f"Shelf number {n} holds the boxes of {1980 + n}." for n in range(10))
    deep.model.answer = lambda _: Step(text='{"facts": []}')
    deep.put(f"{long}\n")
    deep.run()
    assert len(deep.model.requests) == 2
    deep.put(f"{PORT}\n", "b.md")
    deep.run()
    assert len(deep.model.requests) == 3
    assert deep.by() == dict.fromkeys([*sentences(long), PORT], RULES_VERSION)
    assert deep.rows("SELECT DISTINCT extraction, refused FROM block") == [("done", "{}")]


def test_what_the_model_leaves_out_stays_as_the_rules_said_it(deep):
    deep.put(f"{PORT} {MIRROR} {BOILER} The plotter was sold in May 2024.\n")
    deep.model.answer = lambda _: say("On port 9090 the gateway listens.", "The plotter was sold.")
    deep.run()
    assert deep.by() == {
        "On port 9090 the gateway listens.": "llm",
        "The plotter was sold.": "llm",
        MIRROR: RULES_VERSION,
        BOILER: RULES_VERSION,
        "The plotter was sold in May 2024.": RULES_VERSION,
    }
    assert deep.rows("SELECT beside FROM block") == [(3,)]


def test_item_that_the_model_gives_without_its_parent_stays_as_the_rules_said_it(deep):
    deep.put("- Network of the cellar\n  - The port is 8080.\n  - The key hangs by the door.\n")
    before = deep.by()
    deep.model.answer = lambda _: say("The port is 8080.")
    deep.run()
    assert deep.by() == before
    assert "Network of the cellar › The port is 8080." in before


def test_what_the_model_worded_is_found_by_the_new_name_of_its_note(deep):
    deep.put(f"## Ports\n\n{PORT}\n", "before.md")
    deep.model.answer = lambda _: say("On port 9090 the gateway listens.")
    deep.run()
    (deep.path / "before.md").rename(deep.path / "after.md")
    deep.look()
    deep.run()
    [(words,)] = deep.rows("SELECT words FROM statement WHERE of_fact = 1")
    assert "after" in words.split()
    assert "before" not in words.split()


def test_what_another_model_leaves_out_is_as_the_rules_said_it(deep):
    deep.put(f"{PORT} {MIRROR}\n")
    before = deep.rows("SELECT uid, text FROM fact ORDER BY uid")
    deep.model.answer = lambda _: say("On port 9090 the gateway listens.", MIRROR)
    deep.run()
    assert len(deep.by()) == 2
    deep.model.answer = lambda _: Step(text='{"facts": []}')
    assert deep.stage.queue_others("llm:other") == 1
    assert deep.stage.step("llm:other").outcome == "accepted"
    assert deep.rows("SELECT uid, text FROM fact ORDER BY uid") == before
    assert set(deep.by().values()) == {RULES_VERSION}


def test_a_superseded_fact_stays_so_when_the_model_passes_over_the_newer_one(deep):
    """What is known of a fact goes on while its place states it."""
    deep.put(f"{PORT}\n")
    [(fact_id, uid)] = deep.rows("SELECT id, uid FROM fact")
    deep.model.answer = lambda _: Step(text='{"facts": []}')
    deep.run()
    assert deep.rows("SELECT id, uid FROM fact") == [(fact_id, uid)]


def test_day_that_counts_from_an_undated_notes_own_is_the_rules(deep):
    text = "The mirror failed yesterday in Groningen."
    deep.put(f"{text} {PORT}\n")
    [(day,)] = deep.rows("SELECT happened_from FROM fact WHERE text = ?", text)
    assert day
    deep.model.answer = lambda _: say("In Groningen the mirror failed yesterday.", PORT)
    deep.run()
    assert deep.rows("SELECT text, happened_from FROM fact ORDER BY text") == [
        ("In Groningen the mirror failed yesterday.", day),
        (PORT, None),
    ]


def test_text_that_comes_back_is_answered_from_the_cache(deep):
    deep.put(f"{PORT}\n")
    deep.run()
    deep.put(f"{MIRROR}\n")
    deep.run()
    deep.put(f"{PORT}\n")
    assert deep.run() == ["cached"]
    assert deep.by() == {PORT: "llm"}
    assert deep.model.asked == [[PORT], [MIRROR]]


def test_another_model_reads_what_this_one_read_and_gave_up(deep):
    deep.put(f"{PORT}\n\n{BOILER}\n")
    deep.model.answer = scripted({"F28": Step(text="{}")})
    deep.run()
    assert deep.stage.queue_others(EXTRACTOR) == 0
    assert deep.stage.queue_others("llm:other") == 2
    assert deep.stage.queue_parked() == 0


def test_store_that_fails_is_told_and_the_block_waits_on(deep):
    deep.put(f"{PORT}\n")
    deep.writes.failure = OSError("disk")
    with pytest.raises(OSError, match="disk"):
        deep.stage.step(EXTRACTOR)
    deep.writes.failure = None
    assert deep.run() == ["accepted"]


def test_probe_is_a_tiny_question(deep):
    assert deep.stage.answers()
    deep.model.failures.append(slow("down"))
    assert not deep.stage.answers()
    assert all(len(one.user) + len(one.system) < 100 for one in deep.model.requests)
