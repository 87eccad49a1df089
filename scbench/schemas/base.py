"""What the schemas of all tasks share: strict number types and the two base models.

Answers come from outside: a boolean is not a number, a string is not a number, NaN and infinities
are refused, keys nobody asked for are ignored (and noted by the judge), missing keys fail.
"""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import AllowInfNan, BaseModel, ConfigDict, Field, JsonValue, Strict

Int = Annotated[int, Strict()]
"""A whole number of our own parameters; those of answers are in `whole_numbers`."""

Index = Annotated[int, Strict(), Field(ge=0)]
"""A whole number from 0."""

Number = Annotated[float, Strict(), AllowInfNan(False)]
"""A finite number, whole or not: no boolean, no string."""

Text = Annotated[str, Strict()]
"""A string."""


class ParamsModel(BaseModel):
    """Base of every task's `Params`."""

    __slots__ = ("_hash",)

    unprinted: ClassVar[Mapping[str, int]] = {}
    """Lists whose items no prompt prints to the end, and how many values of each it prints."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __hash__(self) -> int:
        # Graders keep what follows from an instance by its parameters; to go through hundreds of
        # points for each answer would take longer than to judge it.
        digest: int | None = getattr(self, "_hash", None)
        if digest is None:
            digest = hash(tuple(self.__dict__.values()))
            object.__setattr__(self, "_hash", digest)
        return digest


class AnswerModel(BaseModel):
    """Base of every task's `Answer`.

    The published schema allows no other keys, as structured output wants it; validation ignores
    them.
    """

    model_config = ConfigDict(
        frozen=True, extra="ignore", json_schema_extra={"additionalProperties": False}
    )


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON Schema without the titles pydantic invents from names."""
    schema: dict[str, Any] = model.model_json_schema()
    return {key: _untitled(value) for key, value in schema.items() if key != "title"}


def _untitled(node: JsonValue) -> JsonValue:
    if isinstance(node, list):
        return [_untitled(item) for item in node]
    if not isinstance(node, dict):
        return node
    # Below "properties" (and "$defs") the keys are names, and a field may well be called "title".
    return {
        key: {name: _untitled(child) for name, child in value.items()}
        if key in {"properties", "$defs"} and isinstance(value, dict)
        else _untitled(value)
        for key, value in node.items()
        if not (key == "title" and isinstance(value, str))
    }
