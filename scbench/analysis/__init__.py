"""Tables, intervals and comparisons over results. Functions take and return polars frames.

Three lines in a notebook::

    from scbench.analysis import paper_table, read_results

    paper_table(read_results(["scbench-results/mine", "scbench-results/theirs"]), by="task")
"""

from scbench.analysis.budget import budget_sweep
from scbench.analysis.compare import compare_runs
from scbench.analysis.failure_modes.candidates import candidates
from scbench.analysis.failure_modes.rules import judge_by_rules
from scbench.analysis.manifolds import heat_table, manifold_table
from scbench.analysis.paper import paper_table
from scbench.analysis.points import Cases
from scbench.analysis.results import check_results, read_results
from scbench.analysis.samples import pass_at_k
from scbench.grading.score_tables import score_table

__all__ = [
    "Cases",
    "budget_sweep",
    "candidates",
    "check_results",
    "compare_runs",
    "heat_table",
    "judge_by_rules",
    "manifold_table",
    "paper_table",
    "pass_at_k",
    "read_results",
    "score_table",
]
