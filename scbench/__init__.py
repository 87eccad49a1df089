"""scbench: the Spatial Competence Benchmark as frozen releases and an offline grader.

What most users need can be imported from here; importing this package alone loads nothing heavy::

    import scbench

    scbench.score("two_segments/07", completion)            # one answer, in [0, 1]
    scbench.load_release().instances()                      # prompts, parameters, images by id
    scbench.generate("arithmetic", count=5, length=8)       # fresh instances
    scbench.grade_file("predictions.jsonl", partial=True)   # a file, as scbench-grade does
    scbench.read_results(["scbench-results"])               # its rows as a polars frame

The packages, from the bottom up: `scbench.schemas` (parameters and answers), `scbench.graders`,
`scbench.builders`, `scbench.catalog` (every task by id), `scbench.answers` (finding the answer in
a reply), `scbench.release` (reading releases), `scbench.grading` (from a file to rows),
`scbench.analysis`, `scbench.report`, `scbench.leaderboard`, `scbench.build` (making releases and
fresh instances), `scbench.cli`.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from scbench.errors import (
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
from scbench.version import __version__

if TYPE_CHECKING:
    from scbench.analysis.results import read_results
    from scbench.api import grade_file
    from scbench.build.fresh import generate
    from scbench.model import Check, Instance, Prediction, Status, Verdict
    from scbench.release.load import find_release as load_release
    from scbench.reward import outcome, score, scores
