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
===================  ==========================================================
"""

from pathlib import Path

__version__ = "0.2.0"

# In a checkout, builders/, graders/, dataset_card/ and releases/ stand beside this folder; once
# installed, they lie inside it. Whoever starts Python in the checkout gets this folder first on the
# path, so tell the import system about the rooms next door as well.
_beside = Path(__file__).resolve().parent.parent
if (_beside / "pyproject.toml").is_file() and (_beside / "graders" / "__init__.py").is_file():
    __path__.append(str(_beside))
del _beside, Path
