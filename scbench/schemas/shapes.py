"""JSON Schemas as text, and in the subset that all providers accept for structured output.

The full schema of an answer has bounds, lengths and patterns, which not every provider accepts. Row
schemas use only the common subset (root object, every object closed and all of its keys required,
plain types, one ``items``, strings in ``enum``, ``anyOf`` below the root, ``description``), and
state the rest in their descriptions.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from scbench.base.wording import form_in_words
from scbench.schemas.base import json_schema

Node = dict[str, Any]
# Numbers in words, by value.
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
# Types in words: one value, and several.
_KINDS = {
    "integer": ("a whole number", "whole numbers"),
    "number": ("a finite number", "finite numbers"),
    "string": ("a string", "strings"),
    "boolean": ("true or false", "truth values"),
    "null": ("null", "nulls"),
}
# Limits of plain values in words.
_BOUNDS = {
    "minimum": "from {}",
    "maximum": "up to {}",
    "exclusiveMinimum": "above {}",
    "exclusiveMaximum": "below {}",
    "minLength": "of at least {} characters",
    "maxLength": "of at most {} characters",
    "pattern": "{}",
}
# Keys that every provider accepts as they are.
_COMMON_KEYS = ("type", "enum", "description")
# Keys that row schemas leave out; their descriptions state them.
_WORDED_KEYS = {*_BOUNDS, "minItems", "maxItems", "prefixItems"}


@lru_cache(maxsize=256)
def resolved_schema(model: type[BaseModel]) -> Node:
    """Return a model's JSON Schema with every reference replaced by its definition."""
    schema = json_schema(model)
    definitions = schema.pop("$defs", {})
    full_schema: Node = resolve_references(schema, definitions)
    return full_schema


def resolve_references(node: Any, definitions: Mapping[str, Node]) -> Any:  # noqa: ANN401  (JSON)
    """Return a part of a JSON Schema with every reference replaced by its definition."""
    if isinstance(node, list):
        return [resolve_references(item, definitions) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = node["$ref"].rpartition("/")[2]
        # Keys next to the reference, such as a description, override those of the definition.
        overrides = {key: value for key, value in node.items() if key != "$ref"}
        return resolve_references({**definitions[name], **overrides}, definitions)
    return {key: resolve_references(value, definitions) for key, value in node.items()}


def provider_schema(model: type[BaseModel]) -> Node:
    """Return a model's JSON Schema in the common subset of all providers."""
    return subset_of(resolved_schema(model))


def subset_of(node: Node) -> Node:
    """Return a part of a JSON Schema in the common subset of all providers."""
    subset = {key: node[key] for key in _COMMON_KEYS if key in node}
    if "const" in node:
        subset["enum"] = [node["const"]]
    if "anyOf" in node:
        branches = [subset_of(branch) for branch in node["anyOf"]]
        # Integers are numbers, too, and some providers refuse overlapping branches.
        if {"type": "number"} in branches:
            branches = [branch for branch in branches if branch != {"type": "integer"}]
        subset["anyOf"] = branches
    distinct_items: list[Node] = []
    for item in item_schemas(node):
        item_subset = subset_of(item)
        if item_subset not in distinct_items:
            distinct_items.append(item_subset)
    if len(distinct_items) == 1:
        subset["items"] = distinct_items[0]
    elif distinct_items:
        subset["items"] = {"anyOf": distinct_items}
    if "properties" in node:
        properties = node["properties"]
        subset["properties"] = {
            name: described_subset(child) for name, child in properties.items()
        }
        subset["required"] = list(properties)
        subset["additionalProperties"] = False
    return subset


def described_subset(node: Node) -> Node:
    """Return the subset of a property, with the omitted limits in its description."""
    subset = subset_of(node)
    if loses_limits(node):
        limits = f"({in_words(node)})"
        description = subset.get("description")
        subset["description"] = f"{description} {limits}" if description else limits
    return subset


def loses_limits(node: Node) -> bool:
    """Return whether the subset of a schema leaves out limits of its values."""
    if _WORDED_KEYS & node.keys():
        return True
    parts = item_schemas(node) + node.get("anyOf", [])
    return any(loses_limits(part) for part in parts)


def item_schemas(node: Node) -> list[Node]:
    """Return the schemas of the entries of an array."""
    schemas = list(node.get("prefixItems", ()))
    if node.get("items"):
        schemas.append(node["items"])
    return schemas


def in_words(node: Node) -> str:
    """Return a JSON Schema as a phrase after "must be", such as "two whole numbers from 0"."""
    return phrase_of(node, plural=False)


def phrase_of(node: Node, *, plural: bool) -> str:
    """Return a JSON Schema as a phrase for one value, or for several."""
    if "anyOf" in node:
        branches = [phrase_of(branch, plural=False) for branch in node["anyOf"]]
        phrase = " or ".join(dict.fromkeys(branches))
        return f"values, each {phrase}" if plural else phrase
    choices = node.get("enum", [])
    if "const" in node and not choices:
        choices = [node["const"]]
    if choices:
        phrase = enumeration(choices, "or")
        return f"strings, each {phrase}" if plural else phrase
    kind = node.get("type")
    if kind == "array":
        return _array_phrase(node, plural=plural)
    if kind == "object":
        return _object_phrase(node, plural=plural)
    singular_noun, plural_noun = _KINDS.get(str(kind), ("a value", "values"))
    words = [plural_noun if plural else singular_noun]
    for key, template in _BOUNDS.items():
        if key in node:
            limit = form_in_words(node[key]) if key == "pattern" else node[key]
            words.append(template.format(limit))
    return " ".join(words)


def _object_phrase(node: Node, *, plural: bool) -> str:
    noun = "objects" if plural else "an object"
    keys = list(node.get("properties", ()))
    if not keys:
        return noun
    key_noun = "key" if len(keys) == 1 else "keys"
    return f"{noun} with the {key_noun} {enumeration(keys)}"


def _array_phrase(node: Node, *, plural: bool) -> str:
    noun = "lists of" if plural else "a list of"
    if "prefixItems" in node:
        parts = [phrase_of(item, plural=False) for item in node["prefixItems"]]
        return f"{noun} {', then '.join(parts)}"
    low = node.get("minItems", 0)
    high = node.get("maxItems")
    may_be_several = high != 1
    entries = phrase_of(node.get("items", {}), plural=may_be_several)
    if low == high:
        # A fixed number of entries needs no noun: "two whole numbers".
        phrase = f"{count_word(low)} {entries}" if may_be_several else entries
        return f"{noun} {phrase}" if plural else phrase
    if high is None:
        size = f"at least {count_word(low)} " if low else ""
    elif low:
        size = f"{low} to {high:,} "
    else:
        size = f"at most {high:,} "
    return f"{noun} {size}{entries}"


def count_word(count: int) -> str:
    """Return a number as a word up to ten, in digits above."""
    return _NUMBERS[count] if count < len(_NUMBERS) else f"{count:,}"


def enumeration(values: Sequence[Any], joint: str = "and") -> str:
    """Return values in a sentence, strings in quotes: 'a', 'b' and 'c'."""
    phrases = [
        f"'{value}'" if isinstance(value, str) else str(value) for value in values
    ]
    if len(phrases) < 2:
        return "".join(phrases)
    return f"{', '.join(phrases[:-1])} {joint} {phrases[-1]}"
