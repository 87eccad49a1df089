"""Sample predictions to try the grader on, made from a release's reference answers.

There are two made-up models. ``oracle`` gives every reference. ``sloppy`` makes a
mistake in a quarter of the items and gives no answer to a tenth, in all ways that occur
in real runs. The samples do not represent real models.
"""

import json
from collections.abc import Iterator, Sequence

from scbench.base.model import task_of
from scbench.base.seeding import Stream
from scbench.release.load import Reference, Release

# Outcomes of 60 items of the sloppy model.
_OUTCOMES = ["right"] * 39 + ["wrong"] * 15
_OUTCOMES += ["truncated", "refused", "unparsed", "blocked", "blocked", "api_error"]
# Coprime to the number of outcomes, so that every outcome comes up early.
_STRIDE = 7
_NO_ANSWERS = {
    "refused": {"response": "I am unable to work this out by hand."},
    "unparsed": {
        "response": "Let me think about it step by step. First, I would draw it."
    },
    "blocked": {"status": "blocked"},
    "api_error": {"error": "HTTP 529: overloaded"},
}


def example_predictions(
    release: Release, names: Sequence[str] | None = None
) -> Iterator[str]:
    """Yield lines of a predictions file that answers a release twice.

    The default tasks and buckets are the ones that grading selects by default.

    Raises:
        CatalogError: a name is not a task or bucket of the release.
    """
    tasks = set(release.manifest.named_tasks(names))
    right: dict[str, Reference] = {}
    wrong: dict[str, list[Reference]] = {}
    right_by_task: dict[str, list[Reference]] = {}
    for ref in release.references():
        if task_of(ref.id) not in tasks:
            continue
        if ref.kind == "reference":
            right[ref.id] = ref
        else:
            wrong.setdefault(ref.id, []).append(ref)
    for i, ref in enumerate(right.values()):
        right_by_task.setdefault(task_of(ref.id), []).append(ref)
        # Both forms of an answer that predictions may have.
        fields = as_answer(ref) if i % 2 else as_response(ref)
        yield _line(ref.id, "oracle", fields)
    for ref, outcome in zip(right.values(), outcomes_of(len(right)), strict=True):
        # Of instances drawn at the same point, only the first has counter-references. For the rest,
        # the mistake is the answer to another instance, which by chance may be right.
        mistakes = wrong.get(ref.id) or right_by_task[task_of(ref.id)]
        mistake = Stream("example", ref.id).choice(mistakes)
        yield _line(ref.id, "sloppy", sloppy_fields(outcome, ref, mistake))


def outcomes_of(count: int) -> list[str]:
    """Return outcomes for a number of items: fixed shares, in a random order."""
    outcomes = [_OUTCOMES[i * _STRIDE % len(_OUTCOMES)] for i in range(count)]
    Stream("example", count).shuffle(outcomes)
    return outcomes


def sloppy_fields(
    outcome: str, ref: Reference, mistake: Reference
) -> dict[str, object]:
    """Return the fields of a prediction of the sloppy model."""
    if outcome == "right":
        return as_response(ref)
    if outcome == "wrong":
        return as_answer(mistake)
    if outcome == "truncated":
        text = json.dumps(json.loads(ref.answer))
        return {"response": text[: min(12, len(text) // 2)], "finish_reason": "length"}
    return {**_NO_ANSWERS[outcome]}


def as_answer(ref: Reference) -> dict[str, object]:
    """Return the fields of a prediction that gives an answer as JSON."""
    return {"answer": json.loads(ref.answer)}


def as_response(ref: Reference) -> dict[str, object]:
    """Return the fields of a prediction that gives an answer in a text reply."""
    value = json.loads(ref.answer)
    text = value if isinstance(value, str) else json.dumps(value)
    return {"response": f"Here is what I found.\n\n```json\n{text}\n```\n"}


def _line(row_id: str, model: str, fields: dict[str, object]) -> str:
    line = {"id": row_id, "model": model, "setting": "no_tools", **fields}
    return json.dumps(line)
