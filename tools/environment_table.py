"""Measure the table of tasks in docs/environments.md.

::

    python tools/environment_table.py           # print it
    python tools/environment_table.py --write   # put it into the page

The number S of different items on a rung is estimated from n draws: the expected number of
different items among them is S (1 - exp(-n / S)). Without a repeat, S exceeds n² / 6 in 19 cases
out of 20.
"""

import argparse
import pickle
import statistics
import sys
import time
from math import exp
from pathlib import Path

import scbench
from scbench.base.errors import ScbenchError
from scbench.catalog import MANIFOLDS, Task, all_tasks
from scbench.freezing.ladder import ladder
from scbench.freezing.stream import data_hash
from scbench.loop import Environment, Setup, playable
from scbench.release.load import Release, find_release

PAGE = Path(__file__).resolve().parents[1] / "docs" / "environments.md"
START = "<!-- table: python tools/environment_table.py --write -->\n"
END = "<!-- end of table -->\n"
# Limits: draws at a point, seconds for these draws, and timed steps.
DRAWS = 250
SECONDS = 4.0
STEPS = 25
HEADS = (
    "task",
    "settings",
    "rungs",
    "items on rungs 1; 4",
    "floor",
    "ms/step",
    "KB",
)


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"into {PAGE.name}")
    options = parser.parse_args()
    text = table()
    if not options.write:
        sys.stdout.write(text)
        return
    before, _, after = PAGE.read_text("utf-8").partition(START)
    _, _, after = after.partition(END)
    PAGE.write_text(before + START + text + END + after, "utf-8")


def table() -> str:
    """Return the table, as Markdown."""
    release = find_release()
    tasks = [task for task in all_tasks().values() if task.package == "scbench"]
    rows = [row(task, release) for task in tasks]
    lines = [HEADS, ["---", "---", *["---:"] * (len(HEADS) - 2)], *rows]
    return "".join(f"|{'|'.join(cells)}|\n" for cells in lines)


def row(task: Task, release: Release) -> list[str]:
    """Return the cells of a task."""
    heights = "-"
    points: list[int | None] = [None]
    rungs = ladder().tasks.get(task.id)
    if rungs:
        heights = f"{len(rungs.rungs)} + {len(rungs.beyond)}"
        points = [1, 4]
    settings = [name for name in ("retry", "probe", "act") if task.id in playable(name)]
    floors = [
        floor
        for name, floor in release.floors().items()
        if name.startswith(f"{task.id}/")
    ]
    # Items that a guess often solves are excluded unless `closed` is set.
    is_guessed = task.bucket == MANIFOLDS and max(floors) >= 0.1
    mark = "*" if is_guessed else ""
    ms, size = measured(task, release)
    return [
        f"`{task.id}`{mark}",
        ", ".join(settings),
        heights,
        "; ".join(different(task, point) for point in points),
        f"{statistics.fmean(floors):.2f}",
        few_digits(ms),
        f"{size / 1000:.0f}",
    ]


def different(task: Task, rung: int | None) -> str:
    """Return the estimated number of different items at a point."""
    stream = scbench.stream(task.id, rung=rung, seed=1)
    hashes: set[str] = set()
    end = time.monotonic() + SECONDS
    n = 0
    while n < DRAWS and (n < 5 or time.monotonic() < end):
        try:
            hashes.add(data_hash(stream.at(n)))
        except ScbenchError:
            # The release already contains all items of this point.
            break
        n += 1
    if len(hashes) == n:
        return f">{two_digits(n * n / 6)}"
    # Increase the size in steps of 2 %.
    steps = 0
    size = 1.0
    while size * (1 - exp(-n / size)) < len(hashes):
        steps += 1
        size = 1.02**steps
    return two_digits(size)


def two_digits(value: float) -> str:
    """Return a number truncated to two digits."""
    unit = 10 ** max(0, len(str(int(value))) - 2)
    return f"{int(value) // unit * unit:,}"


def measured(task: Task, release: Release) -> tuple[float, int]:
    """Return the median time in ms of grading a correct answer, and a trial's size in bytes."""
    instance = next(iter(release.instances([task.id]).values()))
    right = next(
        ref.answer
        for ref in release.references()
        if ref.id == instance.id and ref.kind == "reference"
    )
    environment = Environment(Setup(setting="retry", attempts=1, closed=True))
    times: list[float] = []
    end = time.monotonic() + 4 * SECONDS
    while len(times) < STEPS and (len(times) < 2 or time.monotonic() < end):
        environment.reset(instance)
        start = time.perf_counter()
        environment.step(right)
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times), len(pickle.dumps(environment))


def few_digits(value: float) -> str:
    """Return a number with two significant digits, or without decimals if it is 10 or more."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


if __name__ == "__main__":
    main()
