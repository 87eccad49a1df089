"""Predictions to try the grader on, made from a release's reference answers.

Two invented models: ``oracle`` gives every reference, ``sloppy`` slips in a third of the items and
fails in every way a real run does. Nothing here says anything about real models.
"""

import json
from collections.abc import Iterator

from scbench.release.load import Reference, Release
from scbench.seeding import Stream


def example_predictions(release: Release) -> Iterator[str]:
    """Yield lines of a predictions file that answers every instance of a release twice."""
    right = {ref.id: ref for ref in release.references() if ref.kind == "reference"}
    wrong: dict[str, list[Reference]] = {}
    for ref in release.references():
        if ref.kind == "counter_reference":
            wrong.setdefault(ref.id, []).append(ref)
    for i, (row_id, ref) in enumerate(right.items()):
        yield _line(row_id, "oracle", **_answer(ref, "answer" if i % 2 else "response"))
    for row_id, ref in right.items():
        rng = Stream("example", row_id)
        kinds = ("right", "wrong", "refused", "blocked", "truncated", "api_error")
        match rng.weighted(kinds, (60, 30, 3, 3, 2, 2)):
            case "right":
                yield _line(row_id, "sloppy", **_answer(ref, "response"))
            case "wrong":
                yield _line(row_id, "sloppy", **_answer(rng.choice(wrong[row_id]), "answer"))
            case "refused":
                yield _line(row_id, "sloppy", response="I am unable to work this out by hand.")
            case "blocked":
                yield _line(row_id, "sloppy", status="blocked")
            case "truncated":
                cut = json.dumps(json.loads(ref.answer))[:12]
                yield _line(row_id, "sloppy", response=cut, finish_reason="length")
            case _:
                yield _line(row_id, "sloppy", error="HTTP 529: overloaded")


def _answer(ref: Reference, form: str) -> dict[str, object]:
    value = json.loads(ref.answer)
    if form == "answer":
        return {"answer": value}
    text = value if isinstance(value, str) else json.dumps(value)
    return {"response": f"Here is what I found.\n\n```json\n{text}\n```\n"}


def _line(row_id: str, model: str, **rest: object) -> str:
    return json.dumps({"id": row_id, "model": model, "setting": "no_tools", **rest})
