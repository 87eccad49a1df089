"""Rewriting what is nearly JSON as JSON, one token after the other.

Models write Python displays, and JSON with trailing commas or comments. Python's own parser is not
made for untrusted text: its limits differ between versions and it can be led deep. Here each token
is rewritten by itself and the strict JSON parser judges the whole, so there is one set of limits.
"""

import json
import re
import sys
from dataclasses import dataclass

_MAX_CHARACTERS = 1_000_000
_MAX_DEPTH = 200

# Early releases of Python 3.11 match possessive groups wrongly, so only single characters are
# repeated possessively; no position has two ways to go on, so there is nothing to try twice.
_TOKEN = re.compile(
    r"""
    (?P<skip> \s++ | \#[^\n]*+ )
    | (?P<text> '''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*'''
              | \"{3}[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*\"{3}
              | '[^'\\\n]*+(?:\\.[^'\\\n]*+)*'
              | "[^"\\\n]*+(?:\\.[^"\\\n]*+)*" )
    | (?P<number> (?P<sign>[-+])?
                  (?: (?P<whole>\d++)(?:\.(?P<fraction>\d*+))? | \.(?P<bare>\d++) )
                  (?P<exponent>[eE][-+]?\d++)? )
    | (?P<word> (?:True|False|None|true|false|null)\b )
    | (?P<mark> [()\[\]{},:] )
    """,
    re.VERBOSE | re.DOTALL | re.ASCII,
)
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
_WORDS = {"True": "true", "False": "false", "None": "null"}
_CLOSES = {"(": ")", "[": "]", "{": "}"}


def as_json(text: str) -> str | None:
    """Rewrite a Python display, or JSON with small slips, as JSON.

    Tuples, single and triple quotes, ``True``, ``False`` and ``None``, numbers like ``.5`` and
    ``+1``, trailing commas and ``#`` comments are rewritten. Linear in the length of the text.

    Returns:
        Text that is JSON if the display was sound, fit for a strict parser; None if the text is
        certainly no display, has more than a million characters, or is nested deeper than 200.
    """
    if len(text) > _MAX_CHARACTERS:
        return None
    out: list[str] = []
    opened: list[_Open] = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            return None
        at = token.end()
        written = token.group()
        match token.lastgroup:
            case "text":
                out.append(_string(written))
            case "number":
                out.append(_number(token))
            case "word":
                out.append(_WORDS.get(written, written))
            case "mark" if written in _CLOSES:
                if len(opened) == _MAX_DEPTH:
                    return None
                opened.append(_Open(_CLOSES[written], len(out)))
                out.append("{" if written == "{" else "[")
            case "mark" if written in ",:":
                if not opened or (written == ":" and opened[-1].closes != "}"):
                    return None
                opened[-1].commas |= written == ","
                out.append(written)
            case "mark":
                if not opened or opened[-1].closes != written or not _close(out, opened.pop()):
                    return None
    return " ".join(out)


@dataclass(slots=True)
class _Open:
    """A bracket that is not closed yet."""

    closes: str
    place: int
    commas: bool = False


def _close(out: list[str], bracket: _Open) -> bool:
    """Write a closing bracket, without the comma before it; False if that comma ends nothing."""
    if out[-1] == ",":
        out.pop()
        if out[-1] in {"[", "{", ",", ":"}:
            return False
    if bracket.closes == ")" and not bracket.commas and len(out) > bracket.place + 1:
        out[bracket.place] = ""  # (x) is x; (x,) is a tuple
    else:
        out.append("}" if bracket.closes == "}" else "]")
    return True


def _string(written: str) -> str:
    quotes = 3 if written.startswith(("'''", '"""')) else 1
    text = written[quotes:-quotes]
    return json.dumps(_ESCAPE.sub(_unescaped, text) if "\\" in text else text)


def _unescaped(escape: re.Match[str]) -> str:
    *hexadecimal, octal, other = escape.groups()
    if other is not None:
        return _ESCAPED.get(other, escape.group())
    code = int(octal, 8) if octal else int(next(filter(None, hexadecimal)), 16)
    return chr(code) if code <= sys.maxunicode else escape.group()


def _number(token: re.Match[str]) -> str:
    sign, whole, fraction, bare, exponent = token.group(
        "sign", "whole", "fraction", "bare", "exponent"
    )
    point = "" if fraction is None and bare is None else "." + (fraction or bare or "0")
    return f"{'-' if sign == '-' else ''}{whole or '0'}{point}{exponent or ''}"
