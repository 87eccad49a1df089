"""The wire format of outcomes, from worker to parent and into files: text and numbers only.

Writing the checks as JSON in the worker spreads that work over processors, and plain tuples travel
far quicker than dataclasses.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

from scbench.base.canonical import canonical_json, quoted
from scbench.base.model import Check, Verdict

if TYPE_CHECKING:
    from scbench.scoring.outcomes import Outcome


class WireVerdict(NamedTuple):
    """One verdict: its score, and the rest as results hold it."""

    score: float
    failed_checks: list[str]
    checks: str
    metrics: str
    notes: list[str]


class WireOutcome(NamedTuple):
    """An outcome; see `scbench.scoring.outcomes.Outcome` and `Trial` for what the fields mean."""

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
        Exception: a verdict holds what JSON or UTF-8 cannot; that is a fault of its grader.
    """
    return WireOutcome(
        outcome.status.value,
        tuple(map(_verdict, outcome.verdicts)),
        outcome.reason,
        outcome.answer,
        outcome.source,
        list(outcome.repairs),
        outcome.trial.scores if outcome.trial else None,
        outcome.trial.used if outcome.trial else None,
        outcome.forged,
    )


def _verdict(verdict: Verdict) -> WireVerdict:
    checks: list[str] = []
    failed: list[str] = []
    for check in verdict.checks:
        checks.append(_check_json(check))
        if not check.passed:
            failed.append(check.id)
    wire = WireVerdict(
        float(verdict.score),
        failed,
        f"[{','.join(checks)}]",
        canonical_json(dict(verdict.metrics)) if verdict.metrics else "{}",
        list(verdict.notes),
    )
    for text in (wire.checks, wire.metrics, *wire.notes):
        if not text.isascii():
            text.encode()  # lone surrogates end here
    return wire


def _check_json(check: Check) -> str:
    """Return the canonical JSON of a check; put together here, which takes half the time."""
    passed = check.passed
    if passed is True and not check.details:
        return _passed(check.id, check.message)
    details = canonical_json(dict(check.details)) if check.details else "{}"
    words = f'"id":{quoted(check.id)},"message":{quoted(check.message)}'
    judged = (
        "true"
        if passed is True
        else "false"
        if passed is False
        else canonical_json(passed)
    )
    return f'{{"details":{details},{words},"passed":{judged}}}'


@lru_cache(maxsize=4096)
def _passed(check_id: str, message: str) -> str:
    """Return the text of a check that passed; most say what thousands of others do."""
    return f'{{"details":{{}},"id":{quoted(check_id)},"message":{quoted(message)},"passed":true}}'
