r"""Stage 2a of answer extraction: JSON values in running text, even if only nearly JSON.

In ``Thus {'path': [1, .5],} or [7]``, `scan` finds two spans: ``{"path": [1, 0.5]}`` with the
repairs ``python_literal`` and ``trailing_comma``, and ``[7]``.

One pass from left to right: at every bracket a value is read token by token. A token that is not
JSON is rewritten and noted as a repair (`scbench.scoring.answers.grammar`). A value ends at its
closing bracket or at the first token that does not fit, and the search continues there. If the
token before it is a string, the search continues inside the string: in ``push "{"`` and then
``{"path": [2]}``, the quote after the first brace does not open a string. No limit favours an
earlier value over a later one: at each limit, the oldest brackets are discarded.

The strict parser (`scbench.base.canonical.parse_json`) validates the rewritten text. The spelling
of a number may change, its value never does. The time is linear in the length of the text.
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
    COMMENT_SIGN,
    CUT,
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
# Maximum number of outer values, and of objects of interest. The last ones are stored,
# because the last answer counts.
_SPANS = 50
# Maximum number of tokens that are read, so that the time is bounded. After that, all values so far
# are discarded and only the last brackets of the text are read, with the same limit. Normal replies
# never reach this.
_MAX_TOKENS = 500_000
_LAST_BRACKETS = 20_000
# Cost, in tokens, of a bracket that starts no value.
_TOKENS_OF_FAILURE = 10


@dataclass(slots=True)
class Span:
    """A value in a text, rewritten as JSON but not parsed yet.

    Attributes:
        opening: its opening bracket.
        start: position of that bracket.
        state: the token that may come next: a ``key``, a ``colon``, a ``value``, or ``next`` for a
            comma or the end; finally ``cut`` if the text ends inside the value, and ``broken`` if
            the value is incomplete in another way.
        first: index of its first token in `_tokens`.
        keys: the keys of an object, folded (see `fold_key`).
        first_keys: the first key; several candidates if the text ends inside it.
        key_end: position after the last key of interest; 0 if it has no such key.
        is_list: whether it contains a comma, which objects may contain, too: ``(1)`` is not a
            tuple, ``(1,)`` is one.
        end: position after the value; if it is cut or broken, `key_end`.
        last: index of its last token in `_tokens`.
        repairs: names of the repairs.
    """

    opening: str
    start: int
    # The tokens of the outermost value as JSON, shared by all spans in it. One token may contain
    # several values (see `Token`).
    _tokens: list[str]
    first: int
    state: str
    keys: list[str] = field(default_factory=list)
    first_keys: list[str] = field(default_factory=list)
    key_end: int = 0
    is_list: bool = False
    end: int = 0
    last: int = 0
    repairs: tuple[str, ...] = ()

    def parse(self) -> JsonValue | None:
        """Return the value; None if it is broken or the strict parser refuses it."""
        return parse_or_none(" ".join(self._tokens[self.first : self.last + 1]))

    def add_repairs(self, *names: str) -> None:
        """Record repairs, each of them once."""
        self.repairs = tuple(dict.fromkeys(self.repairs + names))


class Token(NamedTuple):
    """A token of nearly-JSON.

    Attributes:
        kind: a group of `TOKEN`, a value of `SIGNS`, or ``items`` or ``run`` for several values of
            strict JSON.
        text: the token, without whitespace around it.
        end: position after it.
    """

    kind: str
    text: str
    end: int


@lru_cache(maxsize=4096)
def fold_key(name: str) -> str:
    """Normalize a key for comparison.

    Case, whitespace, hyphens and underscores are ignored, and British spelling (neighbours) equals
    American spelling (neighbors).
    """
    return re.sub(r"[\s_-]+", "", name).casefold().replace("our", "or")


def parse_or_none(text: str) -> JsonValue | None:
    """Return the value of JSON text; None if it is not JSON, and for ``null``."""
    try:
        # Lone surrogates cannot be encoded.
        return parse_json(text.encode())
    except (JsonError, UnicodeEncodeError):
        return None


def scan(
    text: str, names: Collection[str], spelt: Mapping[str, str] | None = None
) -> list[Span]:
    """Return the last outer values and the last objects with a key of interest, sorted by end.

    Args:
        text: any text.
        names: the keys of interest, folded. Objects with one of them are returned from any depth,
            even if they are broken.
        spelt: correct spelling of keys, by folded name.
    """
    reader = _Reader(text, names, spelt or {})
    at = 0
    has_skipped = False
    while bracket := START.search(text, at):
        at = reader.read(bracket.start())
        if reader.has_tokens_left():
            continue
        reader.start_anew()
        if has_skipped:
            break
        has_skipped = True
        at = start_of_last_brackets(text, at)
    # An outer object of interest is in both lists, with the same end.
    spans = {span.end: span for span in (*reader.objects, *reader.outer)}
    return [spans[end] for end in sorted(spans)]


def start_of_last_brackets(text: str, at: int) -> int:
    """Return the position of the first of a text's last brackets, none of them before ``at``."""
    starts = deque(
        (bracket.start() for bracket in START.finditer(text, at)), _LAST_BRACKETS
    )
    return starts[0] if starts else len(text)


class _Reader:
    """Reads the outer values of a text, one after the other.

    Attributes:
        objects: the last objects with a key of interest.
        outer: the last values that are not inside another value.
    """

    def __init__(
        self, text: str, names: Collection[str], spelt: Mapping[str, str]
    ) -> None:
        self.objects: deque[Span] = deque(maxlen=_SPANS)
        self.outer: deque[Span] = deque(maxlen=_SPANS)
        self._text = text
        # Position of the last line break; -1 if there is none.
        self._last_break = text.rfind("\n")
        self._names = names
        self._spelt = spelt
        self._opened: list[Span] = []
        self._tokens: list[str] = []
        self._tokens_left = _MAX_TOKENS
        # Before this position, comment markers are text, because the search is inside a comment.
        self._no_comments_before = 0
        # Items that start before this position must be read token by token, because one
        # of their keys is of interest or misspelt.
        self._no_items_before = 0

    def has_tokens_left(self) -> bool:
        """Whether the limit on tokens has not been reached yet."""
        return self._tokens_left > 0

    def start_anew(self) -> None:
        """Discard all values so far, and restart the count of tokens."""
        self.objects.clear()
        self.outer.clear()
        self._tokens_left = _MAX_TOKENS

    def read(self, start: int) -> int:
        """Read the value that begins here; return where the search continues.

        At the limit on tokens, the value is left unfinished.
        """
        self._opened.clear()
        self._tokens = []
        self._open(self._text[start], start)
        end = start + 1
        token_before: Token | None = None
        while self._opened and self._tokens_left > 0:
            self._tokens_left -= 1
            top = self._opened[-1]
            token = self._next_token(top, end)
            if token is None or not self._take(token, top):
                self._tokens_left -= _TOKENS_OF_FAILURE
                self._note_broken(end, top, token)
                return self._place_after_failure(end, token_before)
            end = token.end
            token_before = token
        return end

    def _next_token(self, top: Span, at: int) -> Token | None:
        text = self._text
        # A shortcut for signs without whitespace before them; `TOKEN` matches the others.
        sign = text[at : at + 1]
        kind = SIGNS.get(sign, "")
        expects_item = top.state == "value" and top.opening != "{"
        if expects_item and kind == "open":
            items = self._match_items(sign, at)
            if items:
                # Group 2 has all items but the first, so there is a comma.
                if items[2]:
                    top.is_list = True
                return Token("items", items[1], items.end())
        if kind:
            return Token(kind, sign, at + 1)
        # Not in a tuple: `RUN` ends before a comma or "]", and does not show whether it has a
        # comma.
        if expects_item and top.opening == "[":
            run = RUN.match(text, at)
            if run:
                return Token("run", run[1], run.end())
        if at < self._no_comments_before and COMMENT_SIGN.match(text, at):
            return None
        match = TOKEN.match(text, at)
        if match is None:
            return None
        # Every match has a group; the empty text is for the type checker.
        kind = match.lastgroup or ""
        return Token(kind, match[kind], match.end())

    def _match_items(self, sign: str, at: int) -> re.Match[str] | None:
        """Return the items that begin here, if no key in them is of interest or misspelt."""
        # Items may be two levels deep themselves.
        is_deep = len(self._opened) >= _DEPTH - 1
        if sign == "(" or at < self._no_items_before or is_deep:
            return None
        items = ITEMS.match(self._text, at)
        if items is None or "{" not in items[1]:
            return items
        # Strings in `ITEMS` have no escapes, so every second piece between quotes is a key or a
        # string. A string that equals a key of interest only costs time.
        for key in set(items[1].split('"')[1::2]):
            name = fold_key(key)
            is_misspelt = name in self._spelt and self._spelt[name] != key
            if name in self._names or is_misspelt:
                # Matching each of these items again would take quadratic time.
                self._no_items_before = items.end()
                return None
        return items

    def _take(self, token: Token, top: Span) -> bool:
        """Add a token to the value; False if the token is not allowed here."""
        kind, text, end = token
        state = top.state
        # Recorded before checking that the token fits; if it does not, the value is
        # broken anyway.
        if text[0] == "\\" and kind != "text":
            top.add_repairs("latex_escapes")
        match kind:
            case "comma" if state == "next":
                top.is_list = True
                top.state = "key" if top.opening == "{" else "value"
                self._tokens.append(",")
            case "open" if state == "value" and len(self._opened) < _DEPTH:
                # The bracket is the last character: there may be a LaTeX backslash before it.
                self._open(text[-1], end - 1)
            case "close":
                return self._close(text[-1], top, end)
            case "colon" if state == "colon":
                if text == "=":
                    top.add_repairs("equals_sign")
                top.state = "value"
                self._tokens.append(":")
            case "run" | "items":
                # `_next_token` returns these only where a value may come.
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
        span = Span(
            opening=bracket,
            start=start,
            _tokens=self._tokens,
            first=len(self._tokens),
            state=state,
        )
        self._opened.append(span)
        # A tuple becomes an array.
        self._tokens.append("{" if bracket == "{" else "[")

    def _put_key(self, top: Span, json_text: str, end: int) -> None:
        top.state = "colon"
        key = str(parse_or_none(json_text)) if "\\" in json_text else json_text[1:-1]
        name = fold_key(key)
        if not top.keys:
            top.first_keys = [name]
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
        # Also for numbers that are spelt as in Python, such as ``.5``.
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
        may_close = top.state == "next" or is_trailing or is_empty
        if not may_close:
            return False
        if bracket == ")":
            if not top.is_list and not is_empty:
                return False
            # A tuple is a separate repair, and its trailing comma is valid.
            top.add_repairs("python_literal")
        elif is_trailing:
            top.add_repairs("trailing_comma")
        if is_trailing:
            self._tokens.pop()
        self._tokens.append("}" if bracket == "}" else "]")
        top.end = end
        top.last = len(self._tokens) - 1
        # Complete; after a trailing comma it was waiting for a key or a value.
        top.state = "next"
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

    def _note_broken(self, at: int, top: Span, token: Token | None) -> None:
        """Record the incomplete objects of interest.

        Args:
            at: position of the token that does not fit.
            top: the innermost value.
            token: that token; None if there is none.
        """
        if top.state == "key":
            self._note_cut_key(top, at)
        # The form of an answer, as in ``{"path": ...}``, is not a broken answer.
        if top.state != "next" and PLACEHOLDER.match(self._text, at):
            return
        is_cut = token is None and self._is_cut(at)
        for span in self._opened:
            if span.key_end:
                span.state = "cut" if is_cut else "broken"
                span.end = span.key_end
                self.objects.append(span)

    def _is_cut(self, at: int) -> bool:
        """Whether the end of the text cuts off the token that begins at a position."""
        beginning = CUT.match(self._text, at)
        if beginning is None:
            return False
        # The text after a quote is not read, because a text may have a quote after every bracket.
        return beginning[1] is None or beginning.start(1) > self._last_break

    def _place_after_failure(self, at: int, token_before: Token | None) -> int:
        """Return where the search continues.

        Args:
            at: position of the token that does not fit.
            token_before: the token before it; None if that is the opening bracket.
        """
        text = self._text
        kind = token_before.kind if token_before else ""
        if token_before and kind in {"text", "comment"}:
            # The string may have begun at an apostrophe, as in ['tis [1], isn't it, so a value
            # may begin in it. It ends here; 1 skips its opening quote.
            if kind == "comment":
                # Reading comments inside a comment again would take quadratic time.
                self._no_comments_before = at
            after_quote = at - len(token_before.text) + 1
            inside = START.search(text, after_quote, at)
            return inside.start() if inside else at
        if len(self._opened) == _DEPTH:
            # In a longer row of brackets, only the last `_DEPTH` can belong to a value that is
            # read: skip the others, as reading from each would take quadratic time.
            row = BRACKETS.match(text, at)
            if row:
                return max(at, row.end() - _DEPTH)
        return at

    def _note_cut_key(self, top: Span, at: int) -> None:
        """Record every key of interest that matches a key cut off by the end of the text."""
        cut = CUT_KEY.match(self._text, at)
        if cut is None:
            return
        beginning = fold_key(cut[1])
        possible = [name for name in self._names if name.startswith(beginning)]
        if possible:
            if not top.keys:
                top.first_keys = possible
            top.keys += possible
            top.key_end = at
