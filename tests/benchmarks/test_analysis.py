"""How long tables take, and how much memory: a full run, and a million rows.

``pytest tests/benchmarks/test_analysis.py --benchmark-enable -n0``. The million rows are read in a
process of its own, whose peak memory is printed with the timings.
"""

import json
import subprocess
import sys

import numpy as np
import polars as pl
import pytest
from ladders import ladder_results

from scbench.analysis.compare import compare_runs
from scbench.analysis.ladder import climbs_of, ladder_table
from scbench.analysis.levels import DRAWS
from scbench.analysis.paper import paper_table
from scbench.leaderboard.board import ranks

ROWS = 1_000_000

CHILD = """
import json, resource, sys, time
from scbench.analysis.paper import paper_table
from scbench.analysis.results import read_results
started = time.perf_counter()
rows = read_results([sys.argv[1]])
read = time.perf_counter() - started
table = paper_table(rows, "task")
print(json.dumps({
    "rows": rows.height,
    "lines": table.height,
    "seconds_reading": round(read, 3),
    "seconds": round(time.perf_counter() - started, 3),
    "peak_mib": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024),
}))
"""


def test_tables_of_a_full_run(benchmark, paper_results):
    table = benchmark(paper_table, paper_results, "task")
    assert table.height == 6 * 26


def test_comparing_all_pairs_of_six_runs(benchmark, paper_results):
    draws = 10_000 if benchmark.enabled else 1000
    table = benchmark(compare_runs, paper_results, draws=draws)
    assert table.height == 15 * 26


def test_ranks_of_200_models(benchmark):
    rng = np.random.default_rng(0)
    skills, items = rng.random(200), rng.random((285, 1))
    scores = (rng.random((285, 200)) < (items + skills) / 2).astype(float)
    draws = 10_000 if benchmark.enabled else 1000
    found = benchmark(ranks, scores, [str(item) for item in range(285)], draws)
    assert min(place.rank for place in found) == 1


def test_levels_on_a_whole_ladder(benchmark):
    results = ladder_results({"m": 4.0})
    draws = DRAWS if benchmark.enabled else 50
    table = benchmark(lambda: ladder_table(climbs_of(results, draws)))
    assert table.height == 26


@pytest.fixture(scope="module")
def many_rows(paper_results, tmp_path_factory):
    """A function that writes so many samples of the paper's runs."""

    def write(samples: int):
        path = tmp_path_factory.mktemp("many") / "results.parquet"
        numbers = pl.DataFrame({"sample": pl.arange(0, samples, eager=True)})
        paper_results.drop("sample").join(numbers, how="cross").select(
            paper_results.columns
        ).write_parquet(path)
        return path

    return write


def test_tables_of_a_million_rows(benchmark, many_rows):
    samples = -(-ROWS // 1710) if benchmark.enabled else 2
    path = many_rows(samples)
    command = [sys.executable, "-c", CHILD, str(path)]
    done = benchmark.pedantic(
        subprocess.run, (command,), {"capture_output": True, "check": True}, rounds=3
    )
    found = json.loads(done.stdout)
    assert (found["rows"], found["lines"]) == (1710 * samples, 6 * 26)
    benchmark.extra_info |= found
