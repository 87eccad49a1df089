"""Escapes in strings of Python and JSON."""

import json
import re
import sys

_ESCAPE = re.compile(
    r"\\(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|U([\da-fA-F]{8})|([0-7]{1,3})|(.))", re.DOTALL
)
_ESCAPED = {
    "a": "\a",
    "b": "\b",
    "f": "\f",
    "n": "\n",
    "r": "\r",
    "t": "\t",
    "v": "\v",
    "0": "\0",
    "\\": "\\",
    "'": "'",
    '"': '"',
    "/": "/",
    "\n": "",
}


def as_json_string(text: str) -> str:
    """Return what stood between the quotes of a string, whosever they were, as a JSON string."""
    return json.dumps(_ESCAPE.sub(_unescaped, text) if "\\" in text else text)


def _unescaped(escape: re.Match[str]) -> str:
    *hexadecimal, octal, other = escape.groups()
    if other is not None:
        return _ESCAPED.get(other, escape.group())
    code = int(octal, 8) if octal else int(next(filter(None, hexadecimal)), 16)
    return chr(code) if code <= sys.maxunicode else escape.group()
