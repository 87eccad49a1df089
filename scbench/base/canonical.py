"""Strict parsing, canonical form and hashes of JSON.

Canonical JSON has sorted keys, no whitespace, unescaped characters, and numbers as Python's
``repr`` prints them (the shortest decimal that gives the same double). A value has the same bytes
on every machine, so their SHA-256 identifies it.
"""

import hashlib
import json
import math
from collections.abc import Iterable
from json.encoder import encode_basestring

import jiter
from pydantic import JsonValue

from scbench.base.errors import JsonError

_CANONICAL = json.JSONEncoder(
    sort_keys=True,
    separators=(",", ":"),
    ensure_ascii=False,
    allow_nan=False,
    # This check takes a quarter of the time. Circular values fail anyway, because they are too
    # deep.
    check_circular=False,
)
# Makes digits and exponents look the same, so that a few substrings cover every huge number.
_PLAIN_DIGITS = bytes.maketrans(b"123456789E", b"000000000e")
# Every number that overflows a double contains one of these; few others do.
_HUGE = (b"e000", b"e+000", b"0" * 200)


def canonical_json(value: object) -> str:
    """Return the canonical JSON text of a value made of JSON types.

    Raises:
        ValueError: the value contains NaN or an infinity.
        TypeError: the value contains something that is not a JSON type.
    """
    return _CANONICAL.encode(value)


def quoted(text: str) -> str:
    """Return the canonical JSON of a string.

    Raises:
        TypeError: it is not a string.
    """
    return encode_basestring(text)


def sha256(data: str | bytes) -> str:
    """Return the SHA-256 of text (as UTF-8) or bytes, in hexadecimal."""
    if isinstance(data, str):
        data = data.encode()
    return hashlib.sha256(data).hexdigest()


def content_hash(value: object) -> str:
    """Return the identity of a JSON value: the SHA-256 of its canonical text."""
    return sha256(canonical_json(value))


def rows_hash(rows: Iterable[tuple[str, str]]) -> str:
    """Return the identity of a set of rows from their (id, content hash) pairs, in any order."""
    lines = [f"{row_id} {digest}\n" for row_id, digest in sorted(rows)]
    return sha256("".join(lines))


def parse_json(data: bytes) -> JsonValue:
    """Parse UTF-8 JSON from an untrusted source.

    The following are refused, with the same position on every machine: duplicate keys, NaN,
    infinities and numbers too large for a double, more than 4,300 digits, nesting deeper than 200,
    lone surrogates, trailing text.

    Raises:
        JsonError: with the reason and the column.
    """
    try:
        value: JsonValue = jiter.from_json(
            data, allow_inf_nan=False, catch_duplicate_keys=True
        )
    except ValueError as error:
        message = str(error).replace(" at line 1 column ", " at column ")
        raise JsonError(message) from None
    if may_overflow(data) and not is_finite(value):
        raise JsonError("a number is too large for a 64-bit float")
    return value


def may_overflow(data: bytes) -> bool:
    """Whether JSON text may contain a number too large for a double; most text cannot."""
    # Ten times as fast as a regular expression.
    plain = data.translate(_PLAIN_DIGITS)
    return any(huge in plain for huge in _HUGE)


def is_finite(value: JsonValue) -> bool:
    """Whether all numbers in a JSON value are finite."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(is_finite, value.values()))
    if isinstance(value, list):
        return all(map(is_finite, value))
    return True
