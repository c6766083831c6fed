import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recalld.errors import (
    AmbiguousAnchor,
    NotFound,
    RequestError,
    StoreBusy,
    StoreUnusable,
    TransientModelError,
)
from recalld.jsonrpc import (
    MAX_BATCH,
    MAX_DEPTH,
    Message,
    Refused,
    Request,
    as_request_error,
    decode_line,
    encode,
    encode_error,
    encode_message,
    encode_request,
    encode_result,
    error_from,
    method_not_found,
    shortened,
)


def only(line: bytes):
    message = decode_line(line)
    assert not message.batch
    (item,) = message.items
    return item


def refusal(line: bytes) -> RequestError:
    item = only(line)
    assert isinstance(item, Refused)
    return item.error


def request(**fields) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": 1, "method": "ping", **fields}).encode()


@pytest.mark.parametrize("request_id", ["a", "", 0, 7, -1, 1.5, 2**70, None])
def test_ids_come_back_as_they_were(request_id):
    item = only(request(id=request_id))
    assert isinstance(item, Request)
    assert item.id == request_id
    assert type(item.id) is type(request_id)
    assert not item.notification
    assert json.loads(encode_result(item.id, {}))["id"] == request_id


@pytest.mark.parametrize("request_id", [True, [], {}])
def test_other_ids_are_refused(request_id):
    assert refusal(request(id=request_id)).code == -32600


def test_request_without_id_is_a_notification():
    item = only(b'{"jsonrpc":"2.0","method":"sync","params":{"full":true}}\n')
    assert item == Request(id=None, method="sync", params={"full": True}, notification=True)


@pytest.mark.parametrize("params", [None, [], {}])
def test_absent_null_and_empty_params_are_none(params):
    item = only(request(params=params))
    assert isinstance(item, Request)
    assert item.params == {}


@pytest.mark.parametrize("params", [["x"], "", 0, False, "x"])
def test_params_not_by_name_are_invalid_params_with_the_id(params):
    item = only(request(id=9, params=params))
    assert isinstance(item, Refused)
    assert (item.id, item.error.code) == (9, -32602)


def test_notification_with_unusable_params_is_not_answered():
    assert decode_line(b'{"jsonrpc":"2.0","method":"x","params":[1]}') == Message(items=())


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"nonsense",
        b'{"a":1}{"b":2}',
        b'"\xff"',
        b"\xed\xa0\xbd",
        b"\x00",
        b"'x'",
        b"\xef\xbb\xbf{}",
        b"1" * 5000,
        b"[" * 10_000,
        b'{"a":' * 10_000,
        b"[" * 10_000 + b"]" * 10_000,
    ],
)
def test_what_is_not_json_is_a_parse_error(line):
    assert refusal(line).code == -32700


@pytest.mark.parametrize("number", [b"NaN", b"Infinity", b"-Infinity", b"1e999", b"-1e999"])
def test_numbers_that_json_lacks_are_a_parse_error(number):
    assert (
        refusal(b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":%s}}' % number).code == -32700
    )


def test_nesting_is_limited_well_below_the_interpreters_limit():
    def nested(depth):
        return (
            b'{"jsonrpc":"2.0","id":1,"method":"x","params":{"a":'
            + b"[" * depth
            + b"]" * depth
            + b"}}"
        )

    assert isinstance(only(nested(MAX_DEPTH - 2)), Request)
    assert refusal(nested(MAX_DEPTH - 1)).code == -32700


@pytest.mark.parametrize(
    ("line", "request_id"),
    [
        (b"1", None),
        (b'"x"', None),
        (b"null", None),
        (b"{}", None),
        (b'{"id":4}', 4),
        (b'{"jsonrpc":"1.0","id":4,"method":"x"}', 4),
        (b'{"jsonrpc":"2.0","id":4,"method":7}', 4),
        (b'{"jsonrpc":"2.0","id":4,"result":{}}', 4),
        (b"[]", None),
    ],
)
def test_json_that_is_no_request_is_refused_with_its_id_if_it_has_one(line, request_id):
    item = only(line)
    assert isinstance(item, Refused)
    assert (item.error.code, item.id) == (-32600, request_id)


def test_key_given_twice_is_refused_by_name():
    error = refusal(b'{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}')
    assert error.code == -32600
    assert "`method`" in error.message


@pytest.mark.parametrize("line", [b"", b"\n", b" \t\r\n"])
def test_blank_line_asks_nothing(line):
    assert decode_line(line).items == ()


def test_carriage_return_before_the_line_end_is_taken():
    assert isinstance(only(request() + b"\r\n"), Request)


def test_batch_keeps_order_and_doubled_ids_and_drops_nothing():
    message = decode_line(
        b"[" + b",".join([request(id=1), request(id=1), b"5", request(id="z")]) + b"]"
    )
    assert message.batch
    assert [item.id for item in message.items] == [1, 1, None, "z"]
    assert [type(item) for item in message.items] == [Request, Request, Refused, Request]


def test_batch_has_a_size_limit():
    assert len(decode_line(b"[" + b",".join([b"1"] * MAX_BATCH) + b"]").items) == MAX_BATCH
    assert refusal(b"[" + b",".join([b"1"] * (MAX_BATCH + 1)) + b"]").code == -32003


def test_answers_make_one_line():
    one, two = encode_result(1, {}), encode_result(2, {})
    assert json.loads(encode_message(Message(items=(), batch=True), [one, two])) == [
        json.loads(one),
        json.loads(two),
    ]
    assert json.loads(encode_message(Message(items=(), batch=True), [one])) == [json.loads(one)]
    assert encode_message(Message(items=()), [one]) == one + b"\n"
    assert encode_message(Message(items=(), batch=True), []) == b""


def test_lone_surrogates_become_replacement_characters():
    item = only(
        b'{"jsonrpc":"2.0","id":"\\udc00","method":"x\\ud83d","params":{"\\ud83d":["a\\ud83db", "\\ud83d\\ude80"]}}'
    )
    assert item == Request(id="\ufffd", method="x\ufffd", params={"\ufffd": ["a\ufffdb", "🚀"]})
    assert encode({"t": "a\ud83db\udcff 漢 ไทย"}).decode() == '{"t":"a\ufffdb\ufffd 漢 ไทย"}'


def test_encoded_json_has_no_line_end_inside():
    assert b"\n" not in encode({"text": "a\nb\r\n"})


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_results_without_json_form_are_refused(value):
    with pytest.raises(ValueError):
        encode_result(1, {"score": value})


def test_error_has_kind_and_hint_beside_its_own_data():
    error = AmbiguousAnchor(
        "It fits two.", hint="Give more.", data={"matches": ["fact:a1", "fact:a2"]}
    )
    body = json.loads(encode_error(3, error))
    assert body == {
        "jsonrpc": "2.0",
        "id": 3,
        "error": {
            "code": -32002,
            "message": "It fits two.",
            "data": {
                "kind": "ambiguous_anchor",
                "hint": "Give more.",
                "matches": ["fact:a1", "fact:a2"],
            },
        },
    }
    again = error_from(body["error"])
    assert type(again) is AmbiguousAnchor
    assert (again.message, again.hint, again.data) == (error.message, error.hint, error.data)


@pytest.mark.parametrize("body", [None, 5, {}, {"code": "x"}, {"code": 1, "data": [1]}])
def test_unreadable_errors_are_still_errors(body):
    assert type(error_from(body)) is RequestError


def test_foreign_exception_tells_the_client_nothing():
    told = as_request_error(ValueError("/home/ana/secret"))
    assert (told.code, told.kind) == (-32603, "internal")
    assert "secret" not in told.message


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (NotFound("x"), -32001),
        (StoreBusy("x"), -32004),
        (TransientModelError("x"), -32005),
        (StoreUnusable("x"), -32603),
    ],
)
def test_our_errors_keep_their_sentence(error, code):
    told = as_request_error(error)
    assert (told.code, told.message) == (code, "x")


def test_unknown_method_names_the_nearest():
    assert method_not_found("recal", ["recall", "ping"]).hint == "Did you mean `recall`?"
    assert method_not_found("zzz", ["recall", "ping"]).hint == "The methods are ping, recall."


def test_shown_names_are_short_and_on_one_line():
    assert shortened("a\nb\x1b") == "a\ufffdb\ufffd"
    assert len(shortened("x" * 10_000)) == 61


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=("Cs",))),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=("Cs",))), json_values, max_size=4))
def test_request_survives_the_wire(params):
    assert only(encode_request("m", params, 1)) == Request(id=1, method="m", params=params)


@given(st.binary(max_size=200) | json_values.map(lambda value: json.dumps(value).encode()))
def test_any_bytes_give_items_that_can_be_answered(line):
    for item in decode_line(line).items:
        if isinstance(item, Refused):
            json.loads(encode_error(item.id, item.error).decode())


@given(st.text(st.characters()))
def test_output_is_always_utf8_json(text):
    assert isinstance(json.loads(encode({"text": text}).decode())["text"], str)
