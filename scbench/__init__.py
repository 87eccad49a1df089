"""scbench: the Spatial Competence Benchmark as frozen releases and an offline grader.

What most users need can be imported from here; importing this package alone loads nothing heavy::

    import scbench

    scbench.score("two_segments/07", completion)            # one answer, in [0, 1]
    scbench.load_release().instances()                      # prompts, parameters, images by id
    scbench.generate("arithmetic", count=5, length=8)       # fresh instances
    scbench.stream(["arithmetic", "maze_3d"], rung=2)       # for ever, for training
    scbench.grade_file("predictions.jsonl", partial=True)   # a file, as scbench-grade does
    scbench.read_results("scbench-results/predictions")     # its rows as a polars frame

The packages, from the bottom up: `scbench.base` (the model of the data, errors, seeds),
`scbench.machine` (sandbox, processes, files), `scbench.schemas` (parameters and answers),
`scbench.graders`, `scbench.builders`, `scbench.catalog` (every task by id), `scbench.release`
(reading releases), `scbench.formats` (predictions, prompts, files of other programs),
`scbench.scoring` (one answer), `scbench.loop` (models in a loop with graders), `scbench.grading`
(from a file to rows), `scbench.reward` (scores for trainers), `scbench.analysis`,
`scbench.report`, `scbench.leaderboard`, `scbench.freezing` (making releases and fresh instances),
`scbench.integrations`, `scbench.cli`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scbench.base import __version__
from scbench.base.errors import (
    CannotGrade,
    CatalogError,
    ExperimentError,
    GenerationError,
    HubError,
    PredictionsError,
    ReleaseError,
    ResultsError,
    ScbenchError,
)

if TYPE_CHECKING:
    from scbench.base.model import Check, Instance, Prediction, Status, Verdict
    from scbench.freezing.fresh import generate
    from scbench.freezing.stream import stream
    from scbench.grading.api import grade_file, load_release
    from scbench.report.notebook import read_results
    from scbench.reward import outcome, score, scores

__all__ = [
    "CannotGrade",
    "CatalogError",
    "Check",
    "ExperimentError",
    "GenerationError",
    "HubError",
    "Instance",
    "Prediction",
    "PredictionsError",
    "ReleaseError",
    "ResultsError",
    "ScbenchError",
    "Status",
    "Verdict",
    "__version__",
    "generate",
    "grade_file",
    "load_release",
    "outcome",
    "read_results",
    "score",
    "scores",
    "stream",
]

# Where the names are that would load something heavy: imported when first asked for.
_HOMES = {
    **dict.fromkeys(
        ("Check", "Instance", "Prediction", "Status", "Verdict"), "scbench.base.model"
    ),
    **dict.fromkeys(("grade_file", "load_release"), "scbench.grading.api"),
    **dict.fromkeys(("outcome", "score", "scores"), "scbench.reward"),
    "generate": "scbench.freezing.fresh",
    "read_results": "scbench.report.notebook",
    "stream": "scbench.freezing.stream",
}


def __getattr__(name: str) -> Any:  # noqa: ANN401  (whatever the name stands for)
    if name == "reward":
        return import_module("scbench.reward")
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
