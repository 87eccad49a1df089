"""The models' texts, looked up in the predictions that results were made of."""

import hashlib
from collections.abc import Iterable

from scbench.canonical import sha256
from scbench.errors import ResultsError
from scbench.predictions import Problem, open_predictions, read_predictions
from scbench.report.items import Item


def find_responses(path: str, items: Iterable[Item]) -> dict[str, str]:
    """Return the response of each item that has one, by the hash of its line.

    Args:
        path: the predictions file.
        items: whose lines are wanted; each is recognised by its hash.

    Raises:
        PredictionsError: the file cannot be read.
        ResultsError: it holds none of the lines.
    """
    wanted = {item.prediction_hash for item in items if item.prediction_hash}
    found: dict[str, str] = {}
    seen = False
    with open_predictions(path) as stream:
        for line in read_predictions(stream, hashlib.sha256()):
            if isinstance(line, Problem):
                continue
            digest = sha256(line.data)
            if digest in wanted:
                seen = True
                if line.prediction.response is not None:
                    found[digest] = line.prediction.response
    if wanted and not seen:
        raise ResultsError(f"{path} is not what was graded: it holds none of the results' lines")
    return found
