"""What a verdict tells the model: as far as the setup discloses, and never the reference.

Messages of checks are written for whoever reads results, and where an instance has one right answer
they say it ("The value is 12, not 13."). Of such tasks a failed check is named by its rule alone,
as the task's ``CHECKS`` word it: that is the same for every instance.
"""

from collections.abc import Iterator
from itertools import accumulate

from pydantic import JsonValue

from scbench.base.canonical import canonical_json
from scbench.base.model import Check, Verdict
from scbench.catalog import Task
from scbench.graders.shared.checklist import COMMON_CHECKS
from scbench.scoring.answers.shape import shape_of

_MOST = 10_000
"""Characters of all that is told, about."""
_SENTENCE = 300
_PLACES = 1_500
"""Characters of a check's places, at most."""
_SIZES = (20, 5, 2, 1)
"""Entries that are shown of each list: as many as fit."""
_OF_SHAPE = frozenset({"answer_found", "answer_schema"})
"""Checks of the form alone, which are worded without the instance."""


def one_right(task: Task) -> bool:
    """Whether an instance has one right answer, which its checks could say."""
    return task.one_answer or shape_of(task.answer_model).is_short


def disclosed(task: Task, verdicts: tuple[Verdict, ...], disclose: str) -> list[str]:
    """Return the lines that are told of a judged answer, besides its score.

    Args:
        task: that was answered.
        verdicts: one for each of its scores.
        disclose: "score", "checks" or "places".
    """
    if disclose == "score":
        return []
    found = list(_found(task, verdicts, places=disclose == "places"))
    ends = accumulate(map(len, found))
    shown = [line for line, end in zip(found, ends, strict=True) if end <= _MOST]
    left = len(found) - len(shown)
    if left:
        shown.append(f"- and {left} more")
    return ["Checks that failed:", *shown] if shown else []


def _found(task: Task, verdicts: tuple[Verdict, ...], *, places: bool) -> Iterator[str]:
    hidden = one_right(task)
    for number, verdict in enumerate(verdicts, 1):
        of = f" (score {number} of {len(verdicts)})" if len(verdicts) > 1 else ""
        for check in verdict.checks:
            if check.passed is not False:
                continue
            if hidden and check.id not in _OF_SHAPE:
                rule = task.checks.get(check.id) or COMMON_CHECKS.get(check.id, "")
                yield f"- {check.id}{of}: broken is the rule: {rule}"
            else:
                where = f"\n  {_places(check)}" if places and check.details else ""
                yield f"- {check.id}{of}: {_clipped(check.message, _SENTENCE)}{where}"


def _clipped(text: str, most: int) -> str:
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}... ({left} more characters)"


def _places(check: Check) -> str:
    for most in _SIZES:
        text = canonical_json({key: _first(value, most) for key, value in check.details.items()})
        if len(text) <= _PLACES:
            return text
    return f"its places take {len(text):,} characters and are left out"


def _first(value: JsonValue, most: int) -> JsonValue:
    """Return a value with the first entries of each list, and a count of those left out."""
    if isinstance(value, dict):
        return {key: _first(inside, most) for key, inside in value.items()}
    if not isinstance(value, list | tuple):
        return _clipped(value, _SENTENCE) if isinstance(value, str) else value
    shown = [_first(inside, most) for inside in value[:most]]
    left = len(value) - len(shown)
    return [*shown, f"and {left} more"] if left else shown
