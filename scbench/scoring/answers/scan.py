r"""Finding JSON values in running text, also where they are only nearly JSON.

One pass from left to right. At every bracket a value is read token by token, as the grammar of JSON
has it; what models write instead of a token is rewritten and noted as a repair. Where the grammar
ends, so does the value, and the search goes on behind it; so every step is linear in the length of
the text. The strict parser (`scbench.base.canonical.parse_json`) judges what was rewritten.

Repairs: ``python_literal`` (tuples, single and triple quotes, ``True``, ``None``, ``+1``, ``.5``),
``trailing_comma``, ``comment``, ``unquoted_key``, ``equals_sign``, ``curly_quotes``,
``escaped_quotes``, ``latex_escapes`` (``\{``), ``line_breaks`` (inside a string), ``quoted_lines``
(``>`` before each), ``special_blanks``, ``unquoted_value``. Numbers are never changed.
"""

import ast
import json
import re
from collections import deque
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import lru_cache

from pydantic import JsonValue

from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError

_MAX_DEPTH = 200
_MAX_SPANS = 50
_RESTARTS = 100

# Early releases of Python 3.11 match possessive groups wrongly, so only single characters are
# repeated possessively; no position has two ways to go on, so there is nothing to try twice.
_START = re.compile(
    r"""[\[{](?=[\s>]*+["'\\\#/\u2018-\u201e])(?!["'][^\\]?["'][\[{(])"""
    r"""|\[(?=\](?!\s*+\[)|[\s>]*+(?:[\[(){TFNtfn]|[-+]?(?:\d++\.?|\.)[\deE+-]*+[\s>]*+[,\]\#/]))"""
    r"""|\{(?=[\s>]*+[^\W\d]\w*+\s*+[:=])"""
    r"""|\((?=\)(?!\s*+\()|[\s>]*+(?:[\[({"'\#/\u2018-\u201e]|[-+]?(?:\d++\.?|\.)[\deE+-]*+[\s>]*+[,)\#/]|True|False|None))"""
)
"""A bracket behind which a value can follow: prose, formulas and code are full of others."""
_ROW = re.compile(r"[\[{(\s\#]++")
_NUMBER = r"-?\d++(?:\.\d++)?(?:[eE][-+]?\d++)?"
_RUN = re.compile(
    rf"[ \t\r\n]*+({_NUMBER}(?:[ \t\r\n]*+,[ \t\r\n]*+{_NUMBER})*)(?=[ \t\r\n]*+[,\])])"
)
"""Plain numbers with commas between them, in one step."""
_TOKEN = re.compile(
    r"""
    [ \t\r\n]*+
    (?: (?P<open> \\?[\[{] | \( ) | (?P<close> \\?[\]}] | \) )
      | (?P<comma> , ) | (?P<colon> [:=] )
      | (?P<text> '''[^'\\]*+(?:(?:\\.|'(?!''))[^'\\]*+)*'''
                | \"{3}[^"\\]*+(?:(?:\\.|"(?!""))[^"\\]*+)*\"{3}
                | '[^'\\\n]*+(?:\\.[^'\\\n]*+)*'
                | "[^"\\]*+(?:\\.[^"\\]*+)*"
                | [\u201c-\u201e][^\u201c-\u201e\\\n]*+(?:\\.[^\u201c-\u201e\\\n]*+)*[\u201c\u201d]
                | [\u2018\u2019][^\u2018\u2019\\\n]*+(?:\\.[^\u2018\u2019\\\n]*+)*[\u2018\u2019]
                | \\"[^"\\]*+(?:\\[^"][^"\\]*+)*\\" )
      | (?P<number> [-+]? (?: \d++(?:\.\d*+)? | \.\d++ ) (?:[eE][-+]?\d++)? (?![\w.]) )
      | (?P<word> [^\W\d]\w*+ )
      | (?P<comment> \#[^\n]*+ | //[^\n]*+ | /\*[^*]{0,999}\*/ )
      | (?P<quoted_lines> (?: (?<=\n) | (?<=\n[ ]) | (?<=\n[ ]{2}) ) > [>\s]*+ )
      | (?P<special_blanks>
            [\u00a0\u1680\u2000-\u200d\u2028\u2029\u202f\u205f\u2060\u3000\ufeff]++ )
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_IN_STRING = re.compile(
    r"""\\(?:["\\/bfnrt]|u[\da-fA-F]{4})"""
    r"""|(\\(?:x[\da-fA-F]{2}|U00(?:0[\da-fA-F]|10)[\da-fA-F]{4}|[0-3]?[0-7]{1,2}|[av'\n]))|(["\\\x00-\x1f])"""
)
_SIMPLE = re.compile(r"""(["'])[^"'\\\x00-\x1f]*+\1""")
_BARE = re.compile(r"""[ \t]*+([^{}\[\]"'\\,:\s][^{}\[\]"'\\\n:]{0,199})(?=\\?\})""")
_PLAIN = re.compile(
    rf"\s*+(?:{_NUMBER}|true|false|null|none|[-+]?nan|[-+]?inf(?:inity)?)\s*+", re.IGNORECASE
)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_LITERALS = {"true": "true", "false": "false", "null": "null", **_WORDS}
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_NEVER_NEXT = frozenset("\"'[({")
"""What no comma, end or blank begins with: a value breaks off here."""
_OPENING, _CLOSING = frozenset(_CLOSES), frozenset(_CLOSES.values())
_ELLIPSIS = re.compile(r"\s*+(?:\.{2,}|\u2026|<\w)")
_FORM = re.compile(
    r"\s*+(?:\.{2,}|\u2026|<\w|[$%*?]|-?(?!nan\b|inf)[^\W\d])[^}]{0,500}\}", re.IGNORECASE
)
"""What stands for a value in the form of an answer, and in code that makes one: a name."""
_POINT = re.compile(r"((?<!\d)\.)|\.(?!\d)")
_NO_KEYS: frozenset[str] = frozenset()
_NO_VALUE = re.compile(r"\s*+[,}]")


@dataclass(slots=True)
class Span:
    """A value in a text, rewritten as JSON but not parsed yet.

    Attributes:
        start: where its first bracket stands.
        end: behind its last bracket.
        opening: its first bracket.
        keys: its keys as `folded` gives them, if it is an object.
    """

    start: int
    end: int
    opening: str
    keys: frozenset[str]
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
        return parsed(" ".join(self._out[self._first : self._last + 1]))


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
    """A bracket that is not closed yet; its state says what may come.

    That is a ``key``, a ``colon``, a ``value``, or ``next``: a comma or the end.
    """

    mark: str
    start: int
    place: int
    state: str
    keys: list[str] | None = None
    key: str | None = None
    """The last one."""
    known: tuple[int, str] | None = None
    """Place and name of the last key that was asked for."""
    is_tuple: bool = False


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Return a key as it is compared: without case, blanks, hyphens and underscores."""
    return re.sub(r"[\s_-]+", "", name).casefold()


def parsed(text: str) -> JsonValue | None:
    """Return the value of JSON text; None if it is none."""
    try:
        return parse_json(text.encode())
    except (JsonError, UnicodeEncodeError):
        return None


def scan(text: str, names: Collection[str], bare: str = "") -> Scan:
    """Return the values of a text.

    Args:
        text: what a model said.
        names: keys, as `folded` gives them; objects with one of them are noted at any depth.
        bare: key whose value may be a word without quotes, up to the closing brace.
    """
    reader = _Reader(text, names, bare)
    at, restarts = 0, 0
    while start := _START.search(text, at):
        at = reader.read(start.start())
        if reader.opened and reader.swallowed is not None and restarts < _RESTARTS:
            restarts += 1
            at = reader.swallowed
    return reader.result


class _Reader:
    """Reads one value that stands in no other, and the next."""

    def __init__(self, text: str, names: Collection[str], bare: str) -> None:
        self.result = Scan()
        self.opened: list[_Open] = []
        self.swallowed: int | None = None
        """The first bracket inside a string or comment, in case that it was something else."""
        self._text = text
        self._names = names
        self._bare = bare
        self._out: list[str] = []
        self._repairs: list[tuple[int, str]] = []

    def read(self, start: int) -> int:
        """Read the value; return where to go on. Brackets are left open where it breaks off."""
        text, opened = self._text, self.opened
        opened.clear()
        self._out, self._repairs, self.swallowed = [], [], None
        self._open(text[start], start)
        at = start + 1
        while opened:
            top = opened[-1]
            state = top.state
            sign = text[at : at + 1]  # most tokens are one of these
            if state == "next" and sign == ",":
                self._comma(top)
                at += 1
            elif state == "next" and sign in _CLOSING and self._close(sign, top, at + 1):
                at += 1
            elif state == "value" and sign in _OPENING and len(opened) < _MAX_DEPTH:
                self._open(sign, at)
                at += 1
            elif state == "value" and top.mark != "{" and (run := _RUN.match(text, at)):
                self._put(top, run[1])
                top.is_tuple |= "," in run[1]
                at = run.end()
            elif state == "value" and top.key == self._bare and (word := self._unquoted(at, top)):
                at = word
            else:
                ended = state == "next" and sign in _NEVER_NEXT
                token = None if ended else _TOKEN.match(text, at)
                if token is None or not self._take(token, top):
                    return self._fail(at, top, start)
                at = token.end()
        return at

    def _fail(self, at: int, top: _Open, start: int) -> int:
        opened = self.opened
        known = [(bracket.start, *bracket.known) for bracket in opened if bracket.known is not None]
        # The form that a prompt shows, {"answer": ...}, and code that makes an answer,
        # {"answer": result} or {answer}, are no attempt at one.
        if known and not (
            (_FORM if top.state == "value" else _ELLIPSIS).match(self._text, at)
            or (top.state == "colon" and _NO_VALUE.match(self._text, at))
        ):
            self.result.broken += known
        # In a long row of brackets, none but the last two hundred can be read.
        row = _ROW.match(self._text, at) if len(opened) == _MAX_DEPTH else None
        return max(at, start + 1, row.end() - _MAX_DEPTH if row else 0)

    def _open(self, mark: str, start: int) -> None:
        state = "key" if mark == "{" else "value"
        self.opened.append(_Open(mark, start, len(self._out), state))
        self._out.append("{" if mark == "{" else "[")

    def _comma(self, top: _Open) -> None:
        top.is_tuple, top.state = True, "key" if top.mark == "{" else "value"
        self._out.append(",")

    def _repair(self, name: str) -> None:
        self._repairs.append((len(self._out), name))

    def _take(self, token: re.Match[str], top: _Open) -> bool:
        """Take a token as what may come; False if it may not."""
        kind = token.lastgroup or ""
        part, state = token[kind], top.state
        if kind in {"open", "close"} and part[0] == "\\":
            self._repair("latex_escapes")
        match kind:
            case "comma" if state == "next":
                self._comma(top)
            case "open" if state == "value" and len(self.opened) < _MAX_DEPTH:
                self._open(part[-1], token.end() - 1)
            case "close":
                return self._close(part[-1], top, token.end())
            case "colon" if state == "colon":
                if part == "=":
                    self._repair("equals_sign")
                top.state = "value"
                self._out.append(":")
            case "text" if state in {"key", "value"}:
                self._note(token)
                self._put(top, self._string(part), token.start())
            case "number" if state == "value":
                number = part.lstrip("+")
                if "." in part:
                    number = _POINT.sub(lambda point: "0." if point[1] else ".0", number)
                if number != part:
                    self._repair("python_literal")
                self._put(top, number)
            case "word" if state == "key" and top.mark == "{":
                self._repair("unquoted_key")
                self._put(top, f'"{part}"', token.start())
            case "word" if state == "value" and part in _LITERALS:
                if part in _WORDS:
                    self._repair("python_literal")
                self._put(top, _LITERALS[part])
            case "comment" | "quoted_lines" | "special_blanks":
                self._repair(kind)
                self._note(token)
            case _:
                return False
        return True

    def _note(self, token: re.Match[str]) -> None:
        if self.swallowed is None and token.end() - token.start() > 2:
            inside = _START.search(self._text, token.start() + 1, token.end())
            self.swallowed = inside.start() if inside else None

    def _put(self, top: _Open, json_text: str, start: int = 0) -> None:
        self._out.append(json_text)
        if top.state != "key":
            top.state = "next"
            return
        top.state = "colon"
        key = folded(str(parsed(json_text)) if "\\" in json_text else json_text[1:-1])
        top.key = key
        if top.keys is None:
            top.keys = []
        top.keys.append(key)
        if key in self._names:
            top.known = start, key

    def _close(self, mark: str, top: _Open, end: int) -> bool:
        empty, trailing = len(self._out) == top.place + 1, self._out[-1] == ","
        if _CLOSES[top.mark] != mark or not (top.state == "next" or trailing or empty):
            return False
        if trailing:
            self._out.pop()
            if mark != ")":
                self._repair("trailing_comma")
        if mark == ")":
            self._repairs.append((top.place, "python_literal"))
        if mark == ")" and not top.is_tuple and not empty:
            self._out[top.place] = ""  # (x) is x; (x,) is a tuple
            self._out.append("")
        else:
            self._out.append("}" if mark == "}" else "]")
        self.opened.pop()
        if top.known or not self.opened:
            last = len(self._out) - 1
            keys = frozenset(top.keys) if top.keys else _NO_KEYS
            span = Span(top.start, end, top.mark, keys, self._out, top.place, last, self._repairs)
            if top.known:
                self.result.objects.append(span)
            if not self.opened:
                self.result.outermost.append(span)
        if self.opened:
            self.opened[-1].state = "next"
        return True

    def _unquoted(self, at: int, top: _Open) -> int | None:
        """Take a word without quotes as the value of the key that may have one."""
        word = _BARE.match(self._text, at)
        if word is None or _ELLIPSIS.match(self._text, at) or _PLAIN.fullmatch(word[1]):
            return None
        self._repair("unquoted_value")
        self._put(top, json.dumps(word[1].strip()))
        return word.end()

    def _string(self, literal: str) -> str:
        """Return a string in quotes, whosever they are, as JSON."""
        if _SIMPLE.fullmatch(literal):
            if literal[0] == "'":
                self._repair("python_literal")
            return f'"{literal[1:-1]}"'
        quotes = 3 if literal.startswith(("'''", '"""')) else 2 if literal[0] == "\\" else 1
        body = literal[quotes:-quotes]
        if quotes == 2:
            self._repair("escaped_quotes")
            body = body.replace("\\\\", "\\")
        text = f'"{_IN_STRING.sub(_escaped_as_json, body)}"'
        if quotes == 2 or text == literal:
            return text
        if literal[0] == '"' and quotes == 1 and "\n" in body:
            self._repair("line_breaks")
        else:
            self._repair("curly_quotes" if literal[0] > "\x7f" else "python_literal")
        return text


def _escaped_as_json(part: re.Match[str]) -> str:
    escape, other = part.groups()
    plain = ast.literal_eval(f'"{escape}"') if escape else other
    return part.group() if plain is None else json.dumps(plain)[1:-1]
