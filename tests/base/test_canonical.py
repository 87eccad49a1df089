"""Canonical JSON, the hashes based on it, and the refusals of the strict parser."""

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.base.canonical import (
    canonical_json,
    content_hash,
    parse_json,
    rows_hash,
    sha256,
)
from scbench.base.errors import JsonError

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda children: st.lists(children) | st.dictionaries(st.text(), children),
    max_leaves=20,
)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1, "1"),
        (1.0, "1.0"),
        (-0.0, "-0.0"),
        (0.1 + 0.2, "0.30000000000000004"),
        (1e-7, "1e-07"),
        (10**30, "1" + "0" * 30),
        ("é\u2028💥/", '"é\u2028💥/"'),
        ('"\\\n\x00\x7f', '"\\"\\\\\\n\\u0000\x7f"'),
        ((1, [2, ()]), "[1,[2,[]]]"),
        ({"b": 1, "a": {"d": [], "c": {}}}, '{"a":{"c":{},"d":[]},"b":1}'),
        # Keys sort by code point: capitals first, and U+FFFD before higher code points.
        ({"💥": 4, "\ufffd": 3, "a": 2, "B": 1}, '{"B":1,"a":2,"\ufffd":3,"💥":4}'),
    ],
)
def test_canonical_text_is_fixed(value, text):
    assert canonical_json(value) == text


@given(json_values)
def test_round_trip(value):
    text = canonical_json(value)
    back = parse_json(text.encode())
    assert back == value
    # Equality would let 1, 1.0 and True pass for each other; equal text does not.
    assert canonical_json(back) == text
    assert canonical_json(json.loads(text)) == text


@given(
    st.dictionaries(st.text(), st.integers(), min_size=2),
    st.randoms(use_true_random=False),
)
def test_order_of_keys_changes_nothing(value, rng):
    items = list(value.items())
    rng.shuffle(items)
    assert canonical_json(dict(items)) == canonical_json(value)
    assert content_hash(dict(items)) == content_hash(value)


@pytest.mark.parametrize("number", [float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize(
    "wrap", [lambda x: x, lambda x: [x], lambda x: {"a": {"b": x}}]
)
def test_canonical_json_refuses_non_numbers(number, wrap):
    with pytest.raises(ValueError, match="JSON compliant"):
        canonical_json(wrap(number))


def test_sha256_of_text_equals_that_of_its_utf8_bytes():
    # NIST's example for the empty and the one-block message.
    assert (
        sha256("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    )
    assert (
        sha256(b"abc")
        == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    )
    assert sha256("é💥") == sha256("é💥".encode())


def test_content_hash_equals_that_of_the_canonical_text():
    expected = hashlib.sha256(b'{"a":[1,2.5,"x"],"b":null}').hexdigest()
    assert content_hash({"b": None, "a": [1, 2.5, "x"]}) == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (1, 1.0),
        (1, True),
        (0, False),
        (1, "1"),
        (None, "null"),
        ([], {}),
        ([1], [[1]]),
        (0.0, -0.0),
    ],
)
def test_content_hash_differs_between_types(one, other):
    assert content_hash(one) != content_hash(other)


def test_rows_hash_is_fixed_and_independent_of_order():
    rows = [("b/01", "22"), ("a/10", "11"), ("a/02", "33")]
    expected = hashlib.sha256(b"a/02 33\na/10 11\nb/01 22\n").hexdigest()
    assert rows_hash(rows) == expected
    assert rows_hash(reversed(rows)) == expected
    assert rows_hash(iter(rows)) == expected
    assert rows_hash([]) == sha256("")


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"null", None),
        (b" [1, -0, 0.5, 1e2, true]\r\n\t", [1, 0, 0.5, 100.0, True]),
        (
            b'{"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}',
            {"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]},
        ),
        (b'"\\ud83d\\udca5 \\u0000 \\/"', "💥 \x00 /"),
        ("{'é': '💥'}".replace("'", '"').encode(), {"é": "💥"}),
        (b"1" * 4300, int("1" * 4300)),
        (b"-" + b"9" * 4300, -int("9" * 4300)),
    ],
    ids=lambda x: repr(x)[:30] if isinstance(x, bytes) else "",
)
def test_parse_json_accepts(data, value):
    parsed = parse_json(data)
    assert parsed == value
    assert type(parsed) is type(value)


def nested(depth, left=b"[", right=b"]"):
    return left * depth + b"1" + right * depth


REFUSED = {
    "duplicate key": (b'{"a": 1, "b": 2, "a": 1}', "duplicate key"),
    "duplicate key, escaped": (b'{"a": 1, "\\u0061": 2}', "duplicate key"),
    "NaN": (b"NaN", "column 1"),
    "Infinity": (b"[Infinity]", "column 2"),
    "-Infinity": (b"[-Infinity]", "number"),
    "depth 201": (nested(201), "recursion"),
    "depth 100,000, never closed": (b"[" * 100_000, "recursion"),
    "4,301 digits": (b"1" * 4301, "out of range"),
    "a million digits": (b"7" * 1_000_000, "out of range"),
    "lone high surrogate": (b'"\\ud800"', "hex escape"),
    "lone surrogate in a key": (b'{"\\ud800": 1}', "hex escape"),
    "surrogate as bytes": (b'"\xed\xa0\x80"', "unicode"),
    "trailing word": (b"[1] x", "trailing"),
    "invalid UTF-8": (b'"\xff"', "unicode"),
    "UTF-16": ('"é"'.encode("utf-16"), "column 1"),
    "byte order mark": (b"\xef\xbb\xbf{}", "column 1"),
    "blank": (b" \n", "EOF"),
    "cut": (b'{"a": [1, 2', "EOF"),
    "comma at the end": (b"[1, 2,]", "comma"),
    "Python's words": (b"[True]", "column 2"),
    "control character": (b'"a\nb"', "control character"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_parse_json_refuses(name):
    data, reason = REFUSED[name]
    with pytest.raises(JsonError, match=reason) as caught:
        parse_json(data)
    assert "column" in str(caught.value)
    assert len(str(caught.value)) < 200
    assert caught.value.__suppress_context__


@pytest.mark.parametrize(
    "left_right", [(b"[", b"]"), (b'{"a":', b"}")], ids=["arrays", "objects"]
)
def test_depth_200_is_read(left_right):
    value = parse_json(nested(200, *left_right))
    for _ in range(200):
        (value,) = value.values() if isinstance(value, dict) else value
    assert value == 1


def test_error_in_one_line_names_its_column_and_later_ones_their_line():
    with pytest.raises(JsonError, match=r" at column 5$"):
        parse_json(b"[1, x]")
    with pytest.raises(JsonError, match=r" at line 2 column 4$"):
        parse_json(b"[1,\n2, x]")


@given(st.binary(max_size=40))
def test_any_bytes_are_read_like_by_the_standard_library_or_refused(data):
    try:
        value = parse_json(data)
    except JsonError:
        return
    assert value == json.loads(data)
