"""The content of ``submission.yaml``: one model, in one setting, on one release."""

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    Field,
    JsonValue,
    StrictInt,
    StrictStr,
    ValidationError,
    model_validator,
)

from scbench.base.errors import did_you_mean, items_of, printable, problem_of
from scbench.base.model import Frozen, OneShot
from scbench.leaderboard.findings import Finding, finding
from scbench.leaderboard.lookalikes import without_badges, without_hidden_signs
from scbench.leaderboard.strict_yaml import DocumentError, Place, read_yaml
from scbench.schemas.base import json_schema

# Maximum number of samples of each item in a submission.
MOST_ATTEMPTS = 100
# The benchmark did not exist earlier.
_FIRST_DAY = date(2020, 1, 1)

# Control characters and characters that change the text direction are refused, because
# names are shown next to those of other submissions.
_CONTROL = "\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069"
_WORD = f"[^\\s{_CONTROL}]"
# Names of models and organisations, parameters, tools: one line without spaces at its
# ends.
OneLine = Annotated[
    StrictStr,
    Field(max_length=200, pattern=f"^{_WORD}([^{_CONTROL}]*{_WORD})?$"),
    AfterValidator(without_hidden_signs),
]
# Names on the board must look like names.
Name = Annotated[OneLine, AfterValidator(without_badges)]
# Only https, and no characters that end an HTML attribute.
Link = Annotated[
    StrictStr,
    Field(
        max_length=500,
        pattern="^https://[A-Za-z0-9.-]+(:[0-9]+)?(/[!#-;=?-\\[\\]_a-z~]*)?$",
    ),
]
Release = Annotated[
    StrictStr,
    Field(max_length=50, pattern="^[0-9]+\\.[0-9]+\\.[0-9]+((a|b|rc)[0-9]+)?$"),
]
# Advice on the values of keys that have no description.
_TODO_BY_KEY = {
    "links": "write an address such as https://example.org/paper",
    "tools": "write each tool as text on one line",
    "sampling": "write each parameter as a key and a value, such as temperature: 0.7",
}


def real_day(text: str) -> str:
    """Return a date unchanged.

    Raises:
        ValueError: the day does not exist, or is before 2020 or after tomorrow.
    """
    day = date.fromisoformat(text)
    # Somewhere on Earth it is already tomorrow.
    if not _FIRST_DAY <= day <= date.today() + timedelta(days=1):  # noqa: DTZ011
        raise ValueError(f"must be from {_FIRST_DAY} to today")
    return text


Day = Annotated[
    StrictStr,
    Field(pattern="^[0-9]{4}-[0-9]{2}-[0-9]{2}$", json_schema_extra={"format": "date"}),
    AfterValidator(real_day),
]


# The published schema contains the docstrings and descriptions of these models.
class ModelNames(Frozen):
    """The identity of a model."""

    name: Name = Field(description="the name to show on the leaderboard")
    version: Name = Field(
        description="version or set-up, in quotes; distinguishes models of the same name"
    )
    id: OneLine | None = Field(
        default=None,
        description='value of "model" in the predictions, if it differs from the name; usually the '
        "provider's id",
    )


class Links(Frozen):
    """Pages with more information."""

    paper: Link | None = None
    code: Link | None = None
    weights: Link | None = None
    homepage: Link | None = None


class Submission(Frozen):
    """The content of ``submission.yaml``: one model, in one setting, on one release."""

    format: Annotated[StrictInt, Field(ge=1, le=1)] = 1
    model: ModelNames
    organisation: Name = Field(description="who submits it")
    date: Day = Field(description="when the answers were generated, as YYYY-MM-DD")
    release: Release = Field(description="release that was answered, such as 2.0.0")
    tasks: Literal["spatial", "manifolds", "ladder"] = Field(
        default="spatial",
        description="spatial, manifolds (board of the text tasks) or ladder (board of levels)",
    )
    setting: OneShot = Field(
        description="whether the model had tools; answers given in a loop (retry, probe, act) have "
        "no board"
    )
    tools: tuple[OneLine, ...] = Field(
        default=(),
        max_length=20,
        description="tools that were offered to the model; omit if there were none",
    )
    sampling: dict[OneLine, JsonValue] = Field(
        max_length=50,
        description="all parameters that were sent: temperature, effort, limits; {} if none",
    )
    attempts: StrictInt = Field(
        ge=1,
        le=MOST_ATTEMPTS,
        description="answers per instance in the file, as samples 0 to attempts - 1",
    )
    contact: OneLine = Field(
        description="e-mail address or web page of a contact person"
    )
    links: Links = Field(default_factory=Links)
    outputs_licence: OneLine = Field(
        description="licence of the predictions, preferably an SPDX identifier such as CC-BY-4.0"
    )
    notes: StrictStr | None = Field(
        default=None, max_length=2000, description="anything a reader should know"
    )

    @model_validator(mode="after")
    def tools_fit_setting(self) -> "Submission":
        """Refuse tools without the setting tools, and vice versa."""
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
    """Return the JSON Schema of ``submission.yaml``, with the rule on setting and tools."""
    with_tools = {
        "properties": {"setting": {"const": "tools"}},
        "required": ["setting"],
    }
    return json_schema(Submission) | {
        "if": with_tools,
        "then": {"properties": {"tools": {"minItems": 1}}, "required": ["tools"]},
        "else": {"properties": {"tools": {"maxItems": 0}}},
    }


def read_submission(data: bytes, file: str) -> tuple[Submission | None, list[Finding]]:
    """Return the content of a ``submission.yaml``, or None and all errors in it."""
    try:
        value, lines = read_yaml(data)
    except DocumentError as error:
        return None, [finding("not_yaml", file, error.line, reason=error)]
    if not isinstance(value, dict):
        return None, [finding("bad_submission", file, 1)]
    try:
        return Submission.model_validate(value), []
    except ValidationError as error:
        findings = [finding_of(fault, lines, file) for fault in items_of(error)]
        return None, findings


def finding_of(
    fault: Mapping[str, Any], lines: Mapping[Place, int], file: str
) -> Finding:
    """Return one of pydantic's errors as a finding at a line of the file."""
    place: Place = tuple(part for part in fault["loc"] if part != "[key]")
    name = printable(".".join(str(part)[:50] for part in place))
    # A missing key gets the line of the surrounding mapping.
    nearest = place
    while nearest not in lines:
        nearest = nearest[:-1]
    line = lines[nearest]
    kind = fault["type"]
    if kind == "extra_forbidden":
        model = model_at(place[:-1])
        keys = list(model.model_fields) if model else []
        similar_key = did_you_mean(str(place[-1]), keys).strip()
        todo = similar_key or f"remove it; valid keys are {', '.join(keys)}"
        return finding("unknown_key", file, line, name=name, todo=todo)
    todo = description_of(place)
    if kind == "missing":
        return finding("missing_key", file, line, name=name, description=todo)
    reason = problem_of(fault)
    if kind == "value_error" and not place:
        # No single key is wrong: setting and tools contradict each other.
        line = lines.get(("setting",), 1)
        return finding("setting_tools", file, line, reason=reason)
    if kind == "value_error" or not todo:
        todo = _TODO_BY_KEY.get(str(place[0]) if place else "", "correct it")
    if kind == "string_type" and isinstance(fault["input"], int | float):
        todo = "quote it so that YAML reads it as text"
    if kind == "string_pattern_mismatch":
        # Regular expressions do not help most users.
        reason = "wrong format"
    return finding(
        "bad_value", file, line, name=name, reason=printable(reason), todo=todo
    )


def description_of(place: Place) -> str:
    """Return the description of a field, empty if it has none."""
    model = model_at(place[:-1])
    if model is None or not place:
        return ""
    info = model.model_fields.get(str(place[-1]))
    if info is None:
        return ""
    return info.description or ""


def model_at(place: Place) -> type[BaseModel] | None:
    """Return the model of a mapping in the file; None if any keys are allowed."""
    model: type[BaseModel] = Submission
    for part in place:
        info = model.model_fields.get(str(part))
        kind = info.annotation if info else None
        if not isinstance(kind, type) or not issubclass(kind, BaseModel):
            return None
        model = kind
    return model
