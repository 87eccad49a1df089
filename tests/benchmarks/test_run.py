"""What the engine adds to each row, and how quickly the command starts.

``pytest tests/benchmarks --benchmark-enable -n0``. One round grades 100,000 rows of tasks whose
verdicts are quick. The extra figures set its time beside that of a plain loop over the same lines
in one process, which makes no results; ``test_rows.py`` says where the difference goes. Start and
end of the run aside, two workers on two idle processors are at least 1.8 times as quick as one.
"""

import subprocess
import sys
from pathlib import Path

import pytest

from scbench.grading.run import Options, grade_file
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.release.load import find_release

ROWS = 100_000


@pytest.mark.parametrize("workers", [1, 2])
def test_overhead_per_row(benchmark, load, tmp_path, workers):
    rows = ROWS if benchmark.enabled else 1000
    release = find_release()
    path = tmp_path / "predictions.jsonl"
    load["write_predictions"](path, rows, release)
    options = Options(
        str(path),
        release,
        tmp_path / "out",
        WorkerLimits(workers, None, 2**32),
        sorted(load["QUICK"]),
        partial=True,
        restart=True,
    )
    report = benchmark.pedantic(grade_file, (options,), rounds=2)
    assert report.exit_code == 0
    assert report.summary["predictions"]["lines"] == rows
    plain, _ = load["plain_loop"](path, release)
    if benchmark.enabled:
        row_time = benchmark.stats["min"] / rows
        benchmark.extra_info["ms_per_row"] = round(1000 * row_time, 4)
        benchmark.extra_info["ms_plain_loop"] = round(1000 * plain / rows, 4)
        benchmark.extra_info["ms_overhead"] = round(1000 * (row_time - plain / rows), 4)


def test_memory_and_processor_time_of_a_run_are_seen(load, tmp_path):
    path = tmp_path / "predictions.jsonl"
    load["write_predictions"](path, 400, find_release())
    wall, used, most = load["grade"](path, tmp_path / "out", 1)
    assert used > 0
    assert 0 < wall < 120
    assert 2**25 < most < 1.5 * 2**30


@pytest.mark.parametrize(
    "command",
    [
        [str(Path(sys.executable).parent / "scbench-grade"), "--help"],
        [sys.executable, "-c", "import typer"],
    ],
    ids=["scbench-grade --help", "import typer"],
)
def test_start(benchmark, command):
    done = benchmark.pedantic(
        subprocess.run, (command,), {"capture_output": True, "check": False}, rounds=5
    )
    assert done.returncode == 0
