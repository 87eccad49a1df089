"""Is a public ladder known by heart? One model on it and on a private twin, paired by rung.

The items of a rung are drawn alike in both, so for a model that knows neither, the mean of a rung
is as likely to be higher here as there: the signs of the differences are random. The difference is
tested by `scbench.analysis.sign_flips`, with a rung of a task as its unit. What a model knows by
heart stands out where it solves little, so a rung weighs 1 / (m + 0.1), where m is what the curves
fitted to both ladders expect. The interval holds the differences that the same test would not
refuse.

A task has few rungs, and each is little more than one number. Its line is tested item by item: the
items of a rung are as likely to stand on the one ladder as on the other.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from math import comb
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.ladder import Climb, Climbs, climbs_of, families, one_run
from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.levels import DRAWS as FITS
from scbench.analysis.levels import Answers, level_difference, uniform_numbers
from scbench.analysis.results import (
    LINE_TYPES,
    RUN_TYPES,
    counts,
    figures,
    one_grader,
    texts,
)
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
from scbench.analysis.sign_flips import DRAWS, Tested, lines_tested, signs
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

HIGHER, LOWER, ALIKE, UNCLEAR = (
    "public is higher",
    "private is higher",
    "alike",
    "too few to tell",
)
# Added to a rung's mean, so that no rung has all the weight.
_EASY = 0.1
_Cell = tuple[str, int]
_ROUNDING = 1e-12
# How often the items of a rung are dealt to two ladders.
_DEALS = 2000
_LEAST_DEALS = 1000


def gap_table(
    public: pl.DataFrame,
    private: pl.DataFrame,
    *,
    draws: int = DRAWS,
    seed: int = 0,
    level: float = LEVEL,
    fits: int = FITS,
) -> pl.DataFrame:
    """Return how much higher a model scores on a public ladder than on its private twin.

    Args:
        public: as `scbench.analysis.results.read_results` gives them, of one run.
        private: of the same model, on another ladder drawn from the same table.
        draws: of signs, see `scbench.analysis.sign_flips`.
        seed: of the draws.
        level: of the intervals, and one minus the level of the tests.
        fits: simulated runs behind the intervals of levels, see `scbench.analysis.levels.fit`.

    Returns:
        A row per task, bucket, overall, and per rung over all tasks, with columns `SCHEMA`: pairs
        (rungs of tasks with a score in both), answers of each, the two means over the pairs, each
        pair weighing the same, and their difference with its interval; leak (the share of public
        items that would have to be known by heart to explain it: the difference over what the
        private mean lacks); the difference of levels in rungs, public minus private; p_value, and
        p_corrected over all rows but the overall one, which is the one question that is asked and
        is tested by itself; and the verdict, from the latter.

    Raises:
        ResultsError: there is more than one run in either, they are of different models or
            graders, or have no rung in common.
    """
    _fit_together(public, private)
    here, there = (climbs_of(rows, fits, level) for rows in (public, private))
    ours, theirs = _rung_means(here.climbs[0]), _rung_means(there.climbs[0])
    cells = sorted(ours.keys() & theirs.keys())
    if not cells:
        raise ResultsError(
            "the two ladders have no rung in common on which both have scores"
        )
    lines = [*_gap_lines(here, there, cells)]
    overall_line = _overall_line([labels for labels, _ in lines])
    membership = np.column_stack(
        [[float(cell in of_line) for cell in cells] for _, of_line in lines]
    )
    means = np.array([(ours[cell][0], theirs[cell][0]) for cell in cells])
    # Which of the two is public does not move a weight, so signs stay as random as they were. Of
    # the rung's own scores it would: where both are low by chance they differ little.
    curves = [_expected_on_rungs(side) for side in (here, there)]
    fitted = [
        np.mean([curve.get(cell, own) for curve in curves])
        for cell, own in zip(cells, means.mean(axis=1), strict=True)
    ]
    weight = 1 / (np.array(fitted) + _EASY)
    change = ((means[:, 0] - means[:, 1]) * weight)[:, None] * membership
    is_line = np.arange(len(lines)) != overall_line
    by_items = _item_tests(here.climbs[0], there.climbs[0])
    overall_test, line_tests = (
        lines_tested(change[:, part], membership[:, part], level, draws, seed)
        for part in (~is_line, is_line)
    )
    run = dict(zip(RUN, here.matrix.runs[0], strict=True))
    rows = []
    for i, (labels, of_line) in enumerate(lines):
        in_line = membership[:, i] > 0
        leak = _leak(means[in_line], weight[in_line], level, draws, seed)
        row: dict[str, Any] = dict.fromkeys(SCHEMA) | run | labels
        row |= _gap_figures(of_line, ours, theirs, leak)
        if i == overall_line:
            figures = _signs_cells(overall_test, 0)
        elif row["task"]:
            figures = by_items[row["task"]]
        else:
            figures = _signs_cells(line_tests, i - (i > overall_line))
        is_unclear = figures.pop("too_few")
        verdict = UNCLEAR if is_unclear else ALIKE
        if figures["p_corrected"] <= 1 - level + _ROUNDING:
            verdict = HIGHER if leak[0] > 0 else LOWER
        rows.append(row | figures | {"verdict": verdict})
    return pl.DataFrame(rows, schema=SCHEMA)


def _leak(
    means: Floats, weight: Floats, level: float, draws: int, seed: int
) -> tuple[float, float, float]:
    """Return the share known by heart that the test knows nothing against, and the ends of those.

    A share x lifts a rung by x times what it lacks. Taken away, the rest may have any sign: the
    interval holds the x whose statistic, over the same signs, is none of the largest 5 %. Of both
    means, (1 - m) is what a rung lacks once half of the lift is taken away: x = A / (1 + A / 2).

    Args:
        means: of the public and the private ladder, by rung.
        weight: of each rung.
        level: of the interval.
        draws: of signs.
        seed: of the draws.
    """
    lifts, lacks = (
        weight * (means[:, 0] - means[:, 1]),
        weight * (1 - means.mean(axis=1)),
    )
    spread = float(np.sqrt((lifts**2).sum()))
    flips = signs(len(lifts), draws, seed)
    limit = NormalDist().inv_cdf((1 + level) / 2)
    if spread > 0:
        limit = float(
            np.quantile(np.abs(flips @ (lifts / spread)), level, method="higher")
        )
    a = lacks.sum() ** 2 - limit**2 * (lacks**2).sum()
    b = lifts.sum() * lacks.sum() - limit**2 * (lifts * lacks).sum()
    c = lifts.sum() ** 2 - limit**2 * (lifts**2).sum()
    if a <= 0:
        return _leak_of(lifts.sum() / max(lacks.sum(), _ROUNDING)), -1.0, 1.0
    root = float(np.sqrt(max(b * b - a * c, 0.0)))
    return (
        _leak_of(lifts.sum() / lacks.sum()),
        _leak_of((b - root) / a),
        _leak_of((b + root) / a),
    )


def _leak_of(lift: float) -> float:
    return float(np.clip(lift / max(1 + lift / 2, _ROUNDING), -1.0, 1.0))


def _item_tests(
    public: Mapping[str, Climb], private: Mapping[str, Climb]
) -> dict[str, dict[str, Any]]:
    """Return p, p corrected over the tasks (Holm), and whether items are too few, of each task.

    Within each rung, scores are dealt anew to the two ladders.
    """
    tested: dict[str, tuple[float, bool]] = {}
    for task in public.keys() & private.keys():
        tested[task] = _deal(public[task].answers, private[task].answers)
    corrected, largest = {}, 0.0
    ordered = sorted(tested, key=lambda task: (tested[task][0], task))
    for i, task in enumerate(ordered):
        largest = min(1.0, max(largest, tested[task][0] * (len(ordered) - i)))
        corrected[task] = largest
    return {
        task: {"p_value": p, "p_corrected": corrected[task], "too_few": too_few}
        for task, (p, too_few) in tested.items()
    }


def _deal(public: Answers, private: Answers) -> tuple[float, bool]:
    """Return the share of deals with a difference as large, and whether deals are too few."""
    observed, dealt, deals, at = 0.0, np.zeros(_DEALS), 1, 0
    keys = uniform_numbers(_DEALS, len(public.rungs) + len(private.rungs))
    for rung in sorted({*public.rungs.tolist()} & {*private.rungs.tolist()}):
        here, there = (side.scores[side.rungs == rung] for side in (public, private))
        together = np.concatenate([here, there])
        weight = 1 / ((here.mean() + there.mean()) / 2 + _EASY)
        order = np.argsort(keys[:, at : at + len(together)], axis=1)
        at += len(together)
        first = together[order[:, : len(here)]].mean(axis=1)
        others = (together.sum() - first * len(here)) / len(there)
        observed += weight * (here.mean() - there.mean())
        dealt += weight * (first - others)
        deals *= comb(len(together), len(here))
    reached = (np.abs(dealt) >= abs(observed) - _ROUNDING).sum()
    return float(reached + 1) / (_DEALS + 1), deals < _LEAST_DEALS


def _signs_cells(tested: Tested, line: int) -> dict[str, Any]:
    return {
        "p_value": float(tested.p_value[line]),
        "p_corrected": float(tested.p_corrected[line]),
        "too_few": bool(tested.too_few[line]),
    }


def _gap_lines(
    here: Climbs, there: Climbs, cells: Sequence[_Cell]
) -> Iterator[tuple[dict[str, Any], list[_Cell]]]:
    """Yield the labels of each line, with the difference of levels, and the rungs it is over.

    Single rungs are of the spatial tasks, or of text tasks if there are no others.
    """
    for bucket, task, tasks in here.matrix.lines("task"):
        of_line = [cell for cell in cells if cell[0] in tasks]
        if not of_line:
            continue
        both = [
            name for name in tasks if name in here.fits[0] and name in there.fits[0]
        ]
        first, second = (
            [side.fits[0][name].level for name in both] for side in (there, here)
        )
        value, low, high = level_difference(first, second)
        labels = here.matrix.labels(bucket, task, 0)
        yield (
            labels | {"levels": value, "levels_low": low, "levels_high": high},
            of_line,
        )
    family = families(dict(cells))[0]
    of_family = [cell for cell in cells if cell[0] in family]
    for rung in sorted({rung for _, rung in of_family}):
        yield {"rung": rung}, [cell for cell in of_family if cell[1] == rung]


def _overall_line(labels: Sequence[Mapping[str, Any]]) -> int:
    """Return the place of the overall line, or of that of the only spatial or only bucket."""
    sums = [
        i for i, row in enumerate(labels) if "rung" not in row and row["task"] is None
    ]
    return next(
        (i for i in reversed(sums) if labels[i]["bucket"] != MANIFOLDS), sums[-1]
    )


def _fit_together(public: pl.DataFrame, private: pl.DataFrame) -> None:
    """Refuse what cannot be compared."""
    runs = [one_run(rows).select(RUN).unique().rows() for rows in (public, private)]
    if runs[0] != runs[1]:
        raise ResultsError(
            f"the public results are of {_run_words(runs[0][0])}, the private ones of "
            f"{_run_words(runs[1][0])}; a gap is that of one run"
        )
    if public["release_hash"][0] == private["release_hash"][0]:
        raise ResultsError(
            "both results are of the same ladder; a private one is drawn with "
            "`scbench generate ladder --private --out FOLDER`"
        )
    one_grader(
        pl.concat([rows.select("task", "grader_version") for rows in (public, private)])
    )


def _run_words(run: tuple[Any, ...]) -> str:
    return " ".join(str(part) for part in run if part is not None)


def _rung_means(climbs: Mapping[str, Climb]) -> dict[_Cell, tuple[float, int]]:
    """Return the mean score and the number of answers by task and rung."""
    cells = {}
    for task, climb in climbs.items():
        for rung in np.unique(climb.answers.rungs):
            scores = climb.answers.scores[climb.answers.rungs == rung]
            cells[task, int(rung)] = (float(scores.mean()), len(scores))
    return cells


def _expected_on_rungs(climbs: Climbs) -> dict[_Cell, float]:
    """Return what the fitted curves of the first run expect, by task and rung."""
    return {
        (task, int(rung)): float(value)
        for task, curve in climbs.fits[0].items()
        for rung, value in zip(
            climbs.climbs[0][task].answers.rungs, curve.expected, strict=True
        )
    }


def _gap_figures(
    cells: list[_Cell],
    ours: Mapping[_Cell, tuple[float, int]],
    theirs: Mapping[_Cell, tuple[float, int]],
    leak: tuple[float, float, float],
) -> dict[str, Any]:
    """Return means, difference and leak over some rungs of tasks."""
    here, there = (
        float(np.mean([side[cell][0] for cell in cells])) for side in (ours, theirs)
    )
    figures: dict[str, Any] = {
        "pairs": len(cells),
        "public_n": sum(ours[cell][1] for cell in cells),
        "private_n": sum(theirs[cell][1] for cell in cells),
        "public": here,
        "private": there,
        "difference": here - there,
        "low": leak[1] * (1 - there),
        "high": leak[2] * (1 - there),
    }
    if there < 1:
        figures |= dict(zip(("leak", "leak_low", "leak_high"), leak, strict=True))
    return figures


def _leak_cell(row: Row) -> str:
    if row["leak"] is None:
        return "-"
    return f"{points(row['leak'])} %\n{interval(row, 'leak_')}"


_GAP = (
    Column(
        "task",
        lambda row: line_words(row) if row["rung"] is None else f"rung {row['rung']}",
        is_words=True,
    ),
    Column("pairs", "pairs"),
    Column("public", share("public")),
    Column("private", share("private")),
    Column("difference", lambda row: signed(row["difference"])),
    Column("95 %", partial(interval, form=signed)),
    Column("leak", _leak_cell),
    Column("levels", lambda row: rungs_signed(row["levels"])),
    Column("p", lambda row: chance(row["p_corrected"])),
    Column("verdict", "verdict", is_words=True),
)


def gap_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `gap_table`."""
    rows = frame.to_dicts()
    ends = [row["task"] is None and row["rung"] is None for row in rows[:-1]]
    title = f"Public against private ladder, {run_words(rows[0])}"
    return sheet_of(
        title,
        _GAP,
        rows,
        notes_of("gap"),
        [i for i, last in enumerate(ends, 1) if last],
    )
