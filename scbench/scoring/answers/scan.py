r"""Finding JSON values in running text, also where they are only nearly JSON.

One pass from left to right. At every bracket a value is read token by token, as the grammar of JSON
has it; what models write instead of JSON is understood and noted as a repair. Where the grammar
ends, so does the value, and the search goes on behind it; so every step is linear in the length of
the text. What was read is only rewritten here: the strict parser
(`scbench.base.canonical.parse_json`) judges it, so there is one set of limits. Python's own parser
is not made for untrusted text: its limits differ between versions, and it can be led deep.

Repairs: ``python_literal`` (tuples, single and triple quotes, ``True``, ``None``, ``+1``, ``.5``),
``trailing_comma``, ``comment`` (``#``, ``//``, ``/* */``), ``unquoted_key``, ``equals_sign``,
``curly_quotes``, ``escaped_quotes``, ``latex_escapes`` (``\{``), ``line_breaks`` (inside a string),
``quoted_lines`` (``>`` before each), ``special_blanks``, ``unquoted_value``. Numbers are never
changed.
"""

import json
import re
import sys
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache

from pydantic import JsonValue

from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError

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
_MAX_DEPTH = 200
_MAX_SPANS = 50
_RESTARTS = 100
_BLANK = "\u00a0\u1680\u2000-\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff"

# Early releases of Python 3.11 match possessive groups wrongly, so only single characters are
# repeated possessively; no position has two ways to go on, so there is nothing to try twice.
_START = re.compile(
    r"""\[(?=[\s>]*+(?:[\[\](){}"'\\\#/TFNtfn\u2018-\u201e]|[-+]?(?:\d++\.?|\.)[\deE+-]*+[\s,\]\#/>]))"""
    r"""|\{(?=[\s>]*+(?:["'\\\#/\u2018-\u201e]|[^\W\d]\w*+\s*+[:=]|\\Z))"""
    r"""|\((?=[\s>]*+(?:[\[(){"'\\\#/\u2018-\u201e]|[-+]?(?:\d++\.?|\.)[\deE+-]*+[\s,)\#/>]|True|False|None))"""
)
"""A bracket behind which a value can follow: prose, formulas and code are full of others."""
_ROW = re.compile(r"[\[{(]++")
_NUMBER = r"-?\d++(?:\.\d++)?(?:[eE][-+]?\d++)?"
_RUN = re.compile(
    rf"[ \t\r\n]*+({_NUMBER}(?:[ \t\r\n]*+,[ \t\r\n]*+{_NUMBER})*)(?=[ \t\r\n]*+[,\]])"
)
"""Plain numbers with commas between them, in one step."""
_TOKEN = re.compile(
    rf"""
    [ \t\r\n]*+
    (?: (?P<mark> \\?[\[\]{{}}] | [(),:=] )
      | (?P<text> '''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*'''
                | \"{{3}}[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*\"{{3}}
                | '[^'\\\n]*+(?:\\.[^'\\\n]*+)*'
                | "[^"\\]*+(?:\\.[^"\\]*+)*"
                | [\u201c-\u201e][^\u201c-\u201e\\\n]*+(?:\\.[^\u201c-\u201e\\\n]*+)*[\u201c\u201d]
                | [\u2018\u2019][^\u2018\u2019\\\n]*+(?:\\.[^\u2018\u2019\\\n]*+)*[\u2018\u2019]
                | \\"[^"\\]*+(?:\\[^"][^"\\]*+)*\\" )
      | (?P<number> (?P<sign>[-+])?
                    (?: (?P<whole>\d++)(?:\.(?P<fraction>\d*+))? | \.(?P<bare>\d++) )
                    (?P<exponent>[eE][-+]?\d++)? (?![\w.]) )
      | (?P<word> [^\W\d]\w*+ )
      | (?P<comment> \#[^\n]*+ | //[^\n]*+ | /\* )
      | (?P<quoted> (?: (?<=\n) | (?<=\n[ ]) | (?<=\n[ ]{{2}}) ) > [>\s]*+ )
      | (?P<blank> [{_BLANK}]++ ) )
    """,
    re.VERBOSE | re.DOTALL,
)
_BARE = re.compile(r"""[ \t]*+([^{}\[\]"'\\,:\s][^{}\[\]"'\\\n:]{0,199})(?=\\?\})""")
_PLAIN = re.compile(
    rf"\s*+(?:{_NUMBER}|true|false|null|none|[-+]?nan|[-+]?inf(?:inity)?)\s*+", re.IGNORECASE
)
_CONTROL = re.compile(r"[\x00-\x1f]")
_WORDS = {"True": "true", "False": "false", "None": "null"}
_LITERALS = {"true", "false", "null"}
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_ELIDED = re.compile(r"\s*+(?:\.{2,}|\u2026|<\w)")
_FORM = re.compile(r"\s*+(?:\.{2,}|\u2026|<\w|[$%*?]|-?(?!nan\b|inf)[^\W\d])", re.IGNORECASE)
"""What stands for a value in the form of an answer, and in code that makes one: a name."""
_NO_VALUE = re.compile(r"\s*+[,}]")
_ELLIPSIS = re.compile(r"\s*+(?:\.{2,}|\u2026)")


def as_json_string(text: str) -> str:
    """Return what stood between the quotes of a string, whosever they were, as a JSON string."""
    return json.dumps(_ESCAPE.sub(_unescaped, text) if "\\" in text else text)


def _unescaped(escape: re.Match[str]) -> str:
    *hexadecimal, octal, letter = escape.groups()
    if letter is not None:
        return _ESCAPED.get(letter, escape.group())
    code = int(octal, 8) if octal else int(next(filter(None, hexadecimal)), 16)
    return chr(code) if code <= sys.maxunicode else escape.group()


@dataclass(frozen=True, slots=True)
class Span:
    """A value in a text, rewritten as JSON but not parsed yet.

    Attributes:
        start: where its first bracket stands.
        end: behind its last bracket.
        opening: its first bracket.
        keys: its keys, if it is an object.
    """

    start: int
    end: int
    opening: str
    keys: tuple[str, ...]
    _out: list[str]
    _first: int
    _last: int
    _repairs: list[tuple[int, str]]

    @property
    def repairs(self) -> tuple[str, ...]:
        """What was done to read it, each once, in order."""
        inside = (name for at, name in self._repairs if self._first <= at <= self._last)
        return tuple(dict.fromkeys(inside))

    def parse(self) -> JsonValue | None:
        """Return the value; None if the strict parser refuses it, as for a key given twice."""
        try:
            return parse_json(" ".join(self._out[self._first : self._last + 1]).encode())
        except (JsonError, UnicodeEncodeError):
            return None


@dataclass(slots=True)
class Scan:
    """What a text holds.

    Attributes:
        objects: objects with a key that was asked for, at any depth, by their ends.
        outermost: values that stand in no other, by their ends.
        broken: start, place of the last such key, and that key, of objects that have one and could
            not be read to their end.
    """

    objects: deque[Span] = field(default_factory=lambda: deque(maxlen=_MAX_SPANS))
    outermost: deque[Span] = field(default_factory=lambda: deque(maxlen=_MAX_SPANS))
    broken: list[tuple[int, int, str]] = field(default_factory=list)


@dataclass(slots=True)
class _Open:
    """A bracket that is not closed yet."""

    mark: str
    start: int
    place: int
    state: str
    """What may come: a ``key``, a ``colon``, a ``value``, or ``next`` (a comma or the end)."""
    keys: list[str] = field(default_factory=list)
    known: tuple[int, str] | None = None
    """Place and name of the last key that was asked for."""
    commas: int = 0
    after_comma: bool = False


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Return a key as it is compared: without case, blanks, hyphens and underscores."""
    return re.sub(r"[\s_-]+", "", name).casefold()


def scan(text: str, names: Collection[str], bare: str = "") -> Scan:
    """Return the values of a text.

    Args:
        text: what a model said.
        names: keys, as `folded` gives them; objects with one of them are kept.
        bare: key whose value may be a word without quotes, up to the closing brace.
    """
    result = Scan()
    at, restarts, comments_end = 0, 0, text.rfind("*/")
    while start := _START.search(text, at):
        at, swallowed = _Reader(text, names, bare, comments_end, result).read(start.start())
        if swallowed is not None and restarts < _RESTARTS:
            restarts += 1
            at = swallowed
    return result


class _Reader:
    """Reads one value that stands in no other."""

    def __init__(
        self, text: str, names: Collection[str], bare: str, comments_end: int, result: Scan
    ) -> None:
        self._text = text
        self._names = names
        self._bare = bare
        self._comments_end = comments_end
        self._result = result
        self._out: list[str] = []
        self._repairs: list[tuple[int, str]] = []
        self._opened: list[_Open] = []
        self._swallowed: int | None = None

    def read(self, start: int) -> tuple[int, int | None]:
        """Read the value; return where to go on, and the first bracket inside a doubtful string."""
        text, opened = self._text, self._opened
        at = start + 1
        self._open(text[start], start)
        while opened:
            top = opened[-1]
            if top.state == "value" and top.mark != "{" and (run := _RUN.match(text, at)):
                self._out.append(run[1])
                top.state, top.after_comma = "next", False
                top.commas += 1  # (1, 2) is a tuple
                at = run.end()
                continue
            sign = text[at : at + 1]  # most tokens are one of these
            if sign == "," and top.state == "next":
                top.commas, top.after_comma = top.commas + 1, True
                top.state = "key" if top.mark == "{" else "value"
                self._out.append(",")
                at += 1
                continue
            if sign in {"[", "{"} and top.state == "value" and len(opened) < _MAX_DEPTH:
                self._open(sign, at)
                at += 1
                continue
            if self._bare and (word := self._unquoted(at, top)):
                at = word
                continue
            token, keys = _TOKEN.match(text, at), len(top.keys)
            if token is None or not self._take(token):
                # In a long row of brackets, none but the last two hundred can be read.
                row = _ROW.match(text, at)
                return self._fail(max(at, row.end() - _MAX_DEPTH) if row else at)
            if top.state == "colon" and len(top.keys) > keys and self._is_known(top.keys[-1:]):
                top.known = token.start(), folded(top.keys[-1])
            at = token.end()
            if token["comment"] == "/*":
                at = text.index("*/", at) + 2
        return at, None

    def _fail(self, at: int) -> tuple[int, int | None]:
        # The form that a prompt shows, {"answer": ...}, and code that makes an answer,
        # {"answer": result} or {answer}, are no attempt at one.
        top = self._opened[-1]
        is_form = (_FORM if top.state == "value" else _ELLIPSIS).match(self._text, at)
        is_name = top.state == "colon" and _NO_VALUE.match(self._text, at)
        if not is_form and not is_name:
            self._result.broken += (
                (bracket.start, *bracket.known) for bracket in self._opened if bracket.known
            )
        return max(at, self._opened[0].start + 1), self._swallowed

    def _open(self, mark: str, start: int) -> None:
        state = "key" if mark == "{" else "value"
        self._opened.append(_Open(mark, start, len(self._out), state))
        self._out.append("{" if mark == "{" else "[")

    def _repair(self, name: str) -> None:
        self._repairs.append((len(self._out), name))

    def _take(self, token: re.Match[str]) -> bool:
        """Take a token as what may come; False if it may not."""
        top = self._opened[-1]
        match token.lastgroup:
            case "mark":
                return self._mark(token, top)
            case "text" if top.state in {"key", "value"}:
                self._note(token)
                return self._put(top, self._string(token["text"]))
            case "number" if top.state == "value":
                return self._put(top, self._number(token))
            case "word" if top.state == "key" and top.mark == "{":
                self._repair("unquoted_key")
                return self._put(top, f'"{token["word"]}"')
            case "word" if top.state == "value":
                word = token["word"]
                if word in _WORDS:
                    self._repair("python_literal")
                return (word in _WORDS or word in _LITERALS) and self._put(
                    top, _WORDS.get(word, word)
                )
            case "comment":
                self._repair("comment")
                self._note(token)
                return token["comment"] != "/*" or token.end() <= self._comments_end
            case "quoted":
                self._repair("quoted_lines")
                return True
            case "blank":
                self._repair("special_blanks")
                return True
        return False

    def _note(self, token: re.Match[str]) -> None:
        """Remember a bracket in a string or comment, in case that it was something else."""
        if self._swallowed is None:
            inside = _START.search(self._text, token.start() + 1, token.end())
            self._swallowed = inside.start() if inside else None

    def _put(self, top: _Open, json_text: str) -> bool:
        if top.state == "key":
            top.keys.append(json.loads(json_text) if "\\" in json_text else json_text[1:-1])
            top.state = "colon"
        else:
            top.state = "next"
        top.after_comma = False
        self._out.append(json_text)
        return True

    def _mark(self, token: re.Match[str], top: _Open) -> bool:
        mark = token["mark"]
        if mark[0] == "\\":
            self._repair("latex_escapes")
            mark = mark[1]
        if mark in _CLOSES:
            if top.state != "value" or len(self._opened) == _MAX_DEPTH:
                return False
            self._open(mark, token.end() - 1)
            return True
        if mark == ",":
            if top.state != "next":
                return False
            top.commas += 1
            top.after_comma = True
            top.state = "key" if top.mark == "{" else "value"
            self._out.append(",")
            return True
        if mark in ":=":
            if top.state != "colon":
                return False
            if mark == "=":
                self._repair("equals_sign")
            top.state = "value"
            self._out.append(":")
            return True
        return self._close(mark, top, token.end())

    def _close(self, mark: str, top: _Open, end: int) -> bool:
        empty = len(self._out) == top.place + 1
        if _CLOSES[top.mark] != mark or not (top.state == "next" or top.after_comma or empty):
            return False
        if top.after_comma:
            self._out.pop()
            if mark != ")":
                self._repair("trailing_comma")
        if top.mark == "(":
            self._repairs.append((top.place, "python_literal"))
        if top.mark == "(" and not top.commas and not empty:
            self._out[top.place] = ""  # (x) is x; (x,) is a tuple
            self._out.append("")
        else:
            self._out.append("}" if mark == "}" else "]")
        self._opened.pop()
        outermost = not self._opened
        has_key = self._is_known(top.keys)
        if outermost or has_key:
            last = len(self._out) - 1
            span = Span(
                top.start, end, top.mark, tuple(top.keys), self._out, top.place, last, self._repairs
            )
            if has_key:
                self._result.objects.append(span)
            if outermost:
                self._result.outermost.append(span)
        if not outermost:
            parent = self._opened[-1]
            parent.state, parent.after_comma = "next", False
        return True

    def _is_known(self, keys: list[str]) -> bool:
        return any(folded(key) in self._names for key in keys)

    def _unquoted(self, at: int, top: _Open) -> int | None:
        """Take a word without quotes as the value of the key that may have one."""
        if top.state != "value" or top.keys[-1:] != [self._bare]:
            return None
        word = _BARE.match(self._text, at)
        if word is None or _ELIDED.match(self._text, at) or _PLAIN.fullmatch(word[1]):
            return None
        self._repair("unquoted_value")
        self._put(top, json.dumps(word[1].strip()))
        return word.end()

    def _string(self, literal: str) -> str:
        quote = literal[0]
        if literal.startswith('\\"'):
            self._repair("escaped_quotes")
            return as_json_string(literal[2:-2].replace("\\\\", "\\"))
        if quote == '"' and not literal.startswith('"""'):
            if _CONTROL.search(literal):
                self._repair("line_breaks")
                return as_json_string(literal[1:-1])
            if "\\" not in literal:
                return literal
            try:
                json.loads(literal)
            except ValueError:
                pass
            else:
                return literal
        quotes = 3 if literal.startswith(("'''", '"""')) else 1
        self._repair(
            "curly_quotes" if quote in "\u201c\u201d\u201e\u2018\u2019" else "python_literal"
        )
        return as_json_string(literal[quotes:-quotes])

    def _number(self, token: re.Match[str]) -> str:
        sign, integer, fraction, bare, exponent = token.group(
            "sign", "whole", "fraction", "bare", "exponent"
        )
        if sign == "+" or bare is not None or fraction == "":
            self._repair("python_literal")
        point = "" if fraction is None and bare is None else "." + (fraction or bare or "0")
        return f"{'-' if sign == '-' else ''}{integer or '0'}{point}{exponent or ''}"
