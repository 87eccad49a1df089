r"""Stage 2: which values in the visible text may be the answer.

An object may if it has all keys of the answer with values of their JSON types, also in wrappers: a
final key (``answer``, ``final``, ...), the arguments of a tool call, a list of one, a string that
holds JSON, or its own key once more. One whose final key is null leaves no answer. Where an object
is begun and cannot be read, something was meant as an answer that is none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import JsonValue

from scbench.scoring.answers.scan import Scan, Span, folded, parsed, scan
from scbench.scoring.answers.shape import Shape

FINAL = frozenset({"answer", "finalanswer", "final", "result", "output"})
_CLOSING = frozenset({"answer", "finalanswer", "final"})
_WRAPPERS = FINAL | {"response", "arguments", "input", "parameters"}
_LAYERS = 6
_WORK = 4
"""How often a text may be parsed again: objects can stand in one another."""
_PLACEHOLDER = re.compile(
    r"[.\u2026\s_?]*|<[^<>]*>|\[[\w\s]*\]|(?:your|the|insert|put|my)\b[\w\s]*\b(?:answer|value)\b[\w\s]*"
    r"|(?:final )?(?:answer|value|text|string)(?: here)?",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?:(?<!answer)(?<!answer\s)=|[(]|\breturn|\byield)\s{0,9}\Z", re.IGNORECASE)
_BEGUN = re.compile(r"\{\s{0,99}(?:[\"'\u201c])(\w{0,60})[\"'\u201d]?\s{0,99}:?\s{0,9}\Z")
Fitted = tuple[JsonValue, tuple[str, ...]]
"""An answer, and what was done to it."""
NOTHING: Fitted = (None, ())
"""What an object says that leaves no answer."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """An answer, where it was found, and what had to be done to read it."""

    value: JsonValue
    source: str
    repairs: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Candidate:
    """What may be the answer, and where it stands; without one if it leaves none."""

    extraction: Extraction | None
    start: int
    end: int


def scan_for(text: str, shape: Shape) -> Scan:
    """Return the values in a text that may hold the keys of an answer, or wrap them."""
    names = {*map(folded, shape.keys), *_WRAPPERS}
    return scan(text, names, "answer" if shape.is_short else "")


def objects(text: str, scanned: Scan, shape: Shape, layers: int = _LAYERS) -> Iterator[Candidate]:
    """Yield the objects that may be the answer, or leave none, the one that ends last first."""
    asked, left = {*map(folded, shape.keys)}, _WORK * len(text) + 1000
    closed_from = len(text)
    for span in by_end(scanned):
        left -= span.end - span.start
        if left < 0:
            return
        if span.start >= closed_from:
            continue  # a draft in what leaves no answer
        value = span.parse()
        if value is None:
            if span.keys >= asked:
                yield Candidate(None, span.start, span.end)
            continue
        fitted = unwrapped(value, shape, layers)
        if fitted is NOTHING:
            closed_from = span.start
            if span.keys & _CLOSING:
                yield Candidate(None, span.start, span.end)
        elif fitted is not None and not _is_initial(text, span, fitted[0], shape):
            source = place_of(text, span.start, span.end)
            extraction = Extraction(fitted[0], source, (*span.repairs, *fitted[1]))
            yield Candidate(extraction, span.start, span.end)


def by_end(scanned: Scan) -> list[Span]:
    """Return the values of a text, the one that ends last first, and the outer one of two."""
    spans = {span.end: span for span in (*scanned.objects, *scanned.outermost)}
    return [spans[end] for end in sorted(spans, reverse=True)]


def cut_at(text: str, scanned: Scan, shape: Shape) -> int:
    """Return where the last object with the answer's keys is that cannot be read; -1 if none is."""
    asked = {*map(folded, shape.keys)}
    places = [at for _, at, key in scanned.broken if key in asked]
    begun = _BEGUN.search(text.rstrip()[-200:])
    if begun and any(key.startswith(folded(begun[1])) for key in asked):
        places.append(len(text.rstrip()))
    return max(places, default=-1)


def _is_initial(text: str, span: Span, value: JsonValue, shape: Shape) -> bool:
    """Whether a program begins with this value: one without content, assigned or passed."""
    values = value if isinstance(value, dict) else {}
    empty = all(values.get(key, 0) in ([], {}, "") for key in shape.keys)
    return empty and _CODE.search(text[max(0, span.start - 60) : span.start]) is not None


def place_of(text: str, start: int, end: int) -> str:
    """Name the place of a value: the whole text, a fence, or embedded in other text."""
    before, after = text[:start].rstrip(), text[end:].lstrip()
    if not before and not after:
        return "whole"
    opened = before.rpartition("\n")[2].lstrip().startswith("```")
    return "fence" if opened and (not after or after.startswith("```")) else "embedded"


def unwrapped(value: JsonValue, shape: Shape, layers: int = _LAYERS) -> Fitted | None:
    """Return the answer object in a value, `NOTHING` if it leaves none; None without one."""
    if not layers:
        return None
    if isinstance(value, str):
        return _in_string(value, shape, layers - 1)
    if isinstance(value, list) and len(value) == 1:
        return _deeper(value[0], "unwrapped_list", shape, layers)
    if not isinstance(value, dict):
        return None
    finals = [inside for key, inside in value.items() if folded(key) in FINAL]
    if finals and all(inside is None for inside in finals):
        return NOTHING
    inner = (part for key, part in reversed(value.items()) if folded(key) in _WRAPPERS)
    wrapped = filter(None, (_in_wrapper(part, shape, layers) for part in inner))
    if not shape.is_short and (fitted := next(wrapped, None)):
        return fitted
    renamed = _renamed(value, shape.names)
    if not isinstance(renamed, dict) or not all(key in renamed for key in shape.keys):
        return next(wrapped, None)
    fitted = _own(renamed, shape, layers)
    return fitted and (fitted[0], (*["key_case"] * (renamed != value), *fitted[1]))


def _in_wrapper(inside: JsonValue, shape: Shape, layers: int) -> Fitted | None:
    if (fitted := _deeper(inside, "unwrapped_answer_key", shape, layers)) is not None:
        return fitted
    bare = bare_value(inside, shape)
    return bare and (bare[0], ("unwrapped_answer_key", *bare[1]))


def _deeper(value: JsonValue, repair: str, shape: Shape, layers: int) -> Fitted | None:
    fitted = unwrapped(value, shape, layers - 1)
    return fitted if fitted is None or fitted is NOTHING else (fitted[0], (repair, *fitted[1]))


def _in_string(text: str, shape: Shape, layers: int) -> Fitted | None:
    """Return the candidate in a string that holds JSON."""
    if not text.strip().endswith(("}", "]", '"', "`")):
        return None
    best = next(objects(text, scan_for(text, shape), shape, layers), None)
    if best is None or best.extraction is None:
        return None
    return best.extraction.value, ("unwrapped_string", *best.extraction.repairs)


def _own(value: dict[str, JsonValue], shape: Shape, layers: int) -> Fitted | None:
    """Return an object with all keys, if their values are or hold ones of the answer's types."""
    changed: dict[str, JsonValue] = {}
    repairs: tuple[str, ...] = ()
    for key in shape.keys:
        inside = value[key]
        fits = shape.fits_bare(inside, key) if shape.is_short else shape.fits(inside, key)
        fitted = _forms(inside, key, shape, fits=fits)
        if fitted is None or (isinstance(inside, str) and "{" in inside):
            deeper = _deeper(inside, "unwrapped_answer_key", shape, layers)
            if fitted is None or deeper is not None:
                return deeper
        changed[key], repairs = fitted[0], (*repairs, *fitted[1])
    return {**value, **changed}, repairs


def _forms(value: JsonValue, key: str, shape: Shape, *, fits: bool) -> Fitted | None:
    """Return the value of a key: as it is, the only one of a list, or what a string holds."""
    if _is_placeholder(value):
        return None
    text = value.strip() if isinstance(value, str) else ""
    if fits:
        is_text = not text or not shape.bare_text or shape.bare_text.search(text)
        return (value, ()) if is_text else None
    if isinstance(value, list) and len(value) == 1 and shape.fits(value[0], key):
        return value[0], ("unwrapped_list",)
    if shape.bare_text and shape.bare_text.fullmatch(text):
        return value, ()
    inside = parsed(text) if text else None
    is_held = isinstance(inside, list | dict) and shape.fits_bare(inside, key)
    return (inside, ("unwrapped_string",)) if is_held else None


def _is_placeholder(value: JsonValue) -> bool:
    """Whether a value only shows where one belongs."""
    if isinstance(value, list):
        return bool(value) and all(isinstance(v, str) and _is_placeholder(v) for v in value)
    return isinstance(value, str) and bool(value) and _PLACEHOLDER.fullmatch(value) is not None


def bare_value(value: JsonValue, shape: Shape) -> Fitted | None:
    """Put a value without its key under it; None if it cannot be the value."""
    key = shape.keys[0]
    fitted = _forms(value, key, shape, fits=shape.fits_bare(value, key))
    if len(shape.keys) != 1 or fitted is None:
        return None
    is_array = isinstance(fitted[0], list) and not shape.is_short
    return {key: fitted[0]}, (*fitted[1], f"wrapped_bare_{'array' if is_array else 'value'}")


def _renamed(part: JsonValue, names: dict[str, str]) -> JsonValue:
    """Return a value with its keys in the case that the answer's have."""
    if isinstance(part, list):
        is_plain = not part or not isinstance(part[0], list | dict)
        return part if is_plain else [_renamed(entry, names) for entry in part]
    if not isinstance(part, dict):
        return part
    known = [names.get(folded(key), key) for key in part]
    if len({*known}) < len(known):  # keys that differ in case only are left as they are
        known = [*part]
    return {
        name: _renamed(inside, names) for name, inside in zip(known, part.values(), strict=True)
    }
