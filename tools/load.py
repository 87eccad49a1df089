"""Grade a file of a million predictions, and measure time and memory.

    python tools/load.py --rows 1000000 --workers 2 [--real FILE] [--keep FOLDER]

The file repeats reference and counter-reference answers of tasks with fast graders, and the real
answers in --real, under many models and samples. Memory is sampled during grading, for the whole
process tree; shared pages count once (PSS) if the system reports it.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import count, islice
from pathlib import Path
from typing import Any

from scbench.base.model import task_of
from scbench.catalog import get_task
from scbench.formats.predictions import Line, parse_line
from scbench.freezing.example import example_predictions
from scbench.release.load import Release, find_release
from scbench.scoring.outcomes import grade_prediction

# Tasks for which a verdict takes less than a quarter of a millisecond.
QUICK = frozenset(
    {
        "classify_behaviour",
        "delaunay_triangulation",
        "enumerate_edges",
        "half_subdivision_neighbours",
        "hamiltonian_loop",
        "largest_printable_prime",
        "shikaku_rectangles",
        "topology_enumeration",
        "two_segments",
    }
)
_MODELS = 10
# Seconds between two samples of memory use.
_PAUSE = 0.2
Row = dict[str, Any]


def main() -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--workers", type=int, nargs="+", default=[2])
    parser.add_argument("--real", type=Path)
    parser.add_argument("--keep", type=Path, help="folder for the file and the results")
    options = parser.parse_args()
    release = find_release()
    with tempfile.TemporaryDirectory() as folder:
        place = options.keep or Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for rows in options.rows:
            path = place / f"{rows}.jsonl"
            write_predictions(path, rows, release, options.real)
            wall, used = plain_loop(path, release)
            print(f"{rows:,} rows, {path.stat().st_size / 2**20:,.0f} MiB")
            print(f"  plain loop: {figures(wall, used, rows)}")
            for workers in options.workers:
                wall, used, peak = grade(path, place / f"{rows}-{workers}", workers)
                line = f"{figures(wall, used, rows)}, {peak / 2**20:,.0f} MiB"
                print(f"  {workers} workers:  {line}", flush=True)


def figures(wall: float, used: float, rows: int) -> str:
    """Return wall-clock and CPU time, in total and per row, as text."""
    return (
        f"{wall:8.1f} s, {1000 * wall / rows:.4f} ms a row; CPU {used:8.1f} s, "
        f"{1000 * used / rows:.4f} ms a row"
    )


# The file


def write_predictions(
    path: Path, rows: int, release: Release, real: Path | None
) -> None:
    """Write a file of this many predictions."""
    with path.open("w", encoding="utf-8") as file:
        for line in islice(predictions(release, real), rows):
            file.write(line + "\n")


def predictions(release: Release, real: Path | None = None) -> Iterator[str]:
    """Yield lines endlessly: every answer by every model, sample after sample."""
    tasks = release.manifest.tasks.keys() & QUICK
    rows = [json.loads(line) for line in example_predictions(release)]
    rows = [row for row in rows if task_of(row["id"]) in tasks]
    right = {row["id"]: row for row in rows if row["model"] == "oracle"}
    if real is not None:
        # Items without a real answer get the correct one.
        for i, answers in enumerate(real_answers(real, right)):
            for row in (right | answers).values():
                rows.append({**row, "model": f"real-{i}"})
    for sample in count():
        for number in range(_MODELS):
            for row in rows:
                model = f"{row['model']}-{number}"
                yield json.dumps({**row, "model": model, "sample": sample})


def real_answers(path: Path, items: Row) -> list[dict[str, Row]]:
    """Return real answers by model; several answers to one item belong to different models."""
    models: list[dict[str, Row]] = []
    numbers = dict.fromkeys(items, 0)
    for text in path.read_text("utf-8").splitlines():
        row = json.loads(text)
        item = row["id"]
        if item not in items:
            continue
        if numbers[item] == len(models):
            models.append({})
        models[numbers[item]][item] = row | {"setting": "no_tools"}
        numbers[item] += 1
    return models


# Measurements


def plain_loop(path: Path, release: Release) -> tuple[float, float]:
    """Parse and grade every line of a file in this process; return wall-clock and CPU time."""
    items = {}
    for name, row in release.instances().items():
        if row.task in QUICK:
            task = get_task(row.task)
            items[name] = (task, task.params_model.model_validate_json(row.all_params))
    started = time.perf_counter()
    used = time.process_time()
    with path.open("rb") as file:
        for number, data in enumerate(file, 1):
            line = parse_line(data, number)
            if isinstance(line, Line):
                grade_prediction(line.prediction, *items[line.prediction.id])
    return time.perf_counter() - started, time.process_time() - used


def grade(path: Path, out: Path, workers: int) -> tuple[float, float, int]:
    """Grade a file with the command.

    Returns:
        Wall-clock time, CPU time, and peak memory use in bytes.
    """
    program = str(Path(sys.executable).parent / "scbench-grade")
    command = [program, str(path), "--partial", "--quiet", "--restart"]
    command += ["--workers", str(workers), "--out", str(out)]
    command += ["--tasks", ",".join(sorted(QUICK))]
    started = time.perf_counter()
    process = subprocess.Popen(  # noqa: S603
        command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    peak = 0
    used = 0.0
    code = None
    while code is None:
        try:
            code = process.wait(_PAUSE)
        except subprocess.TimeoutExpired:
            memory, seconds = look_at(process.pid)
            peak = max(peak, memory)
            used = max(used, seconds)
    if code not in {0, 1}:
        raise SystemExit(f"scbench-grade ended with {code}")
    return time.perf_counter() - started, used, peak


def look_at(root: int) -> tuple[int, float]:
    """Return the memory in bytes and the CPU time in seconds of a process and all its descendants.

    Values that the system does not report count as 0.
    """
    children: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            text = (entry / "stat").read_text()
        except OSError:
            continue
        # Of the fields after the name, the 2nd is the parent, and the 12th and 13th are times.
        fields = text.rpartition(")")[2].split()
        children.setdefault(int(fields[1]), []).append(int(entry.name))
        ticks[int(entry.name)] = int(fields[11]) + int(fields[12])
    kilobytes = 0
    used = 0
    waiting = [root]
    while waiting:
        process = waiting.pop()
        waiting += children.get(process, [])
        used += ticks.get(process, 0)
        try:
            text = Path(f"/proc/{process}/smaps_rollup").read_text()
        except OSError:
            continue
        for line in text.splitlines():
            if line.startswith("Pss:"):
                kilobytes += int(line.split()[1])
    return kilobytes * 1024, used / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
