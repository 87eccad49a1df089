"""The description of the benchmark for dataset card, Croissant file and leaderboard file."""

TITLE = "Spatial Competence Benchmark"
DESCRIPTION = (
    "Spatial problems for language models. A model reads a prompt and answers, mostly in JSON. An "
    "exact verifier or a simulator then grades the answer."
)
# Descriptions of a model's figures, as in the card and docs/statistics.md.
FIGURES = {
    "normalized score": (
        "0 at the floor, 100 for a perfect score, averaged over tasks with weights fixed in the "
        "release"
    ),
    "mean": "the unweighted mean of all scores",
    "readable": (
        "the share of replies that contain an answer; unreadable, truncated and refused replies "
        "score 0"
    ),
    "coverage": (
        "the share of rows with a score; blocked, failed and missing calls have no score and lower "
        "it"
    ),
    "floor": (
        "the score of the best trivial baseline: an answer made by a fixed recipe, without solving "
        "the item"
    ),
}
HOMEPAGE = "https://huggingface.co/datasets/scbench/scbench"
LICENCE = "https://spdx.org/licenses/MIT.html"
KEYWORDS = ("spatial-reasoning", "benchmark", "verifiable", "geometry")
# Day on which the newest release was published. Not the day of a build, which would change the
# bytes of each.
PUBLISHED = "2026-11-27"
# The paper that introduced the benchmark, as BibTeX.
CITATION = """\
@inproceedings{vira2026spatial,
  title = {Spatial Competence Benchmark},
  author = {Vira, Jash and Harris, Ashley},
  booktitle = {ICLR 2026 Workshop on Efficient Spatial Reasoning},
  year = {2026},
  month = {March},
  eprint = {2604.09594},
  archiveprefix = {arXiv}
}"""
# The source of the text tasks, as BibTeX.
TEXT_TASKS_CITATION = """\
@misc{reasonscape,
  key = {ReasonScape},
  title = {ReasonScape},
  note = {Parametric task manifolds, the idea of the text tasks}
}"""
