"""The outcome of one prediction: whether there is an answer to grade, and the verdict on it."""

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

# Longest reason, in characters.
_MAX_REASON = 500
# Longer answers are graded but not copied into the results.
MAX_ANSWER_CHARACTERS = 1_000_000
# The folders of an absolute path.
_FOLDERS = re.compile(
    r"""
    (?<![\w./\\]) (?:[A-Za-z]:)?      # not inside a relative path; a drive
    (?: [/\\] [^\s/\\'":]++ )+        # folders
    [/\\] (?=[^\s/\\'":])             # up to the name of the file
    """,
    re.VERBOSE,
)
# Checks that an answer in words must pass to be read as one.
_READING_CHECKS = {"readable", "answer_schema", "resource_limit"}
# Simulators and mesh libraries are not made for several threads at the same time.
_SIMULATING = Lock()


@dataclass(frozen=True, slots=True)
class Trial:
    """The results of a trial in a loop, turn by turn.

    Attributes:
        scores: of each turn's answer, as many as the task gives; None for turns without one.
        used: cost of its queries or actions; None where there are none (retry).
    """

    scores: tuple[tuple[float, ...] | None, ...]
    used: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one prediction.

    Attributes:
        status: what happened.
        verdicts: one per score of the task; empty if the row is unscored.
        reason: why there is no answer to grade; empty if there is one.
        answer: the answer as canonical JSON, if there is one of moderate size.
        source: the place where it was found (see `scbench.scoring.answers.extract`).
        repairs: changes that reading it took.
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
    """Return a lock that lets one thread at a time judge answers to a heavy task."""
    return _SIMULATING if task.heavy else nullcontext()


def grade_prediction(prediction: Prediction, task: Task, params: BaseModel) -> Outcome:
    """Find the answer of a prediction and judge it; return the outcome."""
    extraction = seek_answer(prediction, task, params)
    if isinstance(extraction, Outcome):
        return extraction
    return judge_found(extraction, task, params)


def seek_answer(
    prediction: Prediction, task: Task, params: BaseModel | None = None
) -> Extraction | Outcome:
    """Return the answer of a prediction, or its outcome without one.

    Args:
        prediction: of a model.
        task: of its instance.
        params: of its instance; without them, words cannot be read.
    """
    absent = without_answer(prediction)
    if absent is None:
        shape = shape_of(task.answer_model)
        readable = readable_by(task, params)
        extraction = find_answer(prediction, shape, readable)
        if extraction is not None:
            return extraction
        absent = unreadable(prediction)
    if absent.status.scored:
        return zero(absent.status, absent.reason, task)
    return absent


def judge_found(extraction: Extraction, task: Task, params: BaseModel) -> Outcome:
    """Judge an answer that was found."""
    answer = _canonical_answer(extraction.value)
    size = sys.maxsize if answer is None else len(answer)
    status = Status.ANSWERED
    reason = ""
    verdicts: tuple[Verdict, ...] = ()
    try:
        verdicts = judge(task, params, extraction.value, size)
    except MemoryError:
        # The machine failed, not the grader: the run has to know.
        raise
    except CannotGrade as error:
        status = Status.NOT_RUN
        reason = str(error)[:_MAX_REASON]
    except Exception as error:  # noqa: BLE001  (a grader that fails is not a model that fails)
        return Outcome(Status.GRADER_ERROR, reason=describe_error(error))
    if answer is not None and len(answer) > MAX_ANSWER_CHARACTERS:
        answer = None
    return Outcome(
        status, verdicts, reason, answer, extraction.source, extraction.repairs
    )


def _canonical_answer(value: JsonValue) -> str | None:
    """Return an answer as results store it; None if a program passed a value JSON cannot hold."""
    try:
        text = canonical_json(value)
        # Lone surrogates are text to Python, but have no bytes.
        text.encode()
    except ValueError:
        return None
    return text


def readable_by(task: Task, params: BaseModel | None) -> Readable | None:
    """Return a test whether the grader of a task can read words; None without parameters."""
    if params is None or not shape_of(task.answer_model).is_short:
        return None

    def readable(value: JsonValue) -> bool:
        try:
            verdict = judge(task, params, {"answer": value})[0]
        except Exception:  # noqa: BLE001  (it fails again where its failure is recorded)
            return True
        checks = [check for check in verdict.checks if check.id in _READING_CHECKS]
        return all(check.passed for check in checks)

    return readable


def without_answer(prediction: Prediction) -> Outcome | None:
    """Return the outcome of a prediction with neither answer nor text; None if it has one.

    A blank response is the model's: it scores 0, unless the line reports another cause.
    """
    status = prediction.status
    if status is not None and not status.scored:
        return Outcome(status, reason=_why_absent(prediction))
    has_text = bool((prediction.response or "").strip())
    if prediction.answer is not None or prediction.turns or has_text:
        return None
    if status is not None and status is not Status.ANSWERED:
        return Outcome(status, reason=_why_absent(prediction))
    finish = _finish(prediction)
    if finish is Status.BLOCKED:
        return Outcome(Status.BLOCKED, reason=_finish_words(prediction))
    if prediction.error is not None:
        return Outcome(Status.API_ERROR, reason=_why_absent(prediction))
    if finish is None and prediction.finish_reason:
        # Providers add reasons for failures; those of models that finish are all known.
        finish = Status.API_ERROR
    if finish is not None and finish is not Status.ANSWERED:
        reason = f"{_finish_words(prediction)}, and there is no text"
        return Outcome(finish, reason=reason)
    if prediction.response is not None:
        return Outcome(Status.UNPARSED, reason="the response is empty")
    return Outcome(Status.MISSING, reason="the line holds neither answer nor response")


def unreadable(prediction: Prediction) -> Outcome:
    """Return the outcome of a prediction with text in which no answer was found."""
    if prediction.status in {Status.TRUNCATED, Status.REFUSED}:
        return Outcome(prediction.status, reason=_reported_reason(prediction))
    finish = _finish(prediction)
    if prediction.error is not None and finish is not Status.BLOCKED:
        return Outcome(Status.API_ERROR, reason=prediction.error[:_MAX_REASON])
    if finish is not None and finish is not Status.ANSWERED:
        reason = f"{_finish_words(prediction)}, and no answer can be read"
        return Outcome(finish, reason=reason)
    if declines(prediction.response or ""):
        reason = "the text declines and holds no answer"
        return Outcome(Status.REFUSED, reason=reason)
    return Outcome(Status.UNPARSED, reason="no answer can be read from the text")


def _why_absent(prediction: Prediction) -> str:
    return (prediction.error or _reported_reason(prediction))[:_MAX_REASON]


def _reported_reason(prediction: Prediction) -> str:
    if prediction.finish_reason:
        return _finish_words(prediction)
    return "as the prediction says"


def _finish_words(prediction: Prediction) -> str:
    return f"finish_reason is {(prediction.finish_reason or '').lower()}"


def _finish(prediction: Prediction) -> Status | None:
    """Return the status that the finish reason implies."""
    status = finish_status(prediction.finish_reason)
    # A refusal that the provider reports is its filter's, not the model's.
    return Status.BLOCKED if status is Status.REFUSED else status


def zero(status: Status, reason: str, task: Task) -> Outcome:
    """Return the outcome of a prediction that scores 0 because it has no answer."""
    message = f"There is no answer: {reason}."
    verdict = Verdict(0.0, (Check("answer_found", False, message),))
    return Outcome(status, (verdict,) * task.scores, reason)


def normalized(score: float, floor: float) -> float:
    """Return a score on the scale from the floor (0) to 1; 0 at the floor and below it."""
    share = (score - floor) / (1 - floor)
    return min(max(share, 0.0), 1.0)


def describe_error(error: Exception) -> str:
    """Return an error with its line of code, without paths of the machine."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{PurePath(frame.filename).name}:{frame.lineno}"
    try:
        message = _FOLDERS.sub("", str(error)[:4000])[:300]
    except Exception:  # noqa: BLE001  (a number of too many digits in it is enough)
        message = "its message cannot be written"
    encodable = message.encode(errors="replace").decode()
    return f"{type(error).__name__}: {encodable} ({place})"
