"""Verdicts on single answers, as JSON for a browser. Worker processes judge and draw."""

import json
from collections.abc import Sequence
from concurrent.futures import Future

from pydantic import JsonValue

from scbench.base.model import Instance
from scbench.grading.rows.wire import WireOutcome
from scbench.grading.workers.live import LiveGrader, line_of
from scbench.report.figures import Figure, FigureJob, draw
from scbench.report.items import Graded

# Checks and characters that a page shows of one verdict.
MOST_CHECKS = 200
MOST_MESSAGE = 2_000


def submit_answer(
    grader: LiveGrader, instance: Instance, answer: JsonValue
) -> "Future[WireOutcome]":
    """Have an answer judged as ``scbench-grade`` judges it."""
    return grader.submit(instance, line_of(instance.id, answer=answer))


def submit_reply(
    grader: LiveGrader, instance: Instance, reply: str
) -> "Future[WireOutcome]":
    """Have a model's reply read and judged as ``scbench-grade`` does."""
    return grader.submit(instance, line_of(instance.id, response=reply))


def picture_json(grader: LiveGrader, instance: Instance) -> dict[str, JsonValue]:
    """Return the picture of an item without an answer."""
    job = FigureJob(instance.task, instance.all_params, None, ())
    return figure_json(grader.run(draw, job))


def verdict_json(
    grader: LiveGrader, instance: Instance, outcome: WireOutcome
) -> dict[str, JsonValue]:
    """Return an outcome for a page: score, reason, answer, checks and picture."""
    graded = []
    for verdict in outcome.scores:
        graded.append(
            Graded(verdict.score, verdict.checks, verdict.metrics, tuple(verdict.notes))
        )
    job = FigureJob(instance.task, instance.all_params, outcome.answer, tuple(graded))
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
        "verdicts": [graded_json(one) for one in graded],
        "picture": figure_json(grader.run(draw, job)),
    }


def graded_json(graded: Graded) -> dict[str, JsonValue]:
    """Return one score with its checks."""
    checks: list[JsonValue] = []
    for check in json.loads(graded.checks)[:MOST_CHECKS]:
        checks.append(
            {
                "id": check["id"],
                "passed": check["passed"],
                "message": check["message"][:MOST_MESSAGE],
            }
        )
    return {"score": graded.score, "checks": checks, "notes": list(graded.notes)}


def figure_json(figure: Figure) -> dict[str, JsonValue]:
    """Return a picture: drawings as SVG of our own, and words."""
    views: list[JsonValue] = []
    for view in figure.views:
        views.append({"title": view.title, "svg": view.svg, "alt": view.alt})
    return {
        "views": views,
        "caption": figure.caption,
        "legend": legend_json(figure.legend),
        "problem": figure.problem,
    }


def legend_json(legend: Sequence[tuple[str, str]]) -> list[JsonValue]:
    """Return the samples of a legend with their words."""
    entries: list[JsonValue] = []
    for sample, words in legend:
        entries.append({"svg": sample, "words": words})
    return entries
