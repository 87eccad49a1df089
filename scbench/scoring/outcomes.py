"""What came of one prediction: whether there is an answer to grade, and the verdict on it."""

import re
import sys
import traceback
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import PurePath
from threading import Lock

from pydantic import BaseModel, JsonValue

from scbench.base.canonical import canonical_json
from scbench.base.errors import CannotGrade
from scbench.base.finish_reasons import finish_status
from scbench.base.model import Check, Prediction, Status, Verdict
from scbench.catalog import Task
from scbench.scoring.answers.extract import Extraction, Readable, find_answer
from scbench.scoring.answers.shape import shape_of
from scbench.scoring.judge import judge
from scbench.scoring.refusals import declines

_MAX_REASON = 500
# The folders of an absolute path.
_PATH = re.compile(
    r"""(?<![\w./\\])(?:[A-Za-z]:)?(?:[/\\][^\s/\\'":]++)+[/\\](?=[^\s/\\'":])"""
)
# Checks that an answer in words must pass to be one.
_READ = {"readable", "answer_schema", "resource_limit"}
# Longer answers are graded but not copied into the results.
MAX_ANSWER_CHARACTERS = 1_000_000


# Simulators and mesh libraries are not made for several threads at once.
_SIMULATING = Lock()


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of a trial in a loop, turn by turn.

    Attributes:
        scores: of each turn's answer, as many as the task gives; None for turns without one.
        used: what its queries or actions cost; None where there are none (retry).
    """

    scores: tuple[tuple[float, ...] | None, ...]
    used: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one prediction.

    Attributes:
        status: what happened.
        verdicts: one per score of the task; empty if the row is unscored.
        reason: why there is no answer to grade; empty if there is one.
        answer: the answer as canonical JSON, if there is one of moderate size.
        source: where it was found (see `scbench.scoring.answers.extract`).
        repairs: what had to be done to read it.
        trial: turn by turn, if it was given in a loop.
        forged: whether it is a trace that the environment does not give; the reason says where.
    """

    status: Status
    verdicts: tuple[Verdict, ...] = ()
    reason: str = ""
    answer: str | None = None
    source: str | None = None
    repairs: tuple[str, ...] = ()
    trial: Trial | None = None
    forged: bool = False

    @property
    def score(self) -> float | None:
        """The mean of its scores, in [0, 1]; None if it has none."""
        scores = [verdict.score for verdict in self.verdicts]
        return sum(scores) / len(scores) if scores else None


def simulator_lock(task: Task) -> AbstractContextManager[object]:
    """Return what lets one thread at a time judge answers to a heavy task."""
    return _SIMULATING if task.heavy else nullcontext()


def grade_prediction(prediction: Prediction, task: Task, params: BaseModel) -> Outcome:
    """Decide what happened to a prediction, and judge its answer if it has one."""
    extraction = seek_answer(prediction, task, params)
    return (
        extraction
        if isinstance(extraction, Outcome)
        else judge_found(extraction, task, params)
    )


def seek_answer(
    prediction: Prediction, task: Task, params: BaseModel | None = None
) -> Extraction | Outcome:
    """Return the answer of a prediction, or what came of it without one.

    Args:
        prediction: what a model said.
        task: of its instance.
        params: of its instance; words can be read only where they are known.
    """
    absent = without_answer(prediction)
    if absent is not None:
        return _unanswered(absent.status, absent.reason, task)
    extraction = find_answer(
        prediction, shape_of(task.answer_model), readable_by(task, params)
    )
    return (
        _unanswered(*_why_not_found(prediction), task)
        if extraction is None
        else extraction
    )


def judge_found(extraction: Extraction, task: Task, params: BaseModel) -> Outcome:
    """Judge an answer that was found."""
    answer = _canonical_answer(extraction.value)
    try:
        size = sys.maxsize if answer is None else len(answer)
        status, reason = Status.ANSWERED, ""
        verdicts = judge(task, params, extraction.value, size)
    except MemoryError:
        raise
    except CannotGrade as error:
        status, verdicts, reason = Status.NOT_RUN, (), str(error)[:_MAX_REASON]
    except Exception as error:  # noqa: BLE001  (a grader that fails is not a model that fails)
        return Outcome(Status.GRADER_ERROR, reason=describe_error(error))
    if answer is not None and len(answer) > MAX_ANSWER_CHARACTERS:
        answer = None
    return Outcome(
        status, verdicts, reason, answer, extraction.source, extraction.repairs
    )


def readable_by(task: Task, params: BaseModel | None) -> Readable | None:
    """Return whether the grader of a task can read words; None if the instance is not known."""
    if params is None or not shape_of(task.answer_model).is_short:
        return None

    def readable(value: JsonValue) -> bool:
        try:
            verdict = judge(task, params, {"answer": value})[0]
        except Exception:  # noqa: BLE001  (it fails again where its failure is recorded)
            return True
        return all(check.passed for check in verdict.checks if check.id in _READ)

    return readable


def without_answer(prediction: Prediction) -> Outcome | None:
    """Return the outcome of a prediction that holds neither answer nor text; None if it does.

    A blank response is the model's: it scores 0, unless the line says that something else was at
    fault.
    """
    status = prediction.status
    if status is not None and not status.scored:
        return Outcome(status, reason=_why_absent(prediction))
    if (
        prediction.answer is not None
        or prediction.turns
        or (prediction.response or "").strip()
    ):
        return None
    finish = _finish(prediction)
    if status is not None and status is not Status.ANSWERED:
        return Outcome(status, reason=_why_absent(prediction))
    if finish is Status.BLOCKED:
        return Outcome(Status.BLOCKED, reason=_finish_words(prediction))
    if prediction.error is not None:
        return Outcome(Status.API_ERROR, reason=_why_absent(prediction))
    if finish is None and prediction.finish_reason:
        finish = (
            Status.API_ERROR
        )  # lists of reasons grow; those of models that end are known
    if finish is not None and finish is not Status.ANSWERED:
        return Outcome(
            finish, reason=f"{_finish_words(prediction)}, and there is no text"
        )
    if prediction.response is not None:
        return Outcome(Status.UNPARSED, reason="the response is empty")
    return Outcome(Status.MISSING, reason="the line holds neither answer nor response")


def _why_absent(prediction: Prediction) -> str:
    return (prediction.error or _declared(prediction))[:_MAX_REASON]


def _why_not_found(prediction: Prediction) -> tuple[Status, str]:
    text, finish = prediction.response or "", _finish(prediction)
    if prediction.status in {Status.TRUNCATED, Status.REFUSED}:
        return prediction.status, _declared(prediction)
    if prediction.error is not None and finish is not Status.BLOCKED:
        return Status.API_ERROR, prediction.error[:_MAX_REASON]
    if finish is not None and finish is not Status.ANSWERED:
        return finish, f"{_finish_words(prediction)}, and no answer can be read"
    if declines(text):
        return Status.REFUSED, "the text declines and holds no answer"
    return Status.UNPARSED, "no answer can be read from the text"


def _finish(prediction: Prediction) -> Status | None:
    """Return what the finish reason says. The provider's refusal is a filter's, not the model's."""
    status = finish_status(prediction.finish_reason)
    return Status.BLOCKED if status is Status.REFUSED else status


def _declared(prediction: Prediction) -> str:
    return (
        _finish_words(prediction)
        if prediction.finish_reason
        else "as the prediction says"
    )


def _finish_words(prediction: Prediction) -> str:
    return f"finish_reason is {(prediction.finish_reason or '').lower()}"


def _unanswered(status: Status, reason: str, task: Task) -> Outcome:
    return (
        zero(status, reason, task) if status.scored else Outcome(status, reason=reason)
    )


def zero(status: Status, reason: str, task: Task) -> Outcome:
    """Return what comes of a prediction that scores 0, as it holds no answer."""
    verdict = Verdict(
        0.0, (Check("answer_found", False, f"There is no answer: {reason}."),)
    )
    return Outcome(status, (verdict,) * task.scores, reason)


def normalized(score: float, floor: float) -> float:
    """Return how far a score is on the way from a floor below 1 to 1; at the floor and below, 0."""
    return min(max((score - floor) / (1 - floor), 0.0), 1.0)


def _canonical_answer(value: JsonValue) -> str | None:
    """Return an answer as results hold it; None if a program handed over what no JSON can hold."""
    try:
        text = canonical_json(value)
        text.encode()
    except ValueError:
        return None
    return text


def describe_error(error: Exception) -> str:
    """Say what went wrong and in which line of code, without machine paths."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{PurePath(frame.filename).name}:{frame.lineno}"
    try:
        message = _PATH.sub("", str(error)[:4000])[:300]
    except Exception:  # noqa: BLE001  (a number of too many digits in it is enough)
        message = "its message cannot be written"
    return (
        f"{type(error).__name__}: {message.encode(errors='replace').decode()} ({place})"
    )
