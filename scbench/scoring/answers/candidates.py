"""What in a text may be the answer: values with its keys, taken out of what stands round them.

See `scbench.scoring.answers.extract` for the rule.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError
from scbench.scoring.answers.scan import Scan, Span, folded, scan
from scbench.scoring.answers.shape import Shape

WRAPPERS = frozenset({"finalanswer", "final", "answer", "result", "output", "response"})
_ARGUMENTS = frozenset({"arguments", "input", "parameters"})
LAYERS = 6
TRIED = 10
_PLACEHOLDER = re.compile(r"[.\u2026\s]*|<[^<>]*>")
_Fitted = tuple[JsonValue, tuple[str, ...]]
"""An answer, and what was done to it."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """An answer, where it was found, and what had to be done to read it."""

    value: JsonValue
    source: str
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may be the answer, and where it stands; without an answer if it cannot be read."""

    extraction: Extraction | None
    start: int
    end: int


def candidates(text: str, scanned: Scan, shape: Shape, layers: int) -> Iterator[Candidate]:
    """Yield candidates, the one that ends last first."""
    spans = {span.end: span for span in (*scanned.outermost, *scanned.objects)}
    for span in [spans[end] for end in sorted(spans, reverse=True)][:TRIED]:
        value = span.parse()
        fitted = None if value is None else unwrapped(value, shape, layers)
        if fitted is None and value is not None and _is_assigned(text, span, shape):
            fitted = bare_value(value, shape)
            fitted = fitted and (fitted[0], ("assignment",))
        if fitted is not None:
            source = place_of(text, span.start, span.end)
            found = Extraction(fitted[0], source, (*span.repairs, *fitted[1]))
            yield Candidate(found, span.start, span.end)
        elif value is None and {*map(folded, span.keys)} >= {*map(folded, shape.keys)}:
            yield Candidate(None, span.start, span.end)


def _is_assigned(text: str, span: Span, shape: Shape) -> bool:
    """Whether ``key =`` stands right before a value."""
    if len(shape.keys) != 1:
        return False
    before = text[max(0, span.start - 100) : span.start].rstrip(" \t\n*`")
    name = re.search(r"(\w+)[*`'\"]*\s*=\Z", before)
    return name is not None and folded(name[1]) == folded(shape.keys[0])


def scan_for(text: str, shape: Shape) -> Scan:
    """Return the values in a text that may hold the keys of an answer, or wrap them."""
    names = {*map(folded, (*shape.keys, *shape.inner)), *WRAPPERS, *_ARGUMENTS}
    return scan(text, names, "answer" if shape.is_short else "")


def parsed(text: str) -> JsonValue | None:
    """Return the value of JSON text; None if it is none."""
    try:
        return parse_json(text.encode())
    except (JsonError, UnicodeEncodeError):
        return None


def place_of(text: str, start: int, end: int) -> str:
    """Name the place of a value: the whole text, a fence, or embedded in other text."""
    before, after = text[:start].rstrip(), text[end:].lstrip()
    if not before and not after:
        return "whole"
    opened = before.rpartition("\n")[2].lstrip().startswith("```")
    return "fence" if opened and (not after or after.startswith("```")) else "embedded"


def unwrapped(value: JsonValue, shape: Shape, layers: int = LAYERS) -> _Fitted | None:
    """Return the object with all keys in a value, taken out of its wrappers; None without one."""
    if not layers:
        return None
    if isinstance(value, str):
        return _in_string(value, shape, layers - 1)
    if isinstance(value, list) and len(value) == 1:
        return _deeper(value[0], "unwrapped_list", shape, layers)
    if not isinstance(value, dict):
        return None
    named, repairs = _renamed(value, shape)
    if all(key in named and _may_be(named[key], key, shape) for key in shape.keys):
        fitted = _short(named, shape, layers) if shape.is_short else _unquoted(named, shape)
        return fitted and (fitted[0], (*repairs, *fitted[1]))
    for key, inside in reversed(value.items()):
        if folded(key) in WRAPPERS or ("name" in value and key in _ARGUMENTS):
            fitted = _deeper(inside, "unwrapped_answer_key", shape, layers)
            if fitted is not None:
                return fitted
    return None


def _may_be(value: JsonValue, key: str, shape: Shape) -> bool:
    """Whether a value can be meant for a key; its schema and its form in a prompt are not."""
    if not isinstance(value, dict):
        is_form = isinstance(value, str) and bool(value) and _PLACEHOLDER.fullmatch(value)
        return not (is_form and key in shape.texts)
    is_schema = isinstance(value.get("type"), str) or "$ref" in value or "anyOf" in value
    return not is_schema and (shape.is_short or key not in shape.texts)


def _deeper(value: JsonValue, repair: str, shape: Shape, layers: int) -> _Fitted | None:
    fitted = unwrapped(value, shape, layers - 1)
    return fitted and (fitted[0], (repair, *fitted[1]))


def _in_string(text: str, shape: Shape, layers: int) -> _Fitted | None:
    """Return the candidate in a string that holds JSON."""
    if not text.strip().endswith(("}", "]", '"', "`")):
        return None
    best = next(candidates(text, scan_for(text, shape), shape, layers), None)
    if best is None or best.extraction is None:
        return None
    return best.extraction.value, ("unwrapped_string", *best.extraction.repairs)


def _short(value: dict[str, JsonValue], shape: Shape, layers: int) -> _Fitted | None:
    """Return an object with a short answer, taken out of what stands round it."""
    inside = value["answer"]
    if isinstance(inside, dict | list) or (isinstance(inside, str) and "{" in inside):
        fitted = _deeper(inside, "unwrapped_answer_key", shape, layers)
        if fitted is not None:
            return fitted
    if isinstance(inside, list) and len(inside) == 1 and not shape.is_list:
        return {**value, "answer": inside[0]}, ("unwrapped_list",)
    return value, ()


def _unquoted(value: dict[str, JsonValue], shape: Shape) -> _Fitted:
    """Return an object in which no array or object is written as a string."""
    texts = [key for key in shape.keys if isinstance(value[key], str) and key not in shape.texts]
    read = {key: parsed(str(value[key])) for key in texts}
    read = {key: inside for key, inside in read.items() if isinstance(inside, dict | list)}
    return ({**value, **read}, ("unwrapped_string",)) if read else (value, ())


def _renamed(
    value: dict[str, JsonValue], shape: Shape
) -> tuple[dict[str, JsonValue], tuple[str, ...]]:
    """Return an object with its keys in the case that the answer's have."""
    changed = False
    exact = frozenset(shape.names.values())

    def renamed(part: JsonValue) -> JsonValue:
        nonlocal changed
        # An answer may hold tens of thousands of numbers in small lists.
        if isinstance(part, list):
            plain = not part or not isinstance(part[0], list | dict)
            return part if plain else [renamed(one) for one in part]
        if not isinstance(part, dict):
            return part
        return {
            new_name(key, part): renamed(inside) if isinstance(inside, list | dict) else inside
            for key, inside in part.items()
        }

    def new_name(key: str, part: dict[str, JsonValue]) -> str:
        nonlocal changed
        if key in exact:
            return key
        wanted = shape.names.get(folded(key), key)
        if wanted == key or wanted in part:
            return key
        if sum(folded(other) == folded(key) for other in part) > 1:
            return key  # two keys that differ in case only
        changed = True
        return wanted

    is_deep = len(shape.names) > len(shape.keys)
    if _all_named(value, exact) if is_deep else value.keys() <= exact:
        return value, ()
    named = {new_name(key, value): inside for key, inside in value.items()}
    if is_deep:
        named = {key: renamed(inside) for key, inside in named.items()}
    return (named, ("key_case",)) if changed else (value, ())


def _all_named(value: JsonValue, names: frozenset[str]) -> bool:
    """Whether every key in a value, at any depth, is one of the names."""
    waiting = [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            if not part.keys() <= names:
                return False
            waiting += [inside for inside in part.values() if isinstance(inside, list | dict)]
        elif isinstance(part, list) and part and isinstance(part[0], list | dict):
            waiting += part
    return True


def bare_value(value: JsonValue, shape: Shape) -> _Fitted | None:
    """Put a value without its key under it; None if it cannot be the value."""
    if isinstance(value, dict):
        for key, inside in reversed(value.items()):
            if folded(key) in WRAPPERS and (fitted := bare_value(inside, shape)):
                return fitted[0], ("unwrapped_answer_key", *fitted[1])
    if len(shape.keys) != 1:
        return None
    key = shape.keys[0]
    if shape.is_short:
        if isinstance(value, list) and len(value) == 1 and not shape.is_list:
            value = value[0]
        if isinstance(value, dict | None) or (isinstance(value, list) and not shape.is_list):
            return None
        if isinstance(value, str) and _PLACEHOLDER.fullmatch(value):
            return None
        return {key: value}, ("wrapped_bare_value",)
    if isinstance(value, list) and not shape.inner:
        return {key: value}, ("wrapped_bare_array",)
    if isinstance(value, dict) and shape.inner and all(name in value for name in shape.inner):
        return {key: value}, ("wrapped_bare_value",)
    if not isinstance(value, str):
        return None
    if shape.bare_text and shape.bare_text.fullmatch(value.strip()):
        return {key: value}, ("wrapped_bare_value",)
    inside = parsed(value)
    if not isinstance(inside, list) or shape.inner:
        return None
    return {key: inside}, ("unwrapped_string", "wrapped_bare_array")
