"""What is known of a task's answers before one is found: taken from the model of the answer."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, JsonValue

from scbench.schemas.base import json_schema
from scbench.scoring.answers.scan import folded

_TYPES = {bool: "boolean", int: "number", float: "number", str: "string", list: "array"}
_TYPES |= {dict: "object", type(None): "null"}


@dataclass(frozen=True, slots=True)
class Shape:
    """What is known of an answer before it is found.

    Its required `keys`, and the JSON `types` of their values and of the `entries` of arrays; the
    `names` of all keys at any depth; the required keys of the only value, if that is an object
    (`inner`); whether ``answer`` is the only key and can hold a word or a number; and what text
    must match to be the only value without any JSON.
    """

    keys: tuple[str, ...]
    names: dict[str, str] = field(default_factory=dict, hash=False, compare=False)
    types: dict[str, frozenset[str]] = field(default_factory=dict, hash=False)
    entries: dict[str, frozenset[str]] = field(default_factory=dict, hash=False)
    inner: tuple[str, ...] = ()
    is_short: bool = False
    bare_text: re.Pattern[str] | None = None

    @property
    def is_list(self) -> bool:
        """Whether the answer is words or numbers, and can be a list of them."""
        return self.is_short and "array" in self.types["answer"]

    def fits(self, value: JsonValue, key: str) -> bool:
        """Whether a value has a JSON type that the value of a key can have."""
        types = self.types.get(key, frozenset())
        if isinstance(value, dict) and self.inner:
            return all(name in value for name in self.inner)
        return not types or _TYPES[type(value)] in types

    def fits_bare(self, value: JsonValue, key: str) -> bool:
        """Whether a value without its key has the types of that, and of its entries."""
        types = self.entries.get(key, frozenset())
        entries = value if isinstance(value, list) and types else []
        return self.fits(value, key) and all(
            _TYPES[type(entry)] in types for entry in entries
        )


@lru_cache(maxsize=256)
def shape_of(answer_model: type[BaseModel]) -> Shape:
    """Return the shape of a task's answers."""
    schema = json_schema(answer_model)
    keys = tuple(schema.get("required", ()))
    objects = (schema, *schema.get("$defs", {}).values())
    parts = {key: _options(schema["properties"][key], schema) for key in keys}
    types = {key: _types(options) for key, options in parts.items()}
    items = {
        key: [
            each for part in options for each in _options(part.get("items", {}), schema)
        ]
        for key, options in parts.items()
    }
    only = types["answer"] if keys == ("answer",) else frozenset()
    scalars = {"boolean", "number", "string"}
    return Shape(
        keys,
        names={
            folded(name): name
            for part in objects
            for name in part.get("properties", ())
        },
        types=types,
        entries={key: _types(options) for key, options in items.items()},
        inner=tuple(parts[keys[0]][0].get("required", ())) if len(keys) == 1 else (),
        is_short=bool(only & scalars) and only <= {*scalars, "array"},
        bare_text=getattr(answer_model, "BARE_TEXT", None),
    )


def _options(part: dict[str, Any], schema: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the schemas that a value may follow, without references."""
    definitions = schema.get("$defs", {})
    options = part.get("anyOf", [part])
    return [definitions.get(o.get("$ref", "").rpartition("/")[2], o) for o in options]


def _types(options: list[dict[str, Any]]) -> frozenset[str]:
    named = {option.get("type", "") for option in options} - {""}
    return frozenset("number" if name == "integer" else name for name in named)
