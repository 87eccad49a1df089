"""Strict JSON in, canonical JSON out, and the hashes that rest on it.

Canonical JSON has sorted keys, no white space, characters unescaped, and numbers as Python's
``repr`` prints them (the shortest decimal that gives the same double). A value has the same bytes
on every machine, so their SHA-256 is its identity.
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
    check_circular=False,  # a quarter of the time; what grows without end fails at its depth
)
_SIGNS = bytes.maketrans(b"123456789E", b"000000000e")
# Every number that overflows a double has one of these, if all digits are 0; few others
# do.
_HUGE = (b"e000", b"e+000", b"0" * 200)


def canonical_json(value: object) -> str:
    """Return the canonical JSON text of a value made of JSON types.

    Raises:
        ValueError: the value holds NaN or an infinity.
        TypeError: the value holds something that is not a JSON type.
    """
    return _CANONICAL.encode(value)


def quoted(text: str) -> str:
    """Return the canonical JSON of a text.

    Raises:
        TypeError: it is none.
    """
    return encode_basestring(text)


def sha256(data: str | bytes) -> str:
    """Return the SHA-256 of text (as UTF-8) or bytes, in hexadecimal."""
    return hashlib.sha256(data.encode() if isinstance(data, str) else data).hexdigest()


def content_hash(value: object) -> str:
    """Return the identity of a JSON value: the SHA-256 of its canonical text."""
    return sha256(canonical_json(value))


def rows_hash(rows: Iterable[tuple[str, str]]) -> str:
    """Return the identity of a set of rows from their (id, content hash) pairs, in any order."""
    return sha256("".join(f"{row_id} {digest}\n" for row_id, digest in sorted(rows)))


def parse_json(data: bytes) -> JsonValue:
    """Parse UTF-8 JSON from an untrusted source.

    Refused, at the same place on every machine: duplicate keys, NaN, infinities and numbers too
    large for a double, more than 4,300 digits, nesting deeper than 200, lone surrogates, trailing
    text.

    Raises:
        JsonError: with the reason and the column.
    """
    try:
        value: JsonValue = jiter.from_json(
            data, allow_inf_nan=False, catch_duplicate_keys=True
        )
    except ValueError as error:
        raise JsonError(
            str(error).replace(" at line 1 column ", " at column ")
        ) from None
    if _may_be_huge(data) and not _is_finite(value):
        raise JsonError("a number is too large for a double")
    return value


def _may_be_huge(data: bytes) -> bool:
    signs = data.translate(_SIGNS)  # a pattern would take ten times as long
    return any(huge in signs for huge in _HUGE)


def _is_finite(value: JsonValue) -> bool:
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    return not isinstance(value, list) or all(map(_is_finite, value))
