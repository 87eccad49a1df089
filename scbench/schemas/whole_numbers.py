"""Whole numbers as models write them: 3.0 is 3, but true is not 1 and "3" is not 3."""

from typing import Annotated

from pydantic import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, core_schema


def _without_fraction(value: float) -> int:
    if not value.is_integer():
        raise ValueError("has a fraction")
    return int(value)


class _Whole:
    # Built from pydantic's own parts, because a validator in Python for each of twenty thousand
    # coordinates would take longer than everything else; and as one schema with one message,
    # because a plain union reports each bad value twice.

    @classmethod
    def __get_pydantic_core_schema__(
        cls, source: object, handler: GetCoreSchemaHandler
    ) -> CoreSchema:
        return core_schema.union_schema(
            [
                core_schema.int_schema(strict=True),
                core_schema.no_info_after_validator_function(
                    _without_fraction, core_schema.float_schema(strict=True, allow_inf_nan=False)
                ),
            ],
            mode="left_to_right",
            custom_error_type="whole_number",
            custom_error_message="Input should be a whole number",
        )

    @classmethod
    def __get_pydantic_json_schema__(
        cls, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        return {"type": "integer"}


Whole = Annotated[int, _Whole]
"""A whole number; 3.0 becomes 3, as JSON Schema's integer has it. No boolean, no string."""
