r"""Finding JSON values in running text, also where they are only nearly JSON.

One pass from left to right: at every bracket a value is read token by token, and what models write
instead of a token of JSON is rewritten and noted as a repair. Where the grammar ends, so does the
value, and the search goes on behind it; so the time is linear in the length of the text. The strict
parser (`scbench.base.canonical.parse_json`) judges what was rewritten. Numbers are never changed.
"""

import ast
import json
import re
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from pydantic import JsonValue

from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError

_DEPTH, _SPANS, _RESTARTS = 200, 50, 100

# A bracket behind which a value can follow; no index, no call, and no empty list.
# Early releases of Python 3.11 match possessive groups wrongly, so only single characters are
# repeated possessively; no position has two ways to go on, so there is nothing to try twice.
_START = re.compile(
    r"""[\[({](?:(?<=\{)(?=\s*+(?:["'\\\#/\u2018-\u201e]|[^\W\d]\w*+\s*+[:=]))"""
    r"""|(?<=[\[(])(?<![A-Za-z0-9_\])].)(?=\s*+(?:["'\\\#/\u2018-\u201e\[({TFNtfn]|[-+]?\.?\d)))"""
)
_ROW = re.compile(r"[\[{(\s\#]++")
# A choice of something or nothing is quicker than what may stand once.
_NUMBER = r"-?\d++(?:\.\d++|)(?:[eE][-+]?\d++|)"
_VALUE = rf'(?:{_NUMBER}|"[^"\\\x00-\x1f]*+")'


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
    )
    """,
    re.VERBOSE | re.DOTALL,
)
_ESCAPE = re.compile(
    r"""\\(?:["\\/bfnrt]|u[\da-fA-F]{4})"""
    r"""|(\\(?:x[\da-fA-F]{2}|U00(?:0[\da-fA-F]|10)[\da-fA-F]{4}|[0-3]?[0-7]{1,2}|[av'\n]))|(["\\\x00-\x1f])"""
)
_SIMPLE = re.compile(r"""(["'])[^"'\\\x00-\x1f]*+\1""")
_REPAIRS = {
    '"': "line_breaks",
    "'": "python_literal",
    "\\": "escaped_quotes",
}  # else curly quotes
_LITERALS = {"true": "true", "false": "false", "null": "null", "none": "null"}
_CLOSES = {"(": ")", "[": "]", "{": "}"}
_SIGNS = dict(
    zip("([{)]},:", ["open"] * 3 + ["close"] * 3 + ["comma", "colon"], strict=True)
)
_NAME = re.compile(
    r"\s*+(?:\.{2,}|\u2026|[<$%*?,}]|-?(?!nan\b|inf)[^\W\d]\w*+(?!\Z))", re.IGNORECASE
)
_CUT_KEY = re.compile(r"\s*+[\"'\u201c](\w{0,60})\s*+\Z")
_POINT = re.compile(r"((?<!\d)\.)|\.(?!\d)")


def _row(item: str) -> str:
    """Return the pattern of one item or more."""
    return rf"{item}(?:[ \t\r\n]*+,[ \t\r\n]*+{item})*"


# Values in a row, taken at once with what token by token gives; so are items.
_RUN = re.compile(rf"[ \t\r\n]*+({_row(_VALUE)})(?=[ \t\r\n]*+[,\]])")
_LIST = rf"\[[ \t\r\n]*+(?:\]|{_row(_VALUE)}[ \t\r\n]*+\])"
_LISTS = rf"\[[ \t\r\n]*+(?:\]|(?:{_row(_VALUE)}|{_row(_LIST)})[ \t\r\n]*+\])"
_PAIR = rf'"[A-Za-z]\w*+"[ \t\r\n]*+:[ \t\r\n]*+(?:{_LIST}|{_VALUE})'
_ITEM = rf"(?:{_LISTS}|\{{[ \t\r\n]*+{_row(_PAIR)}[ \t\r\n]*+\}})"
# Lists of values, lists of such, or objects of values and lists, as most answers have.
_ITEMS = re.compile(
    rf"({_ITEM}((?:[ \t\r\n]*+,[ \t\r\n]*+{_ITEM})*))(?=[ \t\r\n]*+[,\])])"
)


@dataclass(slots=True)
class Span:
    """A value in a text, rewritten as JSON but not parsed yet.

    Its `state` says what may come next: a ``key``, a ``colon``, a ``value``, or ``next``, a comma
    or the end; at last, whether it is ``broken``. Of one that stands in no other, `first` is 0. Its
    `keys` are as `folded` gives them; `known` is behind the last one that was asked for, and so is
    the `end` of one that is broken.
    """

    opening: str
    start: int
    _out: list[str]
    first: int
    state: str
    keys: list[str] = field(default_factory=list)
    known: int = 0
    is_list: bool = False
    end: int = 0
    last: int = 0
    repairs: tuple[str, ...] = ()

    def parse(self) -> JsonValue | None:
        """Return the value; None if it is broken or the strict parser refuses it."""
        return parsed(" ".join(self._out[self.first : self.last + 1]))


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


def scan(
    text: str, names: Collection[str], spelt: Mapping[str, str] | None = None
) -> list[Span]:
    """Return values of a text, by their ends: the last outer ones, and objects at any depth.

    Objects are noted, also broken ones, if they have a key whose folded name is among `names`; the
    keys in `spelt` are written as they are spelt there.
    """
    reader = _Reader(text, names, spelt or {})
    at = 0
    while start := _START.search(text, at):
        at = reader.read(start.start())
    spans = {span.end: span for span in (*reader.known, *reader.outer)}
    return [spans[end] for end in sorted(spans)]


class _Reader:
    """Reads one value that stands in no other, and the next."""

    def __init__(
        self, text: str, names: Collection[str], spelt: Mapping[str, str]
    ) -> None:
        self.known: deque[Span] = deque(maxlen=_SPANS)
        self.outer: deque[Span] = deque(maxlen=_SPANS)
        self._text, self._names, self._spelt = text, names, spelt
        self._opened: list[Span] = []
        self._out: list[str] = []
        self._restarts = _RESTARTS
        self._noted = 0

    def read(self, start: int) -> int:
        """Read the value; return where to go on."""
        text, opened = self._text, self._opened
        opened.clear()
        self._out = []
        self._open(text[start], start)
        end, last = start + 1, ""
        while opened:
            top, at = opened[-1], end
            part = text[at : at + 1]  # most tokens are one of these
            kind = _SIGNS.get(part, "")
            in_list = top.state == "value" and top.opening != "{"
            if in_list and kind == "open" and (run := self._items(part, at)):
                kind, part, end = "items", run[1], run.end()
                top.is_list |= bool(run[2])
            elif kind:
                end = at + 1
            elif in_list and top.opening == "[" and (run := _RUN.match(text, at)):
                kind, part, end = "run", run[1], run.end()
            elif token := _TOKEN.match(text, at):
                kind = token.lastgroup or ""
                part, end = token[kind], token.end()
            if not kind or not self._take(kind, part, top, end):
                return self._fail(at, top, last)
            last = part if kind in {"text", "comment"} else ""
        return end

    def _items(self, mark: str, at: int) -> re.Match[str] | None:
        """Return the items that begin here, if none is to be noted or spelt otherwise."""
        if mark == "(" or at < self._noted or len(self._opened) >= _DEPTH - 1:
            return None
        run = _ITEMS.match(self._text, at)
        if run and "{" in run[1]:
            keys = {key: folded(key) for key in {*run[1].split('"')[1::2]}}  # and texts
            respelt = any(
                self._spelt.get(name, key) != key for key, name in keys.items()
            )
            if respelt or any(name in self._names for name in keys.values()):
                self._noted = run.end()  # none of them is tried again
                return None
        return run

    def _fail(self, at: int, top: Span, last: str) -> int:
        """Note the objects that are broken; return where to go on."""
        text = self._text
        cut = _CUT_KEY.match(text, at) if top.state == "key" else None
        if cut and (
            begun := [name for name in self._names if name.startswith(folded(cut[1]))]
        ):
            top.keys += begun
            top.known = at
        # The form that a prompt shows, {"answer": ...}, and code that makes an answer,
        # {"answer": result} or {answer}, are no attempt at one.
        is_code = top.state != "next" and _NAME.match(text, at)
        for span in self._opened:
            if span.known and not is_code:
                span.state, span.end = "broken", span.known
                self.known.append(span)
        if last and self._restarts:  # this text may have begun at an apostrophe
            self._restarts -= 1
            inside = _START.search(text, at - len(last) + 1, at)
            return inside.start() if inside else at
        # In a long row of brackets, none but the last ones can be read.
        row = _ROW.match(text, at) if len(self._opened) == _DEPTH else None
        return max(at, row.end() - _DEPTH if row else 0)

    def _open(self, mark: str, start: int) -> None:
        state = "key" if mark == "{" else "value"
        self._opened.append(Span(mark, start, self._out, len(self._out), state))
        self._out.append("{" if mark == "{" else "[")

    def _repair(self, *names: str) -> None:
        top = self._opened[-1]
        top.repairs = tuple(dict.fromkeys(top.repairs + names))

    def _take(self, kind: str, part: str, top: Span, end: int) -> bool:
        """Take a token as what may come; False if it may not."""
        state = top.state
        if part[0] == "\\" and kind != "text":
            self._repair("latex_escapes")
        match kind:
            case "comma" if state == "next":
                top.is_list, top.state = True, "key" if top.opening == "{" else "value"
                self._out.append(",")
            case "open" if state == "value" and len(self._opened) < _DEPTH:
                self._open(part[-1], end - 1)
            case "close":
                return self._close(part[-1], top, end)
            case "colon" if state == "colon":
                if part == "=":
                    self._repair("equals_sign")
                top.state = "value"
                self._out.append(":")
            case "run" | "items":
                self._put(top, part, "", end)
            case "text" if state in {"key", "value"}:
                self._put(top, *_string(part), end)
            case "number" if state == "value":
                number = _POINT.sub(
                    lambda point: "0." if point[1] else ".0", part.lstrip("+")
                )
                self._put(top, number, "python_literal" * (number != part), end)
            case "word" if state == "key" and top.opening == "{":
                self._put(top, f'"{part}"', "unquoted_key", end)
            case "word" if state == "value" and (
                literal := _LITERALS.get(part.lower())
            ):
                self._put(top, literal, "python_literal" * (literal != part), end)
            case "comment":
                self._repair(kind)
            case _:
                return False
        return True

    def _put(self, top: Span, json_text: str, repair: str, end: int) -> None:
        if repair:
            self._repair(repair)
        self._out.append(json_text)
        if top.state != "key":
            top.state = "next"
            return
        top.state = "colon"
        key = folded(str(parsed(json_text)) if "\\" in json_text else json_text[1:-1])
        top.keys.append(key)
        if key in self._spelt and json_text != (spelt := f'"{self._spelt[key]}"'):
            self._repair("key_case")
            self._out[-1] = spelt
        if key in self._names:
            top.known = end

    def _close(self, mark: str, top: Span, end: int) -> bool:
        empty, trailing = len(self._out) == top.first + 1, self._out[-1] == ","
        if _CLOSES[top.opening] != mark or not (
            top.state == "next" or trailing or empty
        ):
            return False
        if mark == ")" and not (top.is_list or empty):
            return False  # (1) is no tuple
        if mark == ")" or trailing:
            self._repair("python_literal" if mark == ")" else "trailing_comma")
            del self._out[len(self._out) - trailing :]
        top.end, top.last, top.state = end, len(self._out), "next"
        self._out.append("}" if mark == "}" else "]")
        self._opened.pop()
        if self._opened:
            self._opened[-1].state = "next"
            if top.repairs:
                self._repair(*top.repairs)
        else:
            self.outer.append(top)
        if top.known:
            self.known.append(top)
        return True


def _string(literal: str) -> tuple[str, str]:
    """Return a string in quotes, whosever they are, as JSON, and the repair."""
    is_simple = _SIMPLE.fullmatch(literal)
    if is_simple and literal[0] == '"':
        return literal, ""
    quotes = 3 if literal.startswith(("'''", '"""')) else 2 if literal[0] == "\\" else 1
    text = literal[quotes:-quotes]
    if not is_simple:
        text = _ESCAPE.sub(_escape, text.replace("\\\\", "\\") if quotes == 2 else text)
    is_json = f'"{text}"' == literal
    return f'"{text}"', "" if is_json else _REPAIRS.get(literal[0], "curly_quotes")


def _escape(part: re.Match[str]) -> str:
    escape, other = part.groups()
    plain = ast.literal_eval(f'"{escape}"') if escape else other
    return part.group() if plain is None else json.dumps(plain)[1:-1]
