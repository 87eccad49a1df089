"""Print the tables of docs/evidence.md: what simulated models show of intervals, scores and levels.

::

    python tools/print_evidence.py            # all of them, for hours
    python tools/print_evidence.py intervals  # those of intervals, scores or ladder
"""

import sys
from collections.abc import Iterator
from pathlib import Path

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


def print_intervals() -> None:
    """Intervals of means and differences, and equal models told apart."""
    print(
        "| n | right or wrong: mean | least |",
        *(f" {name}: mean | least |" for name in sim.PARTIAL),
    )
    print("|---:|", "---:|" * (2 + 2 * len(sim.PARTIAL)), sep="")
    for n in (6, 7, 8, 9, 10, 13, 17, 20, 25, 40):
        measured = [
            sim.binary_coverage(n),
            *(sim.partial_coverage(n, name) for name in sim.PARTIAL),
        ]
        print(
            f"| {n} |",
            *(f"{100 * c.mean():.1f} | {100 * c.min():.1f} |" for c in measured),
        )
    print()
    print("| mean over", *(f"| {kind} " for kind in sim.KINDS), "|")
    print("|---|", "---:|" * len(sim.KINDS), sep="")
    for bucket, tasks in sim.TASKS.items():
        measured = [
            sim.bucket_coverage(bucket, sim.task_means(kind, len(tasks), 20_000))
            for kind in sim.KINDS
        ]
        print(f"| {bucket}", *(f"| {100 * share:.1f}" for share in measured), "|")
    print()
    print("| n | difference: mean | least |")
    print("|---:|---:|---:|")
    for n in (6, 8, 10, 13, 20, 40):
        measured = sim.difference_coverage(n)
        print(f"| {n} | {100 * measured.mean():.1f} | {100 * measured.min():.1f} |")
    print()
    corrected, plain = sim.family_wise_error()
    print(
        f"1,000 pairs of equal models: any line called different in {100 * corrected:.1f} %"
    )
    print(f"(without the correction in {100 * plain:.1f} %).")


def print_scores() -> None:
    """The normalized score: what it orders, its intervals and its power."""
    print(
        "| rank correlation with ability |", *(f" {name} |" for name in scores.SCHEMES)
    )
    print("|---|", "---:|" * len(scores.SCHEMES), sep="")
    for most, words in ((0.0, "all can be read"), (0.2, "up to a fifth cannot")):
        rows = pl.DataFrame([scores.ordering(500, most, seed) for seed in range(20)])
        print(
            f"| {words} |", *(f" {rows[name].mean():.3f} |" for name in scores.SCHEMES)
        )
    print(
        "\n| unreadable | coverage of the normalized score | mean length |\n|---:|---:|---:|"
    )
    for unread in (0.0, 0.05, 0.1, 0.2):
        covered, length = scores.normalized_coverage(unread=unread)
        print(f"| {unread:.0%} | {100 * covered:.1f} | {100 * length:.1f} |")
    print("\n| points better | told apart |\n|---:|---:|")
    for gain in (0.0, 0.05, 0.07, 0.1):
        print(f"| {100 * gain:.0f} | {100 * scores.overall_power(gain=gain):.0f} % |")
    print("\n| n | two values: mean | least |\n|---:|---:|---:|")
    for n in (6, 8, 13, 20, 40):
        covered = 100 * scores.two_point_coverage(n)
        print(f"| {n} | {covered.mean():.1f} | {covered.min():.1f} |")


def other_curves(models: int = 1000, seed: int = 6) -> Iterator[tuple[str, float]]:
    """Bias where scores do not follow the curve: they fall below the floor, or slip everywhere."""
    rng = np.random.default_rng([seed, 6])

    def errors(floor: float, most: float, slope: float = 1.5) -> float:
        measured = []
        for _ in range(models):
            # The level is where half of what lies between the floor and 1 is scored.
            share = (1 + floor) / 2
            place = rng.uniform(2.5, ladder.TOP - 1.5)
            p = most * ladder.expected(place, slope, 0.0, ladder.RUNGS)
            level = place - np.log(share / most / (1 - share / most)) / slope
            right = (rng.random(len(ladder.RUNGS)) < p).astype(float)
            answers = Answers(
                ladder.RUNGS, right, np.full(len(ladder.RUNGS), floor), ladder.TOP
            )
            measured.append(fit(answers, 0).level.clipped()[0] - level)
        return float(np.mean(measured))

    for floor in (0.1, 0.3, 0.5):
        yield f"scores fall to 0 below a floor of {floor}", errors(floor, 1.0)
    for slips in (0.03, 0.08):
        yield f"{slips:.0%} slips on easy rungs", errors(0.0, 1 - slips)


def overall(
    results: pl.DataFrame, levels: np.ndarray, draws: int
) -> tuple[float, bool, float]:
    """Error of the overall level of one run, whether its interval holds, and its length."""
    table = ladder_table(climbs_of(results, draws))
    row = table.row(by_predicate=pl.col("bucket") == "overall", named=True)
    truth, low, high = (
        ladder.held(levels).mean(),
        row["low"] or -np.inf,
        row["high"] or np.inf,
    )
    length = min(high, ladder.TOP + 0.5) - max(low, 0.5)
    return row["level"] - truth, low <= truth <= high, length


def unreadable(
    lost: float,
    models: int = 200,
    seed: int = 7,
    draws: int = 200,
    *,
    is_told: bool = True,
) -> np.ndarray:
    """Models over all tasks, a share of whose replies is lost; rows as of `overall`."""
    rng = np.random.default_rng([seed, 7])
    rows = []
    for i in range(models):
        ability = rng.uniform(2, ladder.TOP - 1)
        levels = np.clip(
            ability + rng.normal(0, 1.0, len(ladder.TASKS)), 0.5, ladder.TOP + 0.5
        )
        levels_of = {"m": dict(zip(ladder.TASKS, map(float, levels), strict=True))}
        results = ladder_results(levels_of, slope=ladder.SLOPES[i % 5], luck=i)
        rows.append(
            overall(ladder.losing(rng, results, lost, is_told=is_told), levels, draws)
        )
    return np.array(rows)


def asked_next(
    lost: float, models: int = 160, seed: int = 8, draws: int = 200, batches: int = 10
) -> np.ndarray:
    """Models that are asked what `scbench ladder --next` names, 22 at a time; see `overall`.

    Tasks lie three rungs apart, slopes are from 0.5 to 4, and a share of replies cannot be read.
    """
    rng = np.random.default_rng([seed, 8])
    rows = []
    for i in range(models):
        levels = rng.uniform(2, ladder.TOP - 1) + rng.uniform(
            -1.5, 1.5, len(ladder.TASKS)
        )
        levels_of = {"m": dict(zip(ladder.TASKS, map(float, levels), strict=True))}
        loss, asked = int(rng.integers(2**31)), set()
        for _ in range(batches):
            results = ladder_results(
                levels_of,
                slope=(0.5, *ladder.SLOPES)[i % 6],
                luck=i,
                asked={"m": frozenset(asked)},
            )
            replies = ladder.losing(
                np.random.default_rng(loss), results, lost, is_told=True
            )
            asked |= set(next_items(asked_of(replies), len(ladder.TASKS))["id"])
        results = ladder_results(
            levels_of,
            slope=(0.5, *ladder.SLOPES)[i % 6],
            luck=i,
            asked={"m": frozenset(asked)},
        )
        replies = ladder.losing(
            np.random.default_rng(loss), results, lost, is_told=True
        )
        rows.append(overall(replies, levels, draws))
    return np.array(rows)


def table(*heads: str) -> None:
    """Begin a table."""
    print(f"\n| {' | '.join(heads)} |\n|---|{'---:|' * (len(heads) - 1)}")


def line(*cells: object) -> None:
    """Print a line of it."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def print_ladder() -> None:
    """Levels, their ladder.differences, what is asked next, and planted ladder.leaks."""
    rows = ladder.single_tasks()
    within = rows.filter(pl.col("level").is_between(1, ladder.TOP))
    parts = {
        name: rows.filter(pl.col("level").is_between(*ends))
        for name, ends in ZONES.items()
    }
    for column in ("slope", "floor", "kind"):
        for (value,), part in within.group_by(column, maintain_order=True):
            parts[f"on the ladder, {column} {value}"] = part
    table("true level", "models", "bias", "coverage", "median length")
    for name, part in (parts | {"on the ladder": within, "all": rows}).items():
        bias, covered = part["error"].mean(), 100 * part["holds"].mean()
        line(
            name,
            part.height,
            f"{bias:+.2f}",
            f"{covered:.1f}",
            f"{part['length'].median():.1f}",
        )
    table("scores that are no such curve", "bias")
    for name, bias in other_curves():
        line(name, f"{bias:+.2f}")
    table("mean over", "bias", "coverage", "median length")
    for name, measured in ladder.buckets().items():
        error, covered, length = measured.T
        ends = f"{100 * covered.mean():.1f}", f"{np.median(length):.2f}"
        line(name, f"{error.mean():+.2f}", *ends)
    heads = ("luck of items", "replies lost", "bias", "coverage", "median length")
    table("difference of two models", *heads)
    for shared, lost in ((0.0, 0.0), (0.5, 0.0), (0.8, 0.0), (0.0, 0.1)):
        for (over,), part in ladder.differences(50, shared, lost).group_by(
            "over", maintain_order=True
        ):
            cells = f"{part['error'].mean():+.2f}", f"{100 * part['holds'].mean():.1f}"
            line(
                over,
                f"{shared:.0%}",
                f"{lost:.0%}",
                *cells,
                f"{part['length'].median():.2f}",
            )
    table("replies lost", "in which way", "bias", "coverage", "median length")
    for lost, is_told in (
        (0.0, True),
        (0.1, True),
        (0.2, True),
        (0.1, False),
        (0.2, False),
    ):
        error, covered, length = unreadable(lost, is_told=is_told).T
        way = "cannot be read" if is_told else "read, and worth 0"
        cells = (
            f"{error.mean():+.2f}",
            f"{100 * covered.mean():.0f}",
            f"{np.median(length):.2f}",
        )
        line(f"{lost:.0%}", way, *cells)
    table("asked next, replies lost", "bias", "coverage", "mean length")
    for lost in (0.0, 0.1, 0.2):
        error, covered, length = asked_next(lost).T
        line(
            f"{lost:.0%}",
            f"{error.mean():+.2f}",
            f"{100 * covered.mean():.0f}",
            f"{length.mean():.2f}",
        )
    heads = ("overall: bias", "coverage", "median length")
    table("items asked", *heads, "tasks: median length", "within a rung to either side")
    for name, got in ladder.adaptive_lengths(60, (0.05, 0.1, 0.2, 0.3)).items():
        error, covered, length, tasks, near = got.T
        cells = (
            f"{error.mean():+.2f}",
            f"{100 * covered.mean():.0f}",
            f"{np.median(length):.2f}",
        )
        line(name, *cells, f"{np.median(tasks):.2f}", f"{near.mean():.0%}")
    table("leak planted", "found", "leak told", "its interval holds")
    for leak in (0.0, 0.05, 0.1, 0.2):
        line(
            f"{leak:.0%}",
            *(f"{100 * share:.1f}" for share in ladder.leaks(leak).mean(axis=0)),
        )


PRINTERS = {
    "intervals": print_intervals,
    "scores": print_scores,
    "ladder": print_ladder,
}

if __name__ == "__main__":
    for name in sys.argv[1:] or PRINTERS:
        PRINTERS[name]()
