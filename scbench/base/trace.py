"""What a predictions file holds of an answer that was given in a loop: its setup and its turns.

`scbench.loop` plays such trials and plays them again; this is only their data.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictInt, StrictStr

LoopSetting = Literal["retry", "probe", "act"]
LOOP_SETTINGS: tuple[LoopSetting, ...] = ("retry", "probe", "act")
"""Settings in which a model sees what comes of what it says. Their scores are no others' equals."""

RULES = 1
"""Version of the rules by which observations are written; raised when one could change."""
MAX_ATTEMPTS = 10
MAX_BUDGET = 500
MAX_TURNS = 600
"""More than any setup allows."""
MAX_ACTION = 1_000_000
"""Characters of a reply that are read; the rest is cut off."""
MAX_OBSERVATION = 20_000
"""Characters of an observation; the prompt that a trial begins with is none."""


class Setup(BaseModel):
    """What a model is promised at the beginning of a trial."""

    model_config = ConfigDict(frozen=True, extra="forbid")

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
        default=None, description="what queries (probe) or actions (act) may cost; null: the task's"
    )


class Played(Setup):
    """A setup, and with what it was played: observations are only compared with their like."""

    rules: Annotated[StrictInt, Field(ge=1)] = Field(
        default=RULES, description="version of the rules by which observations are written"
    )
    grader: Annotated[StrictInt, Field(ge=1)] | None = Field(
        default=None, description="version of the task's grader"
    )
    fingerprint: Annotated[StrictStr, Field(max_length=200)] | None = Field(
        default=None, description="of the machine, where observations depend on how it computes"
    )


class Turn(BaseModel):
    """What a model said, and what it was shown then."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    action: Annotated[StrictStr, Field(max_length=MAX_ACTION)] = Field(
        description="the model's reply, verbatim"
    )
    observation: Annotated[StrictStr, Field(max_length=MAX_OBSERVATION)] = Field(
        description="what it was shown then, verbatim"
    )


Turns = Annotated[tuple[Turn, ...], Field(max_length=MAX_TURNS)]


def fault_of(
    setting: str | None, loop: Setup | None, turns: tuple[Turn, ...] | None, *, answered: bool
) -> str | None:
    """Return why a prediction with these fields can be no trace, or lacks one; None if it is fine.

    Args:
        setting: of the prediction.
        loop: its setup.
        turns: its turns.
        answered: whether it has an answer or a response as well.
    """
    looped = setting in LOOP_SETTINGS
    if not looped:
        given = "loop" if loop is not None else "turns" if turns is not None else None
        wanted = " or ".join(LOOP_SETTINGS)
        return f"{given} is given, so setting must be {wanted}; got {setting}" if given else None
    if loop is None or turns is None:
        lacking = "loop" if loop is None else "turns"
        return f"setting {setting} needs {lacking}: what was played is played again to be graded"
    if loop.setting != setting:
        return f"setting is {setting}, but loop says {loop.setting}"
    if answered:
        return "give turns alone: the answer is looked for in their actions"
    return None
