r"""Stage 2: which values in the visible text may be the answer.

An object may if it has all keys of the answer with values of their JSON types, also in wrappers: a
final key (``answer``, ``final``, ...), the arguments of a tool call, a list of one, a string that
holds JSON, or its own key once more. One whose final key is null leaves no answer, and neither does
one that is begun and cannot be read.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from pydantic import JsonValue

from scbench.scoring.answers.scan import Span, folded, parsed, scan
from scbench.scoring.answers.shape import Shape

_CLOSING = frozenset({"answer", "finalanswer", "final"})
_FINAL = _CLOSING | {"result", "output"}
_WRAPPERS = _FINAL | {"response", "arguments", "input", "parameters"}
_DEPTH = 6
_WORK = 4  # how often a text may be parsed again: objects can stand in one another
_PLACEHOLDER = re.compile(
    r"[.\u2026\s_?]+|<[^<>]*>|\[[\w\s]*\]|(?:your|the|insert|put|my)\b[\w\s]*\b(?:answer|value)\b[\w\s]*"
    r"|(?:final )?(?:answer|value|text|string)(?: here)?",
    re.IGNORECASE,
)
_CODE = re.compile(
    r"(?:(?<!answer)(?<!answer\s)=|[(]|\breturn|\byield)\s{0,9}\Z", re.IGNORECASE
)
# An answer, and what was done to it.
Fitted = tuple[dict[str, JsonValue], tuple[str, ...]]
NOTHING: Fitted = ({}, ())  # what an object says that leaves no answer


@dataclass(frozen=True, slots=True)
class Extraction:
    """An answer, where it was found, and what had to be done to read it."""

    value: JsonValue
    source: str
    repairs: tuple[str, ...] = ()


class Candidate(NamedTuple):
    """What may be the answer, and where it stands; without one if it leaves none."""

    extraction: Extraction | None
    start: int
    end: int


def spans_of(text: str, shape: Shape) -> list[Span]:
    """Return the values in a text that may hold the keys of an answer, or wrap them."""
    return scan(text, {*map(folded, shape.keys), *_WRAPPERS}, shape.names)


def objects(
    text: str, spans: list[Span], shape: Shape, depth: int = _DEPTH
) -> Iterator[Candidate]:
    """Yield the objects that may be the answer, or leave none, the one that ends last first."""
    asked, left, closed_from = (
        {*map(folded, shape.keys)},
        _WORK * len(text) + 1000,
        len(text),
    )
    for span in reversed(spans):
        left -= span.end - span.start
        if left < 0 or span.start >= closed_from:
            continue  # the second is a draft in what leaves no answer
        value = span.parse()
        fitted = None if value is None else answer_in(value, shape, depth)
        is_broken = value is None and not asked.isdisjoint(span.keys)
        if fitted is NOTHING:
            closed_from = span.start
        if is_broken or (fitted is NOTHING and not _CLOSING.isdisjoint(span.keys)):
            yield Candidate(None, span.start, span.end)
        elif fitted and fitted is not NOTHING:
            empty = all(fitted[0][key] in ([], {}, "") for key in shape.keys)
            if empty and _CODE.search(text[max(0, span.start - 60) : span.start]):
                continue  # a program begins with such a value
            source = place_of(text, span.start, span.end)
            extraction = Extraction(fitted[0], source, (*span.repairs, *fitted[1]))
            yield Candidate(extraction, span.start, span.end)


def place_of(text: str, start: int, end: int) -> str:
    """Name the place of a value: the whole text, a fence, or embedded in other text."""
    before, after = text[:start].rstrip(), text[end:].lstrip()
    if not before and not after:
        return "whole"
    opened = before.rpartition("\n")[2].lstrip().startswith("```")
    return "fence" if opened and (not after or after.startswith("```")) else "embedded"


def answer_in(value: JsonValue, shape: Shape, layers: int = _DEPTH) -> Fitted | None:
    """Return the answer object in a value, `NOTHING` if it leaves none; None without one."""
    if not layers:
        return None
    if isinstance(value, str):
        return _in_string(value, shape, layers - 1)
    if isinstance(value, list) and len(value) == 1:
        return _noted("unwrapped_list", answer_in(value[0], shape, layers - 1))
    if not isinstance(value, dict):
        return None
    finals = [inside for key, inside in value.items() if folded(key) in _FINAL]
    if finals and all(inside is None for inside in finals):
        return NOTHING
    inner = [part for key, part in reversed(value.items()) if folded(key) in _WRAPPERS]
    readings = (
        answer_in(part, shape, layers - 1) or bare_value(part, shape) for part in inner
    )
    wrapped = (_noted("unwrapped_answer_key", fitted) for fitted in readings if fitted)
    if not shape.is_short and (fitted := next(wrapped, None)):
        return fitted
    if not all(key in value for key in shape.keys):
        return next(wrapped, None)
    answer = dict(value)
    repairs: tuple[str, ...] = ()
    for key in shape.keys:
        inside = value[key]
        own = _value_of(inside, key, shape, own=True)
        if own is None or (isinstance(inside, str) and "{" in inside):
            deeper = _noted(
                "unwrapped_answer_key", answer_in(inside, shape, layers - 1)
            )
            if own is None or deeper:
                return deeper
        answer[key], repairs = own[0], (*repairs, *own[1])
    return answer, repairs


def _noted(repair: str, fitted: Fitted | None) -> Fitted | None:
    return (
        (fitted[0], (repair, *fitted[1]))
        if fitted and fitted is not NOTHING
        else fitted
    )


def _in_string(text: str, shape: Shape, layers: int) -> Fitted | None:
    """Return the candidate in a string that holds JSON."""
    if not text.strip().endswith(("}", "]", '"', "`")):
        return None
    best = next(objects(text, spans_of(text, shape), shape, layers), None)
    one = best.extraction if best else None
    if one is None or not isinstance(one.value, dict):
        return None
    return one.value, ("unwrapped_string", *one.repairs)


def _value_of(
    value: JsonValue, key: str, shape: Shape, *, own: bool = False
) -> tuple[JsonValue, tuple[str, ...]] | None:
    """Return the value of a key: as it is, the only one of a list, or what a string holds."""
    if _is_placeholder(value):
        return None
    fits = shape.fits if own and not shape.is_short else shape.fits_bare
    text = value.strip() if isinstance(value, str) else ""
    if text and shape.bare_text:
        return (value, ()) if shape.bare_text.search(text) else None
    if fits(value, key):
        return value, ()
    if isinstance(value, list) and len(value) == 1 and shape.fits(value[0], key):
        return value[0], ("unwrapped_list",)
    inside = parsed(text) if text else None
    is_value = isinstance(inside, list | dict) and shape.fits_bare(inside, key)
    return (inside, ("unwrapped_string",)) if is_value else None


def _is_placeholder(value: JsonValue) -> bool:
    """Whether a value only shows where one belongs."""
    values = value if isinstance(value, list) else [value]
    return bool(values) and all(
        isinstance(one, str) and _PLACEHOLDER.fullmatch(one) for one in values
    )


def bare_value(value: JsonValue, shape: Shape) -> Fitted | None:
    """Put a value without its key under it; None if it cannot be the value."""
    fitted = _value_of(value, shape.keys[0], shape) if len(shape.keys) == 1 else None
    if fitted is None:
        return None
    is_array = isinstance(fitted[0], list) and not shape.is_short
    repair = f"wrapped_bare_{'array' if is_array else 'value'}"
    return {shape.keys[0]: fitted[0]}, (*fitted[1], repair)
