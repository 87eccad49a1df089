"""Compare the costs of scoring in two checkouts, old and new, in a Markdown table.

    python tools/compare_costs.py OLD_CHECKOUT [--times 3] [--rows 1000000]

Figures are CPU time summed over all processes, unless marked wall-clock. Each is the best of
several rounds, which alternate between the checkouts. A busy machine affects CPU time less than
wall-clock time. Both checkouts run under this Python with its libraries. Each grades the sample
predictions of its own newest release. ``--rows`` also grades a file of this many light rows once.
"""

import argparse
import ctypes
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import load

from scbench.release.load import find_release

# Number of rows in the larger of the two files.
ROWS = 30_000
# A program that measures single steps in a checkout and prints the seconds as JSON.
INSIDE = """
import json, os, resource, sys
from scbench.base.model import rung_of
from scbench.catalog import get_task
from scbench.graders.terrain_levelling import blast_simulation
from scbench.release.load import find_release
from scbench.scoring.judge import judge
import scbench

def now():
    whose = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(sum(resource.getrusage(process)[:2]) for process in whose)

def took(work, count=1):
    start = now()
    for _ in range(count):
        work()
    return (now() - start) / count

lines = open(sys.argv[1]).read().splitlines()
rows = [json.loads(line) for line in lines]
results = {"json": took(lambda: [json.loads(line) for line in lines], 5) / len(lines)}
answers = [(row["id"], row.get("response", row.get("answer"))) for row in rows]
answers = [(name, answer) for name, answer in answers if answer is not None]
scbench.score(*answers[0])
results["score"] = took(lambda: [scbench.score(*answer) for answer in answers]) / len(answers)
paper = find_release()
ladder = paper.choose(["ladder"])[0]
for task, release, rung in (("interlocking_parts", ladder, 8), ("csg_union", paper, None),
                            ("tetrahedra_shadow_projection", ladder, 8)):
    cases = [ref for ref in release.references() if ref.id.startswith(f"{task}/")
             and rung_of(ref.id) == rung and ref.score == 1][:12 if rung is None else 4]
    read = get_task(task).params_model.model_validate_json
    jobs = [(get_task(task), read(release.instances()[case.id].params), json.loads(case.answer))
            for case in cases]
    judge(*jobs[0])
    results[task] = took(lambda: [judge(*job) for job in jobs[1:]]) / len(jobs[1:])  # each once
heights = [(7 * x + 5 * y) % 23 / 4 + 2 for y in range(16) for x in range(16)]
blast_simulation.fingerprint()
engine = blast_simulation.engine()
files = [open(f"/proc/{pid}/stat") for pid in [os.getpid(), *([engine._child.pid]
         if hasattr(engine, "_child") else [])]]

def ticks():
    for file in files:
        file.seek(0)
    return sum(sum(map(int, file.read().rpartition(")")[2].split()[11:13])) for file in files)

for depth, count in ((0.5, 300), (5.0, 40)):
    start = ticks()
    for i in range(count):
        blast_simulation.blast_cell(list(heights), 16, i % 16, 7 * i % 16, depth)
    results[f"blast {depth:g}"] = (ticks() - start) / os.sysconf("SC_CLK_TCK") / count
print(json.dumps(results))
"""
# A program that prints the memory use of a worker in MB.
MEMORY = """
from scbench.catalog import available_tasks
import scbench.grading.workers.worker, polars
from scbench.grading.rows.columns import column_types
for task in available_tasks():
    task.grade
polars.DataFrame(schema=column_types())
lines = open("/proc/self/status").read().splitlines()
print(next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1000)
"""
GRADE = "import sys; from scbench.cli.grade import run; sys.argv[0] = 'scbench-grade'; run()"
# A program that prints the sample predictions of the newest release.
EXAMPLE = """
from scbench.freezing.example import example_predictions
from scbench.release.load import find_release
for line in example_predictions(find_release()):
    print(line)
"""
# A program that prints the seconds from the start of its imports to its first score.
FIRST_SCORE = """
import time
started = time.perf_counter()
import scbench
score = scbench.score("two_segments/07", "{}")
print(time.perf_counter() - started)
"""
# Seconds between two looks at memory.
_PAUSE = 0.2


class Cost(NamedTuple):
    """The cost of one command, with all its processes."""

    cpu: float
    """CPU time in seconds."""
    wall: float
    """Wall-clock time in seconds."""
    memory: float
    """The largest memory at one time, in MB; shared pages count once."""


def command_of(checkout: Path, code: str, *words: object) -> subprocess.Popen[str]:
    """Start one of these programs with the package of a checkout."""
    # Modules are compiled only once, as in an installed package.
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    return subprocess.Popen(  # noqa: S603  (our own program, without a shell)
        [sys.executable, "-c", code, *map(str, words)],
        cwd=checkout,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def output_of(checkout: Path, code: str, *words: object) -> str:
    """Run one of these programs with the package of a checkout; return its output."""
    with command_of(checkout, code, *words) as process:
        output, errors = process.communicate()
    if process.returncode not in {0, 1}:
        raise SystemExit(errors)
    return output


def grading_cost(checkout: Path, file: Path, out: Path) -> Cost:
    """Grade a file with two workers, and return the cost."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    words = ("--out", out, "--quiet", "--restart", "--partial", "--workers", 2)
    peak = 0
    with command_of(checkout, GRADE, file, *words) as process:
        is_running = True
        while is_running:
            try:
                _, errors = process.communicate(timeout=_PAUSE)
                is_running = False
            except subprocess.TimeoutExpired:
                peak = max(peak, load.look_at(process.pid)[0])
    if process.returncode not in {0, 1}:
        raise SystemExit(errors)
    wall = time.perf_counter() - started
    # Wait for the orphans of the command, too.
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Cost(cpu, wall, peak / 1e6)


def measure_once(
    checkout: Path, samples: Path, task_file: Path, light_file: Path, out: Path
) -> dict[str, float]:
    """Measure every figure once."""
    inside = json.loads(output_of(checkout, INSIDE, light_file).splitlines()[-1])
    full = grading_cost(checkout, samples, out)
    task = grading_cost(checkout, task_file, out)
    light = grading_cost(checkout, light_file, out)
    # Both include the cost of starting the command.
    row = (light.cpu - task.cpu) / ROWS
    row_wall = (light.wall - task.wall) / ROWS
    return {
        "all sample predictions, two workers, wall-clock, s": full.wall,
        "the same, s": full.cpu,
        "the same, memory, MB": full.memory,
        "one task's 27 answers, whole command, wall-clock, s": task.wall,
        "the same, s ": task.cpu,
        "first `scbench.score` of a process, wall-clock, s": float(
            output_of(checkout, FIRST_SCORE)
        ),
        "extra light row, two workers, wall-clock, ms": 1000 * row_wall,
        "extra light row, ms": 1000 * row,
        "time of an extra light row / time to parse its JSON": row / inside["json"],
        "extra light row / `scbench.score`": row / inside["score"],
        "time of `scbench.score` on a light row / time to parse its JSON": inside[
            "score"
        ]
        / inside["json"],
        "interlocking_parts, rung 8, ms": 1000 * inside["interlocking_parts"],
        "csg_union, paper items, ms": 1000 * inside["csg_union"],
        "tetrahedra_shadow_projection, rung 8, ms": 1000
        * inside["tetrahedra_shadow_projection"],
        "a blast of 3 balls, ms": 1000 * inside["blast 0.5"],
        "a blast of 20 balls, ms": 1000 * inside["blast 5"],
        "a worker with all graders, MB": float(output_of(checkout, MEMORY)),
    }


def print_row(name: str, old: float, new: float) -> None:
    """Print a row of the table."""
    print(f"| {name.strip()} | {old:.3g} | {new:.3g} | {new / old:.2f} |", flush=True)


def main() -> None:
    """Measure both checkouts alternately and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--rows", type=int, default=0)
    options = parser.parse_args()
    # PR_SET_CHILD_SUBREAPER: this process becomes the parent of a command's orphans.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    release = find_release()
    checkouts = options.old.resolve(), Path(__file__).resolve().parents[1]
    with tempfile.TemporaryDirectory() as folder:
        task_file = Path(folder, "few.jsonl")
        light_file = Path(folder, "many.jsonl")
        out = Path(folder, "out")
        rights = [
            {"id": ref.id, "model": "m", "answer": json.loads(ref.answer)}
            for ref in release.references()
            if ref.id.startswith("two_segments/") and ref.kind == "reference"
        ]
        task_file.write_text("".join(f"{json.dumps(row)}\n" for row in rights))
        load.write_predictions(light_file, ROWS, release, None)
        samples = []
        for i, checkout in enumerate(checkouts):
            file = Path(folder, f"samples-{i}.jsonl")
            file.write_text(output_of(checkout, EXAMPLE), "utf-8")
            samples.append(file)
        rounds = []
        for _ in range(options.times):
            pair = []
            for checkout, file in zip(checkouts, samples, strict=True):
                pair.append(measure_once(checkout, file, task_file, light_file, out))
            rounds.append(pair)
        print("| what | old | new | new / old |\n|---|--:|--:|--:|")
        for name in rounds[0][0]:
            old = min(old_costs[name] for old_costs, _ in rounds)
            new = min(new_costs[name] for _, new_costs in rounds)
            print_row(name, old, new)
        if options.rows:
            load.write_predictions(light_file, options.rows, release, None)
            old_cost, new_cost = (
                grading_cost(checkout, light_file, out) for checkout in checkouts
            )
            rows = f"{options.rows:,} light rows, two workers"
            print_row(f"{rows}, wall-clock, s", old_cost.wall, new_cost.wall)
            print_row("the same, s", old_cost.cpu, new_cost.cpu)
            print_row("the same, memory, MB", old_cost.memory, new_cost.memory)


if __name__ == "__main__":
    main()
