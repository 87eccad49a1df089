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

from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scbench.reward import outcome, score, scores

__all__ = ["outcome", "score", "scores"]
__version__ = "1.1.0"

# In a checkout, builders/, graders/, dataset_card/ and releases/ stand beside this folder; once
# installed, they lie inside it. Whoever starts Python in the checkout gets this folder first on the
# path, so tell the import system about the rooms next door as well.
_beside = Path(__file__).resolve().parent.parent
if (_beside / "pyproject.toml").is_file() and (_beside / "graders" / "__init__.py").is_file():
    __path__.append(str(_beside))
del _beside, Path


def __getattr__(name: str) -> Any:  # noqa: ANN401  (whatever the name stands for)
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from scbench import reward  # noqa: PLC0415  (importing scbench loads nothing heavy)

    return getattr(reward, name)
