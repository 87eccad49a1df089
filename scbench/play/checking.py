"""Verdicts on single answers, as JSON for a browser. Worker processes grade and draw."""

import json
from collections.abc import Sequence
from concurrent.futures import Future

from pydantic import JsonValue

from scbench.base.model import Instance
from scbench.grading.rows.wire import WireOutcome, WireVerdict
from scbench.grading.workers.live import LiveGrader, line_of
from scbench.report.figures import Figure, FigureJob, View, draw
from scbench.report.items import Graded

# Maximum number of checks, and of characters, that a page shows for one verdict.
MOST_CHECKS = 200
MOST_MESSAGE = 2_000


def submit_answer(
    grader: LiveGrader, instance: Instance, answer: JsonValue
) -> "Future[WireOutcome]":
    """Grade an answer in the same way as ``scbench-grade``."""
    return grader.submit(instance, line_of(instance.id, answer=answer))


def submit_reply(
    grader: LiveGrader, instance: Instance, reply: str
) -> "Future[WireOutcome]":
    """Read and grade a model's reply in the same way as ``scbench-grade``."""
    return grader.submit(instance, line_of(instance.id, response=reply))


def picture_json(grader: LiveGrader, instance: Instance) -> dict[str, JsonValue]:
    """Return the picture of an item without an answer."""
    job = FigureJob(instance.task, instance.all_params, None, ())
    return figure_json(grader.run(draw, job))


def answer_picture_json(
    grader: LiveGrader, instance: Instance, outcome: WireOutcome
) -> dict[str, JsonValue]:
    """Return the picture of an item with a graded answer and its faults."""
    graded = [graded_of(verdict) for verdict in outcome.scores]
    job = FigureJob(instance.task, instance.all_params, outcome.answer, tuple(graded))
    return figure_json(grader.run(draw, job))


def verdict_json(outcome: WireOutcome) -> dict[str, JsonValue]:
    """Return an outcome for a page: score, reason, answer and checks."""
    graded = [graded_of(verdict) for verdict in outcome.scores]
    answer: JsonValue = None
    if outcome.answer is not None:
        answer = json.loads(outcome.answer)
    return {
        "status": outcome.status,
        "score": outcome.score,
        "reason": outcome.reason,
        "answer": answer,
        "source": outcome.source,
        "repairs": list(outcome.repairs),
        "verdicts": [graded_json(each) for each in graded],
    }


def graded_of(verdict: WireVerdict) -> Graded:
    """Return a verdict in the form that reports use."""
    return Graded(verdict.score, verdict.checks, verdict.metrics, tuple(verdict.notes))


def graded_json(graded: Graded) -> dict[str, JsonValue]:
    """Return one score with its checks."""
    checks = json.loads(graded.checks)[:MOST_CHECKS]
    return {
        "score": graded.score,
        "checks": [check_json(check) for check in checks],
        "notes": list(graded.notes),
    }


def check_json(check: dict[str, JsonValue]) -> JsonValue:
    """Return a check without its details."""
    return {
        "id": check["id"],
        "passed": check["passed"],
        "message": str(check["message"])[:MOST_MESSAGE],
    }


def figure_json(figure: Figure) -> dict[str, JsonValue]:
    """Return a picture: drawings as our SVG, and texts."""
    return {
        "views": [view_json(view) for view in figure.views],
        "caption": figure.caption,
        "legend": legend_json(figure.legend),
        "problem": figure.problem,
    }


def view_json(view: View) -> JsonValue:
    """Return one drawing."""
    return {"title": view.title, "svg": view.svg, "alt": view.alt}


def legend_json(legend: Sequence[tuple[str, str]]) -> list[JsonValue]:
    """Return the samples of a legend with their descriptions."""
    return [{"svg": sample, "words": words} for sample, words in legend]
