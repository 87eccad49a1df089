"""Predictions to try the grader on, made from a release's reference answers.

Two invented models: ``oracle`` gives every reference, ``sloppy`` slips in a quarter of the items
and gives no answer in a tenth, in each way that real runs know. Nothing here says anything about
real models.
"""

import json
from collections.abc import Iterator

from scbench.release.load import Reference, Release
from scbench.seeding import Stream

_OUTCOMES = (
    *("right",) * 39,
    *("wrong",) * 15,
    *("truncated", "refused", "unparsed", "blocked", "blocked", "api_error"),
)
"""What becomes of 60 items of the sloppy model."""


def example_predictions(release: Release) -> Iterator[str]:
    """Yield lines of a predictions file that answers a release twice.

    It answers every instance of the tasks that are graded unless others are named.
    """
    tasks = set(release.manifest.default_tasks)
    stored = [ref for ref in release.references() if ref.id.partition("/")[0] in tasks]
    right = {ref.id: ref for ref in stored if ref.kind == "reference"}
    wrong: dict[str, list[Reference]] = {}
    for ref in stored:
        if ref.kind == "counter_reference":
            wrong.setdefault(ref.id, []).append(ref)
    for i, (row_id, ref) in enumerate(right.items()):
        yield _line(row_id, "oracle", **_answer(ref, "answer" if i % 2 else "response"))
    for (row_id, ref), planned in zip(right.items(), _outcomes(len(right)), strict=True):
        # Of instances that were drawn alike, only the first has counter-references.
        slips = wrong.get(row_id)
        slip = Stream("example", row_id).choice(slips) if slips else ref
        outcome = "unparsed" if planned == "wrong" and not slips else planned
        yield _line(row_id, "sloppy", **_sloppy(outcome, ref, slip))


def _outcomes(count: int) -> list[str]:
    """Return the outcomes of so many items: fixed shares, in a random order."""
    outcomes = [_OUTCOMES[i * 7 % len(_OUTCOMES)] for i in range(count)]
    Stream("example", count).shuffle(outcomes)
    return outcomes


def _sloppy(outcome: str, ref: Reference, slip: Reference) -> dict[str, object]:
    match outcome:
        case "right":
            return _answer(ref, "response")
        case "wrong":
            return _answer(slip, "answer")
        case "truncated":
            text = json.dumps(json.loads(ref.answer))
            return {"response": text[: min(12, len(text) // 2)], "finish_reason": "length"}
        case "refused":
            return {"response": "I am unable to work this out by hand."}
        case "unparsed":
            return {"response": "Let me think about it step by step. First, I would draw it."}
        case "blocked":
            return {"status": "blocked"}
    return {"error": "HTTP 529: overloaded"}


def _answer(ref: Reference, form: str) -> dict[str, object]:
    value = json.loads(ref.answer)
    if form == "answer":
        return {"answer": value}
    text = value if isinstance(value, str) else json.dumps(value)
    return {"response": f"Here is what I found.\n\n```json\n{text}\n```\n"}


def _line(row_id: str, model: str, **rest: object) -> str:
    return json.dumps({"id": row_id, "model": model, "setting": "no_tools", **rest})
