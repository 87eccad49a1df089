"""Types and base models that the schemas of all tasks share.

Answers are untrusted input. A boolean is not a number, a string is not a number, NaN
and infinities are refused, unknown keys are ignored (and the judge notes them), and
missing keys are errors. Whole numbers may be written as floats: 3.0 is 3. But true is
not 1, and "3" is not 3.
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

# A whole number in parameters; answers use `WholeNumber`.
Int = Annotated[int, Strict()]
# A whole number from 0.
Index = Annotated[int, Strict(), Field(ge=0)]
# A finite number; booleans and strings are refused.
Number = Annotated[float, Strict(), AllowInfNan(False)]
Pair = Annotated[tuple[Number, ...], Field(min_length=2, max_length=2)]
Triple = Annotated[tuple[Number, ...], Field(min_length=3, max_length=3)]
# A string.
Text = Annotated[str, Strict()]


@dataclass(frozen=True, slots=True)
class WholeBounds:
    """Annotation for a whole number.

    Attributes:
        least: smallest value; None for no bound.
        greatest: largest value; None for no bound.
    """

    least: int | None = None
    greatest: int | None = None

    # Built from pydantic's own parts, because a Python validator for each of twenty thousand
    # coordinates would take longer than everything else. It is one schema with one message, because
    # a plain union reports each bad value twice.

    def __get_pydantic_core_schema__(
        self, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        integer = core_schema.int_schema(strict=True, ge=self.least, le=self.greatest)
        number = core_schema.float_schema(
            strict=True, allow_inf_nan=False, ge=self.least, le=self.greatest
        )
        without_fraction = core_schema.no_info_after_validator_function(
            whole_from_float, number
        )
        return core_schema.union_schema(
            [integer, without_fraction],
            mode="left_to_right",
            custom_error_type="whole_number",
            custom_error_message="must be a whole number",
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        json_schema: JsonSchemaValue = {"type": "integer"}
        if self.least is not None:
            json_schema["minimum"] = self.least
        if self.greatest is not None:
            json_schema["maximum"] = self.greatest
        return json_schema


def whole_from_float(value: float) -> int:
    """Return a float without a fraction as a whole number.

    Raises:
        ValueError: it has a fraction.
    """
    if not value.is_integer():
        raise ValueError("has a fraction")
    return int(value)


# A whole number; 3.0 becomes 3, as in JSON Schema. Booleans and strings are refused.
WholeNumber = Annotated[int, WholeBounds()]
# A whole number from 0.
WholeIndex = Annotated[int, WholeBounds(least=0)]
WholeIndexPair = Annotated[tuple[WholeIndex, ...], Field(min_length=2, max_length=2)]
# A whole number from 0 to 9.
WholeDigit = Annotated[int, WholeBounds(least=0, greatest=9)]


class ParamsModel(BaseModel):
    """Base of every task's `Params`."""

    __slots__ = ("_hash",)

    # Lists whose items the prompt prints only in part, with the number of values
    # printed per item.
    unprinted: ClassVar[Mapping[str, int]] = {}

    model_config = ConfigDict(frozen=True, extra="forbid")

    def __hash__(self) -> int:
        # Graders cache results by parameters. Hashing hundreds of points for each answer would take
        # longer than grading it.
        digest: int | None = getattr(self, "_hash", None)
        if digest is None:
            digest = hash(tuple(self.__dict__.values()))
            object.__setattr__(self, "_hash", digest)
        return digest


class AnswerModel(BaseModel):
    """Base of every task's `Answer`.

    The published schema allows no other keys, as structured output requires; validation
    ignores extra keys.
    """

    model_config = ConfigDict(
        frozen=True, extra="ignore", json_schema_extra={"additionalProperties": False}
    )


def json_schema(model: type[BaseModel]) -> dict[str, Any]:
    """Return a model's JSON Schema without the titles that pydantic derives from names."""
    schema: dict[str, Any] = model.model_json_schema()
    return {
        key: without_titles(value) for key, value in schema.items() if key != "title"
    }


def without_titles(node: JsonValue) -> JsonValue:
    """Return a part of a JSON Schema without titles."""
    if isinstance(node, list):
        return [without_titles(item) for item in node]
    if not isinstance(node, dict):
        return node
    plain: dict[str, JsonValue] = {}
    for key, value in node.items():
        if key in {"properties", "$defs"} and isinstance(value, dict):
            # Here the keys are field names, and a field may be called "title".
            plain[key] = {name: without_titles(child) for name, child in value.items()}
        elif key != "title" or not isinstance(value, str):
            plain[key] = without_titles(value)
    return plain


# Types of ``answer``, the only key of the text tasks. All of them accept a string too, because most
# answers are read from text; the graders parse it as a number, a truth value or a list
# (`scbench.graders.shared.short_answers`). Extraction recognizes these answers by their shape, see
# `scbench.scoring.answers.shape`: ``answer`` is the only required key and can be a scalar.

# A whole number, a word, the letter or the text of an option, a date.
ShortAnswer = WholeNumber | Text
# A number, whole or not; a fraction is a string such as ``"2/3"``.
ShortNumber = WholeNumber | Number | Text
# A truth value: as JSON writes it, as 0 or 1, or as a word.
ShortTruth = StrictBool | WholeNumber | Text
# Words or numbers in order, or a set of them; as an array, or as a string with
# separators.
ShortList = WholeNumber | Text | tuple[WholeNumber | Text, ...]
