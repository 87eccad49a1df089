"""What card, Croissant file and leaderboard file all say of the benchmark."""

TITLE = "Spatial Competence Benchmark"
DESCRIPTION = (
    "Spatial problems for language models, judged by programs: a model reads a prompt, gives an "
    "answer, mostly as JSON, and an exact verifier or a simulator checks that the answer does what "
    "the prompt asks."
)
HOMEPAGE = "https://huggingface.co/datasets/scbench/scbench"
LICENCE = "https://spdx.org/licenses/MIT.html"
KEYWORDS = ("spatial-reasoning", "benchmark", "verifiable", "geometry")
PUBLISHED = "2026"
"""Year of the paper. Not the day of a build, which would change the bytes of each."""
CITATION = """\
@inproceedings{scbench2026,
  title = {Spatial Competence Benchmark ({SCBench})},
  author = "{The SCBench authors}",
  booktitle = {ICLR 2026 Workshop on Efficient Spatial Reasoning},
  year = {2026}
}"""
