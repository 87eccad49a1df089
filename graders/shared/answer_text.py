"""Text of short answers: values as text, without wrapping, and quoted for messages.

Text longer than `MAX_LENGTH` is rejected, and every step is linear in the length.
"""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")
# Longest string, in characters, and longest list, in entries, that is read.
MAX_LENGTH = 10_000
# The values that the types of `scbench.schemas.base` accept.
Value = bool | int | float | str | Sequence[int | str]
# Longer numbers are not read, because the time to print them grows with the square of
# the length.
MAX_DIGITS = 1_000
_MAX_QUOTED = 60
_MAX_QUOTED_ENTRIES = 5
# Maximum layers of wrapping that are removed, such as quotes within emphasis.
_MAX_LAYERS = 10
_WRAPPINGS = (
    ('"', '"'),
    ("'", "'"),
    ("“", "”"),
    ("‘", "’"),
    ("«", "»"),
    ("$$", "$$"),
    ("$", "$"),
    ("\\(", "\\)"),
    ("\\[", "\\]"),
    ("\\boxed{", "}"),
    ("\\text{", "}"),
    ("\\textbf{", "}"),
    ("\\mathrm{", "}"),
    ("\\mathbf{", "}"),
    ("\\texttt{", "}"),
)
# HTML entities of a character by its number: zeros before the number, and numbers too large for a
# character.
_ZEROS = re.compile(r"(?<=&#)0+(?=[0-9])")
_NO_CHARACTER = re.compile(r"&#[0-9]{8,};?")
# Words that retract an answer or leave it open.
HEDGES = re.compile(
    r"""
    \b(?:or|either|neither|nor|maybe|perhaps|possibly|probably|unsure|unless|not|versus|vs)\b
    | n['\u2019]t\b
    | \?
    """,
    re.IGNORECASE | re.VERBOSE,
)
REASON = re.compile(
    r"[(,;:\u2013\u2014-]?\s*(?:because|since|as|for|i\.e\.|which)\b", re.IGNORECASE
)
ANSWER_IS = re.compile(
    r"""
    \A (?:so,?\s)?
    (?:(?:the|my|correct|right|final)\s){0,3}
    answer (?:\s(?:is|would[ ]be)\b | \s?[:=]) :?\s*
    """,
    re.IGNORECASE | re.VERBOSE,
)
# A second sentence that starts with one of these retracts the first.
_SECOND_THOUGHT = re.compile(
    r"\W*(?:or|but|maybe|perhaps|alternatively|actually|no|wait|hmm|instead|however|unless|not)\b",
    re.IGNORECASE,
)
# The first sentence, its end with closing marks, and everything after it.
_SENTENCE = re.compile(r"(.*?[^\s.])[.!](?:[*_`\"']{0,3}\s+)(?=\S)(.+)", re.DOTALL)
# A full stop after these does not end a sentence.
_ABBREVIATED = re.compile(
    r"(?:\b(?:mrs?|ms|dr|st|vs|jr|sr)|\b\w\.\w|[).:\]]\s\w)\Z", re.IGNORECASE
)


def first_read(read: Callable[[str], T | None], value: Value) -> T | None:
    """Return the result of reading a value, or else its first sentence."""
    for text in readings(value):
        result = read(text)
        if result is not None:
            return result
    return None


def readings(value: Value) -> Iterator[str]:
    """Yield the tidy text of a word or number, then its first sentence."""
    text = plain_text(value)
    if text is None:
        return
    text = tidy(ANSWER_IS.sub("", text, count=1))
    yield text
    sentences = _SENTENCE.fullmatch(text[:MAX_LENGTH])
    if sentences is None:
        return
    first, following = sentences.groups()
    if not _ABBREVIATED.search(first) and not _SECOND_THOUGHT.match(following):
        yield tidy(first)


def plain_text(value: Value) -> str | None:
    """Return a word or integer as tidy text; None for any other value or if it is too long."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        return None
    if isinstance(value, int):
        return str(value) if value.bit_length() < MAX_DIGITS else None
    return tidy(value) if len(value) <= MAX_LENGTH else None


def tidy(text: str) -> str:
    """Return text without its wrapping: spaces, quotes, emphasis, LaTeX, a full stop.

    Up to ten layers are removed.
    """
    for _ in range(_MAX_LAYERS):
        before = text
        text = text.strip(" \t\r\n*_`").removesuffix(".")
        for opening, closing in _WRAPPINGS:
            wrapped = text.startswith(opening) and text.endswith(closing)
            if wrapped and len(text) > len(opening):
                inside = text[len(opening) : -len(closing)]
                if marks_belong_together(inside, opening, closing):
                    text = inside
        if text == before:
            break
    return text


def without_entities(text: str) -> str:
    """Return text with HTML entities as characters."""
    # `html.unescape` raises a ValueError for numbers of over 4,300 digits.
    if "&#" in text:
        text = _NO_CHARACTER.sub("\ufffd", _ZEROS.sub("", text))
    return html.unescape(text)


def marks_belong_together(inside: str, opening: str, closing: str) -> bool:
    """Whether the marks before and after a text are a pair: ``"a" or "b"`` has two pairs."""
    if closing != "}":
        return opening not in inside and closing not in inside
    depth = 0
    for character in inside:
        if character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
        if depth < 0:
            return False
    return depth == 0


def quote(value: Value) -> str:
    """Return an answer as messages quote it: shortened, on one line."""
    if isinstance(value, int) and value.bit_length() > MAX_DIGITS:
        return f"a number of {value.bit_length()} bits"
    if not isinstance(value, int | float | str):
        entries = [quote(entry) for entry in value[:_MAX_QUOTED_ENTRIES]]
        if len(value) > _MAX_QUOTED_ENTRIES:
            entries.append("...")
        return f"[{', '.join(entries)}]"
    if isinstance(value, str):
        value = value[: _MAX_QUOTED + 1]
    text = repr(value)
    # Two more characters for the quotation marks.
    return text if len(text) <= _MAX_QUOTED + 2 else f"{text[:_MAX_QUOTED]}..."
