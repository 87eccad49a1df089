"""Grading of traces: replies are replayed and observations compared."""

from dataclasses import replace

from pydantic import BaseModel

from scbench.base.errors import PredictionsError
from scbench.base.model import Played, Prediction, Setup, Status, Turn
from scbench.catalog import Task
from scbench.loop.beginning import game_of
from scbench.loop.games import is_answer, is_unscored
from scbench.scoring.outcomes import (
    Outcome,
    Trial,
    grade_prediction,
    simulator_lock,
    without_answer,
    zero,
)

# Characters shown of two observations, starting where they differ.
MAX_SHOWN = 40


class TraceError(PredictionsError):
    """A trace that the environment does not reproduce; the message names the turn."""


def grade_line(prediction: Prediction, task: Task, params: BaseModel) -> Outcome:
    """Grade a line of predictions, whether it contains an answer or a trace."""
    if prediction.turns is not None and prediction.loop is not None:
        return grade_trial(prediction, prediction.loop, task, params)
    with simulator_lock(task):
        return grade_prediction(prediction, task, params)


def grade_trial(
    prediction: Prediction, loop: Played, task: Task, params: BaseModel
) -> Outcome:
    """Grade a trace; if it cannot be compared, or is forged, its status is not_run.

    Args:
        prediction: prediction with turns.
        loop: loop of the prediction.
        task: task of the instance.
        params: parameters of the instance.
    """
    status = prediction.status
    if status is not None and not status.scored:
        return without_answer(prediction) or Outcome(status)
    difference = setup_difference(loop, task)
    if difference:
        return Outcome(Status.NOT_RUN, reason=difference)
    try:
        return replay(prediction, task, params)
    except TraceError as error:
        return Outcome(Status.NOT_RUN, reason=str(error), forged=True)


def setup_difference(loop: Played, task: Task) -> str:
    """Return why observations cannot be compared with ours; empty if they can."""
    installed = played_by(loop, task)
    # Older lines contain fewer versions; missing ones (None) are not compared.
    if loop.rules != installed.rules:
        return (
            f"it was played with version {loop.rules} of the loop's rules, but "
            f"version {installed.rules} is installed"
        )
    if loop.grader is not None and loop.grader != installed.grader:
        return (
            f"it was played with version {loop.grader} of the grader, but the installed version is "
            f"{installed.grader}"
        )
    if (
        loop.fingerprint
        and installed.fingerprint
        and loop.fingerprint != installed.fingerprint
    ):
        return (
            "it was played on a machine whose simulator computes differently; grade it "
            "there"
        )
    return ""


def played_by(setup: Setup, task: Task) -> Played:
    """Return a setup with the versions used here."""
    promises = setup.model_dump(include=set(Setup.model_fields))
    return Played(
        **promises, grader=task.grader_version, fingerprint=task.fingerprint()
    )


def replay(prediction: Prediction, task: Task, params: BaseModel) -> Outcome:
    """Replay a trace; return the outcome of its last answer, with those of all turns.

    Args:
        prediction: prediction with loop and turns.
        task: task of the instance.
        params: parameters of the instance.

    Raises:
        TraceError: an observation differs from the environment's, or the number of
            turns is wrong.
    """
    loop = prediction.loop
    turns = prediction.turns or ()
    if loop is None:
        raise TraceError('the line has no "loop" field, which describes the setup')
    try:
        game = game_of(loop, task, params)
    except PredictionsError as error:
        raise TraceError(str(error)) from None
    scores: list[tuple[float, ...] | None] = []
    last_outcome = None
    last_answer = None
    for number, turn in enumerate(turns, 1):
        if game.over:
            raise TraceError(
                f"turn {number}: the trial had ended after turn {number - 1}"
            )
        move = game.play(turn.action)
        outcome = move.outcome
        # Not compared, because the answer may have been gradable where the trace was
        # made.
        if outcome is not None and is_unscored(outcome):
            return outcome
        if move.observation != turn.observation:
            raise TraceError(
                f"turn {number}: {observation_fault(turn, move.observation)}"
            )
        turn_scores = None
        if outcome is not None:
            last_outcome = outcome
            if is_answer(outcome):
                last_answer = outcome
                turn_scores = tuple(verdict.score for verdict in outcome.verdicts)
        scores.append(turn_scores)
    status = prediction.status
    is_cut_off = status is not None and status is not Status.ANSWERED
    if not game.over and not is_cut_off:
        raise TraceError(
            f"turn {len(turns) + 1}: missing, although the trial had not ended; if the "
            "model gave up or its call failed, add a status"
        )
    if status is not None and is_cut_off:
        # Neither an earlier answer nor the state so far is graded: otherwise people
        # could choose where to cut a trial.
        final = zero(status, f"the line ends the trial after turn {len(turns)}", task)
    elif last_outcome is None:
        final = zero(Status.UNPARSED, "the trial contains no answer", task)
    else:
        # If the last reply contains no answer, the last earlier one counts.
        final = last_answer or last_outcome
    used = None if loop.setting == "retry" else game.used
    return replace(final, trial=Trial(tuple(scores), used))


def observation_fault(turn: Turn, expected: str) -> str:
    """Return where an observation differs from the expected one, with both texts there."""
    position = 0
    for character, expected_character in zip(turn.observation, expected, strict=False):
        if character != expected_character:
            break
        position += 1
    end = position + MAX_SHOWN
    return (
        f"the observation differs from the environment's: from character {position} on, it is "
        f"{turn.observation[position:end]!r} instead of {expected[position:end]!r}"
    )
