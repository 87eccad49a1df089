"""Every error scbench raises on purpose, one type for each boundary it can be met at.

A wrong answer is never an error: it is a verdict. Messages say what happened, where, and what to do
next. Task authors raise plain exceptions; the engine records them as ``grader_error`` rows.
"""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pydantic import ValidationError

_CLIP = 200
"""Longest place or problem of a fault, in characters."""


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


def printable(text: str) -> str:
    """Return text with control characters as escapes: what is quoted must not steer a terminal."""
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


class Fault(NamedTuple):
    """What pydantic says is wrong: the place, empty for the whole, and the problem in words."""

    at: str
    problem: str

    def __str__(self) -> str:
        return f"{self.at}: {self.problem}" if self.at else self.problem


def faults_of(error: "ValidationError", most: int | None = None) -> list[Fault]:
    """Return the first faults that a validation found, clipped to what a sentence can hold."""
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [
        Fault(".".join(map(str, fault["loc"]))[:_CLIP], fault["msg"][:_CLIP])
        for fault in found[:most]
    ]


def did_you_mean(wrong: str, known: Iterable[str]) -> str:
    """Return ``" Did you mean ...?"`` with up to three close names, or an empty string."""
    names = list(known)
    begins = [name for name in names if len(wrong) >= 4 and name.startswith(wrong)]
    near = begins[:3] or get_close_matches(wrong[:200], names, n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(repr(name) for name in near)}?" if near else ""
