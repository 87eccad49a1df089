"""The errors that scbench raises on purpose, one type for each boundary.

A wrong answer is never an error: it gets a verdict. Messages say what happened, where, and what to
do next. Plain exceptions from task code become ``grader_error`` rows.
"""

import errno
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

from scbench.base.wording import counted, form_in_words

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

# Maximum length of a fault's place or problem, in characters.
_CLIP = 200

# Reasons for which a machine refuses something, by error number.
_REFUSALS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "a file reached the size limit (see ulimit -f)",
    errno.EMFILE: "too many files are open (see ulimit -n)",
    errno.ENFILE: "too many files are open on this machine",
    errno.ENOMEM: "there is not enough memory (see ulimit -v)",
    errno.EAGAIN: "too many processes or threads (see ulimit -u)",
    errno.EIO: "the disk failed to read or write",
}
# Refusals that no input can cause. Memory is not among them, because an input may use it up.
_MACHINE_FAULT_ERRNOS = {
    errno.ENOSPC,
    errno.EDQUOT,
    errno.EMFILE,
    errno.ENFILE,
    errno.EIO,
}
# Maximum length of a chain of errors that is followed.
_MAX_CAUSES = 20
# Python's message if a thread cannot be started; the exception has no error number.
_NO_THREAD = "can't start new thread"

_WHOLE_NUMBER = "must be a whole number"
_OBJECT = "must be an object"
# Messages by pydantic's type of error. Its own messages speak of Python's types.
_MESSAGES = {
    "int_type": _WHOLE_NUMBER,
    "int_parsing": _WHOLE_NUMBER,
    "int_parsing_size": _WHOLE_NUMBER,
    "int_from_float": _WHOLE_NUMBER,
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "tuple_type": "must be a list",
    "list_type": "must be a list",
    "dict_type": _OBJECT,
    "mapping_type": _OBJECT,
    "model_type": _OBJECT,
    "model_attributes_type": _OBJECT,
    "finite_number": "must be a finite number",
    "string_type": "must be a string",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "string_pattern_mismatch": "must be text {form}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
}
# Length limits by pydantic's type of error: the limit, and the things it counts.
_LENGTHS = {
    "too_short": ("at least", "entry", "entries"),
    "too_long": ("at most", "entry", "entries"),
    "string_too_short": ("at least", "character", "characters"),
    "string_too_long": ("at most", "character", "characters"),
}


class ScbenchError(Exception):
    """Base of all errors raised on purpose. Its text can be shown to users."""


class CannotGrade(ScbenchError):  # noqa: N818  (nothing went wrong)
    """This installation cannot grade an answer: an engine is missing, or code may not run.

    Graders raise it. The row becomes ``not_run``, never 0, with the message as its reason.
    """


class CatalogError(ScbenchError):
    """A task id is unknown or registered twice, or the modules of a task are incomplete."""


class ClusterError(ScbenchError):
    """A cluster cannot be reached, has no workers, or would grade differently."""


class EngineError(ScbenchError):
    """The worker processes that grade cannot be started or kept alive."""


class FailedCallError(ScbenchError):
    """A call of a model failed or was refused; this is an error, never a score of 0."""


class TrackerError(ScbenchError):
    """An experiment tracker cannot receive results."""


class ExperimentError(ScbenchError):
    """An experiment cannot be read, or asks for something that no task offers."""


class GenerationError(ScbenchError):
    """A builder cannot make the requested case at this point of its parameter space."""


class WorkSpentError(GenerationError):
    """A builder reached its limit of work without success.

    No further seeds are tried unless an earlier one gave a case.
    """


class HubError(ScbenchError):
    """The Hugging Face Hub refuses, fails or cannot be reached."""


class JsonError(ScbenchError):
    """Text is not JSON that scbench accepts: malformed, duplicate key, NaN, too deep, too long."""


class PredictionsError(ScbenchError):
    """The predictions cannot be read at all: no such file, broken compression."""


class ReleaseError(ScbenchError):
    """A release cannot be found, is incomplete, or differs from its manifest."""


class ResultsError(ScbenchError):
    """Results cannot be written or resumed: a folder in use, a journal of another run."""


class FolderInUseError(ResultsError):
    """Another process writes to the folder of results."""


class MachineError(ScbenchError):
    """The machine refuses a resource that a run needs: space, memory, open files or processes."""


class Fault(NamedTuple):
    """One error of a validation.

    Attributes:
        at: place of the value; empty for the whole document.
        problem: the error in words.
    """

    at: str
    problem: str

    def __str__(self) -> str:
        return f"{self.at}: {self.problem}" if self.at else self.problem


def refused(error: BaseException) -> str:
    """Return the resource that a machine refused, and the file; empty for other errors."""
    number = _error_number(error)
    if number not in _REFUSALS:
        return ""
    reason = _REFUSALS[number]
    file = getattr(error, "filename", None)
    return f"{file}: {reason}" if file else reason


def machine_fault(error: BaseException) -> str:
    """Return the resource whose refusal by the machine caused an error; empty for other errors.

    If there is such a resource, no input is to blame. A full disk counts, but not memory, which an
    input may use up.
    """
    cause: BaseException | None = error
    for _ in range(_MAX_CAUSES):
        if cause is None:
            break
        # Messages of other errors may quote an input, so only numbers are trusted.
        if isinstance(cause, OSError) and cause.errno in _MACHINE_FAULT_ERRNOS:
            return refused(cause)
        cause = cause.__cause__ or cause.__context__
    return ""


def _error_number(error: BaseException) -> int | None:
    if isinstance(error, MemoryError):
        return errno.ENOMEM
    text = str(error)
    if isinstance(error, RuntimeError) and _NO_THREAD in text:
        return errno.EAGAIN
    number: int | None = getattr(error, "errno", None)
    if number is None:
        # Libraries written in Rust put the number only in their message.
        for number_in_text in _REFUSALS:
            if (
                f"os error {number_in_text})" in text
                or f"code: {number_in_text}," in text
            ):
                return number_in_text
    return number


def printable(text: str) -> str:
    """Return text with control characters escaped, so that it cannot affect a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def faults_of(error: "ValidationError", limit: int | None = None) -> list[Fault]:
    """Return the first errors of a validation, clipped to a readable length."""
    faults = []
    for item in items_of(error)[:limit]:
        place = ".".join(map(str, item["loc"]))
        faults.append(Fault(place[:_CLIP], problem_of(item)[:_CLIP]))
    return faults


def items_of(error: "ValidationError") -> "list[ErrorDetails]":
    """Return pydantic's list of errors, without errors that follow from others.

    pydantic also calls a list too short if it is long enough but some of its entries are wrong.
    """
    items = []
    for item in error.errors(include_url=False):
        is_too_short = item["type"] == "too_short"
        if not is_too_short or len(item["input"]) < item["ctx"]["min_length"]:
            items.append(item)
    return items


def problem_of(item: Mapping[str, Any]) -> str:
    """Return a message for one of pydantic's ``ValidationError.errors()``."""
    kind = item["type"]
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is not a known key"
    context = dict(item.get("ctx", {}))
    if kind in {"value_error", "assertion_error"}:
        return str(context["error"])
    for name, value in context.items():
        # Pydantic gives the bounds of whole numbers as floats: 3.0 is printed as 3.
        if isinstance(value, float) and value.is_integer():
            context[name] = int(value)
    if "pattern" in context:
        context["form"] = form_in_words(context["pattern"])
    if context.get("min_length") == 1:
        problem = "must not be empty"
    elif kind in _LENGTHS:
        bound, noun, plural = _LENGTHS[kind]
        limit = int(context.get("min_length") or context.get("max_length") or 0)
        problem = f"must have {bound} {counted(limit, noun, plural)}"
    elif kind in _MESSAGES:
        problem = _MESSAGES[kind].format(**context)
    else:
        problem = item["msg"].replace("Input should be", "must be")
    return f"{problem}; got {describe_value(item['input'])}"


def describe_value(value: object) -> str:
    """Return a short description of a value, as JSON if that is short."""
    if isinstance(value, dict):
        return _describe_object(value)
    if isinstance(value, list | tuple):
        return _describe_list(value)
    if isinstance(value, str):
        clipped = value if len(value) <= 40 else f"{value[:30]}..."
        return printable(json.dumps(clipped, ensure_ascii=False))
    if value is None or isinstance(value, bool | float):
        return json.dumps(value)
    if isinstance(value, int) and abs(value) >= 10**30:
        return f"a number of {value.bit_length():,} bits"
    # Python refuses to print integers of thousands of digits; those have returned above.
    return str(value) if isinstance(value, int) else printable(str(value))[:40]


def _describe_object(value: dict[object, object]) -> str:
    if not value:
        return "an empty object"
    keys = ", ".join(repr(printable(str(key)[:20])) for key in list(value)[:3])
    ellipsis = ", ..." if len(value) > 3 else ""
    return f"an object with the keys {keys}{ellipsis}"


def _describe_list(values: Sequence[object]) -> str:
    is_nested = any(isinstance(value, list | dict | tuple) for value in values)
    if len(values) > 4 or is_nested:
        noun = "entry" if len(values) == 1 else "entries"
        return f"a list of {len(values):,} {noun}"
    return f"[{', '.join(map(describe_value, values))}]"


def did_you_mean(wrong: str, candidates: Iterable[str]) -> str:
    """Return ``" Did you mean ...?"`` with up to three similar names, or an empty string."""
    names = list(candidates)
    similar: list[str] = []
    if len(wrong) >= 3:
        similar = [name for name in names if name.startswith(wrong)][:3]
    if not similar:
        similar = get_close_matches(wrong[:200], names, n=3, cutoff=0.6)
    if not similar:
        return ""
    return f" Did you mean {' or '.join(map(repr, similar))}?"


@contextmanager
def reading_parquet(name: object, error_type: type[ScbenchError]) -> "Iterator[None]":
    """Turn any polars failure on a damaged Parquet file into a one-sentence error.

    Args:
        name: the file, for the message.
        error_type: type of the error that is raised.
    """
    import polars as pl  # noqa: PLC0415  (heavy)

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        first = printable(str(error).partition("\n")[0])[:300]
        raise error_type(f"{name} cannot be read as Parquet: {first}") from None
