"""What the engine adds to each row, and how quickly the command starts.

``pytest tests/benchmarks --benchmark-enable -n0``. One round grades 20,000 rows of the plugin's
task, whose own verdict takes a few microseconds; the extra figures split a row's time.
"""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from scbench.catalog import get_task
from scbench.grading.engine import Limits
from scbench.grading.run import Options, grade_file
from scbench.judge import judge

ROWS = 20_000


@pytest.mark.parametrize("workers", [1, 2])
def test_overhead_per_row(benchmark, parity_release, tmp_path, workers):
    rows = ROWS if benchmark.enabled else 400
    path = tmp_path / "predictions.jsonl"
    with path.open("w") as file:
        for i in range(rows):
            row = {"id": f"parity/{i % 4:02d}", "sample": i // 4, "answer": {"bit": i % 2}}
            file.write(json.dumps(row) + "\n")
    options = Options(
        str(path),
        parity_release,
        tmp_path / "out",
        Limits(workers, 60, 0),
        ["parity"],
        restart=True,
    )
    report = benchmark.pedantic(grade_file, (options,), rounds=3)
    assert report.exit_code == 0
    assert report.results["score"].null_count() == 0
    task = get_task("parity")
    params = task.params_model(bits="0")
    started = time.perf_counter()
    for _ in range(1000):
        judge(task, params, {"bit": 0})
    own = (time.perf_counter() - started) / 1000
    if benchmark.enabled:
        row_time = benchmark.stats["min"] / rows
        benchmark.extra_info["ms_per_row"] = round(1000 * row_time, 4)
        benchmark.extra_info["ms_verdict"] = round(1000 * own, 4)


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
