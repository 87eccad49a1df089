"""Every error scbench raises on purpose, one type for each boundary it can be met at.

A wrong answer is never an error: it is a verdict. Messages say what happened, where, and what to do
next. Task authors raise plain exceptions; the engine records them as ``grader_error`` rows.
"""

import errno
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails

# Longest place or problem of a fault, in characters.
_CLIP = 200


_REFUSALS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "a file may not grow any more (see ulimit -f)",
    errno.EMFILE: "no more files may be open (see ulimit -n)",
    errno.ENFILE: "no more files may be open on this machine",
    errno.ENOMEM: "there is not enough memory (see ulimit -v)",
    errno.EAGAIN: "no more processes or threads may be started (see ulimit -u)",
    errno.EIO: "the disk cannot be read or written",
}
_NO_THREAD = "can't start new thread"
# What a fault's kind means; pydantic's own words speak of Python's types.
_WORDS = {
    **dict.fromkeys(
        ("int_type", "int_parsing", "int_parsing_size", "int_from_float"),
        "must be a whole number",
    ),
    **dict.fromkeys(("float_type", "float_parsing"), "must be a number"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "must be true or false"),
    **dict.fromkeys(("tuple_type", "list_type"), "must be a list"),
    **dict.fromkeys(
        ("dict_type", "mapping_type", "model_type", "model_attributes_type"),
        "must be an object",
    ),
    "finite_number": "must be a finite number",
    "string_type": "must be a string",
    "greater_than": "must be above {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than": "must be below {lt}",
    "less_than_equal": "must be at most {le}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "too_short": "must have at least {min_length} entries",
    "too_long": "must have at most {max_length} entries",
    "string_too_short": "must have at least {min_length} characters",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must match {pattern}",
    "literal_error": "must be {expected}",
    "enum": "must be {expected}",
}


class ScbenchError(Exception):
    """Base of all errors raised on purpose. Its text can be shown to a user."""


class CannotGrade(ScbenchError):  # noqa: N818  (nothing went wrong)
    """This installation cannot grade an answer: an engine is missing, or code may not run.

    A grader raises it; the row is ``not_run``, never 0, with the message as its reason.
    """


class CatalogError(ScbenchError):
    """A task id is unknown, registered twice, or its modules do not keep the contract."""


class ClusterError(ScbenchError):
    """A cluster cannot be reached, has nobody who works, or would grade differently."""


class EngineError(ScbenchError):
    """The worker processes that grade cannot be started or kept alive."""


class ExperimentError(ScbenchError):
    """An experiment cannot be read, or asks for what no task can be asked."""


class GenerationError(ScbenchError):
    """A builder cannot make what was asked for at this point of its parameter space."""


class WorkSpentError(GenerationError):
    """A builder did so much work in vain that, if no other seed gave a case, none is tried."""


class HubError(ScbenchError):
    """The Hugging Face Hub refuses, fails or cannot be reached."""


class JsonError(ScbenchError):
    """Text is not JSON that scbench accepts: malformed, duplicate key, NaN, too deep, too long."""


class PredictionsError(ScbenchError):
    """The predictions cannot be read at all: no such file, broken compression."""


class ReleaseError(ScbenchError):
    """A release cannot be found, is incomplete, or is not what its manifest says."""


class ResultsError(ScbenchError):
    """Results cannot be written or resumed: a folder in use, a journal of another run."""


class MachineError(ScbenchError):
    """The machine refuses what a run needs: space, memory, open files, processes."""


def refused(error: BaseException) -> str:
    """Say what a machine refused, and where if it is known; nothing if the error is another."""
    if isinstance(error, MemoryError):
        return _REFUSALS[errno.ENOMEM]
    if isinstance(error, RuntimeError) and _NO_THREAD in str(error):
        return _REFUSALS[errno.EAGAIN]
    number = getattr(error, "errno", None)
    if number is None:
        # Libraries that are not written in Python say it in words.
        text = str(error)
        number = next(
            (number for number in _REFUSALS if f"os error {number})" in text), None
        )
    reason = _REFUSALS.get(number, "") if number is not None else ""
    name = getattr(error, "filename", None)
    return f"{name}: {reason}" if reason and name else reason


def printable(text: str) -> str:
    """Return text with control characters as escapes: what is quoted must not steer a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class Fault(NamedTuple):
    """What a validation found wrong: the place, empty for the whole, and the problem in words."""

    at: str
    problem: str

    def __str__(self) -> str:
        return f"{self.at}: {self.problem}" if self.at else self.problem


def faults_of(error: "ValidationError", limit: int | None = None) -> list[Fault]:
    """Return the first faults that a validation found, clipped to what a sentence can hold."""
    return [
        Fault(".".join(map(str, item["loc"]))[:_CLIP], problem_of(item)[:_CLIP])
        for item in items_of(error)[:limit]
    ]


def items_of(error: "ValidationError") -> "list[ErrorDetails]":
    """Return what a validation found; no list is too short for the faults of its entries alone."""
    return [
        item
        for item in error.errors(include_url=False)
        if item["type"] != "too_short" or len(item["input"]) < item["ctx"]["min_length"]
    ]


def problem_of(item: Mapping[str, Any]) -> str:
    """Return what is wrong in words, of one of pydantic's ``ValidationError.errors()``."""
    kind = item["type"]
    if kind == "missing":
        return "is missing"
    if kind == "extra_forbidden":
        return "is not a known key"
    if kind in {"value_error", "assertion_error"}:
        return str(item["ctx"]["error"])
    context = {key: _integer_text(value) for key, value in item.get("ctx", {}).items()}
    problem = _WORDS[kind].format(**context) if kind in _WORDS else item["msg"]
    if context.get("min_length") == 1:
        problem = "must not be empty"
    return f"{problem.replace('Input should be', 'must be')}; got {describe_value(item['input'])}"


def _integer_text(value: object) -> object:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def describe_value(value: object) -> str:
    """Return a value in few words, as JSON where that is short."""
    if isinstance(value, dict):
        keys = ", ".join(repr(printable(str(key)[:20])) for key in list(value)[:3])
        ellipsis = ", ..." if len(value) > 3 else ""
        return (
            f"an object with the keys {keys}{ellipsis}" if value else "an empty object"
        )
    if isinstance(value, list | tuple):
        if len(value) > 4 or any(
            isinstance(item, list | dict | tuple) for item in value
        ):
            return (
                f"a list of {len(value):,} {'entry' if len(value) == 1 else 'entries'}"
            )
        return f"[{', '.join(map(describe_value, value))}]"
    if isinstance(value, str):
        clipped = value if len(value) <= 40 else f"{value[:30]}..."
        return printable(json.dumps(clipped, ensure_ascii=False))
    if value is None or isinstance(value, bool | float):
        return json.dumps(value)
    if isinstance(value, int):
        return (
            f"a number of {value.bit_length():,} bits"
            if abs(value) >= 10**30
            else str(value)
        )
    return printable(str(value))[:40]


def did_you_mean(wrong: str, candidates: Iterable[str]) -> str:
    """Return ``" Did you mean ...?"`` with up to three close names, or an empty string."""
    names = list(candidates)
    begins = [name for name in names if len(wrong) >= 3 and name.startswith(wrong)]
    near = begins[:3] or get_close_matches(wrong[:200], names, n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(name) for name in near)}?" if near else ""


@contextmanager
def reading_parquet(what: object, refusal: type[ScbenchError]) -> "Iterator[None]":
    """Refuse a damaged Parquet file in one sentence: polars fails on them in many ways, or panics.

    Args:
        what: the file, for the message.
        refusal: type of error that is raised.
    """
    import polars as pl  # noqa: PLC0415  (heavy)

    try:
        yield
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        first = printable(str(error).partition("\n")[0])[:300]
        raise refusal(f"{what} cannot be read as Parquet: {first}") from None
