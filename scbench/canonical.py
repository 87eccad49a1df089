"""Strict JSON in, canonical JSON out, and the hashes that rest on it.

Canonical JSON has sorted keys, no white space, characters unescaped, and numbers as Python's
``repr`` prints them (the shortest decimal that gives the same double). Equal values have equal
bytes on every machine, so their SHA-256 is an identity.
"""

import hashlib
import json
from collections.abc import Iterable

import jiter
from pydantic import JsonValue

from scbench.errors import JsonError


def canonical_json(value: object) -> str:
    """Return the canonical JSON text of a value made of JSON types.

    Raises:
        ValueError: the value holds NaN or an infinity.
        TypeError: the value holds something that is not a JSON type.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    )


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

    Refused, at the same place on every machine: duplicate keys, NaN and infinities, integers of
    more than 4,300 digits, nesting deeper than 200, lone surrogates, trailing text.

    Raises:
        JsonError: with the reason and the column.
    """
    try:
        value: JsonValue = jiter.from_json(data, allow_inf_nan=False, catch_duplicate_keys=True)
    except ValueError as error:
        raise JsonError(str(error).replace(" at line 1 column ", " at column ")) from None
    return value
