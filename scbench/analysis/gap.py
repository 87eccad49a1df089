"""Is a public ladder known by heart? One model on it and on a private twin, paired by rung.

The items of a rung are drawn alike in both, so for a model that knows neither, the mean of a rung
is as likely to be higher here as there: the signs of the differences are random. The difference is
tested by `scbench.analysis.sign_flips`, with a rung of a task as its unit. What a model knows by
heart stands out where it solves little, so a rung weighs 1 / (m + 0.1) in the test, where m is the
mean of both ladders.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.ladder import Climb, Climbs, climbs_of, one_run
from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.levels import DRAWS as FITS
from scbench.analysis.levels import level_difference
from scbench.analysis.results import LINE_TYPES, RUN_TYPES, counts, figures, one_grader, texts
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
from scbench.analysis.sign_flips import DRAWS, Tested, lines_tested
from scbench.base.errors import ResultsError
from scbench.base.intervals import LEVEL, Floats, condense_differences, ends_of_differences
from scbench.grading.means import RUN

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
"""Columns of `gap_table`."""

HIGHER, LOWER, ALIKE, UNCLEAR = "public is higher", "private is higher", "alike", "too few to tell"
_EASY = 0.1
"""Added to a rung's mean, so that no rung has all the weight."""
_Cell = tuple[str, int]
_ROUNDING = 1e-12


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
        raise ResultsError("the two ladders have no rung in common on which both have scores")
    lines = [*_gap_lines(here, there, cells)]
    # The last line before the rungs is the overall one, or that of the only bucket.
    overall_line = max(i for i, (labels, _) in enumerate(lines) if "rung" not in labels)
    membership = np.column_stack(
        [[float(cell in of_line) for cell in cells] for _, of_line in lines]
    )
    means = np.array([(ours[cell][0], theirs[cell][0]) for cell in cells])
    # Which of the two is public does not move a weight, so signs stay as random as they were.
    weight = 1 / (means.mean(axis=1) + _EASY)
    change = ((means[:, 0] - means[:, 1]) * weight)[:, None] * membership
    is_line = np.arange(len(lines)) != overall_line
    overall_test, line_tests = (
        lines_tested(change[:, part], membership[:, part], level, draws, seed)
        for part in (~is_line, is_line)
    )
    run = dict(zip(RUN, here.matrix.runs[0], strict=True))
    rows = []
    for i, (labels, of_line) in enumerate(lines):
        row: dict[str, Any] = (
            dict.fromkeys(SCHEMA) | run | labels | _gap_figures(of_line, ours, theirs, level)
        )
        tested, at = (
            (overall_test, 0) if i == overall_line else (line_tests, i - (i > overall_line))
        )
        rows.append(row | _line_verdict(tested, at, level, row["difference"]))
    return pl.DataFrame(rows, schema=SCHEMA)


def _gap_lines(
    here: Climbs, there: Climbs, cells: Sequence[_Cell]
) -> Iterator[tuple[dict[str, Any], list[_Cell]]]:
    """Yield the labels of each line, with the difference of levels, and the rungs it is over."""
    for bucket, task, tasks in here.matrix.lines("task"):
        of_line = [cell for cell in cells if cell[0] in tasks]
        if not of_line:
            continue
        both = [name for name in tasks if name in here.fits[0] and name in there.fits[0]]
        first, second = ([side.fits[0][name].level for name in both] for side in (there, here))
        value, low, high = level_difference(first, second)
        labels = here.matrix.labels(bucket, task, 0)
        yield labels | {"levels": value, "levels_low": low, "levels_high": high}, of_line
    for rung in sorted({rung for _, rung in cells}):
        yield {"rung": rung}, [cell for cell in cells if cell[1] == rung]


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
            "`scbench generate --ladder --private --out FOLDER`"
        )
    one_grader(pl.concat([rows.select("task", "grader_version") for rows in (public, private)]))


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


def _gap_figures(
    cells: list[_Cell],
    ours: Mapping[_Cell, tuple[float, int]],
    theirs: Mapping[_Cell, tuple[float, int]],
    level: float,
) -> dict[str, Any]:
    """Return means, difference and leak over some rungs of tasks."""
    changes: Floats = np.array([[ours[cell][0] - theirs[cell][0]] for cell in cells])
    # One part: of tasks apart, with few rungs each, most of which have no difference, little is
    # known, and the interval would be too long.
    low, high = ends_of_differences([condense_differences(changes)], level)
    here, there = (float(np.mean([side[cell][0] for cell in cells])) for side in (ours, theirs))
    figures = {"difference": here - there, "low": float(low[0]), "high": float(high[0])}
    room = 1 - there
    leak = {"leak": "difference", "leak_low": "low", "leak_high": "high"}
    return {
        "pairs": len(cells),
        "public_n": sum(ours[cell][1] for cell in cells),
        "private_n": sum(theirs[cell][1] for cell in cells),
        "public": here,
        "private": there,
        **figures,
        **({name: min(figures[of] / room, 1.0) for name, of in leak.items()} if room > 0 else {}),
    }


def _line_verdict(tested: Tested, line: int, level: float, difference: float) -> dict[str, Any]:
    """Return the p-values of a line and what they say."""
    corrected = float(tested.p_corrected[line])
    verdict = UNCLEAR if tested.too_few[line] else ALIKE
    if corrected <= 1 - level + _ROUNDING:
        verdict = HIGHER if difference > 0 else LOWER
    return {"p_value": float(tested.p_value[line]), "p_corrected": corrected, "verdict": verdict}


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
        title, _GAP, rows, notes_of("gap"), [i for i, last in enumerate(ends, 1) if last]
    )
