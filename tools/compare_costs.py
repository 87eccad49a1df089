"""Compare the costs of scoring in two checkouts, old and new, in a Markdown table.

    python tools/compare_costs.py OLD_CHECKOUT [--times 3]

Figures are CPU time summed over all processes, unless marked wall-clock. Each is the best of
several rounds, which alternate between the checkouts. A busy machine affects CPU time less than
wall-clock time. Both checkouts run under this Python with its libraries.
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
    return sum(sum(resource.getrusage(it)[:2]) for it in whose)

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
    jobs = [(get_task(task), read(release.instances()[it.id].params), json.loads(it.answer))
            for it in cases]
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


def python(checkout: Path, code: str, *words: object) -> str:
    """Run one of these programs with the package of a checkout; return its output."""
    # Modules are compiled only once, as in an installed package.
    environment = {
        **os.environ,
        "PYTHONPATH": str(checkout),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    command = [sys.executable, "-c", code, *map(str, words)]
    done = subprocess.run(  # noqa: S603  (our own program, without a shell)
        command,
        cwd=checkout,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode not in {0, 1}:
        raise SystemExit(done.stderr)
    return done.stdout


def seconds(checkout: Path, file: Path, out: Path) -> tuple[float, float]:
    """Return the CPU time (summed over all processes) and the wall-clock time of grading a file."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    started = time.perf_counter()
    words = ("--out", out, "--quiet", "--restart", "--partial", "--workers", 2)
    python(checkout, GRADE, file, *words)
    wall = time.perf_counter() - started
    # Wait for the orphans of the command, too.
    while True:
        try:
            os.wait()
        except ChildProcessError:
            break
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall


def measured(checkout: Path, few: Path, many: Path, out: Path) -> dict[str, float]:
    """Measure every figure once."""
    inside = json.loads(python(checkout, INSIDE, many).splitlines()[-1])
    start, wall = seconds(checkout, few, out)
    run, many_wall = seconds(checkout, many, out)
    # Both include the cost of starting the command.
    row = (run - start) / ROWS
    return {
        "one task's 27 answers, whole command, s": start,
        "the same, wall-clock, s": wall,
        "extra light row, two workers, wall-clock, ms": 1000
        * (many_wall - wall)
        / ROWS,
        "extra light row, ms": 1000 * row,
        "extra light row / parsing its JSON": row / inside["json"],
        "extra light row / `scbench.score`": row / inside["score"],
        "`scbench.score` of a light row / parsing its JSON": inside["score"]
        / inside["json"],
        "interlocking_parts, rung 8, ms": 1000 * inside["interlocking_parts"],
        "csg_union, paper items, ms": 1000 * inside["csg_union"],
        "tetrahedra_shadow_projection, rung 8, ms": 1000
        * inside["tetrahedra_shadow_projection"],
        "a blast of 3 balls, ms": 1000 * inside["blast 0.5"],
        "a blast of 20 balls, ms": 1000 * inside["blast 5"],
        "a worker with all graders, MB": float(python(checkout, MEMORY)),
    }


def main() -> None:
    """Measure both checkouts alternately and print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("old", type=Path)
    parser.add_argument("--times", type=int, default=3)
    options = parser.parse_args()
    # PR_SET_CHILD_SUBREAPER: this process becomes the parent of a command's orphans.
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
    release = find_release()
    with tempfile.TemporaryDirectory() as folder:
        few = Path(folder, "few.jsonl")
        many = Path(folder, "many.jsonl")
        out = Path(folder, "out")
        rights = [
            {"id": ref.id, "model": "m", "answer": json.loads(ref.answer)}
            for ref in release.references()
            if ref.id.startswith("two_segments/") and ref.kind == "reference"
        ]
        few.write_text("".join(f"{json.dumps(row)}\n" for row in rights))
        load.write_predictions(many, ROWS, release, None)
        checkouts = options.old.resolve(), Path(__file__).resolve().parents[1]
        rounds = [
            [measured(checkout, few, many, out) for checkout in checkouts]
            for _ in range(options.times)
        ]
    print("| what | old | new | new / old |\n|---|--:|--:|--:|")
    for name in rounds[0][0]:
        old, new = (min(pair[i][name] for pair in rounds) for i in (0, 1))
        print(f"| {name} | {old:.3g} | {new:.3g} | {new / old:.2f} |")


if __name__ == "__main__":
    main()
