"""Whole numbers as models write them: 3.0 is 3, but true is not 1 and "3" is not 3."""

from dataclasses import dataclass
from typing import Annotated

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


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
                        strict=True, allow_inf_nan=False, ge=self.least, le=self.greatest
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


WholeNumber = Annotated[int, _WholeBounds()]
"""A whole number; 3.0 becomes 3, as JSON Schema's integer has it. No boolean, no string."""

WholeIndex = Annotated[int, _WholeBounds(least=0)]
"""A whole number from 0."""

WholeDigit = Annotated[int, _WholeBounds(least=0, greatest=9)]
"""A whole number from 0 to 9."""
