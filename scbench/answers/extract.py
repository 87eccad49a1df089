"""Finding the answer in a prediction: one rule for every task and model.

An `answer` field is the answer, taken as it stands: nothing is repaired there, and text has no
business in it unless the task's answer is text. In the text of a `response` the answer is looked
for in these places, in this order; the first that holds an object, or an array that can be put
under the answer's only key, is taken:

1. ``fence``: the last fenced block that can be read (of the last hundred).
2. ``marked``: the last ``<answer>`` tag; then what follows the last ``Answer:`` or ``Answer =``,
   the whole of it or from its first bracket to the one that closes it.
3. ``whole``: the whole text.
4. ``embedded``: the object in running text that has every key the answer must have and is closed
   last (of the last ten).

Text up to a closing ``</think>`` is not looked at. What is not JSON is read as Python would read it
(`scbench.answers.literal`: tuples, single quotes, ``True``, trailing commas, comments). Neither
NaN nor a key given twice is repaired. An array is put under the answer's key if there is only one;
an object whose only key is ``answer`` gives way to what it holds. Where a task's answer is itself
text, it is the last fenced block, or else the whole response.

Where the answer is a word, a number or a short list under the one key ``answer``, only an object
that has this key counts; a value without it is put under it. If there is no such object, the text
is searched for a final answer in words (`scbench.answers.short`).

A fence is a line of three or more backticks and maybe a language; it is closed by a line of as many
backticks alone, by the next fence with a language, or by the end of the text.

What was done is recorded with every row: the place, and each repair. Every step is linear in the
length of the text.
"""

import re
from collections import deque
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice

from pydantic import BaseModel, JsonValue

from scbench.answers.literal import as_json
from scbench.answers.short import find_short
from scbench.canonical import parse_json
from scbench.errors import JsonError
from scbench.model import Prediction
from scbench.schemas.base import json_schema

_FENCES = 100
_OBJECTS = 10
_DEPTH = 250
"""More than the strict JSON parser takes, so brackets further out cannot matter."""
_FENCE = re.compile(r"(`{3,})[^`]*")
_MARK = re.compile(r"(?<![^\W_])answer(?![^\W_])[*_`\"]*\s*(?:is\s*)?[:=]", re.IGNORECASE)
_OUTSIDE = re.compile(r"\\.|[\[{]", re.DOTALL)
"""In prose only an opening bracket counts; inside one, quotes do, too."""
_INSIDE = re.compile(r"""\\.|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*"|'\w++'|[\[\]{}]""", re.DOTALL)
_CLOSES = {"]": "[", "}": "{"}
_SCALARS = {"boolean", "integer", "number", "string"}
_DECLINES = re.compile(
    r"\b(?:i|we)(?:\s+am|\s+was|['’]m|\s+must|\s+have\s+to)?\s+"
    r"(?:can\s?not|can['’]t|could\s?n['’]t|could not|won['’]t|will not|unable to|not able to|"
    r"wasn['’]t able|do not have the ability|don['’]t have the ability|decline|refuse)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of an answer before it is found."""

    is_text: bool
    keys: tuple[str, ...]
    """Required keys of the answer object."""
    is_short: bool = False
    """Whether ``answer`` is the only key and can hold a word or a number."""
    is_list: bool = False
    """Whether such an answer can be a list as well."""


@dataclass(frozen=True, slots=True)
class Found:
    """An answer, where it was found, and what had to be done to read it."""

    value: JsonValue
    source: str
    repairs: tuple[str, ...] = ()


@lru_cache(maxsize=256)
def shape_of(answer_model: type[BaseModel]) -> Shape:
    """Return the shape of a task's answers."""
    schema = json_schema(answer_model)
    keys = tuple(schema.get("required", ()))
    kinds: set[str] = set()
    if keys == ("answer",):
        value = schema["properties"]["answer"]
        kinds = {part.get("type", "") for part in value.get("anyOf", [value])}
    is_short = bool(kinds & _SCALARS) and kinds <= {*_SCALARS, "array"}
    return Shape(schema.get("type") == "string", keys, is_short, is_short and "array" in kinds)


def find_answer(prediction: Prediction, shape: Shape) -> Found | None:
    """Return the answer of a prediction; None if there is none that can be read."""
    if prediction.answer is not None:
        return from_field(prediction.answer, shape)
    return from_response(prediction.response or "", shape)


def from_field(answer: JsonValue, shape: Shape) -> Found:
    """Return the answer given in a prediction's ``answer`` field."""
    if shape.is_text and isinstance(answer, str):
        return _text(answer, "answer")
    if shape.is_short and not isinstance(answer, dict):
        return Found({"answer": answer}, "answer", ("wrapped_bare_value",))
    return Found(answer, "answer")


def from_response(response: str, shape: Shape) -> Found | None:
    """Return the answer in a model's text by the rule of this module; None if there is none."""
    text = _visible(response)
    dropped = ("dropped_reasoning",) if len(text) < len(response) else ()
    if shape.is_text:
        found = _text(text, "whole")
        return (
            Found(found.value, found.source, (*dropped, *found.repairs)) if text.strip() else None
        )
    if shape.is_short:
        short = _short(text, shape)
        return short and replace(short, repairs=(*dropped, *short.repairs))
    for source, value, repairs in _read(text, shape):
        value, more = _fit(value, shape)  # noqa: PLW2901
        if isinstance(value, dict) and (source != "embedded" or value.keys() >= set(shape.keys)):
            return Found(value, source, (*dropped, *repairs, *more))
    return None


def _read(text: str, shape: Shape) -> Iterator[tuple[str, JsonValue, tuple[str, ...]]]:
    """Yield what can be read of the places to look at: place, value, repairs."""
    for source, candidate in _candidates(text, shape):
        parsed = _parse(candidate)
        if parsed is not None:
            yield source, *parsed


def _short(text: str, shape: Shape) -> Found | None:
    """Return an object with the key ``answer``, else an array, else a final answer in words."""
    array: Found | None = None
    for source, value, repairs in _read(text, shape):
        if isinstance(value, dict) and "answer" in value:
            return Found(value, source, repairs)
        if array is None and shape.is_list and isinstance(value, list):
            array = Found({"answer": value}, source, (*repairs, "wrapped_bare_array"))
    if array is not None:
        return array
    words = find_short(text, is_list=shape.is_list)
    return words and Found({"answer": words[0]}, words[1], ("plain_text",))


def declines(response: str) -> bool:
    """Whether a text without an answer says that it will not give one."""
    return _DECLINES.search(_visible(response)[:20_000]) is not None


def _visible(response: str) -> str:
    return response.rpartition("</think>")[2]


def _text(text: str, source: str) -> Found:
    blocks = _fenced(text)
    if blocks:
        return Found(blocks[-1], "fence", ("unwrapped_fence",))
    return Found(text, source)


def _fenced(text: str) -> list[str]:
    """Return the fenced blocks of a text that are not blank; an unclosed one reaches to the end."""
    if "```" not in text:
        return []
    blocks: list[str] = []
    inside: list[str] | None = None
    fence = ""
    for line in text.split("\n"):
        mark = line.strip()
        opening = _FENCE.fullmatch(mark) if mark.startswith("```") else None
        if inside is None:
            if opening:
                inside, fence = [], opening[1]
        elif opening and len(opening[1]) >= len(fence):
            blocks.append("\n".join(inside))
            inside, fence = (None, "") if mark == opening[1] else ([], opening[1])
        else:
            inside.append(line)
    if inside:
        blocks.append("\n".join(inside))
    return [block for block in blocks if block.strip()]


def _candidates(text: str, shape: Shape) -> Iterator[tuple[str, str]]:
    """Yield places to look at, as (name, text), best first."""
    for block in islice(reversed(_fenced(text)), _FENCES):
        yield "fence", block
    closing = text.rfind("</answer>")
    opening = text.rfind("<answer>", 0, max(closing, 0))
    if opening >= 0:
        yield "marked", text[opening + len("<answer>") : closing]
    marks = deque(_MARK.finditer(text), maxlen=1)
    if marks:
        rest = text[marks[0].end() :]
        yield "marked", rest
        start = re.search(r"[\[{]", rest)
        if start:
            spans = ((begin, end) for begin, end, _ in _brackets(rest, start.start(), ()))
            end = next((end for begin, end in spans if begin == start.start()), 0)
            yield "marked", rest[start.start() : end]
    yield "whole", text
    if shape.keys and all(key in text for key in shape.keys):
        objects = (
            text[begin:end]
            for begin, end, inside in _brackets(text, 0, shape.keys)
            if text[begin] == "{" and len(inside) == len(shape.keys)
        )
        for found in reversed(deque(objects, maxlen=_OBJECTS)):
            yield "embedded", found


def _brackets(
    text: str, start: int, names: Collection[str]
) -> Iterator[tuple[int, int, Collection[str]]]:
    """Yield where brackets open and close, in the order they close, and names quoted just inside.

    Brackets in double quotes do not count; a quote that its own line does not close is none, and
    neither is one outside all brackets.
    """
    opened: deque[tuple[str, int, set[str]]] = deque(maxlen=_DEPTH)
    at = start
    while token := (_INSIDE if opened else _OUTSIDE).search(text, at):
        at = token.end()
        mark = token.group()
        if mark in {"[", "{"}:
            opened.append((mark, token.start(), set()))
        elif mark in _CLOSES:
            if opened and opened[-1][0] == _CLOSES[mark]:
                _, begin, inside = opened.pop()
                yield begin, at, inside
            else:
                opened.clear()  # nothing that spans a mismatch can be read
        elif opened and mark[1:-1] in names:
            opened[-1][2].add(mark[1:-1])


def _parse(text: str) -> tuple[JsonValue, tuple[str, ...]] | None:
    """Read an object or array as JSON, else as a Python literal."""
    text = text.strip().strip("`").strip()
    if text[:1] not in {"{", "[", "("}:
        return None
    try:
        return parse_json(text.encode()), ()
    except (JsonError, UnicodeEncodeError):
        pass
    rewritten = as_json(text)
    if rewritten is None:
        return None
    try:
        return parse_json(rewritten.encode()), ("python_literal",)
    except JsonError:
        return None


def _fit(value: JsonValue, shape: Shape) -> tuple[JsonValue, tuple[str, ...]]:
    """Put a bare array under the answer's only key; take an answer out of a lone ``answer`` key."""
    if isinstance(value, dict) and value.keys() == {"answer"} and "answer" not in shape.keys:
        value, repairs = _fit(value["answer"], shape)
        return value, ("unwrapped_answer_key", *repairs)
    if isinstance(value, list) and len(shape.keys) == 1:
        return {shape.keys[0]: value}, ("wrapped_bare_array",)
    return value, ()
