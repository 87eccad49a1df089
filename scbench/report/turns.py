"""What models said: looked up by the predictions that were graded, and turn by turn of a loop.

Results hold the score of each turn; its answer is in the predictions, so that pictures need both.
"""

import hashlib
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from scbench.base.canonical import sha256
from scbench.base.errors import ResultsError
from scbench.base.model import Instance, Prediction
from scbench.catalog import SECONDS, get_task
from scbench.formats.predictions import Problem, open_predictions, read_predictions
from scbench.grading.rows.wire import to_wire
from scbench.report.figures import Figure, FigureJob
from scbench.report.items import Graded, Item
from scbench.scoring.outcomes import grade_prediction


def find_responses(path: str, items: Iterable[Item]) -> dict[str, Prediction]:
    """Return the prediction of each item that has a text, by the hash of its line.

    Args:
        path: the predictions file.
        items: whose lines are wanted; each is recognised by its hash.

    Raises:
        PredictionsError: the file cannot be read.
        ResultsError: it holds none of the lines.
    """
    hashes = {item.prediction_hash for item in items if item.prediction_hash}
    predictions: dict[str, Prediction] = {}
    matched = False
    with open_predictions(path) as stream:
        for line in read_predictions(stream, hashlib.sha256()):
            if isinstance(line, Problem):
                continue
            digest = sha256(line.data)
            if digest in hashes:
                matched = True
                prediction = line.prediction
                if prediction.response is not None or prediction.turns is not None:
                    predictions[digest] = prediction
    if hashes and not matched:
        raise ResultsError(f"{path} is not what was graded: it holds none of the results' lines")
    return predictions


MOST_TURNS = 10
"""Turns that have a picture: no trial of setting retry has more."""


class TurnView(NamedTuple):
    """One turn in a strip: its number, the score of its answer, and a picture if there is one."""

    number: int
    score: float | None
    svg: str


def transcript(prediction: Prediction) -> str | None:
    """Return what the model said: its response, or all turns of a trial with what it was shown."""
    if prediction.turns is None:
        return prediction.response
    return "\n\n".join(
        f"— Turn {i}, the model:\n{turn.action}\n— Turn {i}, shown:\n{turn.observation}"
        for i, turn in enumerate(prediction.turns, 1)
    )


def turn_jobs(
    item: Item, instance: Instance | None, prediction: Prediction | None
) -> list[FigureJob | None]:
    """Return what is to be drawn of each turn, judged anew.

    Nothing of settings whose turns are no answers, and of tasks that are simulated for long.
    """
    turns = prediction.turns if prediction is not None else None
    task = get_task(item.task)
    if instance is None or not turns or item.run[1] != "retry" or task.seconds > SECONDS:
        return []
    params = task.params_model.model_validate_json(instance.all_params)
    jobs: list[FigureJob | None] = []
    for turn in turns[:MOST_TURNS]:
        reply = Prediction.model_construct(id="", response=turn.action)
        came = to_wire(grade_prediction(reply, task, params))
        graded = tuple(
            Graded(part.score, part.checks, part.metrics, tuple(part.notes)) for part in came.scores
        )
        answered = came.answer is not None
        jobs.append(
            FigureJob(item.task, instance.all_params, came.answer, graded) if answered else None
        )
    return jobs


def strip_of(item: Item, figures: Sequence[Figure]) -> list[TurnView]:
    """Return the strip of an item: a score for each turn, and pictures as far as there are any."""
    svgs = [figure.views[0].svg if figure.views else "" for figure in figures]
    svgs += [""] * MOST_TURNS
    pairs = zip(item.turn_scores[:MOST_TURNS], svgs, strict=False)
    return [TurnView(number, score, svg) for number, (score, svg) in enumerate(pairs, 1)]
