"""The wire format of outcomes between processes and in files: only text and finite numbers.

All numbers are finite: `Verdict` refuses other scores, and `canonical_json` other details and
metrics. Writing the checks as JSON in the worker spreads that work over processors, and plain
tuples are sent much faster than dataclasses.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scbench.base.canonical import canonical_json, quoted
from scbench.base.model import Check, Verdict

if TYPE_CHECKING:
    from scbench.scoring.outcomes import Outcome

# Code of the problem that a trace differs from the trace of its environment.
FORGED = "forged_trace"


class WireVerdict(NamedTuple):
    """One verdict: its score, and its other fields as in the results."""

    score: float
    failed_checks: list[str]
    checks: str
    metrics: str
    notes: list[str]


class WireOutcome(NamedTuple):
    """An outcome; `scbench.scoring.outcomes.Outcome` and `Trial` describe the fields."""

    status: str
    scores: tuple[WireVerdict, ...] = ()
    reason: str = ""
    answer: str | None = None
    source: str | None = None
    repairs: list[str] = []  # noqa: RUF012  (nobody changes it)
    turns: Sequence[Sequence[float] | None] | None = None
    used: int | None = None
    forged: bool = False

    @property
    def score(self) -> float | None:
        """See `scbench.scoring.outcomes.Outcome.score`."""
        values = [verdict.score for verdict in self.scores]
        return sum(values) / len(values) if values else None


def to_wire(outcome: "Outcome") -> WireOutcome:
    """Return an outcome in the wire format.

    Raises:
        Exception: a verdict contains something that JSON or UTF-8 cannot express, which
            is a bug in its grader.
    """
    trial = outcome.trial
    return WireOutcome(
        outcome.status.value,
        tuple(map(verdict_to_wire, outcome.verdicts)),
        outcome.reason,
        outcome.answer,
        outcome.source,
        list(outcome.repairs),
        trial.scores if trial else None,
        trial.used if trial else None,
        outcome.forged,
    )


def verdict_to_wire(verdict: Verdict) -> WireVerdict:
    """Return a verdict in the wire format. Raises the same errors as `to_wire`."""
    checks: list[str] = []
    failed: list[str] = []
    for check in verdict.checks:
        checks.append(check_json(check))
        if not check.passed:
            failed.append(check.id)
    metrics = canonical_json(dict(verdict.metrics)) if verdict.metrics else "{}"
    wire = WireVerdict(
        float(verdict.score),
        failed,
        f"[{','.join(checks)}]",
        metrics,
        list(verdict.notes),
    )
    for text in (wire.checks, wire.metrics, *wire.notes):
        if not text.isascii():
            text.encode()  # lone surrogates raise an error
    return wire


def check_json(check: Check) -> str:
    """Return the canonical JSON of a check; joining parts takes half the time."""
    passed = check.passed
    if passed is True and not check.details:
        return passed_check_json(check.id, check.message)
    details = canonical_json(dict(check.details)) if check.details else "{}"
    return (
        f'{{"details":{details},"id":{quoted(check.id)},'
        f'"message":{quoted(check.message)},"passed":{canonical_json(passed)}}}'
    )


@lru_cache(maxsize=4096)
def passed_check_json(check_id: str, message: str) -> str:
    """Return the JSON of a check that passed; cached, because most are equal to many others."""
    return (
        f'{{"details":{{}},"id":{quoted(check_id)},'
        f'"message":{quoted(message)},"passed":true}}'
    )
