"""The part of a verdict that the setup discloses to a model; never the reference.

Messages of checks are written for readers of results. If an instance has one correct answer, they
may reveal it ("The value is 12, not 13."). For such tasks, the model gets the message of a failed
check only if it follows from prompt and answer alone (``OWN_FAULTS`` of the grader: an overlap, an
index out of range), and otherwise the rule, in the words of the task's ``CHECKS``.
"""

from collections.abc import Iterator

from pydantic import JsonValue

from scbench.base.canonical import canonical_json
from scbench.base.model import Check, Verdict
from scbench.catalog import Task
from scbench.graders.shared.checklist import COMMON_CHECKS
from scbench.scoring.answers.shape import shape_of

# Approximate number of characters of all lines, because models pay for what they read.
MAX_DISCLOSED = 10_000
# Maximum characters of a check's message, and of a text among its places.
MAX_SENTENCE = 300
# Maximum characters of a check's places.
MAX_PLACES = 1_500
# Numbers of entries to show of each list in places; the first that fits is used.
LIST_SIZES = (20, 5, 2, 1)
# Checks of the answer's form, whose messages do not reveal anything about the instance.
FORM_CHECKS = frozenset({"answer_found", "answer_schema"})


def disclosure_lines(
    task: Task, verdicts: tuple[Verdict, ...], disclose: str
) -> list[str]:
    """Return the lines about a graded answer that a model gets in addition to its score.

    Args:
        task: task of the instance.
        verdicts: verdicts on the answer.
        disclose: "score" for no lines, "checks" for failed checks, "places" for their places, too.
    """
    if disclose == "score":
        return []
    lines = ["Checks that failed:"]
    size = 0
    omitted = 0
    for line in failed_checks(task, verdicts, places=disclose == "places"):
        size += len(line)
        # Stop at the first line that does not fit, so that the lines stay in order.
        if size <= MAX_DISCLOSED:
            lines.append(line)
        else:
            omitted += 1
    if omitted:
        lines.append(f"- and {omitted} more")
    return lines if len(lines) > 1 else []


def one_right(task: Task) -> bool:
    """Return whether an instance has one correct answer, which its checks could reveal."""
    return task.one_answer or shape_of(task.answer_model).is_short


def failed_checks(
    task: Task, verdicts: tuple[Verdict, ...], *, places: bool
) -> Iterator[str]:
    """Yield a line for each failed check, with its places if requested."""
    has_one_answer = one_right(task)
    safe_checks = FORM_CHECKS | task.own_faults
    for number, verdict in enumerate(verdicts, 1):
        score = f" (score {number} of {len(verdicts)})" if len(verdicts) > 1 else ""
        for check in verdict.checks:
            # None means that the check could not be evaluated.
            if check.passed is not False:
                continue
            head = f"- {check.id}{score}: "
            if has_one_answer and check.id not in safe_checks:
                rule = task.checks.get(check.id) or COMMON_CHECKS.get(check.id, "")
                yield f"{head}this rule is broken: {rule}"
                continue
            line = head + clip_text(check.message, MAX_SENTENCE)
            if places and check.details:
                line += f"\n  {places_text(check)}"
            yield line


def clip_text(text: str, limit: int) -> str:
    """Return a text, or the first characters of a long text and the number of omitted ones."""
    omitted = len(text) - limit
    if omitted <= 0:
        return text
    return f"{text[:limit]}... ({omitted} more characters)"


def places_text(check: Check) -> str:
    """Return the places of a check as JSON, with lists shortened until it fits."""
    for limit in LIST_SIZES:
        places = {
            name: first_entries(value, limit) for name, value in check.details.items()
        }
        text = canonical_json(places)
        if len(text) <= MAX_PLACES:
            return text
    return f"the places are left out, because they take {len(text):,} characters"


def first_entries(value: JsonValue, limit: int) -> JsonValue:
    """Return a value with the first entries of each list, and a count of those left out."""
    if isinstance(value, dict):
        return {name: first_entries(inner, limit) for name, inner in value.items()}
    if isinstance(value, str):
        return clip_text(value, MAX_SENTENCE)
    if not isinstance(value, list | tuple):
        return value
    entries = [first_entries(inner, limit) for inner in value[:limit]]
    omitted = len(value) - limit
    if omitted > 0:
        entries.append(f"and {omitted} more")
    return entries
