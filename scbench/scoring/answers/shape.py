"""What is known of a task's answers before one is found: taken from the model of the answer."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from scbench.schemas.base import json_schema
from scbench.scoring.answers.scan import folded

_SCALARS = {"boolean", "integer", "number", "string"}


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of an answer before it is found.

    Attributes:
        keys: required keys of the answer object.
        names: all keys in it, at any depth, as `scbench.scoring.answers.scan.folded` makes them.
        texts: required keys whose value may be a string.
        inner: required keys of the value, where that is an object under the only key.
        is_short: whether ``answer`` is the only key and can hold a word or a number.
        is_list: whether such an answer can be a list as well.
        bare_text: what text must match to be the value of the only key without any JSON; the
            attribute ``BARE_TEXT`` of the answer model.
    """

    keys: tuple[str, ...]
    names: dict[str, str] = field(default_factory=dict, hash=False, compare=False)
    texts: frozenset[str] = frozenset()
    inner: tuple[str, ...] = ()
    is_short: bool = False
    is_list: bool = False
    bare_text: re.Pattern[str] | None = None


@lru_cache(maxsize=256)
def shape_of(answer_model: type[BaseModel]) -> Shape:
    """Return the shape of a task's answers."""
    schema = json_schema(answer_model)
    keys = tuple(schema.get("required", ()))
    kinds = {key: _json_types(schema["properties"][key], schema) for key in keys}
    only = kinds["answer"] if keys == ("answer",) else set()
    is_short = bool(only & _SCALARS) and only <= {*_SCALARS, "array"}
    value = _resolve_ref(schema["properties"][keys[0]], schema) if len(keys) == 1 else {}
    return Shape(
        keys,
        names={folded(name): name for name in _all_keys(schema)},
        texts=frozenset(key for key in keys if "string" in kinds[key]),
        inner=tuple(value.get("required", ())),
        is_short=is_short,
        is_list=is_short and "array" in only,
        bare_text=getattr(answer_model, "BARE_TEXT", None),
    )


def _resolve_ref(part: dict[str, Any], schema: dict[str, Any]) -> dict[str, Any]:
    name = part.get("$ref", "").rpartition("/")[2]
    resolved: dict[str, Any] = schema.get("$defs", {}).get(name, part)
    return resolved


def _json_types(part: dict[str, Any], schema: dict[str, Any]) -> set[str]:
    return {_resolve_ref(option, schema).get("type", "") for option in part.get("anyOf", [part])}


def _all_keys(schema: dict[str, Any]) -> Iterator[str]:
    for part in (schema, *schema.get("$defs", {}).values()):
        yield from part.get("properties", ())
