"""What a lab says of a submission: ``submission.yaml`` and ``claimed.json``, with line numbers.

YAML is taken as a stream of events and nothing else: no tags, no anchors and aliases, no types but
JSON's. Dates, ``yes`` and ``0o17`` stay the text that they are.
"""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Annotated, Any, Literal, NoReturn

import yaml
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

from scbench.base.canonical import parse_json
from scbench.base.errors import (
    JsonError,
    ScbenchError,
    did_you_mean,
    items_of,
    printable,
    problem_of,
)
from scbench.base.model import Frozen, OneShot
from scbench.leaderboard.findings import Finding, finding
from scbench.schemas.base import json_schema

MOST_ATTEMPTS = 100

# No control characters, and none that turn the direction of what stands around them:
# names are shown beside those of others.
_CONTROL = "\\u0000-\\u001f\\u007f-\\u009f\\u2028-\\u202e\\u2066-\\u2069"
_WORD = f"[^\\s{_CONTROL}]"
# Larger files are refused unread: a submission.yaml has one or two thousand bytes.
MOST_BYTES = 64 * 1024
_MOST_DEPTH = 12
_NUMBER = re.compile(
    r"-?(0|[1-9]\d{0,17})(?P<rest>(\.\d{1,20})?([eE][+-]?\d{1,2})?)", re.ASCII
)
_WORDS: Mapping[str, JsonValue] = {
    "": None,
    "null": None,
    "~": None,
    "true": True,
    "false": False,
}

# Categories of signs that nobody sees, or that change what stands beside them.
_HIDDEN = {"Cc", "Cf", "Co", "Cn", "Cs", "Zl", "Zp"}
# Letters and marks that are drawn as nothing: fillers, joiners, selectors of variants.
_BLANK = frozenset(
    [*map(chr, (0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2800, 0x3164, 0xFFA0))]
    + [chr(sign) for first, last in ((0x180B, 0x180F), (0xFE00, 0xFE0F), (0xE0100, 0xE01EF))
       for sign in range(first, last + 1)]
)  # fmt: skip

Place = tuple[str | int, ...]


def is_hidden(sign: str) -> bool:
    """Whether nobody sees a sign, or it changes what stands beside it."""
    return unicodedata.category(sign) in _HIDDEN or sign in _BLANK


def hidden(text: str) -> list[str]:
    """Return the signs of a name that cannot be seen, each by its number and name."""
    signs = dict.fromkeys(filter(is_hidden, text))
    return [
        f"U+{ord(sign):04X} {unicodedata.name(sign, '')}".rstrip() for sign in signs
    ]


def _without_hidden(text: str) -> str:
    unseen = hidden(text)
    if unseen:
        raise ValueError(f"holds what nobody sees: {', '.join(unseen[:3])}")
    return text


OneLine = Annotated[
    StrictStr,
    Field(max_length=200, pattern=f"^{_WORD}([^{_CONTROL}]*{_WORD})?$"),
    AfterValidator(_without_hidden),
]
Link = Annotated[
    StrictStr,
    Field(
        max_length=500,
        pattern="^https://[A-Za-z0-9.-]+(:[0-9]+)?(/[!#-;=?-\\[\\]_a-z~]*)?$",
    ),
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
    StrictStr,
    Field(max_length=50, pattern="^[0-9]+\\.[0-9]+\\.[0-9]+((a|b|rc)[0-9]+)?$"),
]


class ModelNames(Frozen):
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


class Links(Frozen):
    """Pages to read more on."""

    paper: Link | None = None
    code: Link | None = None
    weights: Link | None = None
    homepage: Link | None = None


class Submission(Frozen):
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
        default=(),
        max_length=20,
        description="tools that were offered; none without tools",
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
    contact: OneLine = Field(
        description="e-mail address or page of someone who can be asked"
    )
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
    with_tools = {
        "properties": {"setting": {"const": "tools"}},
        "required": ["setting"],
    }
    schema |= {
        "if": with_tools,
        "then": {"properties": {"tools": {"minItems": 1}}, "required": ["tools"]},
        "else": {"properties": {"tools": {"maxItems": 0}}},
    }
    return schema


class DocumentError(ScbenchError):
    """A YAML file cannot be used as a whole."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(slots=True)
class _Builder:
    """Builds a JSON value of YAML's events, and notes the line of every part."""

    events: Any
    lines: dict[Place, int] = field(default_factory=dict)

    def document(self) -> JsonValue:
        next(self.events)  # the stream
        first = next(self.events)
        if isinstance(first, yaml.StreamEndEvent):
            raise DocumentError("the file is empty", 1)
        value = self._node(next(self.events), (), 0)
        next(self.events)  # the document's end
        after = next(self.events)
        if not isinstance(after, yaml.StreamEndEvent):
            _refuse_event(after, "the file holds a second document")
        return value

    def _node(self, event: Any, path: Place, depth: int) -> JsonValue:  # noqa: ANN401
        self.lines[path] = _event_line(event)
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            _refuse_event(event, "anchors and aliases (& and *) are not read")
        if event.tag is not None:
            _refuse_event(event, f"tags are not read: {event.tag[:50]}")
        if depth > _MOST_DEPTH:
            _refuse_event(event, f"nested deeper than {_MOST_DEPTH} levels")
        if isinstance(event, yaml.ScalarEvent):
            return _scalar_value(event.value) if event.implicit[0] else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[JsonValue] = []
            while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
                items.append(self._node(event, (*path, len(items)), depth + 1))
            return items
        mapping: dict[str, JsonValue] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                _refuse_event(event, "a key must be a word")
            if event.anchor is not None or event.tag is not None:
                _refuse_event(event, "anchors (&) and tags (!) are not read")
            key = event.value
            if key in mapping:
                _refuse_event(event, f"the key {key[:50]!r} is there twice")
            mapping[key] = None
            self.lines[(*path, key)] = line = _event_line(event)
            mapping[key] = self._node(next(self.events), (*path, key), depth + 1)
            self.lines[(*path, key)] = line
        return mapping


def _event_line(event: Any) -> int:  # noqa: ANN401
    return int(event.start_mark.line) + 1


def _refuse_event(event: Any, message: str) -> NoReturn:  # noqa: ANN401
    raise DocumentError(message, _event_line(event))


def _scalar_value(text: str) -> JsonValue:
    if text in _WORDS:
        return _WORDS[text]
    number = _NUMBER.fullmatch(text)
    if number is None:
        return text
    return float(text) if number["rest"] else int(text)


def read_yaml(data: bytes) -> tuple[JsonValue, dict[Place, int]]:
    """Return the value in a YAML file, and the line of each of its parts.

    Raises:
        DocumentError: it is not YAML as scbench reads it.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise DocumentError("the file is not UTF-8 text", line) from None
    try:
        builder = _Builder(yaml.parse(text, Loader=yaml.SafeLoader))
        return builder.document(), builder.lines
    except yaml.reader.ReaderError as error:
        line = text[: error.position].count("\n") + 1
        raise DocumentError("there is a control character in the file", line) from None
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        message = printable(str(error.problem or error.context))
        raise DocumentError(
            f"not valid YAML: {message}", mark.line + 1 if mark else 1
        ) from None


def read_submission(data: bytes, file: str) -> tuple[Submission | None, list[Finding]]:
    """Return what ``submission.yaml`` says, or everything that is wrong with it."""
    try:
        value, lines = read_yaml(data)
    except DocumentError as error:
        return None, [finding("not_yaml", file, error.line, reason=error)]
    if not isinstance(value, dict):
        return None, [finding("bad_submission", file, 1)]
    try:
        return Submission.model_validate(value), []
    except ValidationError as error:
        return None, [
            _yaml_finding(dict(fault), lines, file) for fault in items_of(error)
        ]


def _yaml_finding(
    fault: dict[str, Any], lines: Mapping[Place, int], file: str
) -> Finding:
    loc: Place = tuple(part for part in fault["loc"] if part != "[key]")
    at = loc
    while at not in lines:
        at = at[:-1]
    name = printable(".".join(str(part)[:50] for part in loc))
    match fault["type"]:
        case "extra_forbidden":
            parent = _field_names(loc[:-1])
            near = did_you_mean(str(loc[-1]), parent)
            todo = near.strip() or f"remove it; the keys are {', '.join(parent)}"
            return finding("unknown_key", file, lines[at], name=name, todo=todo)
        case "missing":
            words = {"name": name, "description": _description(loc)}
            return finding("missing_key", file, lines[at], **words)
        case "value_error":
            message = problem_of(fault)
            if not loc:
                return finding(
                    "setting_tools", file, lines.get(("setting",), 1), reason=message
                )
            words = {"name": name, "reason": message, "todo": "correct it"}
            return finding("bad_value", file, lines[at], **words)
    todo = _description(loc) or "correct it"
    if fault["type"] == "string_type" and isinstance(fault["input"], int | float):
        todo = "put it in quotes, so that YAML takes it as text"
    is_form = fault["type"] == "string_pattern_mismatch"
    message = "does not have its form" if is_form else problem_of(fault)
    words = {"name": name, "reason": printable(message), "todo": todo}
    return finding("bad_value", file, lines[at], **words)


def _model_at(loc: Place) -> type[BaseModel] | None:
    model: type[BaseModel] | None = Submission
    for part in loc:
        info = model.model_fields.get(str(part)) if model else None
        kind = info.annotation if info else None
        model = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
    return model


def _field_names(loc: Place) -> list[str]:
    model = _model_at(loc)
    return list(model.model_fields) if model else []


def _description(loc: Place) -> str:
    model = _model_at(loc[:-1])
    info = model.model_fields.get(str(loc[-1])) if model and loc else None
    return (info.description or "") if info else ""


def read_claims(
    data: bytes, names: list[str], file: str
) -> tuple[dict[str, float], list[Finding]]:
    """Return claimed means in points of 100, by bucket or task; or what is wrong with them.

    They are ``{"scores": {"overall": 61.2, ...}}``, or the ``summary.json`` of scbench-grade.
    """
    try:
        value = parse_json(data)
    except JsonError as error:
        return {}, [finding("bad_claims", file, 1, reason=f"not valid JSON: {error}")]
    scores: JsonValue = None
    if isinstance(value, dict) and "buckets" in value:
        scores = _from_summary(value)
    elif isinstance(value, dict) and value.keys() == {"scores"}:
        scores = value["scores"]
    if not isinstance(scores, dict) or not scores:
        return {}, [finding("bad_claims", file, 1, reason="it claims no scores")]
    claims: dict[str, float] = {}
    findings = []
    for name, claim in scores.items():
        if name not in names:
            near = (
                did_you_mean(name, names).strip()
                or f"claim any of {', '.join(names[:4])}, ..."
            )
            findings.append(
                finding("unknown_claim", file, name=printable(name[:50]), todo=near)
            )
        elif (
            isinstance(claim, bool)
            or not isinstance(claim, int | float)
            or not 0 <= claim <= 100
        ):
            reason = (
                f"{name}: the claim must be a number from 0 to 100, in points of 100"
            )
            findings.append(finding("bad_claims", file, reason=reason))
        else:
            claims[name] = float(claim)
    return claims, findings


def _from_summary(value: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
    """Return the means of a summary as scbench-grade writes it, of which there may be one run."""
    means: dict[str, JsonValue] = {}
    for part, name in (("buckets", "bucket"), ("tasks", "task")):
        rows = value.get(part, [])
        if not isinstance(rows, list):
            return None
        for row in rows:
            if not isinstance(row, dict) or not isinstance(row.get(name), str):
                return None
            mean = row.get("mean")
            if str(row[name]) in means:
                return None
            if isinstance(mean, int | float):
                means[str(row[name])] = 100 * mean
    return means
