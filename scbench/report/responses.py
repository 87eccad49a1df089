"""What models said, looked up in the predictions that results were made of."""

import hashlib
from collections.abc import Iterable

from scbench.base.canonical import sha256
from scbench.base.errors import ResultsError
from scbench.base.model import Prediction
from scbench.formats.predictions import Problem, open_predictions, read_predictions
from scbench.report.items import Item


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
