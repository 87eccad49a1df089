"""Model responses, and the turns of a loop with the answer of each turn."""

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

# Maximum number of turns with a picture; no trial in the setting `retry` has more.
MOST_TURNS = 10


class TurnView(NamedTuple):
    """One turn in a strip: its number, the score of its answer, and possibly a picture."""

    number: int
    score: float | None
    svg: str


def find_responses(path: str, items: Iterable[Item]) -> dict[str, Prediction]:
    """Return the predictions that contain text, by the hash of their lines.

    Raises:
        PredictionsError: the file cannot be read.
        ResultsError: the file contains none of the lines.
    """
    hashes = {item.prediction_hash for item in items if item.prediction_hash}
    predictions: dict[str, Prediction] = {}
    matched = False
    with open_predictions(path) as stream:
        for line in read_predictions(stream, hashlib.sha256()):
            if isinstance(line, Problem):
                continue
            digest = sha256(line.data)
            if digest not in hashes:
                continue
            # Any matching line proves that this is the right file, even a line without text.
            matched = True
            prediction = line.prediction
            if prediction.response is not None or prediction.turns is not None:
                predictions[digest] = prediction
    if hashes and not matched:
        raise ResultsError(
            f"{path} is not the file that was graded: it contains none of the lines in the results"
        )
    return predictions


def transcript(prediction: Prediction) -> str | None:
    """Return the text of a model: its response, or all turns of a trial with the observations."""
    if prediction.turns is None:
        return prediction.response
    return "\n\n".join(
        f"— Turn {i}, model:\n{turn.action}\n— Turn {i}, observation:\n{turn.observation}"
        for i, turn in enumerate(prediction.turns, 1)
    )


def turn_jobs(
    item: Item, instance: Instance | None, prediction: Prediction | None
) -> list[FigureJob | None]:
    """Grade each turn again and return its picture; None for turns without an answer.

    Empty for settings whose turns are not answers, and for tasks with long simulations.
    """
    if instance is None or prediction is None or not prediction.turns:
        return []
    task = get_task(item.task)
    _, setting, _, _ = item.run
    if setting != "retry" or task.seconds > SECONDS:
        return []
    params = task.params_model.model_validate_json(instance.all_params)
    jobs: list[FigureJob | None] = []
    for turn in prediction.turns[:MOST_TURNS]:
        reply = Prediction.model_construct(id="", response=turn.action)
        outcome = to_wire(grade_prediction(reply, task, params))
        if outcome.answer is None:
            jobs.append(None)
            continue
        graded = tuple(
            Graded(part.score, part.checks, part.metrics, tuple(part.notes))
            for part in outcome.scores
        )
        jobs.append(FigureJob(item.task, instance.all_params, outcome.answer, graded))
    return jobs


def strip_of(item: Item, figures: Sequence[Figure]) -> list[TurnView]:
    """Return the strip of an item: a score for each turn, and pictures if there are any."""
    strip = []
    # Tasks whose turns are not drawn have scores without figures.
    for i, score in enumerate(item.turn_scores[:MOST_TURNS]):
        views = figures[i].views if i < len(figures) else ()
        svg = views[0].svg if views else ""
        strip.append(TurnView(i + 1, score, svg))
    return strip
