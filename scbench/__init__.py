"""scbench: the Spatial Competence Benchmark as frozen releases and an offline grader.

Importing this package loads nothing heavy; each room is imported where it is used:

===================  ==========================================================
``scbench.model``    Instance, Prediction, Verdict, Check, Status
``scbench.catalog``  every task by id, and how a third party adds one
``scbench.schemas``  what an instance's parameters and its answers look like
``scbench.builders`` make instances, prompts and reference answers
``scbench.graders``  judge one answer: pure functions
``scbench.release``  freeze, load, verify and export releases
``scbench.grading``  read predictions, run graders in killable workers
``scbench.analysis`` tables over results
``scbench.reward``   scores without files, for training loops: `score`, `scores`, `outcome`
===================  ==========================================================
"""

from typing import TYPE_CHECKING, Any

from scbench.version import __version__

if TYPE_CHECKING:
    from scbench.reward import outcome, score, scores

__all__ = ["__version__", "outcome", "score", "scores"]


def __getattr__(name: str) -> Any:  # noqa: ANN401  (whatever the name stands for)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from scbench import reward  # noqa: PLC0415  (importing scbench loads nothing heavy)

    return getattr(reward, name)
