"""The outcome of one prediction: its status and, if there is an answer, the verdict."""

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
from scbench.base.finish_reasons import status_without_answer
from scbench.base.model import Check, Prediction, Status, Verdict
from scbench.catalog import Task
from scbench.scoring.answers.bare import Readable
from scbench.scoring.answers.candidates import Extraction
from scbench.scoring.answers.extract import find_answer
from scbench.scoring.answers.shape import shape_of
from scbench.scoring.judge import judge
from scbench.scoring.refusals import declines

# Maximum length of a reason, in characters.
_MAX_REASON = 500
# Longer answers are graded but not copied into the results.
MAX_ANSWER_CHARACTERS = 1_000_000
# The folders of an absolute path.
_FOLDERS = re.compile(
    r"""
    (?<![\w./\\])                     # not in the middle of a relative path
    (?:[A-Za-z]:)?                    # a drive, on Windows
    (?: [/\\] [^\s/\\'":]++ )+        # folders; names are matched whole, without backtracking
    [/\\] (?=[^\s/\\'":])             # up to the name of the file
    """,
    re.VERBOSE,
)
# If one of these checks fails, the grader could not read the words as an answer.
_READING_CHECKS = {"readable", "answer_schema", "resource_limit"}
# Simulators and mesh libraries are not safe to use in several threads at the same time.
_SIMULATOR_LOCK = Lock()
# A model that ran out of tokens or declined may still have written text. If the text
# has no answer, the status reported in the line is used instead of "unparsed".
_STATUSES_WITH_TEXT = {Status.TRUNCATED, Status.REFUSED}


@dataclass(frozen=True, slots=True)
class Trial:
    """The results of a trial: a prediction made in several turns with an environment.

    Attributes:
        scores: for each turn, the scores of its answer (a task can have several); None if the
            turn has no answer.
        used: cost of its queries or actions; None in the setting retry, which has neither.
    """

    scores: tuple[tuple[float, ...] | None, ...]
    used: int | None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of one prediction.

    Attributes:
        status: the status.
        verdicts: one per score of the task; empty if the row is unscored.
        reason: why nothing was graded, or where a trace is forged; otherwise empty.
        answer: the answer as canonical JSON; None if there is none, or if it has more than
            `MAX_ANSWER_CHARACTERS`.
        source: the place where it was found (see `scbench.scoring.answers.extract`).
        repairs: repairs that were needed to read it.
        trial: the turns, if the prediction was made in a loop.
        forged: whether the recorded turns contradict the environment; the reason says where.
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
    """Return the lock for grading a heavy task; for other tasks, a context that does nothing."""
    return _SIMULATOR_LOCK if task.heavy else nullcontext()


def grade_prediction(prediction: Prediction, task: Task, params: BaseModel) -> Outcome:
    """Find the answer of a prediction and grade it; return the outcome."""
    extraction = seek_answer(prediction, task, params)
    if isinstance(extraction, Outcome):
        return extraction
    return judge_found(extraction, task, params)


def seek_answer(
    prediction: Prediction, task: Task, params: BaseModel | None = None
) -> Extraction | Outcome:
    """Return the answer of a prediction, or its outcome if it has none.

    Args:
        prediction: the prediction to read.
        task: the task of its instance.
        params: parameters of its instance, with which the grader can tell whether it reads a bare
            value; None to read only brief values.
    """
    no_answer = without_answer(prediction)
    if no_answer is None:
        shape = shape_of(task.answer_model)
        can_read = readable_by(task, params)
        extraction = find_answer(prediction, shape, can_read)
        if extraction is not None:
            return extraction
        no_answer = outcome_of_unreadable(prediction)
    # Failures of the model score 0; all others (API errors, blocks) have no score.
    if no_answer.status.scored:
        return zero(no_answer.status, no_answer.reason, task)
    return no_answer


def judge_found(extraction: Extraction, task: Task, params: BaseModel) -> Outcome:
    """Judge an answer that was found."""
    answer = _canonical_answer(extraction.value)
    # A value that JSON cannot express has no size, and must fail the size limit.
    size = sys.maxsize if answer is None else len(answer)
    status = Status.ANSWERED
    reason = ""
    verdicts: tuple[Verdict, ...] = ()
    try:
        verdicts = judge(task, params, extraction.value, size)
    except MemoryError:
        # The machine failed, not the grader, so the run must handle it.
        raise
    except CannotGrade as error:
        status = Status.NOT_RUN
        reason = str(error)[:_MAX_REASON]
    except Exception as error:  # noqa: BLE001  (the grader failed, not the model)
        return Outcome(Status.GRADER_ERROR, reason=describe_error(error))
    if answer is not None and len(answer) > MAX_ANSWER_CHARACTERS:
        answer = None
    return Outcome(
        status, verdicts, reason, answer, extraction.source, extraction.repairs
    )


def _canonical_answer(value: JsonValue) -> str | None:
    """Return an answer in the form stored in results; None if JSON cannot express it.

    No predictions file has such a value, but callers of the Python API can pass one.
    """
    try:
        text = canonical_json(value)
        # A lone surrogate can be in a str but not in UTF-8: encode() then raises a ValueError.
        text.encode()
    except ValueError:
        return None
    return text


def readable_by(task: Task, params: BaseModel | None) -> Readable | None:
    """Return a predicate for bare values that the task's grader can read.

    None without parameters, or if the task has no short answers.
    """
    if params is None or not shape_of(task.answer_model).is_short:
        return None

    def can_read(value: JsonValue) -> bool:
        # The grader has no separate test for this, but judging a short answer is fast.
        try:
            verdict = judge(task, params, {"answer": value})[0]
        except Exception:  # noqa: BLE001  (`judge_found` fails in the same way and records it)
            return True
        checks = [check for check in verdict.checks if check.id in _READING_CHECKS]
        return all(check.passed for check in checks)

    return can_read


def without_answer(prediction: Prediction) -> Outcome | None:
    """Return the outcome of a prediction without content; None if there is an answer or text.

    The first that applies decides: a reported status without a score, contents to read, another
    reported status, a block by the provider, an error, the finish reason, an empty response. The
    empty response is the model's own fault and scores 0.
    """
    status = prediction.status
    if status is not None and not status.scored:
        return Outcome(status, reason=_why_absent(prediction))
    has_text = bool((prediction.response or "").strip())
    if prediction.answer is not None or prediction.turns or has_text:
        return None
    if status is not None and status is not Status.ANSWERED:
        return Outcome(status, reason=_why_absent(prediction))
    finish = status_without_answer(prediction.finish_reason)
    # Checked before the error, because a block is often reported as an error as well.
    if finish is Status.BLOCKED:
        return Outcome(Status.BLOCKED, reason=_finish_text(prediction))
    if prediction.error is not None:
        return Outcome(Status.API_ERROR, reason=_why_absent(prediction))
    if finish is not None:
        reason = f"{_finish_text(prediction)}, and there is no text"
        return Outcome(finish, reason=reason)
    if prediction.response is not None:
        return Outcome(Status.UNPARSED, reason="the response is empty")
    return Outcome(
        Status.MISSING, reason="the line contains neither answer nor response"
    )


def outcome_of_unreadable(prediction: Prediction) -> Outcome:
    """Return the outcome of a prediction with text in which no answer was found."""
    status = prediction.status
    if status in _STATUSES_WITH_TEXT:
        return Outcome(status, reason=_reported_reason(prediction))
    finish = status_without_answer(prediction.finish_reason)
    # A block is often reported as an error as well, but stays a block.
    if prediction.error is not None and finish is not Status.BLOCKED:
        return Outcome(Status.API_ERROR, reason=prediction.error[:_MAX_REASON])
    if finish is not None:
        reason = f"{_finish_text(prediction)}, and no answer can be read"
        return Outcome(finish, reason=reason)
    if declines(prediction.response or ""):
        reason = "the text declines to answer"
        return Outcome(Status.REFUSED, reason=reason)
    return Outcome(Status.UNPARSED, reason="no answer can be read from the text")


def _why_absent(prediction: Prediction) -> str:
    return (prediction.error or _reported_reason(prediction))[:_MAX_REASON]


def _reported_reason(prediction: Prediction) -> str:
    if prediction.finish_reason:
        return _finish_text(prediction)
    return "given in the predictions file"


def _finish_text(prediction: Prediction) -> str:
    return f"finish_reason is {(prediction.finish_reason or '').lower()}"


def zero(status: Status, reason: str, task: Task) -> Outcome:
    """Return the outcome of a prediction that scores 0 because it has no answer."""
    message = f"There is no answer: {reason}."
    verdict = Verdict(0.0, (Check("answer_found", False, message),))
    # `task.scores` is the number of scores of an answer.
    return Outcome(status, (verdict,) * task.scores, reason)


def normalized(score: float, floor: float) -> float:
    """Map the floor to 0 and 1 to 1; scores below the floor become 0. ``floor`` must be below 1."""
    share = (score - floor) / (1 - floor)
    return min(max(share, 0.0), 1.0)


def describe_error(error: Exception) -> str:
    """Return an error with its line of code, without paths of the machine."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    place = f"{PurePath(frame.filename).name}:{frame.lineno}"
    try:
        # Cut before the search, to limit its time, and afterwards to the stored length.
        message = _FOLDERS.sub("", str(error)[:4000])[:300]
    except Exception:  # noqa: BLE001  (str() can fail, such as on an int of too many digits)
        message = "its message cannot be displayed"
    # Replaces lone surrogates, which cannot be stored.
    encodable = message.encode(errors="replace").decode()
    return f"{type(error).__name__}: {encodable} ({place})"
