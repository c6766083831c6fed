"""What fits is sent, what was cut is noticed, and outages are told from faults of the request."""

import pytest

from recalld.errors import PermanentModelError, PromptCut, TransientModelError
from recalld.models.chat import (
    ChatRequest,
    answer_tokens,
    check_fits,
    check_read,
    is_outage,
    prompt_budget_chars,
)

ENGLISH = "The production database runs on the second server and was restored on Tuesday. "
CHINESE = "生产数据库运行在第二台服务器上，并于星期二恢复。"


def request(user, *, system="List the facts.", max_tokens=100):
    return ChatRequest(system=system, user=user, schema=None, max_tokens=max_tokens)


def test_request_has_no_chance_in_it():
    assert (request("x").temperature, request("x").seed) == (0, 0)


@pytest.mark.parametrize("window", [2048, 4096, 8192, 32768])
def test_prompt_of_latin_text_within_the_budget_fits(window):
    budget = prompt_budget_chars(window)
    text = (ENGLISH * (budget // len(ENGLISH) + 1))[: budget - len("List the facts.")]
    check_fits(request(text), window)


def test_dense_script_within_the_budget_is_refused_before_it_is_sent():
    text = (CHINESE * 500)[: prompt_budget_chars(8192) - 20]
    with pytest.raises(PromptCut) as raised:
        check_fits(request(text), 8192)
    assert raised.value.counted_tokens is None
    assert raised.value.estimated_tokens > 4096


def test_budget_of_a_tiny_window_is_nothing_rather_than_less():
    assert prompt_budget_chars(100) == 0


@pytest.mark.parametrize("text", [ENGLISH * 50, CHINESE * 60, "f(x[1], y.z) = {a: b};\n" * 90])
def test_prompt_of_which_half_was_dropped_is_noticed(text):
    # 50 sentences of 14 words: over 700 tokens for every tokenizer.
    with pytest.raises(PromptCut) as raised:
        check_read(request(text), 300)
    assert raised.value.counted_tokens == 300
    assert raised.value.estimated_tokens > 430
    assert "num_ctx" in raised.value.hint


def test_prompt_that_was_read_whole_raises_nothing():
    check_read(request(ENGLISH * 50), 50 * 15)
    check_read(request("Bought milk."), 12)


def test_server_that_does_not_count_is_believed():
    check_read(request(ENGLISH * 50), None)
    check_read(request(ENGLISH * 50), 0)


def test_answer_never_takes_more_than_half_the_window():
    assert answer_tokens(request("x", max_tokens=9000), 8192) == 4096
    assert answer_tokens(request("x", max_tokens=500), 8192) == 500
    assert answer_tokens(request("x", max_tokens=0), 8192) == 1


def test_only_what_says_something_about_the_model_is_an_outage():
    assert is_outage(TransientModelError("refused", state="down"))
    assert is_outage(TransientModelError("no answer", state="slow"))
    assert is_outage(PermanentModelError("no such model", state="missing"))
    assert not is_outage(TransientModelError("broken answer"))
    assert not is_outage(PromptCut("too long", estimated_tokens=9, counted_tokens=None))


def test_count_of_words_is_no_count_of_tokens():
    # Marks make a prompt of many more tokens than words.
    request = ChatRequest(system="a=(b),c=[d];" * 50, user="x = y", schema=None, max_tokens=9)
    check_read(request, 4)
    with pytest.raises(PromptCut):
        check_read(request, 5)
