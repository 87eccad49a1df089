"""scbench: the Spatial Competence Benchmark as frozen releases and an offline grader.

Most users need only the names below. Importing this package alone loads no large library::

    import scbench

    scbench.score("two_segments/07", completion)            # one answer, in [0, 1]
    scbench.load_release().instances()                      # prompts, parameters, images by id
    scbench.generate("arithmetic", count=5, length=8)       # fresh instances
    scbench.stream(["arithmetic", "maze_3d"], rung=2)       # endless, for training
    scbench.grade_file("predictions.jsonl", partial=True)   # a file, as scbench-grade does
    scbench.read_results("scbench-results/predictions")     # its rows as a polars frame

The packages, from the bottom up: `scbench.base` (data model, errors, seeds), `scbench.machine`
(sandbox, processes, files), `scbench.schemas` (parameters and answers), `scbench.graders`,
`scbench.builders`, `scbench.catalog` (every task by id), `scbench.release` (reading releases),
`scbench.formats` (predictions, prompts, files from other programs), `scbench.scoring` (one answer),
`scbench.loop` (models in a loop with graders), `scbench.grading` (turns a predictions file into
scored rows), `scbench.reward` (scores for trainers), `scbench.analysis`,
`scbench.report`, `scbench.leaderboard`, `scbench.freezing` (making releases and fresh instances),
`scbench.integrations`, `scbench.cli`.
"""

import os
from typing import TYPE_CHECKING

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
from scbench.base.lazy import lazy_lookup
from scbench.machine.files import cache_folder

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

# Polars removes what earlier processes left in this folder. By default it is below /var/tmp, where
# anybody could replace it by a link to a folder of this user. Polars reads the variable when it is
# imported.
os.environ.setdefault("POLARS_OOC_SPILL_DIR", str(cache_folder() / "polars"))

# Importing these loads large libraries.
__getattr__ = lazy_lookup(
    __name__,
    {
        "scbench.base.model": ["Check", "Instance", "Prediction", "Status", "Verdict"],
        "scbench.freezing.fresh": ["generate"],
        "scbench.freezing.stream": ["stream"],
        "scbench.grading.api": ["grade_file", "load_release"],
        "scbench.report.notebook": ["read_results"],
        "scbench.reward": ["outcome", "score", "scores"],
    },
    submodules=["reward"],
)


def __dir__() -> list[str]:
    return sorted(__all__)
