"""Playing a trace again: its observations must be those that the environment gives."""

from dataclasses import replace

from pydantic import BaseModel

from scbench.base.errors import PredictionsError
from scbench.base.model import Check, Prediction, Status, Verdict
from scbench.base.trace import Played, Turn
from scbench.catalog import Task
from scbench.loop.environment import game_of, played_by
from scbench.loop.games import is_answer, unjudged
from scbench.scoring.outcomes import Outcome, Trial, simulator_lock, grade_prediction, without_answer


class TraceError(PredictionsError):
    """A trace is not what the environment gives; the message names the turn."""


def grade_line(prediction: Prediction, task: Task, params: BaseModel) -> Outcome:
    """Grade a line of predictions, whether it holds an answer or a trace."""
    if prediction.turns is None or prediction.loop is None:
        with simulator_lock(task):
            return grade_prediction(prediction, task, params)
    status = prediction.status
    if status is not None and not status.scored:
        absent = without_answer(prediction)
        return absent or Outcome(status)
    differs = _played_otherwise(prediction.loop, task)
    if differs:
        return Outcome(Status.NOT_RUN, reason=differs)
    try:
        return replay(prediction, task, params)
    except TraceError as error:
        return Outcome(Status.NOT_RUN, reason=str(error), forged=True)


def _played_otherwise(loop: Played, task: Task) -> str:
    """Say why observations cannot be compared with those given here; empty if they can."""
    here = played_by(loop, task)
    if loop.rules != here.rules:
        return f"it was played by version {loop.rules} of the loop's rules; here is {here.rules}"
    if loop.grader is not None and loop.grader != here.grader:
        return f"it was played with version {loop.grader} of the grader; here is {here.grader}"
    if loop.fingerprint and here.fingerprint and loop.fingerprint != here.fingerprint:
        return "it was played where the simulator computes otherwise; grade it there"
    return ""


def replay(prediction: Prediction, task: Task, params: BaseModel) -> Outcome:
    """Play a trace again; return the outcome of its last answer, with that of each turn.

    Args:
        prediction: with loop and turns.
        task: of the instance.
        params: of the instance.

    Raises:
        TraceError: an observation is not what the environment gives, or there are turns too many or
            too few.
    """
    loop, turns = prediction.loop, prediction.turns or ()
    if loop is None:
        raise TraceError("there is no setup of a loop")
    try:
        game = game_of(loop, task, params)
    except PredictionsError as error:
        raise TraceError(str(error)) from None
    scores: list[tuple[float, ...] | None] = []
    last = answer = None
    for number, turn in enumerate(turns, 1):
        if game.over:
            raise TraceError(f"turn {number}: the trial was over after turn {number - 1}")
        move = game.play(turn.action)
        outcome = move.outcome
        if outcome is not None and unjudged(outcome):
            return outcome
        if move.observation != turn.observation:
            raise TraceError(f"turn {number}: {_difference(turn, move.observation)}")
        last = outcome or last
        given = None
        if outcome is not None and is_answer(outcome):
            answer = outcome
            given = tuple(verdict.score for verdict in outcome.verdicts)
        scores.append(given)
    if not game.over and prediction.status in {None, Status.ANSWERED}:
        raise TraceError(
            f"turn {len(turns) + 1}: it is missing, and the trial was not over; if the model gave "
            "up or its call failed, say so with a status"
        )
    stopped = None if game.over else game.final()
    if stopped is not None and unjudged(stopped):
        return stopped
    found = stopped or answer or last or _nothing(task, prediction)
    return replace(
        found, trial=Trial(tuple(scores), None if loop.setting == "retry" else game.used)
    )


def _difference(turn: Turn, said: str) -> str:
    """Say where an observation differs from what is given here."""
    pairs = zip(turn.observation, said, strict=False)
    shorter = min(len(turn.observation), len(said))
    at = next((i for i, (a, b) in enumerate(pairs) if a != b), shorter)
    here, there = (repr(text[at : at + 40]) for text in (said, turn.observation))
    return (
        f"the observation is not what the environment gives; from character {at} on it reads "
        f"{there}, and should read {here}"
    )


def _nothing(task: Task, prediction: Prediction) -> Outcome:
    status = prediction.status or Status.UNPARSED
    reason = "the trial holds no answer"
    verdict = Verdict(0.0, (Check("answer_found", False, f"There is no answer: {reason}."),))
    return Outcome(status, (verdict,) * task.scores, reason)
