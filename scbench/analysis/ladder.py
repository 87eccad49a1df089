"""Levels on a ladder from results: per task, per bucket, overall, and compared between two runs."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.ceilings import Ceiling
from scbench.analysis.climbs import Climb, Climbs, ceilings_of, climb_of, families
from scbench.analysis.columns import LINE_TYPES, RUN_TYPES, counts, figures, texts
from scbench.analysis.compare import run_name
from scbench.analysis.ladder_sheets import interval_words, level_cell
from scbench.analysis.level_means import level_difference, mean_level
from scbench.analysis.levels import DRAWS, Fit, fit
from scbench.analysis.matrix import score_matrix
from scbench.analysis.results import check_grader_versions, read_results
from scbench.analysis.shared_luck import SharedLuck
from scbench.base.errors import ResultsError, did_you_mean
from scbench.base.intervals import LEVEL
from scbench.base.model import rung_of
from scbench.catalog import MANIFOLDS
from scbench.grading.means import RUN
from scbench.grading.score_tables import OVERALL

# Columns of `ladder_table`.
SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | LINE_TYPES
    | counts("rungs n scored")
    | figures("coverage floor level low high")
    | texts("beyond")
    | figures("slope readable")
    | texts("misfit")
    | counts("tasks_below tasks_above")
)

# Columns of `rung_table`.
RUNG_SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | texts("bucket task")
    | counts("rung n scored")
    | figures("mean floor above")
)

# Columns of `compare_levels`.
COMPARED: Mapping[str, Any] = (
    texts("first second")
    | LINE_TYPES
    | counts("shared")
    | figures("first_level second_level difference low high")
    | texts("first_beyond second_beyond")
)


def is_ladder(results: pl.DataFrame) -> bool:
    """Whether any row belongs to a ladder."""
    return any(rung_of(name) for name in results["id"].unique())


def on_ladder(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a ladder's instances, with their rung.

    Raises:
        ResultsError: the results contain no ladder instances.
    """
    rungs = {name: rung_of(name) for name in results["id"].unique()}
    rung = pl.col("id").replace_strict(rungs, return_dtype=pl.Int64)
    rows = results.with_columns(rung=rung).filter(pl.col("rung").is_not_null())
    if rows.is_empty():
        raise ResultsError(
            "the results contain no ladder items; grade answers to the ladder with "
            "`scbench-grade --tasks ladder`"
        )
    return rows


def read_ladders(paths: Iterable[str | Path], *, partial: bool = False) -> pl.DataFrame:
    """Return the rows of ladders in results, with their rung.

    Results of several ladders count as one, for example a release's ladder and rungs
    drawn above its top. A run that answered both counts as one run. A run in two files
    of the same ladder also gets the file's name.

    Args:
        paths: as for `scbench.analysis.results.read_results`.
        partial: whether whole tasks may be missing.

    Raises:
        ResultsError: as in `read_results`, or there are no ladder instances.
    """
    by_ladder: dict[str, list[str | Path]] = {}
    for path in paths:
        ladder = read_results([path], partial=partial)["release_hash"][0]
        by_ladder.setdefault(ladder, []).append(path)
    frames = [
        read_results(files, partial=partial, add_file_names=True)
        for files in by_ladder.values()
    ]
    rows = on_ladder(pl.concat(frames))
    # Each file was checked separately, but not against the other files.
    check_grader_versions(rows)
    return rows


def one_run(rows: pl.DataFrame, model: str | None = None) -> pl.DataFrame:
    """Return the rows of the only run, or of the given model's run if there are several.

    Raises:
        ResultsError: there are several runs, or none of that model.
    """
    names = rows["model"].unique().sort().to_list()
    if model is not None and model not in names:
        raise ResultsError(
            f"the results contain no model {model!r}.{did_you_mean(model, names)}"
        )
    model_rows = rows if model is None else rows.filter(pl.col("model") == model)
    count = model_rows.select(RUN).unique().height
    if count > 1:
        raise ResultsError(
            f"the results contain {count} runs ({', '.join(names)}); select one with --model, or "
            "give a file with one run"
        )
    return model_rows


def climbs_of(
    results: pl.DataFrame, draws: int = DRAWS, level: float = LEVEL
) -> Climbs:
    """Fit a curve for each run and task.

    Args:
        results: as returned by `scbench.analysis.results.read_results`.
        draws: see `scbench.analysis.levels.fit`.
        level: level of the intervals.

    Raises:
        ResultsError: the results contain no ladder instances.
    """
    matrix = score_matrix(on_ladder(results))
    standard_errors = NormalDist().inv_cdf((1 + level) / 2)
    climbs = []
    fits = []
    ceilings = []
    drifts = []
    for r in range(len(matrix.runs)):
        run_climbs = {task: climb_of(block, r) for task, block in matrix.blocks.items()}
        run_ceilings = ceilings_of(run_climbs)
        curves = {}
        drift = {}
        for task, climb in run_climbs.items():
            ceiling = run_ceilings[task]
            curve = fit(climb.answers, draws, level, ceiling.value)
            # Without scores, or with floors of 1, there is no level.
            if not np.isnan(curve.level.value):
                curves[task] = curve
                drift[task] = _drift(climb, curve, ceiling, standard_errors)
        climbs.append(run_climbs)
        fits.append(curves)
        ceilings.append({task: ceiling.value for task, ceiling in run_ceilings.items()})
        drifts.append(drift)
    return Climbs(matrix, climbs, fits, ceilings, drifts)


def _drift(
    climb: Climb, curve: Fit, ceiling: Ceiling, standard_errors: float
) -> tuple[float, float]:
    """Return the change of a level, down and up, for this many standard errors of the ceiling."""
    level, _, _ = curve.level.clipped()
    at_low, _, _ = fit(climb.answers, 0, ceiling=ceiling.low).level.clipped()
    at_high, _, _ = fit(climb.answers, 0, ceiling=ceiling.high).level.clipped()
    # The lower the ceiling, the higher the level.
    return standard_errors * (level - at_high), standard_errors * (at_low - level)


def ladder_table(all_climbs: Climbs) -> pl.DataFrame:
    """Return the level of each run on each task, bucket and overall.

    Returns:
        Columns `SCHEMA`:

        - rungs: rungs of the ladder; over several tasks, of the longest ladder;
        - n, scored, coverage: requested answers, answers with a score, and their share;
        - floor: mean over the answers with a score;
        - level, with its interval low to high: numbers beyond the ladder are null;
        - beyond: the side of a level beyond the ladder, such as "below 1";
        - slope;
        - readable: the share of the run's replies that are readable, fitted over all
          spatial tasks or all text tasks;
        - misfit: how a task's rungs deviate from the curve;
        - tasks_below, tasks_above: over several tasks, the number of levels below the
          first rung and above the top rung.

        Levels of tasks without a score are null and excluded from every mean.
    """
    rows: list[dict[str, Any]] = []
    for r, run in enumerate(all_climbs.matrix.runs):
        for bucket, task, tasks in all_climbs.matrix.lines("task"):
            climbs = [all_climbs.climbs[r][name] for name in tasks]
            requested = [climb for climb in climbs if climb.expected.any()]
            # The run has no answers to these tasks.
            if not requested:
                continue
            n = int(sum(climb.expected.sum() for climb in requested))
            scored = sum(len(climb.names) for climb in requested)
            row = dict.fromkeys(SCHEMA) | dict(zip(RUN, run, strict=True))
            row |= all_climbs.matrix.labels(bucket, task, r)
            row["rungs"] = max(climb.answers.top for climb in requested)
            row |= {"n": n, "scored": scored, "coverage": scored / n}
            fitted_tasks = [name for name in tasks if name in all_climbs.fits[r]]
            if fitted_tasks:
                row |= level_figures(all_climbs, r, fitted_tasks, scored / n)
                # Floors are over all scored answers, including those without a level.
                floors = np.concatenate([climb.answers.floors for climb in requested])
                row["floor"] = float(floors.mean())
            if fitted_tasks and task:
                curve = all_climbs.fits[r][task]
                row |= {"slope": curve.level.slope, "misfit": curve.misfit or None}
            rows.append(row)
    return pl.DataFrame(rows, schema=SCHEMA)


def level_figures(
    all_climbs: Climbs, run: int, tasks: Sequence[str], answered: float
) -> dict[str, Any]:
    """Return the cells for the mean level of a run.

    Args:
        all_climbs: climbs of all runs.
        run: number of the run.
        tasks: tasks with a level.
        answered: share of the requested answers with a score.
    """
    levels = [all_climbs.fits[run][task].level for task in tasks]
    level = mean_level(levels, answered, all_climbs.drift(run, tasks))
    return level.cells() | {
        # All tasks of a line have the same ceiling.
        "readable": all_climbs.ceilings[run][tasks[0]],
        "tasks_below": level.below,
        "tasks_above": level.above,
    }


def overall_levels(results: pl.DataFrame) -> dict[tuple[object, ...], str]:
    """Return each run's overall level and its level on text tasks; empty without ladder results.

    Levels and intervals are texts, by model, setting, budget and bucket.
    """
    if not is_ladder(results):
        return {}
    is_sum = pl.col("bucket").is_in([OVERALL, MANIFOLDS]) & pl.col("task").is_null()
    levels = {}
    for row in ladder_table(climbs_of(results)).filter(is_sum).to_dicts():
        key = tuple(row[name] for name in (*RUN, "bucket"))
        levels[key] = f"{level_cell(row)} ({interval_words(row)})"
    return levels


def rung_table(all_climbs: Climbs) -> pl.DataFrame:
    """Return means by rung, for each run and task.

    Returns:
        Columns `RUNG_SCHEMA`: n (requested answers), scored (answers with a score),
        their mean, the mean of their floors, and the mean above the floor, from 0 (no
        better than the floor) to 1.
    """
    rows: list[dict[str, Any]] = []
    for r, run in enumerate(all_climbs.matrix.runs):
        for bucket, task, _ in all_climbs.matrix.lines("task"):
            # Rungs of different tasks are not comparable, so they have no mean.
            if task is None:
                continue
            climb = all_climbs.climbs[r][task]
            for rung, expected in enumerate(climb.expected, 1):
                row = dict.fromkeys(RUNG_SCHEMA) | dict(zip(RUN, run, strict=True))
                row |= {"bucket": bucket, "task": task, "rung": rung}
                rows.append(row | rung_cells(climb, rung, int(expected)))
    return pl.DataFrame(rows, schema=RUNG_SCHEMA)


def rung_cells(climb: Climb, rung: int, n: int) -> dict[str, Any]:
    """Return the figures of a rung with this many expected answers."""
    on_rung = climb.answers.rungs == rung
    cells: dict[str, Any] = {"n": n, "scored": int(on_rung.sum())}
    if not on_rung.any():
        return cells
    mean = float(climb.answers.scores[on_rung].mean())
    floor = float(climb.answers.floors[on_rung].mean())
    cells |= {"mean": mean, "floor": floor}
    if floor < 1:
        cells["above"] = max(0.0, (mean - floor) / (1 - floor))
    return cells


def compare_levels(all_climbs: Climbs) -> pl.DataFrame:
    """Return the differences of levels for each pair of runs, second minus first.

    A level uses all answers of its run. Runs that answered the same items share some
    luck, which makes the interval shorter. The shared luck is measured by the
    deviations of scores from their curves, over all spatial or all text tasks.

    Returns:
        Columns `COMPARED`: shared (answers that both have), the levels (null beyond the
        ladder; first_beyond or second_beyond then names the side), and the difference
        with its interval, for which levels are clipped to half a rung beyond the
        ladder.

    Raises:
        ResultsError: there are fewer than two runs.
    """
    runs = all_climbs.matrix.runs
    if len(runs) < 2:
        raise ResultsError("a comparison needs the results of at least two runs")
    rows: list[dict[str, Any]] = []
    for a, b in combinations(range(len(runs)), 2):
        first_fits = all_climbs.fits[a]
        second_fits = all_climbs.fits[b]
        lucks: dict[str, SharedLuck] = {}
        # Luck is measured over many tasks, because one task has few answers.
        for names in families(task for task in first_fits if task in second_fits):
            lucks |= dict.fromkeys(names, SharedLuck(all_climbs, a, b, names))
        for bucket, task, tasks in all_climbs.matrix.lines("task"):
            common = [name for name in tasks if name in lucks]
            if common:
                row = all_climbs.matrix.labels(bucket, task, a, b)
                rows.append(row | compared_cells(all_climbs, a, b, common, lucks))
    return pl.DataFrame(rows, schema=COMPARED)


def compared_cells(
    all_climbs: Climbs,
    a: int,
    b: int,
    tasks: Sequence[str],
    lucks: Mapping[str, SharedLuck],
) -> dict[str, Any]:
    """Return the cells that compare the levels of run b with those of run a on some tasks."""
    first_levels = [all_climbs.fits[a][task].level for task in tasks]
    second_levels = [all_climbs.fits[b][task].level for task in tasks]
    shared_luck = np.array([lucks[task].of(task) for task in tasks])
    first_down, first_up = all_climbs.drift(a, tasks)
    second_down, second_up = all_climbs.drift(b, tasks)
    # The errors of the two runs' ceilings are independent.
    down = float(np.hypot(second_down, first_up))
    up = float(np.hypot(second_up, first_down))
    value, low, high = level_difference(
        first_levels, second_levels, shared_luck, (down, up)
    )
    first = mean_level(first_levels).cells()
    second = mean_level(second_levels).cells()
    return {
        "first": run_name(*all_climbs.matrix.runs[a]),
        "second": run_name(*all_climbs.matrix.runs[b]),
        "shared": sum(lucks[task].shared(task) for task in tasks),
        "first_level": first["level"],
        "second_level": second["level"],
        "first_beyond": first["beyond"],
        "second_beyond": second["beyond"],
        "difference": value,
        "low": low,
        "high": high,
    }
