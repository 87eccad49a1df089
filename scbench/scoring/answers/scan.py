r"""Stage 2a: JSON values in running text, including values that are only nearly JSON.

In ``Thus {'path': [1, .5],} or [7]``, `scan` finds two spans: ``{"path": [1, 0.5]}`` with the
repairs ``python_literal`` and ``trailing_comma``, and ``[7]``.

One pass from left to right: at every bracket a value is read token by token. A token that is not
JSON is rewritten and noted as a repair (`scbench.scoring.answers.grammar`). A value ends where the
grammar does, and the search goes on behind it, so the time is linear in the length of the text. The
strict parser (`scbench.base.canonical.parse_json`) judges the rewritten text. Numbers never change.
"""

import re
from collections import deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from pydantic import JsonValue

from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError
from scbench.scoring.answers.grammar import (
    BRACKETS,
    CLOSING,
    CUT_KEY,
    ITEMS,
    LITERALS,
    PLACEHOLDER,
    RUN,
    SIGNS,
    START,
    TOKEN,
    json_number,
    json_string,
)

# Deepest nesting that is read, as in the strict parser.
_DEPTH = 200
# Spans kept of each kind: the last ones, since the last answer counts.
_SPANS = 50
# How often the search goes back into a text that may have begun at an apostrophe.
_RESTARTS = 100


@dataclass(slots=True)
class Span:
    """A value in a text, rewritten as JSON but not parsed yet.

    Attributes:
        opening: its opening bracket.
        start: position of that bracket.
        state: the token that may come next: a ``key``, a ``colon``, a ``value``, or ``next`` for a
            comma or the end; finally ``broken`` if the value is incomplete.
        keys: the keys of an object, folded.
        key_end: position behind the last key of interest; 0 without one.
        is_list: whether it contains a comma: ``(1)`` is no tuple, ``(1,)`` is.
        end: position behind the value; if it is broken, `key_end`.
        repairs: names of the repairs.
    """

    opening: str
    start: int
    # Tokens of the outermost value in JSON, and the positions of this value's first and last.
    _tokens: list[str]
    first: int
    state: str
    keys: list[str] = field(default_factory=list)
    key_end: int = 0
    is_list: bool = False
    end: int = 0
    last: int = 0
    repairs: tuple[str, ...] = ()

    def parse(self) -> JsonValue | None:
        """Return the value; None if it is broken or the strict parser refuses it."""
        return parsed(" ".join(self._tokens[self.first : self.last + 1]))

    def add_repairs(self, *names: str) -> None:
        """Note repairs, each of them once."""
        self.repairs = tuple(dict.fromkeys(self.repairs + names))


class Token(NamedTuple):
    """A token of nearly-JSON.

    Attributes:
        kind: a group of `TOKEN`; or ``items`` or ``run`` for several values of strict JSON.
        text: the token, without white space around it.
        end: position behind it.
    """

    kind: str
    text: str
    end: int


@lru_cache(maxsize=4096)
def folded(name: str) -> str:
    """Return a key as it is compared: without case, blanks, hyphens and underscores."""
    return re.sub(r"[\s_-]+", "", name).casefold()


def parsed(text: str) -> JsonValue | None:
    """Return the value of JSON text; None if it is not JSON."""
    try:
        return parse_json(text.encode())
    except (JsonError, UnicodeEncodeError):
        return None


def scan(
    text: str, names: Collection[str], spelt: Mapping[str, str] | None = None
) -> list[Span]:
    """Return values of a text, by their ends: the last outer ones, and objects at any depth.

    Args:
        text: any text.
        names: folded names of keys. Objects with one of them are returned at any depth, also if
            they are broken.
        spelt: correct spelling of keys, by folded name.
    """
    reader = _Reader(text, names, spelt or {})
    at = 0
    while start := START.search(text, at):
        at = reader.read(start.start())
    # An outer object of interest is in both lists.
    spans = {span.end: span for span in (*reader.objects, *reader.outer)}
    return [spans[end] for end in sorted(spans)]


class _Reader:
    """Reads the outer values of a text, one after the other."""

    def __init__(
        self, text: str, names: Collection[str], spelt: Mapping[str, str]
    ) -> None:
        self.objects: deque[Span] = deque(maxlen=_SPANS)
        self.outer: deque[Span] = deque(maxlen=_SPANS)
        self._text = text
        self._names = names
        self._spelt = spelt
        self._opened: list[Span] = []
        self._tokens: list[str] = []
        self._restarts = _RESTARTS
        # Items up to here have to be read token by token.
        self._no_items_before = 0

    def read(self, start: int) -> int:
        """Read the value that begins here; return where to go on."""
        self._opened.clear()
        self._tokens = []
        self._open(self._text[start], start)
        end = start + 1
        last_text = ""
        while self._opened:
            top = self._opened[-1]
            token = self._next_token(top, end)
            if token is None or not self._take(token, top):
                return self._fail(end, top, last_text)
            end = token.end
            last_text = token.text if token.kind in {"text", "comment"} else ""
        return end

    def _next_token(self, top: Span, at: int) -> Token | None:
        text = self._text
        sign = text[at : at + 1]
        kind = SIGNS.get(sign, "")
        expects_item = top.state == "value" and top.opening != "{"
        if expects_item and kind == "open":
            items = self._match_items(sign, at)
            if items:
                top.is_list |= bool(items[2])
                return Token("items", items[1], items.end())
        if kind:
            return Token(kind, sign, at + 1)
        if expects_item and top.opening == "[":
            run = RUN.match(text, at)
            if run:
                return Token("run", run[1], run.end())
        match = TOKEN.match(text, at)
        if match is None:
            return None
        kind = match.lastgroup or ""
        return Token(kind, match[kind], match.end())

    def _match_items(self, sign: str, at: int) -> re.Match[str] | None:
        """Return the items that begin here, if no key in them is of interest or misspelt."""
        is_deep = len(self._opened) >= _DEPTH - 1
        if sign == "(" or at < self._no_items_before or is_deep:
            return None
        items = ITEMS.match(self._text, at)
        if items is None or "{" not in items[1]:
            return items
        # Every second piece between quotes is a key or a string; a string does no harm.
        for key in set(items[1].split('"')[1::2]):
            name = folded(key)
            if name in self._names or self._spelt.get(name, key) != key:
                # Matching each of these items again would take quadratic time.
                self._no_items_before = items.end()
                return None
        return items

    def _take(self, token: Token, top: Span) -> bool:
        """Add a token to the value; False if it may not come here."""
        kind, text, end = token
        state = top.state
        if text[0] == "\\" and kind != "text":
            top.add_repairs("latex_escapes")
        match kind:
            case "comma" if state == "next":
                top.is_list = True
                top.state = "key" if top.opening == "{" else "value"
                self._tokens.append(",")
            case "open" if state == "value" and len(self._opened) < _DEPTH:
                self._open(text[-1], end - 1)
            case "close":
                return self._close(text[-1], top, end)
            case "colon" if state == "colon":
                if text == "=":
                    top.add_repairs("equals_sign")
                top.state = "value"
                self._tokens.append(":")
            case "run" | "items":
                self._put_value(top, text)
            case "text" if state in {"key", "value"}:
                json_text, repair = json_string(text)
                if repair:
                    top.add_repairs(repair)
                if state == "key":
                    self._put_key(top, json_text, end)
                else:
                    self._put_value(top, json_text)
            case "number" if state == "value":
                self._put_literal(top, text, json_number(text))
            case "word" if state == "key" and top.opening == "{":
                top.add_repairs("unquoted_key")
                self._put_key(top, f'"{text}"', end)
            case "word" if state == "value" and text.lower() in LITERALS:
                self._put_literal(top, text, LITERALS[text.lower()])
            case "comment":
                top.add_repairs("comment")
            case _:
                return False
        return True

    def _open(self, bracket: str, start: int) -> None:
        state = "key" if bracket == "{" else "value"
        span = Span(bracket, start, self._tokens, len(self._tokens), state)
        self._opened.append(span)
        # A tuple becomes an array.
        self._tokens.append("{" if bracket == "{" else "[")

    def _put_key(self, top: Span, json_text: str, end: int) -> None:
        top.state = "colon"
        key = str(parsed(json_text)) if "\\" in json_text else json_text[1:-1]
        name = folded(key)
        top.keys.append(name)
        if name in self._spelt:
            correct = f'"{self._spelt[name]}"'
            if json_text != correct:
                top.add_repairs("key_case")
                json_text = correct
        if name in self._names:
            top.key_end = end
        self._tokens.append(json_text)

    def _put_literal(self, top: Span, text: str, json_text: str) -> None:
        if json_text != text:
            top.add_repairs("python_literal")
        self._put_value(top, json_text)

    def _put_value(self, top: Span, json_text: str) -> None:
        self._tokens.append(json_text)
        top.state = "next"

    def _close(self, bracket: str, top: Span, end: int) -> bool:
        """Close the innermost value; False if the bracket does not fit."""
        is_empty = len(self._tokens) == top.first + 1
        is_trailing = self._tokens[-1] == ","
        if bracket != CLOSING[top.opening]:
            return False
        if top.state != "next" and not is_trailing and not is_empty:
            return False
        if bracket == ")":
            if not top.is_list and not is_empty:
                return False
            top.add_repairs("python_literal")
        elif is_trailing:
            top.add_repairs("trailing_comma")
        if is_trailing:
            self._tokens.pop()
        top.end = end
        top.last = len(self._tokens)
        top.state = "next"
        self._tokens.append("}" if bracket == "}" else "]")
        self._opened.pop()
        if self._opened:
            parent = self._opened[-1]
            parent.state = "next"
            parent.add_repairs(*top.repairs)
        else:
            self.outer.append(top)
        if top.key_end:
            self.objects.append(top)
        return True

    def _fail(self, at: int, top: Span, last_text: str) -> int:
        """Note the objects that are broken; return where to go on.

        Args:
            at: position of the token that does not fit.
            top: the innermost value.
            last_text: the token before, if it is a string or a comment.
        """
        text = self._text
        if top.state == "key":
            self._note_cut_key(top, at)
        is_code = top.state != "next" and PLACEHOLDER.match(text, at)
        if not is_code:
            for span in self._opened:
                if span.key_end:
                    span.state = "broken"
                    span.end = span.key_end
                    self.objects.append(span)
        if last_text and self._restarts:
            # The string may have begun at an apostrophe, so a value may begin in it.
            self._restarts -= 1
            inside = START.search(text, at - len(last_text) + 1, at)
            return inside.start() if inside else at
        if len(self._opened) == _DEPTH:
            # Of more brackets in a row, only the last ones can begin a value that is read.
            row = BRACKETS.match(text, at)
            if row:
                return max(at, row.end() - _DEPTH)
        return at

    def _note_cut_key(self, top: Span, at: int) -> None:
        """Note the keys of interest of which the end of the text leaves a beginning."""
        cut = CUT_KEY.match(self._text, at)
        if cut is None:
            return
        beginning = folded(cut[1])
        possible = [name for name in self._names if name.startswith(beginning)]
        if possible:
            top.keys += possible
            top.key_end = at
