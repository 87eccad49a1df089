"""The settings of the loop as games: what is said first, and what a reply is answered with.

What a verdict tells the model goes as far as the setup discloses, and is never the reference.
Messages of checks are written for whoever reads results, and where an instance has one right answer
they say it ("The value is 12, not 13."). Of such tasks a failed check is named by its rule alone,
as the task's ``CHECKS`` word it: that is the same for every instance.

A game is pure: the same task, parameters and replies give the same observations on every machine.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

from pydantic import BaseModel, JsonValue
from typing_extensions import override

from scbench.base.canonical import canonical_json
from scbench.base.model import Check, Prediction, Setup, Status, Verdict
from scbench.catalog import Task
from scbench.graders.shared.checklist import COMMON_CHECKS
from scbench.scoring.answers.shape import shape_of
from scbench.scoring.outcomes import Outcome, grade_prediction, simulator_lock

_MAX_DISCLOSED = 10_000
"""Characters of all that is told, about."""
_SENTENCE = 300
_PLACES = 1_500
"""Characters of a check's places, at most."""
_SIZES = (20, 5, 2, 1)
"""Entries that are shown of each list: as many as fit."""
_OF_SHAPE = frozenset({"answer_found", "answer_schema"})
"""Checks of the form alone, which are worded without the instance."""
State = dict[str, Any]
"""Of a game: small, and JSON."""


def one_right(task: Task) -> bool:
    """Whether an instance has one right answer, which its checks could say."""
    return task.one_answer or shape_of(task.answer_model).is_short


def disclosed(task: Task, verdicts: tuple[Verdict, ...], disclose: str) -> list[str]:
    """Return the lines that are told of a judged answer besides its score."""
    if disclose == "score":
        return []
    lines = list(_failed_checks(task, verdicts, places=disclose == "places"))
    ends = accumulate(map(len, lines))
    fitting = [line for line, end in zip(lines, ends, strict=True) if end <= _MAX_DISCLOSED]
    omitted = len(lines) - len(fitting)
    if omitted:
        fitting.append(f"- and {omitted} more")
    return ["Checks that failed:", *fitting] if fitting else []


def _failed_checks(task: Task, verdicts: tuple[Verdict, ...], *, places: bool) -> Iterator[str]:
    hidden = one_right(task)
    for number, verdict in enumerate(verdicts, 1):
        of = f" (score {number} of {len(verdicts)})" if len(verdicts) > 1 else ""
        for check in verdict.checks:
            if check.passed is not False:
                continue
            if hidden and check.id not in _OF_SHAPE:
                rule = task.checks.get(check.id) or COMMON_CHECKS.get(check.id, "")
                yield f"- {check.id}{of}: broken is the rule: {rule}"
            else:
                where = f"\n  {_places_text(check)}" if places and check.details else ""
                yield f"- {check.id}{of}: {_clip_text(check.message, _SENTENCE)}{where}"


def _clip_text(text: str, limit: int) -> str:
    omitted = len(text) - limit
    return text if omitted <= 0 else f"{text[:limit]}... ({omitted} more characters)"


def _places_text(check: Check) -> str:
    for limit in _SIZES:
        text = canonical_json(
            {key: _first_entries(value, limit) for key, value in check.details.items()}
        )
        if len(text) <= _PLACES:
            return text
    return f"its places take {len(text):,} characters and are left out"


def _first_entries(value: JsonValue, limit: int) -> JsonValue:
    """Return a value with the first entries of each list, and a count of those left out."""
    if isinstance(value, dict):
        return {key: _first_entries(inside, limit) for key, inside in value.items()}
    if not isinstance(value, list | tuple):
        return _clip_text(value, _SENTENCE) if isinstance(value, str) else value
    entries = [_first_entries(inside, limit) for inside in value[:limit]]
    omitted = len(value) - len(entries)
    return [*entries, f"and {omitted} more"] if omitted else entries


@dataclass(frozen=True, slots=True)
class Move:
    """What came of one reply.

    Attributes:
        observation: what the model is shown then.
        outcome: of the answer, if the reply was taken for one.
    """

    observation: str
    outcome: Outcome | None = None


class Game(ABC):
    """One trial.

    Attributes:
        turn: replies so far.
        over: whether it has ended.
        used: what queries or actions have cost so far.
    """

    def __init__(self, setup: Setup, task: Task, params: BaseModel) -> None:
        self.setup = setup
        self.task = task
        self.params = params
        self.turn = self.used = 0
        self.over = False

    @property
    @abstractmethod
    def limit(self) -> int:
        """Replies after which it ends at the latest."""

    @property
    @abstractmethod
    def rules(self) -> str:
        """What the prompt says of it, in sentences."""

    @abstractmethod
    def take(self, reply: str) -> Move:
        """Answer a reply; called while the game is not over."""

    def final(self) -> Outcome | None:
        """Return what the game comes to where it stands, if that is an answer without a reply."""
        return None

    @property
    def replies_left(self) -> int:
        """Replies that may still be given."""
        return self.limit - self.turn

    @property
    def state(self) -> State:
        """Where the game stands."""
        return {"turn": self.turn, "used": self.used, "over": self.over}

    def restore(self, state: State) -> None:
        """Go where a state says."""
        self.turn, self.used, self.over = state["turn"], state["used"], state["over"]

    def play(self, reply: str) -> Move:
        """Take a reply and count it."""
        self.turn += 1
        return self.take(reply)

    def judged(self, prediction: Prediction) -> Outcome:
        """Return what comes of an answer."""
        with simulator_lock(self.task):
            return grade_prediction(prediction, self.task, self.params)

    def judge_reply(self, reply: str) -> Outcome:
        """Return what comes of the answer in a reply, as everywhere else."""
        return self.judged(Prediction.model_construct(id="", response=reply))


def is_answer(outcome: Outcome) -> bool:
    """Whether there was an answer that could be read, and a score of it."""
    return outcome.status is Status.ANSWERED


def unjudged(outcome: Outcome) -> bool:
    """Whether it is not the model's doing that there is no score."""
    return not outcome.status.scored


UNJUDGED = "This answer cannot be judged on this machine. The trial ends here, without a score."


def _few_digits(score: float) -> str:
    """Return a score in few digits; it says 0 or 1 only if it is."""
    text = f"{score:.6g}"
    return text if text != "1" or score == 1 else "almost 1, not quite 1"


class Retry(Game):
    """Answers, and what is wrong with each, until one has the full score or none is left."""

    @property
    @override
    def limit(self) -> int:
        return self.setup.attempts

    @property
    @override
    def rules(self) -> str:
        attempts, disclose = self.setup.attempts, self.setup.disclose
        tells = ["After each you are told its score, from 0 to 1"]
        if disclose == "score":
            tells.append(", and nothing else.")
        elif one_right(self.task):
            tells.append(", and which rules it breaks; not where, as there is one right answer.")
        elif disclose == "checks":
            tells.append(", and of each check that it fails a sentence that says what is wrong.")
        else:
            tells.append(
                ", and of each check that it fails a sentence that says what is wrong, and the "
                "places as JSON, as far as they fit."
            )
        return (
            f"You may answer {attempts} time{'s' * (attempts > 1)}. {''.join(tells)} Give the "
            "whole answer each time, in the form asked for above. A reply in which no answer can "
            "be read takes one of these times as well. The trial ends with an answer of full "
            "score, or with the last time; the last answer that could be read counts."
        )

    @override
    def take(self, reply: str) -> Move:
        outcome = self.judge_reply(reply)
        head = f"Answer {self.turn} of {self.limit}: "
        if unjudged(outcome):
            self.over = True
            return Move(UNJUDGED, outcome)
        if not is_answer(outcome):
            lines = [f"{head}no answer can be read from this reply."]
        else:
            lines = [f"{head}score {_few_digits(outcome.score or 0.0)} of 1."]
            lines += disclosed(self.task, outcome.verdicts, self.setup.disclose)
        full = outcome.score == 1
        self.over = full or not self.replies_left
        if full:
            lines.append("That is the full score. The trial is over.")
        elif self.over:
            lines.append("That was the last time. The trial is over.")
        else:
            lines.append(
                f"You may answer {self.replies_left} more time{'s' * (self.replies_left > 1)}."
            )
        return Move("\n".join(lines), outcome)
