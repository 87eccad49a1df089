"""The built-in judge: labels from status, answer and checks, without a model or a network.

It follows the decision order in ``texts.toml``. The confidence is the clarity of the
evidence, not the probability of the label; nothing is filtered by it.
"""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import polars as pl
from pydantic import JsonValue

from scbench.analysis.failure_modes.labels import DECISIONS, MAX_TAGS, json_cell
from scbench.analysis.failure_modes.modes import SLIP_PLACES, Mode
from scbench.base.model import Status
from scbench.catalog import Task, get_task
from scbench.scoring.answers.shape import shape_of

JUDGE = "rules"
# Version stored with every label instead of a prompt version; increased whenever a
# label could change.
VERSION = "rules-2"

# A text without an answer is more than an evasion if it has this many characters.
_LONG = 2000
# After this many characters of reasoning, a malformed answer counts as derailed work.
_LONG_REASONING = 20_000
# With partial credit, an answer below this score is mostly wrong.
_HALF = 0.5


class Finding(NamedTuple):
    """A label, the clarity of the evidence from 0 to 1, and the reason."""

    mode: Mode
    confidence: float
    why: str


def judge_by_rules(rows: pl.DataFrame) -> pl.DataFrame:
    """Label candidates.

    Args:
        rows: as returned by `scbench.analysis.failure_modes.labels.candidates`.

    Returns:
        One decision per candidate, with columns
        `scbench.analysis.failure_modes.labels.DECISIONS`; the tags are the checks that failed.

    Raises:
        CatalogError: a task's grader is not installed.
        ResultsError: a row's checks or answer are not JSON.
    """
    decisions = [decide(row, get_task(row["task"])) for row in rows.to_dicts()]
    return pl.DataFrame(decisions, schema=DECISIONS)


def decide(row: Mapping[str, Any], task: Task) -> dict[str, Any]:
    """Return the decision on a candidate."""
    failed = {}
    unmade = 0
    for check in json_cell(row, "checks") or []:
        if check["passed"] is None:
            unmade += 1
        elif check["passed"] is False:
            failed[check["id"]] = failing_places(check)
    finding = finding_of(row, task, failed, unmade)
    return {
        "candidate": row["candidate"],
        "task": row["task"],
        "subtask": row["subtask"],
        "failure_mode": finding.mode.value,
        "confidence": finding.confidence,
        "justification": finding.why,
        "evidence_tags": list(failed)[:MAX_TAGS],
    }


def failing_places(check: Mapping[str, Any]) -> int:
    """Return the number of places at which a check fails; 0 if unknown."""
    # A count without a list of places counts something else, such as the parts of an
    # answer.
    details = check["details"]
    if "offenders" not in details and "errors" not in details:
        return 0
    count = details.get("count", 0)
    return count if isinstance(count, int) else 0


def finding_of(
    row: Mapping[str, Any], task: Task, failed: Mapping[str, int], unmade: int
) -> Finding:
    """Return the first finding that applies.

    Args:
        row: a candidate.
        task: task of the row.
        failed: number of places by failed check; 0 if unknown.
        unmade: number of checks that could not be evaluated.
    """
    answer = json_cell(row, "answer")
    reasoning = row["reasoning_characters"] or 0
    if row["status"] == Status.REFUSED:
        return Finding(Mode.EVASION, 0.95, "The reply declines and contains no answer.")
    if row["status"] == Status.UNPARSED or "answer_found" in failed:
        return finding_without_answer(row["response_characters"], reasoning)
    if is_empty(answer, shape_of(task.answer_model).keys):
        # If "none" can be a right answer, an empty list may be intended.
        confidence = 0.9 if "answer_schema" in failed else 0.7
        why = "The answer is empty: the required keys have no values."
        return Finding(Mode.EVASION, confidence, why)
    if "answer_schema" in failed:
        return finding_of_form(failed["answer_schema"], reasoning)
    dropped = sorted(task.defining_checks & failed.keys())
    if dropped:
        why = f"The answer breaks a rule that defines the task: {', '.join(dropped)}."
        return Finding(Mode.TRIVIALIZED, 0.7, why)
    if "resource_limit" in failed:
        why = "The answer is larger than any correct answer could be: resource_limit."
        return Finding(Mode.OVERTHINKING, 0.7, why)
    if len(failed) == 1:
        ((check, places),) = failed.items()
        finding = finding_of_check(check, places, row["score"], task)
        # Checks that could not be evaluated may hide further errors.
        doubt = 0.1 if unmade else 0.0
        return finding._replace(confidence=round(finding.confidence - doubt, 1))
    if failed:
        why = f"{len(failed)} checks fail: {', '.join(failed)}."
        return Finding(Mode.LOCAL_ONLY, 0.8 if len(failed) > SLIP_PLACES else 0.6, why)
    if unmade:
        why = f"No check fails, but {unmade} could not be evaluated."
        return Finding(Mode.LOCAL_ONLY, 0.3, why)
    why = f"The answer follows every rule but scores only {row['score']:.2f} of 1."
    return Finding(Mode.LOCAL_ONLY, 0.4, why)


def finding_without_answer(characters: int | None, reasoning: int) -> Finding:
    """Return the finding for a reply without a recognizable answer.

    Args:
        characters: number of characters of the reply, if known.
        reasoning: number of characters in the reasoning.
    """
    length = "" if characters is None else f" of {characters} characters"
    why = f"No answer can be found in the reply{length}: answer_found."
    # An empty answer is evasion even after much work, but then the evidence is less
    # clear.
    is_long = (characters or 0) >= _LONG or reasoning >= _LONG_REASONING
    return Finding(Mode.EVASION, 0.4 if is_long else 0.6, why)


def finding_of_form(errors: int, reasoning: int) -> Finding:
    """Return the finding for an answer of the wrong form.

    Args:
        errors: number of errors; 0 if unknown.
        reasoning: number of characters in the reasoning.
    """
    if reasoning >= _LONG_REASONING:
        why = (
            f"After {reasoning} characters of reasoning, the answer does not have the required "
            "form: answer_schema."
        )
        return Finding(Mode.OVERTHINKING, 0.5, why)
    # One or two values of a wrong type hardly make it another task, but the decision
    # order excludes a near miss.
    confidence = 0.4 if 0 < errors <= SLIP_PLACES else 0.6
    count = "1 error" if errors == 1 else f"{errors} errors"
    why = f"The answer does not have the required form ({count}): answer_schema."
    return Finding(Mode.TRIVIALIZED, confidence, why)


def finding_of_check(check: str, places: int, score: float, task: Task) -> Finding:
    """Return the finding for a single failed check.

    Args:
        check: id of the check.
        places: number of places at which it fails; 0 if unknown.
        score: score of the answer.
        task: task of the answer.
    """
    if places > SLIP_PLACES:
        why = f"One check fails, in {places} places: {check}."
        return Finding(Mode.LOCAL_ONLY, 0.7, why)
    if places == 1:
        why = f"One check fails, in one place: {check}."
        return Finding(Mode.NEAR_MISS, 0.8, why)
    if places:
        why = f"One check fails, in {places} places: {check}."
        return Finding(Mode.NEAR_MISS, 0.6, why)
    is_partial = task.scoring == "partial"
    if is_partial and 0 < score < _HALF:
        why = f"One check fails, and the answer scores only {score:.2f} of 1: {check}."
        return Finding(Mode.LOCAL_ONLY, 0.5, why)
    # With partial credit, a 0 may mean a bad answer or a voided score.
    why = f"One check fails, in an unknown number of places: {check}."
    return Finding(Mode.NEAR_MISS, 0.3 if is_partial else 0.5, why)


def is_empty(answer: JsonValue, keys: Collection[str]) -> bool:
    """Whether an answer is empty.

    For an object, the values of the requested keys are checked. An object with none of
    them is empty if it has only words, such as an apology.
    """
    if answer is None:
        return False
    if not isinstance(answer, dict):
        return is_blank(answer)
    values = [answer[key] for key in keys if key in answer]
    if values:
        return all(map(is_blank, values))
    if keys:
        return all(
            isinstance(value, str) or is_blank(value) for value in answer.values()
        )
    return is_blank(answer)


def is_blank(value: JsonValue) -> bool:
    """Whether a value contains only empty containers, blank texts and nulls."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, dict):
            waiting.extend(item.values())
        elif isinstance(item, list):
            waiting.extend(item)
        elif isinstance(item, str):
            if item.strip():
                return False
        elif item is not None:
            return False
    return True
