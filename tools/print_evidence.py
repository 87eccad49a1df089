"""Print the tables of docs/evidence.md: intervals, scores and levels of simulated models.

::

    python tools/print_evidence.py            # all tables, which takes hours
    python tools/print_evidence.py intervals  # one part: intervals, scores, ladder or worlds
"""

import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "fixtures"))

import ladder_simulation as ladder
import score_simulation as scores
import simulation as sim
from ladders import ladder_results

from scbench.analysis.curves import Answers
from scbench.analysis.ladder import climbs_of, ladder_table
from scbench.analysis.levels import fit
from scbench.analysis.next_items import asked_of, next_items

# True levels.
ZONES = {
    "below 0.5": (-9.0, 0.5),
    "0.5 to 1.5": (0.5, 1.5),
    "1.5 to 3": (1.5, 3.0),
    "3 to 6": (3.0, 6.0),
    "6 to 7.5": (6.0, 7.5),
    "7.5 to 8.5": (7.5, 8.5),
    "above 8.5": (8.5, 99.0),
}


class World(NamedTuple):
    """Assumptions about simulated models on a ladder.

    Attributes:
        spread: standard deviation of the levels of a model's tasks, in rungs.
        slopes: slopes of the curves; each model has one of them.
        floor: floor of all items.
    """

    spread: float
    slopes: tuple[float, ...]
    floor: float


# It is unknown which world is closest to real models, so results are given as ranges.
WORLDS = {
    "tasks alike": World(1.0, ladder.SLOPES, 0.0),
    "tasks differ": World(1.5, ladder.SLOPES, 0.0),
    "tasks differ more": World(2.0, ladder.SLOPES, 0.0),
    "flat curves": World(1.5, (0.5, 0.7), 0.0),
    "steep curves": World(1.5, (2.5, 4.0), 0.0),
    "floor 0.25": World(1.5, ladder.SLOPES, 0.25),
}


def print_intervals() -> None:
    """Print the calibration of intervals, and the rate of false verdicts on equal models."""
    print(
        "| n | right or wrong: mean | minimum |",
        *(f" {name}: mean | minimum |" for name in sim.PARTIAL),
    )
    print("|---:|", "---:|" * (2 + 2 * len(sim.PARTIAL)), sep="")
    for n in (6, 7, 8, 9, 10, 13, 17, 20, 25, 40):
        coverages = [sim.binary_coverage(n)]
        coverages += [sim.partial_coverage(n, name) for name in sim.PARTIAL]
        print(f"| {n} |", *(f"{mean_and_least(c)} |" for c in coverages))
    print()
    print("| mean over", *(f"| {kind} " for kind in sim.KINDS), "|")
    print("|---|", "---:|" * len(sim.KINDS), sep="")
    for bucket, tasks in sim.TASKS.items():
        shares = []
        for kind in sim.KINDS:
            means = sim.task_means(kind, len(tasks), 20_000)
            shares.append(sim.bucket_coverage(bucket, means))
        print(f"| {bucket}", *(f"| {100 * share:.1f}" for share in shares), "|")
    print()
    print("| n | difference: mean | minimum |")
    print("|---:|---:|---:|")
    for n in (6, 8, 10, 13, 20, 40):
        print(f"| {n} | {mean_and_least(sim.difference_coverage(n))} |")
    print()
    corrected, plain = sim.family_wise_error()
    print(f"1,000 pairs of equal models: a false verdict on {100 * corrected:.1f} %")
    print(f"({100 * plain:.1f} % without the correction).")


def mean_and_least(coverage: np.ndarray) -> str:
    """Return two table cells: the mean and the minimum of shares, in percent."""
    return f"{100 * coverage.mean():.1f} | {100 * coverage.min():.1f}"


def print_scores() -> None:
    """Print how well the normalized score ranks models, and its calibration and power."""
    print(
        "| rank correlation with ability |", *(f" {name} |" for name in scores.SCHEMES)
    )
    print("|---|", "---:|" * len(scores.SCHEMES), sep="")
    for most, words in (
        (0.0, "all replies readable"),
        (0.2, "up to a fifth unreadable"),
    ):
        rows = pl.DataFrame([scores.ordering(500, most, seed) for seed in range(20)])
        means = [rows[name].mean() for name in scores.SCHEMES]
        print(f"| {words} |", *(f" {mean:.3f} |" for mean in means))
    print("\n| unreadable | calibration of the normalized score | mean width |")
    print("|---:|---:|---:|")
    for unread in (0.0, 0.05, 0.1, 0.2):
        covered, length = scores.normalized_coverage(unread=unread)
        print(f"| {unread:.0%} | {100 * covered:.1f} | {100 * length:.1f} |")
    print("\n| points better | power |\n|---:|---:|")
    for gain in (0.0, 0.05, 0.07, 0.1):
        print(f"| {100 * gain:.0f} | {100 * scores.overall_power(gain=gain):.0f} % |")
    print("\n| n | two values: mean | minimum |\n|---:|---:|---:|")
    for n in (6, 8, 13, 20, 40):
        print(f"| {n} | {mean_and_least(scores.two_point_coverage(n))} |")


def print_ladder() -> None:
    """Print tables on levels, their differences, adaptive runs, and planted leaks."""
    print_levels()
    table("scores that do not follow the curve", "bias")
    for name, bias in other_curves():
        line(name, f"{bias:+.2f}")
    table("mean over", "bias", "calibration", "median width")
    for name, rows in ladder.buckets().items():
        line(name, *bias_coverage_length(rows, digits=1))
    print_differences()
    heads = ("overall: bias", "calibration", "median width")
    table("items asked", *heads, "tasks: median width", "within a rung to either side")
    for name, rows in ladder.adaptive_lengths(60, (0.05, 0.1, 0.2, 0.3)).items():
        cells = bias_coverage_length(rows[:, :3])
        line(name, *cells, f"{np.median(rows[:, 3]):.2f}", f"{rows[:, 4].mean():.0%}")
    table("items memorized", "found", "estimated leak", "calibration")
    for leak in (0.0, 0.05, 0.1, 0.2):
        shares = 100 * ladder.leaks(leak).mean(axis=0)
        line(f"{leak:.0%}", *(f"{share:.1f}" for share in shares))


def print_worlds() -> None:
    """Print how lost replies change levels, in each world and as ranges over all worlds."""
    heads = ("world", "bias", "calibration", "mean width")
    table("replies lost on whole ladders", *heads)
    for lost, is_reported in ((0.2, True), (0.1, True), (0.0, True), (0.2, False)):
        way = "unreadable" if is_reported else "unreadable, but scored 0"
        world_lines(
            f"{lost:.0%} {way}",
            partial(simulate_unreadable, lost, is_reported=is_reported),
        )
    table("unreadable replies to items of --next", *heads)
    for lost in (0.2, 0.1, 0.0):
        world_lines(f"{lost:.0%}", partial(asked_next, lost))


def world_lines(label: str, simulate: Callable[[World], np.ndarray]) -> None:
    """Print a line for each world, and a line with the ranges over all worlds.

    Args:
        label: first cell of the lines.
        simulate: returns n x 3 rows in the format of `overall`.
    """
    means = []
    for name, world in WORLDS.items():
        bias, covered, width = simulate(world).mean(axis=0)
        means.append((bias, covered, width))
        line(label, name, f"{bias:+.2f}", f"{100 * covered:.0f}", f"{width:.2f}")
    bias, covered, width = zip(*means, strict=True)
    line(
        label,
        "range",
        f"{min(bias):+.2f} to {max(bias):+.2f}",
        f"{100 * min(covered):.0f} to {100 * max(covered):.0f}",
        f"{min(width):.2f} to {max(width):.2f}",
    )


def print_levels() -> None:
    """Print the table of levels of single tasks."""
    rows = ladder.single_tasks()
    within = rows.filter(pl.col("level").is_between(1, ladder.TOP))
    parts = {
        name: rows.filter(pl.col("level").is_between(*ends))
        for name, ends in ZONES.items()
    }
    for column in ("slope", "floor", "kind"):
        for (value,), part in within.group_by(column, maintain_order=True):
            parts[f"on the ladder, {column} {value}"] = part
    parts |= {"on the ladder": within, "all": rows}
    table("true level", "models", "bias", "calibration", "median width")
    for name, part in parts.items():
        bias = f"{part['error'].mean():+.2f}"
        coverage = f"{100 * part['holds'].mean():.1f}"
        line(name, part.height, bias, coverage, f"{part['length'].median():.1f}")


def print_differences() -> None:
    """Print the table of differences of two models."""
    heads = (
        "items with the same random numbers",
        "replies lost",
        "bias",
        "calibration",
        "median width",
    )
    table("difference of two models", *heads)
    for shared, lost in ((0.0, 0.0), (0.5, 0.0), (0.8, 0.0), (0.0, 0.1)):
        rows = ladder.differences(50, shared, lost)
        for (over,), part in rows.group_by("over", maintain_order=True):
            bias = f"{part['error'].mean():+.2f}"
            coverage = f"{100 * part['holds'].mean():.1f}"
            length = f"{part['length'].median():.2f}"
            line(over, f"{shared:.0%}", f"{lost:.0%}", bias, coverage, length)


def bias_coverage_length(rows: np.ndarray, digits: int = 0) -> tuple[str, str, str]:
    """Return three cells for n x 3 rows of `overall`: two means, and the median length."""
    error, covered, length = rows.T
    coverage = f"{100 * covered.mean():.{digits}f}"
    return f"{error.mean():+.2f}", coverage, f"{np.median(length):.2f}"


def table(*heads: str) -> None:
    """Begin a table."""
    print(f"\n| {' | '.join(heads)} |\n|---|{'---:|' * (len(heads) - 1)}")


def line(*cells: object) -> None:
    """Print a line of a table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def other_curves(models: int = 1000, seed: int = 6) -> Iterator[tuple[str, float]]:
    """Yield the bias if scores do not follow the curve: lower than the floor, or with slips."""
    rng = np.random.default_rng([seed, 6])

    def errors(floor: float, most: float, slope: float = 1.5) -> float:
        biases = []
        for _ in range(models):
            # The level is halfway between the floor and 1.
            share = (1 + floor) / 2
            place = rng.uniform(2.5, ladder.TOP - 1.5)
            p = most * ladder.expected(place, slope, 0.0, ladder.RUNGS)
            level = place - np.log(share / most / (1 - share / most)) / slope
            right = (rng.random(len(ladder.RUNGS)) < p).astype(float)
            floors = np.full(len(ladder.RUNGS), floor)
            answers = Answers(ladder.RUNGS, right, floors, ladder.TOP)
            biases.append(fit(answers, 0).level.clipped()[0] - level)
        return float(np.mean(biases))

    for floor in (0.1, 0.3, 0.5):
        yield f"scores fall to 0 below a floor of {floor}", errors(floor, 1.0)
    for slips in (0.03, 0.08):
        yield f"{slips:.0%} slips on easy rungs", errors(0.0, 1 - slips)


def simulate_unreadable(
    lost: float,
    world: World,
    models: int = 24,
    seed: int = 7,
    draws: int = 100,
    *,
    is_reported: bool = True,
) -> np.ndarray:
    """Simulate models over all tasks, with a share of replies lost; return rows of `overall`."""
    rng = np.random.default_rng([seed, 7])
    rows = []
    for i in range(models):
        levels = levels_in(world, rng)
        slope = world.slopes[i % len(world.slopes)]
        results = ladder_results(
            levels_of(levels), slope=slope, floor=world.floor, luck=i
        )
        replies = ladder.losing(rng, results, lost, is_reported=is_reported)
        rows.append(overall(replies, levels, draws))
    return np.array(rows)


def asked_next(
    lost: float,
    world: World,
    models: int = 12,
    seed: int = 8,
    draws: int = 100,
    batches: int = 10,
) -> np.ndarray:
    """Simulate models that get the items of `scbench ladder --next`; return rows of `overall`.

    Items come 22 at a time, and a share of the replies is unreadable.
    """
    rng = np.random.default_rng([seed, 8])
    rows = []
    for i in range(models):
        levels = levels_in(world, rng)
        loss_seed = int(rng.integers(2**31))
        slope = world.slopes[i % len(world.slopes)]
        items: set[str] = set()
        # There is one more round than batches; its replies are to all items.
        for number in range(batches + 1):
            results = ladder_results(
                levels_of(levels),
                slope=slope,
                floor=world.floor,
                luck=i,
                asked={"m": frozenset(items)},
            )
            # The same replies are lost every time.
            loss = np.random.default_rng(loss_seed)
            replies = ladder.losing(loss, results, lost, is_reported=True)
            if number < batches:
                items |= set(next_items(asked_of(replies), len(ladder.TASKS))["id"])
        rows.append(overall(replies, levels, draws))
    return np.array(rows)


def levels_in(world: World, rng: np.random.Generator) -> np.ndarray:
    """Draw a model's ability, and return the levels of its tasks around it."""
    ability = rng.uniform(2, ladder.TOP - 1)
    tasks = ability + rng.normal(0, world.spread, len(ladder.TASKS))
    return np.clip(tasks, 0.5, ladder.TOP + 0.5)


def levels_of(levels: np.ndarray) -> dict[str, dict[str, float]]:
    """Return the levels of one model by task."""
    return {"m": dict(zip(ladder.TASKS, map(float, levels), strict=True))}


def overall(
    results: pl.DataFrame, levels: np.ndarray, draws: int
) -> tuple[float, bool, float]:
    """Compare the overall level of one run with the truth.

    Returns:
        The error, whether the interval contains the truth, and the length of the interval.
    """
    levels_table = ladder_table(climbs_of(results, draws))
    row = levels_table.row(by_predicate=pl.col("bucket") == "overall", named=True)
    truth = ladder.held(levels).mean()
    # An interval without an end extends beyond the ladder.
    low = row["low"] or -np.inf
    high = row["high"] or np.inf
    length = min(high, ladder.TOP + 0.5) - max(low, 0.5)
    return row["level"] - truth, low <= truth <= high, length


PRINTERS = {
    "intervals": print_intervals,
    "scores": print_scores,
    "ladder": print_ladder,
    "worlds": print_worlds,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PRINTERS:
        PRINTERS[name]()
