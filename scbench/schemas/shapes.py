"""JSON Schemas in words, and as the structured-output modes of all providers take them.

The full schema of an answer has bounds, lengths and patterns, which not every provider accepts. Row
schemas keep to what all of them do (root object, every object closed and all of its keys required,
plain types, one ``items``, strings in ``enum``, ``anyOf`` below the root, ``description``), and say
the rest in their descriptions.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from scbench.schemas.base import json_schema

Node = dict[str, Any]
_NUMBERS = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
)
_KINDS = {
    "integer": ("a whole number", "whole numbers"),
    "number": ("a finite number", "finite numbers"),
    "string": ("a string", "strings"),
    "boolean": ("true or false", "truth values"),
    "null": ("null", "nulls"),
}
_BOUNDS = {
    "minimum": "from {}",
    "maximum": "up to {}",
    "exclusiveMinimum": "above {}",
    "exclusiveMaximum": "below {}",
    "minLength": "of at least {} characters",
    "maxLength": "of at most {} characters",
    "pattern": "of the form {}",
}
_COMMON_KEYS = ("type", "enum", "description")
_SIZES = {"minItems", "maxItems", "prefixItems"}
# What a row schema leaves out and its descriptions say.
_WORDED_KEYS = {*_BOUNDS, *_SIZES}


@lru_cache(maxsize=256)
def resolved_schema(model: type[BaseModel]) -> Node:
    """Return a model's JSON Schema with every reference replaced by what it names."""
    schema = json_schema(model)
    resolved: Node = _resolved(schema, schema.pop("$defs", {}))
    return resolved


def _resolved(node: Any, definitions: Mapping[str, Node]) -> Any:  # noqa: ANN401  (JSON)
    if isinstance(node, list):
        return [_resolved(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        beside = {key: value for key, value in node.items() if key != "$ref"}
        definition = definitions[node["$ref"].rpartition("/")[2]]
        return _resolved({**definition, **beside}, definitions)
    return {key: _resolved(value, definitions) for key, value in node.items()}


def provider_schema(model: type[BaseModel]) -> Node:
    """Return a model's JSON Schema in the common subset of all providers."""
    return _subset(resolved_schema(model))


def _subset(node: Node) -> Node:
    subset = {key: node[key] for key in _COMMON_KEYS if key in node}
    if "const" in node:
        subset["enum"] = [node["const"]]
    if "anyOf" in node:
        branches = [_subset(branch) for branch in node["anyOf"]]
        any_number = {"type": "number"} in branches
        subset["anyOf"] = [
            b for b in branches if not (any_number and b == {"type": "integer"})
        ]
    items = _item_schemas(node)
    if items:
        below = [_subset(item) for item in items]
        distinct = [item for i, item in enumerate(below) if item not in below[:i]]
        subset["items"] = distinct[0] if len(distinct) == 1 else {"anyOf": distinct}
    if "properties" in node:
        subset["properties"] = {
            name: _property(child) for name, child in node["properties"].items()
        }
        subset["required"] = list(subset["properties"])
        subset["additionalProperties"] = False
    return subset


def _property(node: Node) -> Node:
    """Return the subset of a property, its description with what the subset leaves out."""
    subset = _subset(node)
    if _leaves_out(node):
        words = [subset["description"]] if "description" in subset else []
        subset["description"] = " ".join([*words, f"({in_words(node)})"])
    return subset


def _leaves_out(node: Node) -> bool:
    below = [*_item_schemas(node), *node.get("anyOf", ())]
    return bool(_WORDED_KEYS & node.keys()) or any(map(_leaves_out, below))


def _item_schemas(node: Node) -> list[Node]:
    return [
        *node.get("prefixItems", ()),
        *([node["items"]] if node.get("items") else []),
    ]


def in_words(node: Node) -> str:
    """Return what a JSON Schema asks for, to follow "must be": "two whole numbers from 0"."""
    return _node_words(node, plural=False)


def _node_words(node: Node, *, plural: bool) -> str:
    if "anyOf" in node:
        branches = " or ".join(
            dict.fromkeys(_node_words(b, plural=False) for b in node["anyOf"])
        )
        return f"values, each {branches}" if plural else branches
    choices = node.get("enum", [node["const"]] if "const" in node else [])
    if choices:
        phrase = enumeration(choices, "or")
        return f"strings, each {phrase}" if plural else phrase
    kind = node.get("type")
    if kind == "array":
        return _array(node, plural=plural)
    if kind == "object":
        keys = list(node.get("properties", ()))
        phrase = (
            f" with the key{'s' * (len(keys) > 1)} {enumeration(keys)}" if keys else ""
        )
        return f"objects{phrase}" if plural else f"an object{phrase}"
    words = _KINDS.get(str(kind), ("a value", "values"))[plural]
    bounds = [
        phrase_of.format(node[key]) for key, phrase_of in _BOUNDS.items() if key in node
    ]
    return " ".join([words, *bounds])


def _array(node: Node, *, plural: bool) -> str:
    low, high = node.get("minItems", 0), node.get("maxItems")
    if "prefixItems" in node:
        parts = ", then ".join(
            _node_words(item, plural=False) for item in node["prefixItems"]
        )
        return f"lists of {parts}" if plural else f"a list of {parts}"
    many = high != 1
    inner = _node_words(node.get("items", {}), plural=many)
    if low == high:
        count = _NUMBERS[low] if low < len(_NUMBERS) else f"{low:,}"
        fixed = f"{count} {inner}" if many else inner
        return f"lists of {fixed}" if plural else fixed
    sizes = (
        [f"{_NUMBERS[low]} or more " if low < len(_NUMBERS) else f"{low:,} or more "]
        if low
        else []
    )
    sizes += [] if high is None else [f"at most {high:,} "]
    return f"{'lists' if plural else 'a list'} of {'and '.join(sizes)}{inner}"


def enumeration(values: Sequence[Any], joint: str = "and") -> str:
    """Return values in quotes, as a sentence has them."""
    quoted = [
        f"'{value}'" if isinstance(value, str) else str(value) for value in values
    ]
    return f" {joint} ".join(filter(None, [", ".join(quoted[:-1]), *quoted[-1:]]))
