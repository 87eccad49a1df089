"""The table of tasks as environments in docs/environments.md: what each is, measured here and now.

::

    python tools/environment_table.py           # print it
    python tools/environment_table.py --write   # put it into the page

How many different instances a rung has is estimated from n draws: S, of which S (1 - exp(-n / S))
differ; without a repeat it is more than n² / 6, 19 times out of 20.
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
DRAWS, SECONDS, STEPS = 250, 4.0, 25
HEADS = (
    "task",
    "settings",
    "rungs",
    "different on 1, 4",
    "floor",
    "ms a step",
    "steps a s",
    "KB",
)


def different(task: Task, rung: int | None) -> str:
    """Return about how many instances a point has."""
    stream = scbench.stream(task.id, rung=rung, seed=1)
    seen: set[str] = set()
    end, n = time.monotonic() + SECONDS, 0
    while n < DRAWS and (n < 5 or time.monotonic() < end):
        try:
            seen.add(data_hash(stream.at(n)))
        except ScbenchError:  # all of it is in the release
            break
        n += 1
    count, above = n * n / 6, ">"
    if len(seen) < n:
        sizes = (1.02**k for k in range(2_000))
        count = next(size for size in sizes if size * (1 - exp(-n / size)) >= len(seen))
        above = ""
    digits = max(0, len(str(int(count))) - 2)
    return f"{above}{int(count) // 10**digits * 10**digits:,}"


def measured(task: Task, release: Release) -> tuple[float, int]:
    """Return the median time of a step that grades a right answer, and the bytes of a trial."""
    instance = next(iter(release.instances([task.id]).values()))
    answers = (one for one in release.references() if one.id == instance.id)
    right = next(one.answer for one in answers if one.kind == "reference")
    times, environment = (
        [],
        Environment(Setup(setting="retry", attempts=1, closed=True)),
    )
    end = time.monotonic() + 4 * SECONDS
    while len(times) < STEPS and (len(times) < 2 or time.monotonic() < end):
        environment.reset(instance)
        start = time.perf_counter()
        environment.step(right)
        times.append(time.perf_counter() - start)
    return 1000 * statistics.median(times), len(pickle.dumps(environment))


def few_digits(value: float) -> str:
    """Return a number as a cell has it."""
    return f"{value:,.0f}" if value >= 10 else f"{value:.2g}"


def row(task: Task, release: Release) -> list[str]:
    """Return the cells of a task."""
    rungs = ladder().tasks.get(task.id)
    heights = f"{len(rungs.rungs)} + {len(rungs.beyond)}" if rungs else "-"
    points = [1, 4] if rungs else [None]
    settings = [name for name in ("retry", "probe", "act") if task.id in playable(name)]
    floors = [
        floor
        for name, floor in release.floors().items()
        if name.startswith(f"{task.id}/")
    ]
    floor = statistics.fmean(floors)
    ms, size = measured(task, release)
    closed = task.bucket == MANIFOLDS and max(floors) >= 0.1
    return [
        f"`{task.id}`{'*' * closed}",
        ", ".join(settings),
        heights,
        "; ".join(different(task, point) for point in points),
        f"{floor:.2f}",
        few_digits(ms),
        few_digits(1000 / ms),
        f"{size / 1000:.0f}",
    ]


def table() -> str:
    """Return the table, as Markdown."""
    release = find_release()
    rows = [
        row(task, release) for task in all_tasks().values() if task.package == "scbench"
    ]
    lines = [HEADS, ["---", "---", *["---:"] * (len(HEADS) - 2)], *rows]
    return "".join(f"|{'|'.join(cells)}|\n" for cells in lines)


def main() -> None:
    """Print the table, or write it into the page."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--write", action="store_true", help=f"into {PAGE.name}")
    text = table()
    if not parser.parse_args().write:
        sys.stdout.write(text)
        return
    page = PAGE.read_text("utf-8")
    before, rest = page.split(START)
    PAGE.write_text(before + START + text + END + rest.split(END)[1], "utf-8")


if __name__ == "__main__":
    main()
