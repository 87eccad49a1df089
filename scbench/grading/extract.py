"""Finding the answer in a prediction: one rule for every task and model.

An `answer` field is the answer, taken as it stands: nothing is repaired there, and text has no
business in it unless the task's answer is text. In the text of a `response` the answer is looked
for in these places, in this order; the first that holds a JSON object (or array) of use is taken:

1. ``fence``: the last fenced block that can be read.
2. ``marked``: the last ``<answer>`` tag, or what follows the last ``Answer:`` or ``Answer =``.
3. ``whole``: the whole text.
4. ``embedded``: the last object in running text that has the answer's key.

Text up to a closing ``</think>`` is not looked at. What is not JSON is tried as a Python literal
(tuples, single quotes, ``True``). A bare array is put under the answer's key if there is only one.
Where a task's answer is itself text, it is the last fenced block, or else the whole response.

What was done is recorded with every row: the place, and each repair. Every step is linear in the
length of the text.
"""

import ast
import re
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from pydantic import BaseModel, JsonValue

from scbench.canonical import parse_json
from scbench.errors import JsonError
from scbench.schemas.base import json_schema

_LITERAL_CHARACTERS = 200_000
_LITERAL_DEPTH = 64
_MARK = re.compile(r"\banswer\b[*_`\"]*\s*(?:is\s*)?[:=]", re.IGNORECASE)
_TOKEN = re.compile(r"\\.|[\"\[\]{}]", re.DOTALL)
_DECLINES = re.compile(
    r"\b(?:i|we)(?:\s+am|\s+was|['’]m)?\s+"
    r"(?:can\s?not|can['’]t|could\s?n['’]t|could not|won['’]t|will not|unable to|not able to|"
    r"wasn['’]t able|do not have the ability|decline)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of an answer before it is found."""

    is_text: bool
    keys: tuple[str, ...]
    """Required keys of the answer object."""


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
    return Shape(schema.get("type") == "string", tuple(schema.get("required", ())))


def from_field(answer: JsonValue, shape: Shape) -> Found:
    """Return the answer given in a prediction's ``answer`` field."""
    if shape.is_text and isinstance(answer, str):
        return _text(answer, "answer")
    return Found(answer, "answer")


def from_response(response: str, shape: Shape) -> Found | None:
    """Return the answer in a model's text by the rule of this module; None if there is none."""
    _, closed, text = response.rpartition("</think>")
    dropped = ("dropped_reasoning",) if closed else ()
    if shape.is_text:
        found = _text(text, "whole")
        return (
            Found(found.value, found.source, (*dropped, *found.repairs)) if text.strip() else None
        )
    for source, candidate in _candidates(text, shape):
        parsed = _parse(candidate)
        if parsed is None:
            continue
        value, repairs = parsed
        value, more = _fit(value, shape)
        if isinstance(value, dict) and (source != "embedded" or value.keys() >= set(shape.keys)):
            return Found(value, source, (*dropped, *repairs, *more))
    return None


def declines(response: str) -> bool:
    """Whether a text without an answer says that it will not give one."""
    return _DECLINES.search(response[:20_000]) is not None


def _text(text: str, source: str) -> Found:
    blocks = _fenced(text)
    if blocks:
        return Found(blocks[-1], "fence", ("unwrapped_fence",))
    return Found(text, source)


def _fenced(text: str) -> list[str]:
    """Return the fenced blocks of a text; one that is never closed reaches to the end."""
    blocks: list[str] = []
    inside: list[str] | None = None
    if "```" not in text:
        return blocks
    for line in text.split("\n"):
        mark = line.strip()
        if not mark.startswith("```"):
            if inside is not None:
                inside.append(line)
        elif inside is not None and mark == "```":
            blocks.append("\n".join(inside))
            inside = None
        else:
            inside = []
    if inside:
        blocks.append("\n".join(inside))
    return blocks


def _candidates(text: str, shape: Shape) -> Iterator[tuple[str, str]]:
    """Yield places to look at, as (name, text), best first."""
    for block in reversed(_fenced(text)):
        yield "fence", block
    closing = text.rfind("</answer>")
    opening = text.rfind("<answer>", 0, max(closing, 0))
    if opening >= 0:
        yield "marked", text[opening + len("<answer>") : closing]
    marks = [mark.end() for mark in _MARK.finditer(text)]
    if marks:
        rest = text[marks[-1] :]
        yield "marked", rest
        start = re.search(r"[\[{]", rest)
        if start:
            yield "marked", _balanced(rest, start.start())
    yield "whole", text
    for key in shape.keys:
        at = len(text)
        for _ in range(10):
            at = max(text.rfind(f'"{key}"', 0, at), text.rfind(f"'{key}'", 0, at))
            opening = text.rfind("{", 0, max(at, 0))
            if opening < 0:
                break
            yield "embedded", _balanced(text, opening)


def _balanced(text: str, start: int) -> str:
    """Return the text from an opening bracket to the one that closes it, or to the end."""
    depth = 0
    quoted = False
    for token in _TOKEN.finditer(text, start):
        mark = token.group()
        if mark == '"':
            quoted = not quoted
        elif not quoted and mark in "[{":
            depth += 1
        elif not quoted and mark in "]}":
            depth -= 1
            if depth == 0:
                return text[start : token.end()]
    return text[start:]


def _parse(text: str) -> tuple[JsonValue, tuple[str, ...]] | None:
    """Read an object or array as JSON, else as a Python literal."""
    text = text.strip().strip("`").strip()
    if text[:1] not in {"{", "[", "("}:
        return None
    try:
        return parse_json(text.encode()), ()
    except (JsonError, UnicodeEncodeError):
        pass
    if len(text) > _LITERAL_CHARACTERS or _too_deep(text):
        return None
    try:
        with warnings.catch_warnings():  # odd escapes and numbers make the parser talk
            warnings.simplefilter("ignore")
            tree = ast.parse(text, mode="eval")
        return _literal(tree.body), ("python_literal",)
    except (SyntaxError, ValueError, TypeError, MemoryError, RecursionError, OverflowError):
        return None


def _too_deep(text: str) -> bool:
    """Whether Python's parser could be led deep: by brackets or by a run of signs."""
    depth = most = 0
    for character in text:
        if character in "([{":
            depth += 1
            most = max(most, depth)
        elif character in ")]}":
            depth -= 1
    return most > _LITERAL_DEPTH or re.search(r"(?:[-+~]\s*|\bnot\s+){8}", text) is not None


def _literal(node: ast.expr) -> JsonValue:
    """Turn a Python display into JSON values; anything that is not one is refused."""
    match node:
        case ast.Constant(value=str() | bool() | int() | float() | None as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_literal(item) for item in items]
        case ast.Dict(keys=keys, values=values):
            names = [key.value for key in keys if isinstance(key, ast.Constant)]
            if len(names) < len(keys) or len(set(names)) < len(names):
                raise ValueError("a key is missing, computed, or given twice")
            if not all(isinstance(name, str) for name in names):
                raise ValueError("a key is not a string")
            return dict(zip(names, map(_literal, values), strict=True))  # type: ignore[arg-type]
    raise ValueError(f"{type(node).__name__} is not a literal")


def _fit(value: JsonValue, shape: Shape) -> tuple[JsonValue, tuple[str, ...]]:
    """Put a bare array under the answer's only key; take an answer out of a lone ``answer`` key."""
    if isinstance(value, dict) and value.keys() == {"answer"} and "answer" not in shape.keys:
        value, repairs = _fit(value["answer"], shape)
        return value, ("unwrapped_answer_key", *repairs)
    if isinstance(value, list) and len(shape.keys) == 1:
        return {shape.keys[0]: value}, ("wrapped_bare_array",)
    return value, ()
