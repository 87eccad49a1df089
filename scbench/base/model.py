"""The data types of the whole package: Instance, Prediction, Verdict, Check, Status, Setup.

Each is plain frozen data. The code that generates, grades or shows it is in other packages.
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
from scbench.base.wording import pattern_for

Values = Mapping[str, JsonValue]
LoopSetting = Literal["retry", "probe", "act"]
OneShot = Literal["no_tools", "tools"]
# Answers of people, given on the page of `scbench play`.
HUMAN: Literal["human"] = "human"
Setting = Literal[OneShot, "human", LoopSetting]
Bucket = Literal["axiomatic", "constructive", "planning", "manifolds"]
# Difficulty of an instance in a fixed list; drawn instances are unrated.
Difficulty = Literal["easy", "medium", "hard", "very-hard"]
# A count. Larger numbers do not fit the columns of results, and some JSON readers round them.
Count = Annotated[StrictInt, Field(ge=0, le=2**53 - 1)]
Amount = Annotated[StrictFloat, Field(ge=0, allow_inf_nan=False)]
OneLine = Annotated[
    StrictStr,
    Field(
        min_length=1,
        max_length=200,
        pattern=pattern_for("without line breaks", r"^[^\r\n]*$"),
    ),
]
Sha256 = Annotated[
    StrictStr,
    Field(pattern=pattern_for("of 64 characters 0-9 and a-f", r"^[0-9a-f]{64}$")),
]

# Settings in which a model gets feedback. Compare their scores only within the same setting.
LOOP_SETTINGS: tuple[LoopSetting, ...] = ("retry", "probe", "act")
# Version of the rules for observations; raised when an observation could change.
RULES = 4
MAX_ATTEMPTS = 10
MAX_BUDGET = 500
# Maximum number of turns in a prediction; every setup ends before it.
MAX_TURNS = 600
# Maximum characters of a reply that are read; the rest is cut off.
MAX_ACTION = 1_000_000
# Maximum characters of an observation. The prompt that starts a trial is not an observation.
MAX_OBSERVATION = 20_000

# Config of the same instances with short prompts, which say only what the paper's prompts say.
TERSE = "terse"
# Config of the same instances with pictures instead of the data that prompts print.
PICTURES = "pictures"
# Config of instances on rungs of rising difficulty, drawn by ``builders/ladder.toml``.
LADDER = "ladder"
# Configs that are graded separately from the default and from each other.
CONFIGS = (TERSE, LADDER, PICTURES)
# Styles of pictures: plain, and with symbols instead of fills in cells.
DRAWN = "drawn"
SYMBOLS = "symbols"
STYLES = (DRAWN, SYMBOLS)
_ID_ENDINGS = {DRAWN: "-picture", SYMBOLS: "-picture-symbols"}
_LADDER_NAME = re.compile(rf"{LADDER}-([0-9]{{2,4}})-[0-9]{{1,6}}", re.ASCII)

# Our names for token counts, and the fields in which the OpenAI and Anthropic APIs report them.
_PROVIDER_COUNTS = (
    ("input_tokens", ("prompt_tokens",)),
    ("output_tokens", ("completion_tokens",)),
    ("reasoning_tokens", ("completion_tokens_details", "reasoning_tokens")),
    ("reasoning_tokens", ("output_tokens_details", "reasoning_tokens")),
    ("reasoning_tokens", ("output_tokens_details", "thinking_tokens")),
)
# Parts of the input that Anthropic leaves out of ``input_tokens``.
_CACHED_COUNTS = ("cache_creation_input_tokens", "cache_read_input_tokens")
# Maximum number of scores of one answer.
MOST_SCORES = 100
# Columns of a row that repeat its id, or are the same in all rows.
_DERIVED_COLUMNS = {"canary", "rung", "style"}


class Parted(NamedTuple):
    """An instance in two parts: the contents of its row, and those stored with the references.

    For some instances, a grader needs more than the prompt prints. The rows of a
    release do not contain it: it is stored with the references, and joined to the row again for
    grading. A task's `Params` states how many values of each list entry are printed::

        unprinted = {"entries": 3}  # the first three values of every entry

    and its parameter space says which parameters would give the answer away. The facts of a drawn
    case are never in a row.

    Attributes:
        params: parameters that the prompt prints, as canonical JSON.
        point: point of the parameter space, as canonical JSON; None if it was not drawn.
        unprinted: the part of both that no prompt prints, as canonical JSON; None if there is none.
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
    """Split an instance into the contents of its row and the remainder.

    Args:
        params: all parameters that the grader uses.
        point: parameters of the space and facts; None if it was not drawn.
        lists: how many values of each item are printed, by name of the list.
        names: parameters and facts in ``point`` that no row may contain.
    """
    printed_params: dict[str, JsonValue] = dict(params)
    item_ends: dict[str, JsonValue] = {}
    for name, length in lists.items():
        items: Any = params[name]
        printed_params[name] = [item[:length] for item in items]
        item_ends[name] = [item[length:] for item in items]
    visible_point: dict[str, JsonValue] = {}
    hidden_point: dict[str, JsonValue] = {}
    for name, value in (point or {}).items():
        target = hidden_point if name in names else visible_point
        target[name] = value
    remainder = {}
    if item_ends:
        remainder["params"] = item_ends
    if hidden_point:
        remainder["point"] = hidden_point
    return Parted(
        canonical_json(printed_params),
        None if point is None else canonical_json(visible_point),
        canonical_json(remainder) if remainder else None,
    )


def all_params(params: str, unprinted: str | None) -> str:
    """Return all parameters that the grader uses, as canonical JSON."""
    item_ends = json.loads(unprinted).get("params") if unprinted else None
    if not item_ends:
        return params
    full = json.loads(params)
    for name, tails in item_ends.items():
        pairs = zip(full[name], tails, strict=True)
        full[name] = [head + tail for head, tail in pairs]
    return canonical_json(full)


def whole_point(point: str, unprinted: str | None) -> dict[str, JsonValue]:
    """Return the point an instance was drawn at, with all facts of the case."""
    whole: dict[str, JsonValue] = json.loads(point)
    if unprinted:
        whole |= json.loads(unprinted).get("point", {})
    return whole


class Frozen(BaseModel):
    """Base of immutable models without additional keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Setup(Frozen):
    """The setup of a trial, which the model gets at the start."""

    setting: LoopSetting = Field(
        description=(
            "retry: the model answers and sees its errors; probe: queries, then one "
            "answer; act: one action at a time"
        )
    )
    attempts: Annotated[StrictInt, Field(ge=1, le=MAX_ATTEMPTS)] = Field(
        default=3, description="maximum number of answers (retry)"
    )
    disclose: Literal["score", "checks", "places"] = Field(
        default="checks",
        description=(
            "feedback on each answer (retry); score: only its score; checks: also the failed "
            "checks; places: also where they fail"
        ),
    )
    budget: Annotated[StrictInt, Field(ge=1, le=MAX_BUDGET)] | None = Field(
        default=None,
        description="limit on the total cost of queries (probe) or actions (act); null for the "
        "task's default",
    )
    closed: StrictBool = Field(
        default=False,
        description=(
            "whether to play items that a blind guess solves at least 10 % of the time "
            "(retry)"
        ),
    )


class Played(Setup):
    """The setup of a trial, with the versions that determine its observations."""

    rules: Annotated[StrictInt, Field(ge=1)] = Field(
        default=RULES,
        description="version of the rules that determine observations",
    )
    grader: Annotated[StrictInt, Field(ge=1)] | None = Field(
        default=None, description="version of the task's grader"
    )
    fingerprint: Annotated[StrictStr, Field(max_length=200)] | None = Field(
        default=None,
        description="fingerprint of the machine, if observations depend on how it computes",
    )


class Turn(Frozen):
    """A reply of a model, and the resulting observation."""

    action: Annotated[StrictStr, Field(max_length=MAX_ACTION)] = Field(
        description="the model's reply, verbatim"
    )
    observation: Annotated[StrictStr, Field(max_length=MAX_OBSERVATION)] = Field(
        description="the observation that followed, verbatim"
    )


Turns = Annotated[tuple[Turn, ...], Field(max_length=MAX_TURNS)]


def fault_of(
    setting: str | None,
    loop: Setup | None,
    turns: tuple[Turn, ...] | None,
    *,
    answered: bool,
) -> str | None:
    """Return the error in a prediction's trace (missing, incomplete or superfluous), or None."""
    if setting not in LOOP_SETTINGS:
        if loop is None and turns is None:
            return None
        extra = "turns" if loop is None else "loop"
        settings = " or ".join(LOOP_SETTINGS)
        return f"{extra} needs setting {settings}; got {setting}"
    if loop is None or turns is None:
        lacking = "loop" if loop is None else "turns"
        return f"setting {setting} needs {lacking}, because grading replays the trial"
    if loop.setting != setting:
        return f"setting is {setting}, but loop has the setting {loop.setting}"
    if answered:
        return "leave out answer and response: the answer is read from the turns"
    return None


def terse_id(instance_id: str) -> str:
    """Return the id that an instance has with its terse prompt, such as csg_union/03-terse."""
    return f"{instance_id}-{TERSE}"


def picture_id(instance_id: str, style: str) -> str:
    """Return the id that an instance has with pictures, such as csg_union/03-picture."""
    return instance_id + _ID_ENDINGS[style]


def style_of(instance_id: str) -> str | None:
    """Return the picture style in an id; None if the id is not from the config ``pictures``."""
    for style, ending in _ID_ENDINGS.items():
        if instance_id.endswith(ending):
            return style
    return None


def plain_id(instance_id: str) -> str:
    """Return the id of the same instance in the config ``default`` or ``ladder``."""
    style = style_of(instance_id)
    ending = _ID_ENDINGS[style] if style else f"-{TERSE}"
    return instance_id.removesuffix(ending)


def ladder_name(rung: int, number: int) -> str:
    """Return the name of an instance of the ladder within its task, such as ladder-03-2.

    Args:
        rung: rung, counted from 1.
        number: number of the instance on its rung, from 1.
    """
    return f"{LADDER}-{rung:02d}-{number}"


def rung_of(instance_id: str) -> int | None:
    """Return the rung in an id, with or without a prefix; None if the id is not from a ladder."""
    name = instance_id.rpartition("/")[2]
    match = _LADDER_NAME.fullmatch(name)
    return int(match[1]) if match else None


def task_of(instance_id: str) -> str:
    """Return the task in an id, which may be generated. The task need not exist."""
    return instance_id.rpartition(":")[2].partition("/")[0]


class Status(StrEnum):
    """The status of a row, separate from its score.

    Grader failures never count against the model, and missing answers never silently
    count as 0.
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
        match self:
            case Status.ANSWERED | Status.UNPARSED | Status.TRUNCATED | Status.REFUSED:
                return True
            case _:
                return False

    @property
    def reportable(self) -> bool:
        """Whether a predictions file may contain it; only the grader sets the other statuses."""
        return self is not Status.UNPARSED and self is not Status.GRADER_ERROR


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check by a grader on an answer.

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
    """A grader's result for one answer.

    Attributes:
        score: in [0, 1].
        checks: all checks, in the order of the task's rules.
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
        """The checks that did not pass, including those that could not be evaluated."""
        return tuple(check for check in self.checks if not check.passed)


class Instance(Frozen):
    """One item of a release: a row of its Parquet files.

    It contains no ground truth. Graders derive it from the parameters, so they grade
    exactly what the prompt prints. The few parameters that no prompt prints are stored
    with the reference answers, in their own config; an instance that is loaded or drawn
    has them as `unprinted`.
    """

    id: str = Field(
        description=(
            "task and subtask, such as csg_union/03; csg_union/03-terse for the prompt of "
            "the config terse, csg_union/03-picture for that of the config pictures, "
            "csg_union/ladder-03-2 for the second item on rung 3 of the config ladder; "
            "generated items have a prefix that no release has, such as "
            "b001f663:csg_union/03"
        )
    )
    task: str = Field(description="id of the task")
    bucket: str = Field(description="axiomatic, constructive, planning or manifolds")
    subtask: int = Field(description="position within the task, starting at 0", ge=0)
    difficulty: str = Field(description="easy, medium, hard or very-hard")
    prompt: str = Field(description="the full text sent to a model")
    images: tuple[bytes, ...] = Field(
        description="PNG files that belong to the prompt, in order"
    )
    params: str = Field(
        description="parameters that the prompt states and the grader uses, as canonical JSON"
    )
    answer_schema: str = Field(
        description="JSON Schema of the answer, as canonical JSON"
    )
    scores: int = Field(
        description="number of scores per answer (9 in interlocking_parts)",
        ge=1,
        # Every missing answer has this number of rows, so a forged release could fill the memory.
        le=MOST_SCORES,
    )
    seed: int | None = Field(
        description=(
            "seed from which the item was drawn, a whole number of up to 63 bits, stored as text "
            "in files; null if the item was not drawn"
        )
    )
    point: str | None = Field(
        default=None,
        description=(
            "point of the parameter space, as canonical JSON; null for items of a fixed "
            "list"
        ),
    )
    content_hash: str = Field(
        description="SHA-256 of everything above, in canonical form"
    )
    unprinted: str | None = Field(
        default=None,
        description=(
            "parameters that graders and tables use but no prompt states, as canonical JSON; "
            "the row and its hash do not contain them, because they must stay hidden"
        ),
    )

    @model_validator(mode="before")
    @classmethod
    def drop_derived_columns(cls, row: Any) -> Any:  # noqa: ANN401
        """Accept rows as stored in files, with the canary and columns derived from ids."""
        if not isinstance(row, dict):
            return row
        return {name: row[name] for name in row if name not in _DERIVED_COLUMNS}

    @property
    def all_params(self) -> str:
        """Everything the grader uses, as canonical JSON."""
        return all_params(self.params, self.unprinted)

    @property
    def whole_point(self) -> dict[str, JsonValue]:
        """The point it was drawn at, with facts about the case; empty for items of a fixed list."""
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

        The id starts with the prefix, which instances of releases do not have (see
        `scbench.freezing.fresh`), and ends with the name, by default the number of the subtask.
        """
        row_id = f"{task}/{name or f'{subtask:02d}'}"
        row: dict[str, Any] = {
            "id": f"{prefix}:{row_id}" if prefix else row_id,
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
        digest = _row_hash(row, images)
        return cls(**row, images=images, content_hash=digest, unprinted=unprinted)

    def with_terse(self, prompt: str) -> "Instance":
        """Return the same instance with its short prompt, as in the config ``terse``."""
        return self._reworded(terse_id(self.id), prompt, self.images)

    def with_pictures(
        self, prompt: str, images: tuple[bytes, ...], style: str
    ) -> "Instance":
        """Return the same instance with its data in pictures, as in the config ``pictures``."""
        return self._reworded(picture_id(self.id, style), prompt, images)

    def _reworded(
        self, row_id: str, prompt: str, images: tuple[bytes, ...]
    ) -> "Instance":
        row = self.model_dump(exclude={"images", "content_hash", "unprinted"})
        row["id"] = row_id
        row["prompt"] = prompt
        update = {
            "id": row_id,
            "prompt": prompt,
            "images": images,
            "content_hash": _row_hash(row, images),
        }
        return self.model_copy(update=update)


def _row_hash(row: dict[str, Any], images: tuple[bytes, ...]) -> str:
    return content_hash(row | {"images": [sha256(image) for image in images]})


class Usage(BaseModel):
    """Usage that the provider reported for one call, never an estimate by a local tokeniser.

    The field names of OpenAI and Anthropic are also accepted.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    input_tokens: Count | None = None
    output_tokens: Count | None = Field(
        default=None, description="all generated tokens, including reasoning"
    )
    reasoning_tokens: Count | None = None
    seconds: Amount | None = Field(
        default=None, description="wall-clock time of the call"
    )
    cost: Amount | None = Field(default=None, description="cost in US dollars")
    attempts: Count | None = Field(
        default=None, description="number of calls made for this row"
    )

    @model_validator(mode="before")
    @classmethod
    def use_our_names(cls, value: object) -> object:
        """Accept token counts under the providers' own field names."""
        if not isinstance(value, dict):
            return value
        counts = dict(value)
        for name, path in _PROVIDER_COUNTS:
            count: object = value
            for key in path:
                count = count.get(key) if isinstance(count, dict) else None
            if counts.get(name) is None:
                counts[name] = count
        has_cached = any(value.get(key) is not None for key in _CACHED_COUNTS)
        # The prompt tokens of OpenAI include the cached ones.
        if has_cached and "prompt_tokens" not in value:
            counts["input_tokens"] = cls.total_input(value)
        return counts

    @staticmethod
    def total_input(counts: dict[str, Any]) -> int:
        """Return Anthropic's input tokens, cached ones included.

        Raises:
            ValueError: a count is not a non-negative integer.
        """
        total = 0
        for key in ("input_tokens", *_CACHED_COUNTS):
            count = counts.get(key)
            if count is None:
                continue
            # Not isinstance, because True is not a count.
            if type(count) is not int or count < 0:
                raise ValueError(f"{key} must be a whole number of at least 0")
            total += count
        return total


class RunMetadata(Frozen):
    """Metadata of a run: what tables and receipts state in addition to the model's name."""

    model_version: OneLine | None = Field(
        default=None, description="the model id that the provider returned"
    )
    effort: OneLine | None = Field(
        default=None, description="reasoning effort or thinking budget"
    )
    temperature: Amount | None = None
    tools: tuple[OneLine, ...] | None = Field(
        default=None,
        max_length=20,
        description="tools that the model was offered; [] for none",
    )
    system_prompt_sha256: Sha256 | None = Field(
        default=None, description="SHA-256 of the system prompt in UTF-8"
    )
    date: StrictStr | None = Field(
        default=None,
        pattern=pattern_for("of the form YYYY-MM-DD", r"^\d{4}-\d{2}-\d{2}$"),
        description="date of the answers, YYYY-MM-DD",
    )
    budget_stated: StrictBool | None = Field(
        default=None, description="whether the prompt stated the token limit"
    )


class Prediction(BaseModel):
    """One line of a predictions file: the reply of a model to one item.

    Give `answer` (an object that fits the item's answer schema), `response` (the model's text, from
    which the answer is extracted), or a `status` that says why there is neither.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: StrictStr = Field(
        min_length=1,
        max_length=200,
        description="id of the item, such as csg_union/03",
    )
    instance_hash: StrictStr | None = Field(
        default=None,
        pattern=pattern_for("of 12 to 64 characters 0-9 and a-f", "^[0-9a-f]{12,64}$"),
        description=(
            "content_hash of the item that was answered, or at least its first 12 "
            "characters; the line is not graded if the item has another hash"
        ),
    )
    answer: Annotated[JsonValue, SkipValidation] = Field(
        default=None,
        description="the answer, in the form of the item's answer_schema",
    )
    response: StrictStr | None = Field(
        default=None, description="the model's text, verbatim"
    )
    model: StrictStr = Field(default="unnamed", min_length=1, max_length=200)
    setting: Setting | None = Field(
        default=None,
        description="no_tools, tools, human, or the setting of a loop",
    )
    sample: Count = Field(default=0, description="sample number, starting at 0")
    budget: Count | None = Field(
        default=None, description="limit of output tokens in a budget sweep"
    )
    usage: Usage | None = None
    finish_reason: StrictStr | None = Field(
        default=None,
        max_length=200,
        description="reason as the provider gave it: stop, length, ...",
    )
    status: Status | None = Field(
        default=None, description="what happened, if there is no answer to grade"
    )
    error: StrictStr | None = Field(
        default=None, description="the provider's error text"
    )
    run: RunMetadata | None = Field(
        default=None, description="metadata of the run; the same on all its lines"
    )
    prompt_sha256: Sha256 | None = Field(
        default=None, description="SHA-256 of the prompt that was sent, in UTF-8"
    )
    reasoning: StrictStr | None = Field(
        default=None,
        description="the model's reasoning, for judges of failures; never graded",
    )
    loop: Played | None = Field(default=None, description="setup of the loop")
    turns: Turns | None = Field(
        default=None, description="replies and observations of the loop"
    )

    @model_validator(mode="after")
    def check_consistency(self) -> "Prediction":
        """Reject fields that contradict each other."""
        if self.answer is not None and self.response is not None:
            raise ValueError("give either answer or response, not both")
        answered = self.answer is not None or self.response is not None
        fault = fault_of(self.setting, self.loop, self.turns, answered=answered)
        if fault:
            raise ValueError(fault)
        if self.status is not None:
            self.check_status(self.status, answered=answered)
        return self

    def check_status(self, status: Status, *, answered: bool) -> None:
        """Reject a status that only the grader may give, or that contradicts other fields."""
        is_unparsed_trial = self.turns is not None and status is Status.UNPARSED
        if not status.reportable and not is_unparsed_trial:
            names = sorted(each for each in Status if each.reportable)
            raise ValueError(
                f"only the grader may give the status {status}; use one of "
                f"{', '.join(names)}"
            )
        if not status.scored and self.answer is not None:
            raise ValueError(
                f"status {status} means that there is no answer, but the line has one"
            )
        if status is Status.ANSWERED and not answered and not self.turns:
            raise ValueError("the status is answered, but there is no answer")
