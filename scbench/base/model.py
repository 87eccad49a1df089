"""The data types of the whole package: Instance, Prediction, Verdict, Check, Status, Setup.

Each is plain frozen data. What makes, judges or shows it lives in other packages.
"""

import json
import math
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    JsonValue,
    SkipValidation,
    StrictBool,
    StrictFloat,
    StrictInt,
    StrictStr,
    model_validator,
)

from scbench.base.canonical import canonical_json, content_hash, sha256

Values = Mapping[str, JsonValue]
LoopSetting = Literal["retry", "probe", "act"]
# Settings in which a model sees what comes of what it says. Their scores are no others'
# equals.
LOOP_SETTINGS: tuple[LoopSetting, ...] = ("retry", "probe", "act")

# Version of the rules by which observations are written; raised when one could change.
RULES = 3
MAX_ATTEMPTS = 10
MAX_BUDGET = 500
# More than any setup allows.
MAX_TURNS = 600
# Characters of a reply that are read; the rest is cut off.
MAX_ACTION = 1_000_000
# Characters of an observation; the prompt that a trial begins with is none.
MAX_OBSERVATION = 20_000
Bucket = Literal["axiomatic", "constructive", "planning", "manifolds"]
# Of an instance in a fixed list; those that are drawn are unrated.
Difficulty = Literal["easy", "medium", "hard", "very-hard"]
OneShot = Literal["no_tools", "tools"]
Setting = Literal[OneShot, LoopSetting]

# Config of the same instances with prompts that say only what the paper's say.
TERSE = "terse"


# Config of the same instances with pictures in place of the data that prompts print.
PICTURES = "pictures"
DRAWN, SYMBOLS = "drawn", "symbols"
"""Styles of pictures: the plain one, and signs where that fills cells."""
STYLES = (DRAWN, SYMBOLS)
_OF_PICTURES = {DRAWN: "-picture", SYMBOLS: "-picture-symbols"}


# Config of instances on rungs of rising difficulty, drawn by ``builders/ladder.toml``.
LADDER = "ladder"
# Those beside the default that are graded apart from it and from each other.
CONFIGS = (TERSE, LADDER, PICTURES)
_ON_RUNG = re.compile(rf"{LADDER}-([0-9]{{2,4}})-[0-9]{{1,6}}", re.ASCII)
# Our names of counts, and those of OpenAI's two interfaces and of Anthropic's.
_PROVIDERS = (
    ("input_tokens", ("prompt_tokens",)),
    ("output_tokens", ("completion_tokens",)),
    ("reasoning_tokens", ("completion_tokens_details", "reasoning_tokens")),
    ("reasoning_tokens", ("output_tokens_details", "reasoning_tokens")),
    ("reasoning_tokens", ("output_tokens_details", "thinking_tokens")),
)
# Counts of the input that Anthropic reports apart.
_CACHED = ("cache_creation_input_tokens", "cache_read_input_tokens")


class Parted(NamedTuple):
    """An instance in two: what its row holds, and what stands with the references.

    A grader needs more of some instances than their prompts print. Rows of a release hold none of
    it: it stands with the references, and is joined to the row again where an answer is graded. A
    task's `Params` says of which lists the items go on unprinted::

        unprinted = {"entries": 3}  # of every entry, what comes after the first three values

    and its parameter space which parameters would tell the answer; what is found out about a case
    when it is drawn, its facts, is never in a row.

    Attributes:
        params: parameters that the prompt prints, as canonical JSON.
        point: where it was drawn, as canonical JSON; None if it was not.
        unprinted: the rest of both, as canonical JSON; None if there is none.
    """

    params: str
    point: str | None
    unprinted: str | None


def part(
    params: Values,
    point: Values | None,
    lists: Mapping[str, int],
    names: Collection[str],
) -> Parted:
    """Take apart what a row may hold and what it may not.

    Args:
        params: all parameters that the grader uses.
        point: parameters of the space and facts; None if it was not drawn.
        lists: how many values of each item are printed, by name of the list.
        names: parameters and facts in ``point`` that no row may hold.
    """
    items: dict[str, Any] = {name: params[name] for name in lists}
    ends = {
        name: [item[lists[name] :] for item in entries]
        for name, entries in items.items()
    }
    begins = {
        name: [item[: lists[name]] for item in entries]
        for name, entries in items.items()
    }
    in_row = (
        None if point is None else {k: v for k, v in point.items() if k not in names}
    )
    hidden = {} if point is None else {k: v for k, v in point.items() if k in names}
    remainder = {
        key: value for key, value in (("params", ends), ("point", hidden)) if value
    }
    return Parted(
        canonical_json({**params, **begins}),
        None if in_row is None else canonical_json(in_row),
        canonical_json(remainder) if remainder else None,
    )


def all_params(params: str, unprinted: str | None) -> str:
    """Return all parameters that the grader uses, as canonical JSON."""
    ends = json.loads(unprinted).get("params") if unprinted else None
    if not ends:
        return params
    full = json.loads(params)
    for name, tails in ends.items():
        pairs = zip(full[name], tails, strict=True)
        full[name] = [[*begin, *end] for begin, end in pairs]
    return canonical_json(full)


def whole_point(point: str, unprinted: str | None) -> dict[str, JsonValue]:
    """Return where an instance was drawn, with all that is known of the case."""
    hidden = json.loads(unprinted).get("point", {}) if unprinted else {}
    return {**json.loads(point), **hidden}


class Frozen(BaseModel):
    """What cannot be changed, and has no keys but its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Setup(Frozen):
    """What a model is promised at the beginning of a trial."""

    setting: LoopSetting = Field(
        description="retry: answers, and what is wrong with each; probe: queries, then one answer; "
        "act: one action at a time"
    )
    attempts: Annotated[StrictInt, Field(ge=1, le=MAX_ATTEMPTS)] = Field(
        default=3, description="answers that may be given (retry)"
    )
    disclose: Literal["score", "checks", "places"] = Field(
        default="checks",
        description="what is told of an answer (retry): its score; also what is wrong; also where",
    )
    budget: Annotated[StrictInt, Field(ge=1, le=MAX_BUDGET)] | None = Field(
        default=None,
        description="what queries (probe) or actions (act) may cost; null: the task's",
    )
    closed: StrictBool = Field(
        default=False,
        description="whether what a blind guess solves one time in ten or more is played (retry)",
    )


class Played(Setup):
    """A setup, and with what it was played: observations are only compared with their like."""

    rules: Annotated[StrictInt, Field(ge=1)] = Field(
        default=RULES,
        description="version of the rules by which observations are written",
    )
    grader: Annotated[StrictInt, Field(ge=1)] | None = Field(
        default=None, description="version of the task's grader"
    )
    fingerprint: Annotated[StrictStr, Field(max_length=200)] | None = Field(
        default=None,
        description="of the machine, where observations depend on how it computes",
    )


class Turn(Frozen):
    """What a model said, and what it was shown then."""

    action: Annotated[StrictStr, Field(max_length=MAX_ACTION)] = Field(
        description="the model's reply, verbatim"
    )
    observation: Annotated[StrictStr, Field(max_length=MAX_OBSERVATION)] = Field(
        description="what it was shown then, verbatim"
    )


Turns = Annotated[tuple[Turn, ...], Field(max_length=MAX_TURNS)]


def fault_of(
    setting: str | None,
    loop: Setup | None,
    turns: tuple[Turn, ...] | None,
    *,
    answered: bool,
) -> str | None:
    """Return why a prediction's fields make no trace, or lack one; None if they are fine."""
    looped = setting in LOOP_SETTINGS
    if not looped:
        extra = "loop" if loop is not None else "turns" if turns is not None else None
        settings = " or ".join(LOOP_SETTINGS)
        return (
            f"{extra} is given, so setting must be {settings}; got {setting}"
            if extra
            else None
        )
    if loop is None or turns is None:
        lacking = "loop" if loop is None else "turns"
        return f"setting {setting} needs {lacking}: what was played is played again to be graded"
    if loop.setting != setting:
        return f"setting is {setting}, but loop says {loop.setting}"
    if answered:
        return "give turns alone: the answer is looked for in their actions"
    return None


def terse_id(instance_id: str) -> str:
    """Return the id that an instance has with its terse prompt, such as csg_union/03-terse."""
    return f"{instance_id}-{TERSE}"


def picture_id(instance_id: str, style: str) -> str:
    """Return the id that an instance has with pictures, such as csg_union/03-picture."""
    return instance_id + _OF_PICTURES[style]


def style_of(instance_id: str) -> str | None:
    """Return the style of the pictures that an id is with; None if it is of another config."""
    ends = (style for style, end in _OF_PICTURES.items() if instance_id.endswith(end))
    return next(ends, None)


def plain_id(instance_id: str) -> str:
    """Return the id of the same instance in the config ``default`` or ``ladder``."""
    style = style_of(instance_id)
    return instance_id.removesuffix(_OF_PICTURES[style] if style else f"-{TERSE}")


def ladder_name(rung: int, number: int) -> str:
    """Return what an instance of the ladder is called within its task, such as ladder-03-2.

    Args:
        rung: from 1.
        number: of the instance on its rung, from 1.
    """
    return f"{LADDER}-{rung:02d}-{number}"


def rung_of(instance_id: str) -> int | None:
    """Return the rung that an id names, with or without a prefix; None if it is on no ladder."""
    match = _ON_RUNG.fullmatch(instance_id.rpartition("/")[2])
    return int(match[1]) if match else None


def task_of(instance_id: str) -> str:
    """Return the task that an id names, whether of a release or generated: it need not exist."""
    return instance_id.rpartition(":")[2].partition("/")[0]


class Status(StrEnum):
    """What happened to a row, apart from its score.

    A grader that fails is never a model that fails, and a missing answer is never silently a zero.
    """

    ANSWERED = "answered"
    """An answer was found and graded."""
    UNPARSED = "unparsed"
    """There is text, but no answer can be read from it. Scores 0."""
    TRUNCATED = "truncated"
    """The output hit its length limit before anything could be read from it. Scores 0."""
    REFUSED = "refused"
    """The model declined in words. Scores 0."""
    BLOCKED = "blocked"
    """The provider's filter withheld the answer. Unscored."""
    MISSING = "missing"
    """No prediction for this item. Unscored."""
    API_ERROR = "api_error"
    """The call failed. Unscored."""
    NOT_RUN = "not_run"
    """Never sent, or this installation cannot grade it. Unscored."""
    GRADER_ERROR = "grader_error"
    """The grader failed, not the model. Unscored; the run exits with code 3."""

    @property
    def scored(self) -> bool:
        """Whether rows of this status have a score and count towards coverage."""
        return self in _SCORED


_SCORED = frozenset(
    {Status.ANSWERED, Status.UNPARSED, Status.TRUNCATED, Status.REFUSED}
)

# The statuses a lab may write into a prediction; the other two are ours to find.
REPORTABLE = frozenset(Status) - {Status.UNPARSED, Status.GRADER_ERROR}


@dataclass(frozen=True, slots=True)
class Check:
    """One thing a grader looked at.

    Attributes:
        id: stable name within the task; reports, tests and failure modes refer to it.
        passed: True or False; None if it could not be evaluated, and the message says why.
        message: one plain sentence.
        details: JSON values that a picture or a program can use (positions, counts, distances).
    """

    id: str
    passed: bool | None
    message: str
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a grader says of one answer.

    Attributes:
        score: in [0, 1].
        checks: everything that was looked at, in the order of the task's rules.
        metrics: JSON values worth reporting that did not decide the score.
        notes: remarks on the answer, such as keys that were ignored.

    Raises:
        ValueError: the score is not a finite number in [0, 1].
    """

    score: float
    checks: tuple[Check, ...]
    metrics: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not (math.isfinite(self.score) and 0.0 <= self.score <= 1.0):
            raise ValueError(f"a score must be in [0, 1], got {self.score!r}")

    @property
    def failed(self) -> tuple[Check, ...]:
        """The checks that did not pass, those that could not be evaluated included."""
        return tuple(check for check in self.checks if not check.passed)


class Instance(Frozen):
    """One item of a release: a row of its Parquet files.

    It holds no ground truth. Graders derive that from parameters, so what the prompt prints is what
    is graded; the few that no prompt prints stand with the reference answers, in a config of their
    own, and come with an instance that is loaded or drawn as `unprinted`.
    """

    id: str = Field(
        description="task and subtask, such as csg_union/03; csg_union/03-terse with the prompt of "
        "the config terse, csg_union/03-picture with that of the config pictures; "
        "csg_union/ladder-03-2 for the second on rung 3 of the config ladder; of a generated "
        "instance with a prefix that no release has, such as b001f663:csg_union/03"
    )
    task: str = Field(description="id of the task")
    bucket: str = Field(description="axiomatic, constructive, planning or manifolds")
    subtask: int = Field(description="position inside the task, from 0", ge=0)
    difficulty: str = Field(description="easy, medium, hard or very-hard")
    prompt: str = Field(description="the full text put to a model")
    images: tuple[bytes, ...] = Field(
        description="PNG files that belong to the prompt, in order"
    )
    params: str = Field(
        description="what the prompt prints and the grader uses, as canonical JSON"
    )
    answer_schema: str = Field(
        description="JSON Schema of the answer, as canonical JSON"
    )
    scores: int = Field(
        description="how many scores one answer gets (9 in interlocking_parts)"
    )
    seed: int | None = Field(description="seed it was drawn with, if it was drawn")
    point: str | None = Field(
        default=None,
        description="point of the parameter space it was drawn at, as canonical JSON; null for "
        "items of a fixed list",
    )
    content_hash: str = Field(
        description="SHA-256 of everything above, in canonical form"
    )
    unprinted: str | None = Field(
        default=None,
        description="what graders and tables use besides and no prompt prints, as canonical JSON; "
        "no part of the row, nor of its hash, which would give it away",
    )

    @model_validator(mode="before")
    @classmethod
    def _of_a_file(cls, row: Any) -> Any:  # noqa: ANN401
        """Take rows as files hold them, with the same canary, and what their ids say."""
        beside = {"canary", "rung", "style"}
        return (
            {k: v for k, v in row.items() if k not in beside}
            if isinstance(row, dict)
            else row
        )

    @property
    def all_params(self) -> str:
        """Everything the grader uses, as canonical JSON."""
        return all_params(self.params, self.unprinted)

    @property
    def whole_point(self) -> dict[str, JsonValue]:
        """Where it was drawn, with the facts of the case; empty for items of a fixed list."""
        return whole_point(self.point or "{}", self.unprinted)

    @classmethod
    def freeze(
        cls,
        *,
        task: str,
        bucket: str,
        subtask: int,
        difficulty: str,
        prompt: str,
        images: tuple[bytes, ...],
        params: str,
        answer_schema: str,
        scores: int,
        seed: int | None,
        point: str | None = None,
        prefix: str = "",
        name: str = "",
        unprinted: str | None = None,
    ) -> "Instance":
        """Make an instance, with its id and content hash.

        Its id has a prefix if it is no instance of a release, see `scbench.freezing.fresh`, and
        ends in its name, by default the number of the subtask.
        """
        row: dict[str, Any] = {
            "id": f"{prefix}{':' * bool(prefix)}{task}/{name or f'{subtask:02d}'}",
            "task": task,
            "bucket": bucket,
            "subtask": subtask,
            "difficulty": difficulty,
            "prompt": prompt,
            "params": params,
            "answer_schema": answer_schema,
            "scores": scores,
            "seed": seed,
            "point": point,
        }
        digest = content_hash(row | {"images": [sha256(image) for image in images]})
        return cls(**row, images=images, content_hash=digest, unprinted=unprinted)

    def with_terse(self, prompt: str) -> "Instance":
        """Return the same instance with another prompt, as one of the config ``terse``."""
        return self._reworded(terse_id(self.id), prompt, self.images)

    def with_pictures(
        self, prompt: str, images: tuple[bytes, ...], style: str
    ) -> "Instance":
        """Return the same instance with its data in pictures, as one of the config ``pictures``."""
        return self._reworded(picture_id(self.id, style), prompt, images)

    def _reworded(
        self, row_id: str, prompt: str, images: tuple[bytes, ...]
    ) -> "Instance":
        changed = {"id": row_id, "prompt": prompt}
        row = self.model_dump(exclude={"images", "content_hash", "unprinted"}) | changed
        digest = content_hash(row | {"images": [sha256(image) for image in images]})
        return self.model_copy(
            update={**changed, "images": images, "content_hash": digest}
        )


# A number of things. Larger ones no column of results holds, nor every reader of JSON
# exactly.
Count = Annotated[StrictInt, Field(ge=0, le=2**53 - 1)]
Amount = Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)]
OneLine = Annotated[
    StrictStr, Field(min_length=1, max_length=200, pattern=r"^[^\r\n]*$")
]
Sha256 = Annotated[StrictStr, Field(pattern=r"^[0-9a-f]{64}$")]


class Usage(BaseModel):
    """What the provider reported for one call. Never an estimate by a local tokeniser.

    The names of OpenAI and Anthropic are understood as well.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    input_tokens: Count | None = None
    output_tokens: Count | None = Field(
        default=None, description="all generated tokens, reasoning included"
    )
    reasoning_tokens: Count | None = None
    seconds: Amount | None = Field(default=None, description="wall time of the call")
    cost: Amount | None = Field(default=None, description="in US dollars")
    attempts: Count | None = Field(default=None, description="calls made for this row")

    @model_validator(mode="before")
    @classmethod
    def _of_providers(cls, value: object) -> object:
        """Take what providers report under their own names."""
        if not isinstance(value, dict):
            return value
        counts = dict(value)
        for ours, path in _PROVIDERS:
            theirs: object = value
            for key in path:
                theirs = theirs.get(key) if isinstance(theirs, dict) else None
            if counts.get(ours) is None:
                counts[ours] = theirs
        if (
            any(value.get(key) is not None for key in _CACHED)
            and "prompt_tokens" not in value
        ):
            parts = {key: value.get(key) for key in ("input_tokens", *_CACHED)}
            for key, count in parts.items():
                if count is not None and (type(count) is not int or count < 0):
                    raise ValueError(f"{key} must be a whole number from 0")
            counts["input_tokens"] = sum(count or 0 for count in parts.values())
        return counts


class RunMetadata(Frozen):
    """How a run was made: what its tables and receipts say beside the model's name."""

    model_version: OneLine | None = Field(
        default=None, description="the provider's id of the model, as it was returned"
    )
    effort: OneLine | None = Field(
        default=None, description="reasoning effort or thinking budget"
    )
    temperature: Amount | None = None
    tools: tuple[OneLine, ...] | None = Field(
        default=None, max_length=20, description="tools that were offered; [] for none"
    )
    system_prompt_sha256: Sha256 | None = Field(
        default=None, description="of the system prompt's UTF-8 bytes"
    )
    date: StrictStr | None = Field(
        default=None,
        pattern=r"^\d{4}-\d{2}-\d{2}$",
        description="of the answers, YYYY-MM-DD",
    )
    budget_stated: StrictBool | None = Field(
        default=None, description="whether the prompt said how many tokens there were"
    )


class Prediction(BaseModel):
    """One line of a predictions file: what a model said to one instance.

    Give `answer` (the object the instance's answer schema describes) or `response` (the model's
    text, from which the answer is found), or a `status` that says why there is neither.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: StrictStr = Field(
        min_length=1,
        max_length=200,
        description="id of the instance, such as csg_union/03",
    )
    instance_hash: StrictStr | None = Field(
        default=None,
        pattern="^[0-9a-f]{12,64}$",
        description="content_hash of the instance that was answered, or 12 or more of its first "
        "digits; a line whose instance has another one is not graded",
    )
    answer: Annotated[JsonValue, SkipValidation] = Field(
        default=None,
        description="the answer, as the instance's answer_schema describes it",
    )
    response: StrictStr | None = Field(
        default=None, description="the model's text, verbatim"
    )
    model: StrictStr = Field(default="unnamed", min_length=1, max_length=200)
    setting: Setting | None = Field(
        default=None, description="tools, none, or a loop's setting"
    )
    sample: Count = Field(default=0, description="which of several tries, from 0")
    budget: Count | None = Field(
        default=None, description="output-token limit of a budget sweep"
    )
    usage: Usage | None = None
    finish_reason: StrictStr | None = Field(
        default=None,
        max_length=200,
        description="as the provider gave it: stop, length, ...",
    )
    status: Status | None = Field(
        default=None, description="what happened, if there is no answer to grade"
    )
    error: StrictStr | None = Field(
        default=None, description="the provider's error text"
    )
    run: RunMetadata | None = Field(
        default=None, description="how the run was made; say the same on all its lines"
    )
    prompt_sha256: Sha256 | None = Field(
        default=None, description="of the text that was really sent, as UTF-8"
    )
    reasoning: StrictStr | None = Field(
        default=None,
        description="the model's reasoning, for judges of failures; never graded",
    )
    loop: Played | None = Field(default=None, description="setup of that loop")
    turns: Turns | None = Field(
        default=None, description="what was said and shown in it"
    )

    @model_validator(mode="after")
    def _consistent(self) -> "Prediction":
        if self.answer is not None and self.response is not None:
            raise ValueError(
                "give answer or response, not both: which one is to be graded?"
            )
        answered = self.answer is not None or self.response is not None
        if fault := fault_of(self.setting, self.loop, self.turns, answered=answered):
            raise ValueError(fault)
        of_trial = self.turns is not None and self.status is Status.UNPARSED
        if self.status is not None and self.status not in REPORTABLE and not of_trial:
            raise ValueError(
                f"status {self.status} is found by the grader; "
                f"use one of {', '.join(sorted(REPORTABLE))}"
            )
        if (
            self.status is not None
            and not self.status.scored
            and self.answer is not None
        ):
            raise ValueError(
                f"status {self.status} says there is no answer, but one is given"
            )
        if self.status is Status.ANSWERED and not answered and not self.turns:
            raise ValueError(
                "status answered says there is an answer, but none is given"
            )
        return self
