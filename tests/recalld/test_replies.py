"""What can be read safely is read; everything else is refused with its reason, quickly and without raising."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.models.replies import MAX_BYTES, Parsed, Rejected, read_json
from tests.growth import assert_grows_with_size

ANSWER = {"facts": [{"text": "De poort is 5432.", "date": None}]}
PLAIN = json.dumps(ANSWER)


def deep(levels):
    return '{"a":' * levels + "1" + "}" * levels


@pytest.mark.parametrize(
    "text",
    [
        PLAIN,
        f"\ufeff\n  {PLAIN}\n\n",
        json.dumps(ANSWER, indent=2),
        f"```json\n{PLAIN}\n```",
        f"```\n{PLAIN}\n```\nDone.",
        f"Sure! Here are the facts:\n\n```json\n{PLAIN}\n```\nLet me know!",
        f"Voilà [see below]: {PLAIN}",
        f"以下是事实：{PLAIN}。",
        f"I found 1 fact [1]: {PLAIN}",
        f"<think>Maybe {{'a': 1}} or {{</think>{PLAIN}",
        f"<think>\n</think>\n\n<Thinking>[</Thinking>{PLAIN}",
        f"The user wants facts, so {{ I list them.\n</think>\n{PLAIN}",
        f'{{"draft": 1}} is wrong.</think>{PLAIN}',
        f'[THINK]Perhaps {{"facts": []}}?[/THINK]{PLAIN}',
        f'<seed:think>\n{{"facts": []}}\n</seed:think>\n{PLAIN}',
        f'◁think▷嗯，{{"facts": []}} 吗？◁/think▷{PLAIN}',
        f'<|START_THINKING|>{{"facts": []}}<|END_THINKING|>{PLAIN}',
        f'<|begin_of_thought|>{{"facts": []}}<|end_of_thought|>{PLAIN}',
        f'<|channel|>analysis<|message|>{{"facts": []}}?<|end|><|channel|>final<|message|>{PLAIN}',
        f"<|channel|>final <|constrain|>json<|message|>{PLAIN}<|return|>",
        f'{{"facts": []}} would be wrong.[/THINK]{PLAIN}',
        f"[Reasoning] The port is named. [Analysis] {PLAIN}",
        f"<|channel|>final<|message|>{PLAIN}",
        PLAIN + PLAIN.replace("5432", "5433"),
        f"{PLAIN} (and [{PLAIN}])",
        PLAIN.replace("De poort", "De\\npoort").replace("De\\npoort", "De poort"),
        f"{PLAIN} and then [an unfinished",
    ],
)
def test_the_first_whole_value_is_read_without_what_is_round_it(text):
    assert read_json(text) == Parsed(value=ANSWER)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("  \n\t ", "empty"),
        (" " * 100_000, "empty"),
        ("{}", "empty"),
        ("[]", "empty"),
        ("null", "empty"),
        ("```json\n{}\n```", "empty"),
        ("<think>Nothing to say.</think>", "empty"),
        ("There are no facts in this note.", "no_json"),
        ("42", "no_json"),
        ('"text"', "no_json"),
        (PLAIN[:-1], "cut"),
        (PLAIN[:25], "cut"),
        (PLAIN[:30] + "\\", "cut"),
        (f"```json\n{PLAIN[:-2]}", "cut"),
        (f"<think>Let me see {PLAIN}", "thinking_unclosed"),
        ("<think>" + " " * 50_000, "thinking_unclosed"),
        (f"[THINK]Let me see {PLAIN}", "thinking_unclosed"),
        (f"◁think▷ {PLAIN}", "thinking_unclosed"),
        (f"<|channel|>analysis<|message|>{PLAIN}<|end|>", "thinking_unclosed"),
        ("{'facts': []}", "not_json"),
        ('{"facts": [{"text": "a"},]}', "not_json"),
        ('{"facts": [{"text": "a"} {"text": "b"}]}', "not_json"),
        ('{"facts": undefined}', "not_json"),
        ('{"a": ' + "9" * 5000 + "}", "not_json"),
        ('{"confidence": NaN}', "not_finite"),
        ('{"confidence": -Infinity}', "not_finite"),
        ('{"confidence": 1e999}', "not_finite"),
        ('{"text": "a", "text": "b"}', "duplicate_key"),
        ('{"facts": [{"text": "a", "text": "b"}]}', "duplicate_key"),
        ('{"text": "\\ud83d"}', "bad_character"),
        (deep(33), "too_deep"),
        ("[" * 10_000, "too_deep"),
        ("[" * 10_000 + "]" * 10_000, "too_deep"),
        ('{"type":"object","properties":{"facts":{"type":"array"}}}', "schema_echo"),
        ('{"$schema":"https://json-schema.org/draft/2020-12/schema","title":"x"}', "schema_echo"),
        ('{"a":"' + "x" * MAX_BYTES + '"}', "too_long"),
        ('{"a":"' + "語" * (MAX_BYTES // 3) + '"}', "too_long"),
    ],
    ids=lambda value: repr(value[:40]),
)
def test_answer_that_cannot_be_trusted_is_refused_with_its_reason(text, reason):
    assert read_json(text) == Rejected(reason=reason)


def test_a_piece_is_never_taken_out_of_a_broken_whole():
    broken = '{"facts": [{"text": "Postgres runs on 5432"}, {"text": "Redis runs on'
    assert read_json(broken) == Rejected(reason="cut")


def test_thinking_tags_within_the_answer_are_part_of_it():
    value = {"text": "Use <think> and </think> tags, or `</think>` alone"}
    assert read_json(json.dumps(value)) == Parsed(value=value)
    assert read_json(f"Here: {json.dumps(value)}") == Parsed(value=value)
    assert read_json(json.dumps(value)[:-2]) == Rejected(reason="cut")


def test_raw_line_ends_within_a_string_are_kept():
    assert read_json('{"text": "one\ntwo"}') == Parsed(value={"text": "one\ntwo"})


def test_array_of_objects_is_a_value_of_its_own():
    text = '[{"text": "a"}, {"text": "b"}]'
    assert read_json(text) == Parsed(value=[{"text": "a"}, {"text": "b"}])
    assert read_json('The words are ["a", "b"].') == Parsed(value=["a", "b"])


def test_depth_of_thirty_two_is_read():
    assert isinstance(read_json(deep(32)), Parsed)


def test_escaped_pair_of_surrogates_is_a_character():
    assert read_json('{"text": "\\ud83d\\ude00"}') == Parsed(value={"text": "😀"})


@pytest.mark.slow
@pytest.mark.parametrize(
    ("head", "piece", "tail"),
    [
        ("", " ", "{"),
        ("", "[", ""),
        ("", "[x]", ""),
        ("", "<think></think>", "{"),
        ("", "<think>", ""),
        ("", "</think>", ""),
        ("<|channel|>", " ", ""),
        ("", "<|channel|>analysis", ""),
        ("", "[THINK]", "{"),
        ("", '"', ""),
        ('{"', "\\", ""),
        ("", '{"a":"', ""),
        ("", "[1]", ""),
    ],
)
def test_hostile_text_takes_no_longer_than_its_length(head, piece, tail):
    assert_grows_with_size(
        read_json, lambda length: head + piece * (length // len(piece)) + tail, small=10_000
    )


@pytest.mark.slow
@given(st.text(alphabet='{}[]",:\\ \n`<>/thinkTHINK0198.eE-nulNaN', max_size=80) | st.text())
def test_any_text_is_a_value_or_a_reason(text):
    found = read_json(text)
    assert isinstance(found, Parsed | Rejected)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)


@pytest.mark.slow
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=8).filter(lambda k: k not in ("$schema", "properties")),
        json_values,
        min_size=1,
        max_size=4,
    ),
    st.sampled_from(["{}", "```json\n{}\n```", "Sure! {} Done.", "<think>hm {{ [</think>{}"]),
)
def test_any_object_survives_its_wrapping(value, wrapping):
    # A text with a tag in it is read the same, because the tag stands within the value.
    spoken = wrapping.replace("{{", "\0").replace("{}", json.dumps(value)).replace("\0", "{")
    assert read_json(spoken) == Parsed(value=value)
