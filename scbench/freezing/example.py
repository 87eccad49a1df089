"""Predictions to try the grader on, made from a release's reference answers.

Two invented models: ``oracle`` gives every reference, ``sloppy`` slips in a quarter of the items
and gives no answer in a tenth, in each way that real runs know. Nothing here says anything about
real models.
"""

import json
from collections.abc import Iterator, Sequence

from scbench.base.model import task_of
from scbench.base.seeding import Stream
from scbench.release.load import Reference, Release

# What becomes of 60 items of the sloppy model.
_OUTCOMES = (
    *("right",) * 39,
    *("wrong",) * 15,
    *("truncated", "refused", "unparsed", "blocked", "blocked", "api_error"),
)
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

    Tasks and buckets are by default those that are graded unless others are named.

    Raises:
        CatalogError: a name is not a task or bucket of the release.
    """
    tasks = set(release.manifest.named_tasks(names))
    stored = [ref for ref in release.references() if task_of(ref.id) in tasks]
    right = {ref.id: ref for ref in stored if ref.kind == "reference"}
    wrong: dict[str, list[Reference]] = {}
    for ref in stored:
        if ref.kind == "counter_reference":
            wrong.setdefault(ref.id, []).append(ref)
    for i, (row_id, ref) in enumerate(right.items()):
        yield _line(
            row_id, "oracle", **_reference_line(ref, "answer" if i % 2 else "response")
        )
    kin: dict[str, list[Reference]] = {}
    for ref in right.values():
        kin.setdefault(task_of(ref.id), []).append(ref)
    for (row_id, ref), planned in zip(
        right.items(), _outcomes(len(right)), strict=True
    ):
        # Of instances that were drawn alike, only the first has counter-references. For the others,
        # the answer to another one is the mistake, which by chance may be none.
        slips = wrong.get(row_id) or kin[task_of(row_id)]
        slip = Stream("example", row_id).choice(slips)
        yield _line(row_id, "sloppy", **_sloppy(planned, ref, slip))


def _outcomes(count: int) -> list[str]:
    """Return the outcomes of so many items: fixed shares, in a random order."""
    outcomes = [_OUTCOMES[i * 7 % len(_OUTCOMES)] for i in range(count)]
    Stream("example", count).shuffle(outcomes)
    return outcomes


def _sloppy(outcome: str, ref: Reference, slip: Reference) -> dict[str, object]:
    if outcome in {"right", "wrong"}:
        return (
            _reference_line(ref, "response")
            if outcome == "right"
            else _reference_line(slip, "answer")
        )
    if outcome == "truncated":
        text = json.dumps(json.loads(ref.answer))
        return {"response": text[: min(12, len(text) // 2)], "finish_reason": "length"}
    return {**_NO_ANSWERS[outcome]}


def _reference_line(ref: Reference, form: str) -> dict[str, object]:
    value = json.loads(ref.answer)
    if form == "answer":
        return {"answer": value}
    text = value if isinstance(value, str) else json.dumps(value)
    return {"response": f"Here is what I found.\n\n```json\n{text}\n```\n"}


def _line(row_id: str, model: str, **fields: object) -> str:
    return json.dumps({"id": row_id, "model": model, "setting": "no_tools", **fields})
