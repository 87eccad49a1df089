"""Tables, intervals and comparisons over results. Functions take and return polars frames.

In a notebook::

    from scbench.analysis import paper_table, read_results

    paper_table(read_results(["scbench-results/mine", "scbench-results/theirs"]), by="task")
"""

from typing import TYPE_CHECKING

from scbench.base.lazy import lazy_lookup

if TYPE_CHECKING:
    from scbench.analysis.compare import compare_runs
    from scbench.analysis.failure_modes.labels import candidates
    from scbench.analysis.failure_modes.rules import judge_by_rules
    from scbench.analysis.falloff import falloff_table
    from scbench.analysis.gap import gap_table
    from scbench.analysis.items import item_table, label_table
    from scbench.analysis.ladder import (
        climbs_of,
        compare_levels,
        ladder_table,
        read_ladders,
        rung_table,
    )
    from scbench.analysis.manifolds import Cases, heat_table, manifold_table
    from scbench.analysis.next_items import asked_of, next_items, nothing_asked
    from scbench.analysis.paper import paper_table
    from scbench.analysis.results import check_results, read_results
    from scbench.analysis.runs import run_table
    from scbench.analysis.samples import pass_at_k
    from scbench.analysis.usage import budget_sweep, cost_table
    from scbench.grading.score_tables import score_table

__all__ = [
    "Cases",
    "asked_of",
    "budget_sweep",
    "candidates",
    "check_results",
    "climbs_of",
    "compare_levels",
    "compare_runs",
    "cost_table",
    "falloff_table",
    "gap_table",
    "heat_table",
    "item_table",
    "judge_by_rules",
    "label_table",
    "ladder_table",
    "manifold_table",
    "next_items",
    "nothing_asked",
    "paper_table",
    "pass_at_k",
    "read_ladders",
    "read_results",
    "run_table",
    "rung_table",
    "score_table",
]

# A command needs only a few of these, and imports are slow.
__getattr__ = lazy_lookup(
    __name__,
    {
        "scbench.analysis.compare": ["compare_runs"],
        "scbench.analysis.failure_modes.labels": ["candidates"],
        "scbench.analysis.failure_modes.rules": ["judge_by_rules"],
        "scbench.analysis.falloff": ["falloff_table"],
        "scbench.analysis.gap": ["gap_table"],
        "scbench.analysis.items": ["item_table", "label_table"],
        "scbench.analysis.ladder": [
            "climbs_of",
            "compare_levels",
            "ladder_table",
            "read_ladders",
            "rung_table",
        ],
        "scbench.analysis.manifolds": ["Cases", "heat_table", "manifold_table"],
        "scbench.analysis.next_items": ["asked_of", "next_items", "nothing_asked"],
        "scbench.analysis.paper": ["paper_table"],
        "scbench.analysis.results": ["check_results", "read_results"],
        "scbench.analysis.runs": ["run_table"],
        "scbench.analysis.samples": ["pass_at_k"],
        "scbench.analysis.usage": ["budget_sweep", "cost_table"],
        "scbench.grading.score_tables": ["score_table"],
    },
)
