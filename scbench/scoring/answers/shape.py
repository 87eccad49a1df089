"""The shape of a task's answers: the part of their JSON Schema that extraction needs.

For example, answers such as ``{"path": [3, 1, 2]}`` have the shape::

    keys=("path",)               the required keys
    types={"path": {"array"}}    JSON types of their values
    entries={"path": {"number"}} JSON types of the entries of arrays
"""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

from pydantic import BaseModel, JsonValue

from scbench.schemas.base import json_schema
from scbench.scoring.answers.scan import fold_key

# Whole numbers count as numbers, because models write 3 as 3.0.
_TYPES = {
    bool: "boolean",
    int: "number",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
    type(None): "null",
}
_SCALARS = {"boolean", "number", "string"}

Node = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Shape:
    """The shape of an answer.

    Attributes:
        keys: the required keys.
        names: all keys at any depth, by case-folded name.
        types: JSON types of the values, by required key.
        entries: JSON types of the entries of arrays, by required key.
        inner: required keys of the only value, if that is an object.
        is_short: whether ``answer`` is the only key and can be a word or a number.
        bare_text: pattern of text that is the only value, without any JSON.
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
        """Whether the answer can be a list of words or numbers."""
        return self.is_short and "array" in self.types["answer"]

    def fits(self, value: JsonValue, key: str) -> bool:
        """Whether a value has a JSON type allowed for a key."""
        if isinstance(value, dict) and self.inner:
            return all(name in value for name in self.inner)
        types = self.types.get(key)
        return not types or _TYPES[type(value)] in types

    def fits_bare(self, value: JsonValue, key: str) -> bool:
        """Whether a bare value has the allowed types, including its entries."""
        if not self.fits(value, key):
            return False
        types = self.entries.get(key)
        if not types or not isinstance(value, list):
            return True
        return all(_TYPES[type(entry)] in types for entry in value)


@lru_cache(maxsize=256)
def shape_of(answer_model: type[BaseModel]) -> Shape:
    """Return the shape of a task's answers."""
    schema = json_schema(answer_model)
    definitions = schema.get("$defs", {})
    keys = tuple(schema.get("required", ()))
    types = {}
    entries = {}
    inner: tuple[str, ...] = ()
    for key in keys:
        options = alternatives(schema["properties"][key], definitions)
        items = []
        for option in options:
            items += alternatives(option.get("items", {}), definitions)
        types[key] = json_types(options)
        entries[key] = json_types(items)
        if len(keys) == 1:
            inner = tuple(options[0].get("required", ()))
    is_short = False
    if keys == ("answer",):
        has_scalar = not types["answer"].isdisjoint(_SCALARS)
        is_short = has_scalar and types["answer"] <= {*_SCALARS, "array"}
    return Shape(
        keys=keys,
        names=folded_names([schema, *definitions.values()]),
        types=types,
        entries=entries,
        inner=inner,
        is_short=is_short,
        bare_text=getattr(answer_model, "BARE_TEXT", None),
    )


def alternatives(node: Node, definitions: dict[str, Node]) -> list[Node]:
    """Return the schemas that a value may match, with references resolved."""
    options = []
    for option in node.get("anyOf", [node]):
        name = option.get("$ref", "").rpartition("/")[2]
        options.append(definitions.get(name, option))
    return options


def json_types(options: list[Node]) -> frozenset[str]:
    """Return the JSON types in some schemas; integers are numbers."""
    types = {option["type"] for option in options if option.get("type")}
    if "integer" in types:
        types.remove("integer")
        types.add("number")
    return frozenset(types)


def folded_names(objects: list[Node]) -> dict[str, str]:
    """Return the names of the properties of some schemas, by their folded names."""
    names = {}
    for node in objects:
        for name in node.get("properties", ()):
            names[fold_key(name)] = name
    return names
