"""What a lab says of a submission: the content of ``submission.yaml``."""

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    StrictInt,
    StrictStr,
    model_validator,
)

from scbench.base.model import OneShot
from scbench.leaderboard.names import hidden
from scbench.schemas.base import json_schema

MOST_ATTEMPTS = 100

_CONTROL = "\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069"
"""No control characters, and none that turn the direction of what stands around them: names are
shown beside those of others."""
_WORD = f"[^\\s{_CONTROL}]"


def _seen(text: str) -> str:
    unseen = hidden(text)
    if unseen:
        raise ValueError(f"holds what nobody sees: {', '.join(unseen[:3])}")
    return text


OneLine = Annotated[
    StrictStr,
    Field(max_length=200, pattern=f"^{_WORD}([^{_CONTROL}]*{_WORD})?$"),
    AfterValidator(_seen),
]
Link = Annotated[
    StrictStr,
    Field(max_length=500, pattern="^https://[A-Za-z0-9.-]+(:[0-9]+)?(/[!#-;=?-\\[\\]_a-z~]*)?$"),
]


def _real_day(text: str) -> str:
    date.fromisoformat(text)
    return text


Day = Annotated[
    StrictStr,
    Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$", json_schema_extra={"format": "date"}),
    AfterValidator(_real_day),
]
Release = Annotated[
    StrictStr, Field(max_length=50, pattern="^[0-9]+\\.[0-9]+\\.[0-9]+((a|b|rc)[0-9]+)?$")
]


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ModelNames(_Part):
    """Which model it is."""

    name: OneLine = Field(description="as it is to stand on the board")
    version: OneLine = Field(
        description="what tells it from other versions and set-ups of the same name, in quotes"
    )
    id: OneLine | None = Field(
        default=None,
        description='what "model" says in the predictions, if that is not the name; mostly the '
        "provider's id",
    )


class Links(_Part):
    """Pages to read more on."""

    paper: Link | None = None
    code: Link | None = None
    weights: Link | None = None
    homepage: Link | None = None


class Submission(_Part):
    """What ``submission.yaml`` holds: one model, in one setting, on one release."""

    format: Annotated[StrictInt, Field(ge=1, le=1)] = 1
    model: ModelNames
    organisation: OneLine = Field(description="who submits it")
    date: Day = Field(description="when the answers were made, as YYYY-MM-DD")
    release: Release = Field(description="release that was answered, such as 2.0.0")
    tasks: Literal["spatial", "manifolds", "ladder"] = Field(
        default="spatial",
        description="spatial, manifolds for the board of the text tasks, or ladder for that of "
        "levels",
    )
    setting: OneShot = Field(
        description="whether the model had tools; answers given in a loop (retry, probe, act) have "
        "no board"
    )
    tools: tuple[OneLine, ...] = Field(
        default=(), max_length=20, description="tools that were offered; none without tools"
    )
    sampling: dict[OneLine, JsonValue] = Field(
        max_length=50,
        description="all parameters as they were sent: temperature, effort, limits; {} if none",
    )
    attempts: StrictInt = Field(
        ge=1,
        le=MOST_ATTEMPTS,
        description="answers per instance that the file holds, as samples 0 to attempts - 1",
    )
    contact: OneLine = Field(description="e-mail address or page of someone who can be asked")
    links: Links = Field(default_factory=Links)
    outputs_licence: OneLine = Field(
        description="licence of the predictions, best as SPDX identifier, such as CC-BY-4.0"
    )
    notes: StrictStr | None = Field(
        default=None, max_length=2000, description="whatever a reader should know"
    )

    @model_validator(mode="after")
    def _consistent(self) -> "Submission":
        if self.setting == "tools" and not self.tools:
            raise ValueError("setting is tools, but no tools are listed")
        if self.setting == "no_tools" and self.tools:
            raise ValueError("setting is no_tools, but tools are listed")
        return self

    @property
    def title(self) -> str:
        """Name and version of the model."""
        return f"{self.model.name} {self.model.version}"


def submission_schema() -> dict[str, Any]:
    """Return the JSON Schema of ``submission.yaml``, with what binds setting and tools together."""
    schema = json_schema(Submission)
    with_tools = {"properties": {"setting": {"const": "tools"}}, "required": ["setting"]}
    schema |= {
        "if": with_tools,
        "then": {"properties": {"tools": {"minItems": 1}}, "required": ["tools"]},
        "else": {"properties": {"tools": {"maxItems": 0}}},
    }
    return schema
