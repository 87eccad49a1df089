"""What the schemas of all tasks share: strict types, those of short answers, two base models.

Answers come from outside: a boolean is not a number, a string is not a number, NaN and infinities
are refused, keys nobody asked for are ignored (and noted by the judge), missing keys fail. Whole
numbers are taken as models write them: 3.0 is 3, but true is not 1 and "3" is not 3.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import (
    AllowInfNan,
    BaseModel,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    JsonValue,
    Strict,
    StrictBool,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema

# A whole number of our own parameters; those of answers are `WholeNumber`s.
Int = Annotated[int, Strict()]
# A whole number from 0.
Index = Annotated[int, Strict(), Field(ge=0)]
# A finite number, whole or not: no boolean, no string.
Number = Annotated[float, Strict(), AllowInfNan(False)]
Pair = Annotated[tuple[Number, ...], Field(min_length=2, max_length=2)]
Triple = Annotated[tuple[Number, ...], Field(min_length=3, max_length=3)]
# A string.
Text = Annotated[str, Strict()]


def _without_fraction(value: float) -> int:
    if not value.is_integer():
        raise ValueError("has a fraction")
    return int(value)


@dataclass(frozen=True, slots=True)
class _WholeBounds:
    """A whole number within bounds, both included; None is no bound."""

    least: int | None = None
    greatest: int | None = None

    # Built from pydantic's own parts, because a validator in Python for each of twenty thousand
    # coordinates would take longer than everything else; and as one schema with one message,
    # because a plain union reports each bad value twice.

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.union_schema(
            [
                core_schema.int_schema(strict=True, ge=self.least, le=self.greatest),
                core_schema.no_info_after_validator_function(
                    _without_fraction,
                    core_schema.float_schema(
                        strict=True,
                        allow_inf_nan=False,
                        ge=self.least,
                        le=self.greatest,
                    ),
                ),
            ],
            mode="left_to_right",
            custom_error_type="whole_number",
            custom_error_message="must be a whole number",
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        bounds = {"minimum": self.least, "maximum": self.greatest}
        return {"type": "integer", **{k: v for k, v in bounds.items() if v is not None}}


# A whole number; 3.0 becomes 3, as JSON Schema's integer has it. No boolean, no string.
WholeNumber = Annotated[int, _WholeBounds()]
# A whole number from 0.
WholeIndex = Annotated[int, _WholeBounds(least=0)]
WholeIndexPair = Annotated[tuple[WholeIndex, ...], Field(min_length=2, max_length=2)]
# A whole number from 0 to 9.
WholeDigit = Annotated[int, _WholeBounds(least=0, greatest=9)]


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


# Text tasks use these types under the one key ``answer``. All of them take a string too, because
# text is what most answers are read from; the graders read a number, a truth value or a list out of
# it (`scbench.graders.shared.short_answers`). A model of such an answer is known by this shape, see
# `scbench.scoring.answers.shape`: ``answer`` is its only required key and can be a scalar.

# A whole number, a word, the letter or the text of an option, a date.
ShortAnswer = WholeNumber | Text
# A number, whole or not; a fraction is a string such as ``"2/3"``.
ShortNumber = WholeNumber | Number | Text
# A truth value: as JSON writes it, as 0 or 1, or as a word.
ShortTruth = StrictBool | WholeNumber | Text
# Words or numbers in order, or a set of them; as an array, or as a string with
# separators.
ShortList = WholeNumber | Text | tuple[WholeNumber | Text, ...]
