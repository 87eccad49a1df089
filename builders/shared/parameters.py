"""Parameters of a task's space, each with the kind of difficulty that it sets.

Tables group by kind. The kind is in the schema of the space as ``kind``, where any program can read
it.
"""

from collections.abc import Mapping
from typing import Any, Literal, get_args

from pydantic import BaseModel, Field

Kind = Literal["scale", "depth", "interference", "semantic"]
"""Length or scale, depth, interference, semantic complexity."""

KINDS: tuple[Kind, ...] = get_args(Kind)


def parameter(default: object, description: str, kind: Kind | None = None, **bounds: Any) -> Any:  # noqa: ANN401
    """Return the field of a parameter in a space.

    Args:
        default: its value if nothing is said.
        description: one line for users.
        kind: what kind of difficulty it sets, where tables group by it.
        bounds: what else `pydantic.Field` takes, such as ``ge`` and ``le``.
    """
    extra: Any = {"kind": kind} if kind else None
    return Field(default=default, description=description, json_schema_extra=extra, **bounds)


def kinds_of(space: type[BaseModel]) -> Mapping[str, Kind]:
    """Return the kind of every parameter of a space that has one, in the order of its fields."""
    kinds: dict[str, Kind] = {}
    for name, field in space.model_fields.items():
        extra = field.json_schema_extra
        if isinstance(extra, dict) and extra.get("kind") in KINDS:
            kinds[name] = extra["kind"]  # type: ignore[assignment]  # it is among the kinds
    return kinds
