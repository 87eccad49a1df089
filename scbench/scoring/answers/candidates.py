r"""Stage 2b: values in the visible text that may be the answer.

An object may be the answer if it has all keys of the answer, with values of their JSON types. It
may be wrapped: under a final key (``answer``, ``final``, ...), in the arguments of a tool call, in
a list of one, in a string that contains JSON, or under its own key once more. For answers such as
``{"path": [2]}``, the last object of this reply is the candidate::

    {"path": [1]} Better: {"draft": {"path": [1]}, "final": {"path": [2]}}

An object with null under a final key means that there is no answer. So does an object that
begins but cannot be read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import JsonValue

from scbench.scoring.answers.scan import Span, fold_key, parse_or_none, scan
from scbench.scoring.answers.shape import Shape

# Folded keys that announce the final answer: null under one of them discards earlier answers.
_CLOSING_KEYS = frozenset({"answer", "finalanswer", "final"})
# Null under these only means that this object has no answer.
_FINAL_KEYS = _CLOSING_KEYS | {"result", "output"}
_WRAPPERS = _FINAL_KEYS | {"response", "arguments", "input", "parameters"}
# Layers of wrappers that are opened.
_LAYERS = 6
# Limit on parses per character on average, because objects can be nested.
_WORK = 4
# Placeholders for a value: ..., <answer>, [your path], your answer, final answer here.
_PLACEHOLDER = re.compile(
    r"""
    [.\u2026\s_?]+
    | <[^<>]*>
    | \[[\w\s]*\]
    | (?:your|the|insert|put|my)\b [\w\s]* \b(?:answer|value)\b [\w\s]*
    | (?:final[ ])? (?:answer|value|text|string) (?:[ ]here)?
    """,
    re.IGNORECASE | re.VERBOSE,
)
# Code before a value: an assignment (except to "answer"), a call, a return.
_CODE = re.compile(
    r"(?:(?<!answer)(?<!answer\s)=|[(]|\breturn|\byield)\s{0,9}\Z", re.IGNORECASE
)
# Characters before a value that are searched for code.
_CODE_LENGTH = 60


@dataclass(frozen=True, slots=True)
class Extraction:
    """An answer, the place where it was found, and the repairs needed to read it."""

    value: JsonValue
    source: str
    repairs: tuple[str, ...] = ()


class Candidate(NamedTuple):
    """A value that may be the answer.

    Attributes:
        extraction: the answer; None if this place states that there is none.
        start: position of its first character.
        end: position after its last character.
    """

    extraction: Extraction | None
    start: int
    end: int


class Fitted(NamedTuple):
    """An answer object that fits the shape, and its repairs."""

    answer: dict[str, JsonValue]
    repairs: tuple[str, ...]


class FittedValue(NamedTuple):
    """The value of a key that fits the shape, and its repairs."""

    value: JsonValue
    repairs: tuple[str, ...] = ()


# The result for an object that leaves no answer; compared by identity.
NOTHING = Fitted({}, ())


def spans_of(text: str, shape: Shape) -> list[Span]:
    """Return the values in a text that may contain the keys of an answer, or wrap them."""
    return scan(text, {*map(fold_key, shape.keys), *_WRAPPERS}, shape.names)


def objects(
    text: str, spans: list[Span], shape: Shape, layers: int = _LAYERS
) -> Iterator[Candidate]:
    """Yield objects that may be the answer or leave none, in reverse order of their ends."""
    answer_keys = set(map(fold_key, shape.keys))
    work_left = _WORK * len(text) + 1000
    closed_from = len(text)
    for span in reversed(spans):
        work_left -= span.end - span.start
        if work_left < 0:
            # An earlier object must not replace one that could not be read.
            return
        # An object inside one that leaves no answer is a draft.
        if span.start >= closed_from:
            continue
        no_answer = Candidate(None, span.start, span.end)
        value = span.parse()
        if value is None:
            if begins_an_answer(span, answer_keys):
                yield no_answer
            continue
        fitted = answer_in(value, shape, layers)
        if fitted is NOTHING:
            closed_from = span.start
            if not _CLOSING_KEYS.isdisjoint(span.keys):
                yield no_answer
        elif fitted and not is_start_of_code(text, span, fitted, shape):
            source = place_of(text, span.start, span.end)
            repairs = span.repairs + fitted.repairs
            extraction = Extraction(fitted.answer, source, repairs)
            yield Candidate(extraction, span.start, span.end)


def begins_an_answer(span: Span, answer_keys: set[str]) -> bool:
    """Whether an incomplete object would have been an answer, which excludes earlier ones.

    At the end of a text, it must begin with a key of the answer: ``push "{"`` begins no answer.
    """
    keys = span.first_keys if span.state == "cut" else span.keys
    return not answer_keys.isdisjoint(keys)


def is_start_of_code(text: str, span: Span, fitted: Fitted, shape: Shape) -> bool:
    """Whether all values are empty and preceded by code, as in ``path = {"path": []}``."""
    if any(fitted.answer[key] not in ([], {}, "") for key in shape.keys):
        return False
    before = text[max(0, span.start - _CODE_LENGTH) : span.start]
    return _CODE.search(before) is not None


def place_of(text: str, start: int, end: int) -> str:
    """Name the place of a value: the whole text, a fence, or embedded in other text."""
    before = text[:start].rstrip()
    after = text[end:].lstrip()
    if not before and not after:
        return "whole"
    line_before = before.rpartition("\n")[2].lstrip()
    # A fence may be cut off before it is closed.
    is_closed = not after or after.startswith("```")
    return "fence" if line_before.startswith("```") and is_closed else "embedded"


def answer_in(value: JsonValue, shape: Shape, layers: int = _LAYERS) -> Fitted | None:
    """Return the answer object in a value; `NOTHING` for null; None if the value contains none."""
    if not layers:
        return None
    if isinstance(value, str):
        return answer_in_string(value, shape, layers - 1)
    if isinstance(value, list) and len(value) == 1:
        fitted = answer_in(value[0], shape, layers - 1)
        return with_repair("unwrapped_list", fitted)
    if isinstance(value, dict):
        return answer_in_object(value, shape, layers - 1)
    return None


def answer_in_string(text: str, shape: Shape, layers: int) -> Fitted | None:
    """Return the answer object in a string that contains JSON."""
    if not text.strip().endswith(("}", "]", '"', "`")):
        return None
    last = next(objects(text, spans_of(text, shape), shape, layers), None)
    extraction = last.extraction if last else None
    if extraction is None or not isinstance(extraction.value, dict):
        return None
    return Fitted(extraction.value, ("unwrapped_string", *extraction.repairs))


def answer_in_object(
    value: dict[str, JsonValue], shape: Shape, layers: int
) -> Fitted | None:
    """Return the answer object that an object is, or wraps."""
    finals = [inside for key, inside in value.items() if fold_key(key) in _FINAL_KEYS]
    if finals and all(inside is None for inside in finals):
        return NOTHING
    has_keys = all(key in value for key in shape.keys)
    # The key of a short answer is itself a final key, so its object is not a wrapper.
    if not (shape.is_short and has_keys):
        wrapped = answer_in_wrapper(value, shape, layers)
        if wrapped:
            return wrapped
    return answer_with_keys(value, shape, layers) if has_keys else None


def answer_in_wrapper(
    value: dict[str, JsonValue], shape: Shape, layers: int
) -> Fitted | None:
    """Return the answer object under the last wrapper key that has one."""
    for key, inside in reversed(value.items()):
        if fold_key(key) in _WRAPPERS:
            fitted = answer_in(inside, shape, layers) or bare_value(inside, shape)
            if fitted:
                return with_repair("unwrapped_answer_key", fitted)
    return None


def answer_with_keys(
    value: dict[str, JsonValue], shape: Shape, layers: int
) -> Fitted | None:
    """Return an object with all keys of the answer, if their values fit."""
    answer = dict(value)
    repairs: tuple[str, ...] = ()
    for key in shape.keys:
        inside = value[key]
        fitted = value_of(inside, key, shape, with_key=True)
        # The whole answer may be under its own key once more, even as a string of JSON.
        if fitted is None or (isinstance(inside, str) and "{" in inside):
            deeper = answer_in(inside, shape, layers)
            if deeper or fitted is None:
                return with_repair("unwrapped_answer_key", deeper)
        answer[key] = fitted.value
        repairs += fitted.repairs
    return Fitted(answer, repairs)


def with_repair(repair: str, fitted: Fitted | None) -> Fitted | None:
    """Return an answer with another repair before its own; None and `NOTHING` stay unchanged."""
    if fitted is None or fitted is NOTHING:
        return fitted
    return Fitted(fitted.answer, (repair, *fitted.repairs))


def bare_value(value: JsonValue, shape: Shape) -> Fitted | None:
    """Put a bare value under the key; None if it cannot be the value."""
    if len(shape.keys) != 1:
        return None
    key = shape.keys[0]
    fitted = value_of(value, key, shape)
    if fitted is None:
        return None
    is_array = isinstance(fitted.value, list) and not shape.is_short
    repair = "wrapped_bare_array" if is_array else "wrapped_bare_value"
    return Fitted({key: fitted.value}, (*fitted.repairs, repair))


def value_of(
    value: JsonValue, key: str, shape: Shape, *, with_key: bool = False
) -> FittedValue | None:
    """Return the value of a key: unchanged, a list's only entry, or the JSON in a string.

    Args:
        value: the value in the reply.
        key: a key of the answer.
        shape: the shape of the answer.
        with_key: whether the reply has the value under that key. Then the entries of
            its arrays need not fit, because the grader reports their errors.
    """
    if is_placeholder(value):
        return None
    text = value.strip() if isinstance(value, str) else ""
    if text and shape.bare_text:
        return FittedValue(value) if shape.bare_text.search(text) else None
    is_lenient = with_key and not shape.is_short
    fits = shape.fits if is_lenient else shape.fits_bare
    if fits(value, key):
        return FittedValue(value)
    if isinstance(value, list) and len(value) == 1 and shape.fits(value[0], key):
        return FittedValue(value[0], ("unwrapped_list",))
    if text:
        inside = parse_or_none(text)
        if isinstance(inside, list | dict) and shape.fits_bare(inside, key):
            return FittedValue(inside, ("unwrapped_string",))
    return None


def is_placeholder(value: JsonValue) -> bool:
    """Whether a value, or every entry of a list, is only a placeholder."""
    entries = value if isinstance(value, list) else [value]
    if not entries:
        return False
    return all(
        isinstance(entry, str) and _PLACEHOLDER.fullmatch(entry) for entry in entries
    )
