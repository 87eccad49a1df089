"""An outcome packed for its way from worker to parent: text and numbers only.

Encoding the checks in the worker spreads that work over processors, and plain tuples travel far
quicker than dataclasses.
"""

from typing import Any, NamedTuple

from scbench.canonical import canonical_json
from scbench.grading.worker import Outcome
from scbench.model import Check, Verdict


class Scored(NamedTuple):
    """One verdict: its score, and everything else as results hold it."""

    score: float
    failed_checks: list[str]
    checks: str
    metrics: str
    notes: list[str]


class Packed(NamedTuple):
    """One outcome; see `scbench.grading.worker.Outcome` for the fields."""

    status: str
    scores: tuple[Scored, ...]
    reason: str
    answer: str | None
    source: str | None
    repairs: list[str]
