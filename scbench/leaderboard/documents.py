"""Reading the small files of a submission: YAML and JSON from outside, with line numbers.

YAML is taken as a stream of events and nothing else: no tags, no anchors and aliases, no types but
JSON's. Dates, ``yes`` and ``0o17`` stay the text that they are.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

import yaml
from pydantic import BaseModel, JsonValue, ValidationError

from scbench.base.canonical import parse_json
from scbench.base.errors import (
    JsonError,
    ScbenchError,
    did_you_mean,
    items_of,
    printable,
    problem_of,
)
from scbench.leaderboard.findings import Finding
from scbench.leaderboard.submission import Submission

MOST_BYTES = 64 * 1024
"""Larger files are refused unread: a submission.yaml has one or two thousand bytes."""
_MOST_DEPTH = 12
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,17})(?P<rest>(\.\d{1,20})?([eE][+-]?\d{1,2})?)", re.ASCII)
_WORDS: Mapping[str, JsonValue] = {"": None, "null": None, "~": None, "true": True, "false": False}

Place = tuple[str | int, ...]


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
            _fail(after, "the file holds a second document")
        return value

    def _node(self, event: Any, path: Place, depth: int) -> JsonValue:  # noqa: ANN401
        self.lines[path] = _line(event)
        if isinstance(event, yaml.AliasEvent) or event.anchor is not None:
            _fail(event, "anchors and aliases (& and *) are not read")
        if event.tag is not None:
            _fail(event, f"tags are not read: {event.tag[:50]}")
        if depth > _MOST_DEPTH:
            _fail(event, f"nested deeper than {_MOST_DEPTH} levels")
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event.value) if event.implicit[0] else event.value
        if isinstance(event, yaml.SequenceStartEvent):
            items: list[JsonValue] = []
            while not isinstance(event := next(self.events), yaml.SequenceEndEvent):
                items.append(self._node(event, (*path, len(items)), depth + 1))
            return items
        found: dict[str, JsonValue] = {}
        while not isinstance(event := next(self.events), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                _fail(event, "a key must be a word")
            if event.anchor is not None or event.tag is not None:
                _fail(event, "anchors (&) and tags (!) are not read")
            key = event.value
            if key in found:
                _fail(event, f"the key {key[:50]!r} is there twice")
            found[key] = None
            self.lines[(*path, key)] = line = _line(event)
            found[key] = self._node(next(self.events), (*path, key), depth + 1)
            self.lines[(*path, key)] = line
        return found


def _line(event: Any) -> int:  # noqa: ANN401
    return int(event.start_mark.line) + 1


def _fail(event: Any, message: str) -> NoReturn:  # noqa: ANN401
    raise DocumentError(message, _line(event))


def _scalar(text: str) -> JsonValue:
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
        said = printable(str(error.problem or error.context))
        raise DocumentError(f"not valid YAML: {said}", mark.line + 1 if mark else 1) from None


def read_submission(data: bytes, file: str) -> tuple[Submission | None, list[Finding]]:
    """Return what ``submission.yaml`` says, or everything that is wrong with it.

    Args:
        data: the file's bytes, not more than `MOST_BYTES`.
        file: its name, for messages.
    """
    try:
        value, lines = read_yaml(data)
    except DocumentError as error:
        todo = "write plain YAML: keys, values in quotes where in doubt, lists and nothing else"
        return None, [Finding("not_yaml", str(error), todo, file, error.line)]
    if not isinstance(value, dict):
        todo = "begin with `scbench submission init`, which writes one to fill in"
        return None, [Finding("bad_submission", "it holds no keys and values", todo, file, 1)]
    try:
        return Submission.model_validate(value), []
    except ValidationError as error:
        return None, [_fault(dict(fault), lines, file) for fault in items_of(error)]


def _fault(fault: dict[str, Any], lines: Mapping[Place, int], file: str) -> Finding:
    loc: Place = tuple(part for part in fault["loc"] if part != "[key]")
    at = loc
    while at not in lines:
        at = at[:-1]
    name = printable(".".join(str(part)[:50] for part in loc))
    match fault["type"]:
        case "extra_forbidden":
            parent = _fields(loc[:-1])
            near = did_you_mean(str(loc[-1]), parent)
            todo = near.strip() or f"remove it; the keys are {', '.join(parent)}"
            return Finding("unknown_key", f"there is no key {name!r}", todo, file, lines[at])
        case "missing":
            todo = f"add it: {_description(loc)}"
            return Finding("missing_key", f"the key {name!r} is missing", todo, file, lines[at])
        case "value_error":
            said = problem_of(fault)
            if not loc:
                todo = "list the tools that were offered, or correct the setting"
                return Finding("setting_tools", said, todo, file, lines.get(("setting",), 1))
            return Finding("bad_value", f"{name}: {said}", "correct it", file, lines[at])
    todo = _description(loc) or "correct it"
    if fault["type"] == "string_type" and isinstance(fault["input"], int | float):
        todo = "put it in quotes, so that YAML takes it as text"
    is_form = fault["type"] == "string_pattern_mismatch"
    said = "does not have its form" if is_form else problem_of(fault)
    return Finding("bad_value", f"{name}: {printable(said)}", todo, file, lines[at])


def _model_at(loc: Place) -> type[BaseModel] | None:
    model: type[BaseModel] | None = Submission
    for part in loc:
        known = model.model_fields.get(str(part)) if model else None
        kind = known.annotation if known else None
        model = kind if isinstance(kind, type) and issubclass(kind, BaseModel) else None
    return model


def _fields(loc: Place) -> list[str]:
    model = _model_at(loc)
    return list(model.model_fields) if model else []


def _description(loc: Place) -> str:
    model = _model_at(loc[:-1])
    known = model.model_fields.get(str(loc[-1])) if model and loc else None
    return (known.description or "") if known else ""


def read_claims(data: bytes, names: list[str], file: str) -> tuple[dict[str, float], list[Finding]]:
    """Return claimed means in points of 100, by bucket or task; or what is wrong with them.

    Args:
        data: the file's bytes: ``{"scores": {"overall": 61.2, ...}}``, or the ``summary.json`` that
            scbench-grade wrote.
        names: what can be claimed.
        file: its name, for messages.
    """
    todo = 'write {"scores": {"overall": 61.2, ...}}, or copy the summary.json of scbench-grade'
    try:
        value = parse_json(data)
    except JsonError as error:
        return {}, [Finding("bad_claims", f"not valid JSON: {error}", todo, file, 1)]
    scores: JsonValue = None
    if isinstance(value, dict) and "buckets" in value:
        scores = _from_summary(value)
    elif isinstance(value, dict) and value.keys() == {"scores"}:
        scores = value["scores"]
    if not isinstance(scores, dict) or not scores:
        return {}, [Finding("bad_claims", "it claims no scores", todo, file, 1)]
    claims: dict[str, float] = {}
    findings = []
    for name, claim in scores.items():
        if name not in names:
            near = did_you_mean(name, names).strip() or f"claim any of {', '.join(names[:4])}, ..."
            message = f"there is no bucket or task {printable(name[:50])!r}"
            findings.append(Finding("bad_claims", message, near, file))
        elif isinstance(claim, bool) or not isinstance(claim, int | float) or not 0 <= claim <= 100:
            message = f"{name}: the claim must be a number from 0 to 100, in points of 100"
            findings.append(Finding("bad_claims", message, todo, file))
        else:
            claims[name] = float(claim)
    return claims, findings


def _from_summary(value: dict[str, JsonValue]) -> dict[str, JsonValue] | None:
    """Return the means of a summary as scbench-grade writes it, of which there may be one run."""
    found: dict[str, JsonValue] = {}
    for part, name in (("buckets", "bucket"), ("tasks", "task")):
        rows = value.get(part, [])
        if not isinstance(rows, list):
            return None
        for row in rows:
            if not isinstance(row, dict) or not isinstance(row.get(name), str):
                return None
            mean = row.get("mean")
            if str(row[name]) in found:
                return None
            if isinstance(mean, int | float):
                found[str(row[name])] = 100 * mean
    return found
