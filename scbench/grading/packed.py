"""An outcome packed for its way from worker to parent: text and numbers only.

Writing the checks as JSON in the worker spreads that work over processors, and plain tuples travel
far quicker than dataclasses.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from scbench.canonical import canonical_json, quoted
from scbench.grading.outcome import Outcome
from scbench.model import Check, Verdict


class Scored(NamedTuple):
    """One verdict: its score, and the rest as results hold it."""

    score: float
    failed_checks: list[str]
    checks: str
    metrics: str
    notes: list[str]


class Packed(NamedTuple):
    """An outcome; see `scbench.grading.outcome.Outcome` for what the fields mean."""

    status: str
    scores: tuple[Scored, ...]
    reason: str
    answer: str | None
    source: str | None
    repairs: list[str]


def pack(outcome: Outcome) -> Packed:
    """Pack an outcome.

    Raises:
        Exception: a verdict holds what JSON or UTF-8 cannot; that is a fault of its grader.
    """
    return Packed(
        outcome.status.value,
        tuple(map(_scored, outcome.verdicts)),
        outcome.reason,
        outcome.answer,
        outcome.source,
        list(outcome.repairs),
    )


def _scored(verdict: Verdict) -> Scored:
    checks: list[str] = []
    failed: list[str] = []
    for check in verdict.checks:
        checks.append(_check(check))
        if not check.passed:
            failed.append(check.id)
    scored = Scored(
        float(verdict.score),
        failed,
        f"[{','.join(checks)}]",
        _object(verdict.metrics),
        list(verdict.notes),
    )
    for text in (scored.checks, scored.metrics, *scored.notes):
        if not text.isascii():
            text.encode()  # lone surrogates end here
    return scored


# What follows writes canonical JSON; put together here, it takes half the time.


def _check(check: Check) -> str:
    passed = check.passed
    if passed is True and not check.details:
        return _passed(check.id, check.message)
    said = f'"id":{quoted(check.id)},"message":{quoted(check.message)}'
    judged = "true" if passed is True else "false" if passed is False else canonical_json(passed)
    return f'{{"details":{_object(check.details)},{said},"passed":{judged}}}'


@lru_cache(maxsize=4096)
def _passed(check_id: str, message: str) -> str:
    """Return the text of a check that passed; most say what thousands of others do."""
    return f'{{"details":{{}},"id":{quoted(check_id)},"message":{quoted(message)},"passed":true}}'


def _object(values: Mapping[str, Any]) -> str:
    texts = []
    for name in sorted(values):
        value = values[name]
        kind = type(value)
        if kind is int:
            text = repr(value)
        elif kind is list and not value:
            text = "[]"
        elif isinstance(value, str):
            text = quoted(value)
        else:
            text = canonical_json(value)
        texts.append(f"{quoted(name)}:{text}")
    return f"{{{','.join(texts)}}}"
