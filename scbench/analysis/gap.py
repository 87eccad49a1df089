"""Gap between a public ladder and a private twin: has a model memorized public items?

Both ladders generate the items of a rung in the same way. If a model knows neither
ladder, the sign of a rung's difference is random. `scbench.analysis.sign_flips` tests
this; its unit is one rung of one task. Memorized items are easiest to detect where a
model solves few items, so a rung has the weight 1 / (m + 0.1), where m is the mean
expected by the curves fitted to both ladders. Single tasks are tested item by item, see
`scbench.analysis.leaks`.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from scbench.analysis.climbs import Climb, Climbs, families
from scbench.analysis.columns import LINE_TYPES, RUN_TYPES, counts, figures, texts
from scbench.analysis.ladder import climbs_of, one_run
from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.leaks import EASY, ROUNDING, Leak, LineTest, item_tests, leak_of
from scbench.analysis.level_means import level_difference
from scbench.analysis.levels import DRAWS as FITS
from scbench.analysis.results import check_grader_versions
from scbench.analysis.sheets import (
    chance,
    interval,
    line_words,
    points,
    run_words,
    rungs_signed,
    share,
    signed,
)
from scbench.analysis.sign_flips import DRAWS, Tested, sign_flip_tests
from scbench.base.errors import ResultsError
from scbench.base.intervals import LEVEL, Floats
from scbench.catalog import MANIFOLDS
from scbench.grading.means import RUN

# Columns of `gap_table`.
SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | LINE_TYPES
    | counts("rung pairs public_n private_n")
    | figures(
        "public private difference low high leak leak_low leak_high levels levels_low",
        "levels_high p_value p_corrected",
    )
    | texts("verdict")
)

# Verdicts.
HIGHER = "public is higher"
LOWER = "private is higher"
ALIKE = "no difference found"
UNCLEAR = "too few items to tell"


class RungCell(NamedTuple):
    """A rung of a task."""

    task: str
    rung: int


class RungMean(NamedTuple):
    """The mean score on a rung, and the number of answers."""

    mean: float
    n: int


class GapLine(NamedTuple):
    """A line of the table: its labels, its difference of levels, and the rungs that it covers."""

    labels: dict[str, Any]
    cells: list[RungCell]


def gap_table(
    public: pl.DataFrame,
    private: pl.DataFrame,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    level: float = LEVEL,
    fits: int = FITS,
) -> pl.DataFrame:
    """Return the excess of a model's scores on a public ladder over its private twin.

    Args:
        public: as returned by `scbench.analysis.results.read_results`, of one run.
        private: results of the same model on another ladder drawn from the same table.
        draws: number of draws of signs, see `scbench.analysis.sign_flips`.
        seed: seed of the draws.
        level: level of the intervals, and one minus the level of the tests.
        fits: number of simulated runs for the intervals of levels, see
            `scbench.analysis.levels.fit`.

    Returns:
        A row per task and bucket, one overall, and one per rung over all tasks, with
        columns `SCHEMA`:

        - pairs: number of rungs of tasks with a score on both ladders;
        - public_n and private_n: number of answers on each ladder;
        - public, private and difference: the two means over the pairs, with equal
          weights, and their difference with its interval;
        - leak: the share of public items that would have to be memorized to explain the
          difference: the difference divided by the distance of the private mean from 1;
        - levels: the difference of levels in rungs, public minus private;
        - p_value and p_corrected: the overall row is the main question and is tested
          alone; the correction is over all other rows;
        - verdict: based on p_corrected.

    Raises:
        ResultsError: a table contains more than one run, the two runs have different models
            or graders, or they have no rung in common.
    """
    check_twins(public, private)
    public_climbs = climbs_of(public, fits, level)
    private_climbs = climbs_of(private, fits, level)
    public_means = rung_means(public_climbs.climbs[0])
    private_means = rung_means(private_climbs.climbs[0])
    cells = sorted(public_means.keys() & private_means.keys())
    if not cells:
        raise ResultsError("no rung has scores on both ladders")
    # Tasks, buckets, overall and rungs share one table and, except overall, one
    # correction.
    lines = list(gap_lines(public_climbs, private_climbs, cells))
    main_line = main_line_of(lines)
    means = np.array(
        [(public_means[cell].mean, private_means[cell].mean) for cell in cells]
    )
    weight = rung_weights(cells, means, public_climbs, private_climbs)
    change = (means[:, 0] - means[:, 1]) * weight
    membership = line_membership(lines, cells)
    tests = _line_tests(lines, main_line, change, membership, level, draws, seed)
    by_items = item_tests(public_climbs.climbs[0], private_climbs.climbs[0])
    run = dict(zip(RUN, public_climbs.matrix.runs[0], strict=True))
    rows = []
    for i, line in enumerate(lines):
        row: dict[str, Any] = dict.fromkeys(SCHEMA) | run | line.labels
        # The interval of a line uses only the rungs of that line.
        in_line = membership[:, i] > 0
        leak = leak_of(means[in_line], weight[in_line], level, draws, seed)
        row |= gap_figures(line.cells, public_means, private_means, leak)
        test = tests[i]
        # A task has too few rungs for a sign test.
        if i != main_line and row["task"]:
            test = by_items[row["task"]]
        # The verdict uses the corrected value.
        row |= {"p_value": test.p_value, "p_corrected": test.p_corrected}
        row["verdict"] = verdict_of(test, leak, level)
        rows.append(row)
    return pl.DataFrame(rows, schema=SCHEMA)


def check_twins(public: pl.DataFrame, private: pl.DataFrame) -> None:
    """Refuse results that do not come from one run on two ladders.

    Raises:
        ResultsError: see `gap_table`.
    """
    # Model, setting and budget must be the same.
    runs = [one_run(rows).select(RUN).unique().rows() for rows in (public, private)]
    if runs[0] != runs[1]:
        raise ResultsError(
            f"the public results are from {_run_words(runs[0][0])}, the private ones from "
            f"{_run_words(runs[1][0])}; a gap needs results of the same run"
        )
    if public["release_hash"][0] == private["release_hash"][0]:
        raise ResultsError(
            "both results are from the same ladder; create a private one with "
            "`scbench generate ladder --private --out FOLDER`"
        )
    # Different graders give different scores to the same answers.
    versions = [rows.select("task", "grader_version") for rows in (public, private)]
    check_grader_versions(pl.concat(versions))


def _run_words(run: tuple[Any, ...]) -> str:
    return " ".join(str(part) for part in run if part is not None)


def rung_means(climbs: Mapping[str, Climb]) -> dict[RungCell, RungMean]:
    """Return the mean score on each rung of each task."""
    cells = {}
    for task, climb in climbs.items():
        for rung in np.unique(climb.answers.rungs):
            scores = climb.answers.scores[climb.answers.rungs == rung]
            cells[RungCell(task, int(rung))] = RungMean(
                float(scores.mean()), len(scores)
            )
    return cells


def gap_lines(
    public_climbs: Climbs, private_climbs: Climbs, cells: Sequence[RungCell]
) -> Iterator[GapLine]:
    """Yield a line for each task and bucket and for all tasks, then one for each rung.

    Single rungs cover the spatial tasks, or text tasks if there are no others.
    """
    public_fits = public_climbs.fits[0]
    private_fits = private_climbs.fits[0]
    for bucket, task, tasks in public_climbs.matrix.lines("task"):
        of_line = [cell for cell in cells if cell.task in tasks]
        if not of_line:
            continue
        # A task whose floor is 1 has no curve.
        fitted_tasks = [
            name for name in tasks if name in public_fits and name in private_fits
        ]
        value, low, high = level_difference(
            # It subtracts its first argument from its second.
            [private_fits[name].level for name in fitted_tasks],
            [public_fits[name].level for name in fitted_tasks],
        )
        labels: dict[str, Any] = public_climbs.matrix.labels(bucket, task, 0)
        labels |= {"levels": value, "levels_low": low, "levels_high": high}
        yield GapLine(labels, of_line)
    family = families(dict.fromkeys(cell.task for cell in cells))[0]
    of_family = [cell for cell in cells if cell.task in family]
    for rung in sorted({cell.rung for cell in of_family}):
        of_rung = [cell for cell in of_family if cell.rung == rung]
        yield GapLine({"rung": rung}, of_rung)


def main_line_of(lines: Sequence[GapLine]) -> int:
    """Return the position of the overall line, or of the only bucket if there is none."""
    sums = []
    for i, line in enumerate(lines):
        if "rung" not in line.labels and line.labels["task"] is None:
            sums.append(i)
    # Sums are ordered from buckets to overall, so the last one is the widest.
    spatial = [i for i in sums if lines[i].labels["bucket"] != MANIFOLDS]
    return (spatial or sums)[-1]


def rung_weights(
    cells: Sequence[RungCell],
    means: Floats,
    public_climbs: Climbs,
    private_climbs: Climbs,
) -> Floats:
    """Return the weight of each rung of a task, higher where the curves expect lower scores.

    Swapping the two ladders does not change a weight, so the signs stay random. Weights
    must not depend on the rung's scores, because rungs whose scores are low by chance have
    small differences.
    """
    curves = [expected_on_rungs(side) for side in (public_climbs, private_climbs)]
    fitted = []
    for cell, mean in zip(cells, means.mean(axis=1), strict=True):
        # A task without a curve uses its mean instead.
        fitted.append(np.mean([curve.get(cell, mean) for curve in curves]))
    return 1 / (np.array(fitted) + EASY)


def expected_on_rungs(climbs: Climbs) -> dict[RungCell, float]:
    """Return the scores that the fitted curves of the first run expect."""
    expected = {}
    for task, curve in climbs.fits[0].items():
        rungs = climbs.climbs[0][task].answers.rungs
        for rung, value in zip(rungs, curve.expected, strict=True):
            expected[RungCell(task, int(rung))] = float(value)
    return expected


def line_membership(lines: Sequence[GapLine], cells: Sequence[RungCell]) -> Floats:
    """Return an array of shape (cells, lines): 1 where a line covers a rung of a task, else 0."""
    columns = []
    for line in lines:
        line_cells = set(line.cells)
        columns.append([float(cell in line_cells) for cell in cells])
    return np.column_stack(columns)


def _line_tests(
    lines: Sequence[GapLine],
    main_line: int,
    change: Floats,
    membership: Floats,
    level: float,
    draws: int,
    seed: int,
) -> list[LineTest]:
    """Test the main line alone, and all others as a family, by the signs of rungs."""
    # Each line uses only the differences of its rungs.
    differences = change[:, None] * membership
    is_main = np.arange(len(lines)) == main_line
    tests = []
    for family in (is_main, ~is_main):
        tested = sign_flip_tests(
            differences[:, family], membership[:, family], level, draws, seed
        )
        tests.append([_line_test(tested, place) for place in range(int(family.sum()))])
    (main_test,), line_tests = tests
    return [*line_tests[:main_line], main_test, *line_tests[main_line:]]


def _line_test(tested: Tested, place: int) -> LineTest:
    return LineTest(
        p_value=float(tested.p_value[place]),
        p_corrected=float(tested.p_corrected[place]),
        too_few=bool(tested.too_few[place]),
    )


def gap_figures(
    cells: list[RungCell],
    public: Mapping[RungCell, RungMean],
    private: Mapping[RungCell, RungMean],
    leak: Leak,
) -> dict[str, Any]:
    """Return means, difference and leak over some rungs of tasks."""
    public_mean = float(np.mean([public[cell].mean for cell in cells]))
    private_mean = float(np.mean([private[cell].mean for cell in cells]))
    cells_of_line: dict[str, Any] = {
        "pairs": len(cells),
        "public_n": sum(public[cell].n for cell in cells),
        "private_n": sum(private[cell].n for cell in cells),
        "public": public_mean,
        "private": private_mean,
        "difference": public_mean - private_mean,
        # A memorized share raises the mean by that share of its distance to 1.
        "low": leak.low * (1 - private_mean),
        "high": leak.high * (1 - private_mean),
    }
    # With a private mean of 1, no leak can be estimated.
    if private_mean < 1:
        cells_of_line |= {"leak": leak.share}
        cells_of_line |= {"leak_low": leak.low, "leak_high": leak.high}
    return cells_of_line


def verdict_of(test: LineTest, leak: Leak, level: float) -> str:
    """Return the verdict of a line."""
    if test.p_corrected <= 1 - level + ROUNDING:
        return HIGHER if leak.share > 0 else LOWER
    return UNCLEAR if test.too_few else ALIKE


def line_cell(row: Row) -> str:
    """Return the name of a line, or its rung."""
    return line_words(row) if row["rung"] is None else f"rung {row['rung']}"


def leak_cell(row: Row) -> str:
    """Return a leak in percent with its interval below; a dash if there is none."""
    if row["leak"] is None:
        return "-"
    return f"{points(row['leak'])} %\n{interval(row, 'leak_')}"


def gap_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `gap_table`."""
    columns = (
        Column("task", line_cell, is_words=True),
        Column("pairs", "pairs"),
        Column("public", share("public")),
        Column("private", share("private")),
        Column("difference", lambda row: signed(row["difference"])),
        Column("95 %", partial(interval, form=signed)),
        Column("leak", leak_cell),
        Column("levels", lambda row: rungs_signed(row["levels"])),
        Column("p", lambda row: chance(row["p_corrected"])),
        Column("verdict", "verdict", is_words=True),
    )
    rows = frame.to_dicts()
    breaks = []
    for i, row in enumerate(rows[:-1], 1):
        if row["task"] is None and row["rung"] is None:
            breaks.append(i)
    title = f"Public and private ladder, {run_words(rows[0])}"
    return sheet_of(title, columns, rows, notes_of("gap"), breaks)
