"""Levels on a ladder, of results: per task, per bucket and overall, and between two runs."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.compare import run_name
from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.levels import (
    DRAWS,
    FIRST,
    Answers,
    Ceiling,
    Fit,
    fit,
    fit_ceiling,
    level_difference,
    mean_level,
    share_read,
)
from scbench.analysis.matrix import Matrix, score_matrix
from scbench.analysis.results import (
    LINE_TYPES,
    RUN_TYPES,
    counts,
    figures,
    one_grader,
    read_results,
    texts,
)
from scbench.analysis.sheets import (
    after_sums,
    interval,
    line_words,
    number,
    points,
    run_words,
    rungs_signed,
)
from scbench.base.errors import ResultsError, did_you_mean, printable
from scbench.base.intervals import LEVEL, Floats
from scbench.base.model import rung_of
from scbench.catalog import MANIFOLDS, get_task
from scbench.grading.means import RUN, Block
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


_FITTED = 0.5
_DROPS = ("floor", "slope", "readable", "fit")


def is_ladder(results: pl.DataFrame) -> bool:
    """Whether there are instances of a ladder among the rows."""
    return any(rung_of(name) for name in results["id"].unique())


def on_ladder(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of a ladder's instances, with their rung.

    Raises:
        ResultsError: there are none.
    """
    rungs = {name: rung_of(name) for name in results["id"].unique()}
    rung = pl.col("id").replace_strict(rungs, return_dtype=pl.Int64)
    rows = results.with_columns(rung=rung).filter(pl.col("rung").is_not_null())
    if rows.is_empty():
        raise ResultsError(
            "the results hold no item of a ladder; answers to that config are graded with "
            "`scbench-grade --tasks ladder`"
        )
    return rows


def read_ladders(paths: Iterable[str | Path], *, partial: bool = False) -> pl.DataFrame:
    """Return the rows of ladders in results, with their rung.

    Results of several ladders, such as that of a release and rungs drawn above its top, count as
    one, and a run that answered both as one run; a run that is in two files of the same ladder is
    told apart by the file.

    Args:
        paths: as `scbench.analysis.results.read_results` takes them.
        partial: whether tasks may lack as a whole.

    Raises:
        ResultsError: as `read_results`; or there is no instance of a ladder.
    """
    files: dict[str, list[str | Path]] = {}
    for path in paths:
        files.setdefault(
            read_results([path], partial=partial)["release_hash"][0], []
        ).append(path)
    frames = [
        read_results(same, partial=partial, tell_apart=True) for same in files.values()
    ]
    rows = on_ladder(pl.concat(frames))
    one_grader(rows)
    return rows


def one_run(rows: pl.DataFrame, model: str | None = None) -> pl.DataFrame:
    """Return the rows of one run, that of a model if there are several.

    Raises:
        ResultsError: there are several runs, or none of that model.
    """
    names = rows["model"].unique().sort().to_list()
    if model is not None and model not in names:
        raise ResultsError(
            f"the results hold no model {model!r}.{did_you_mean(model, names)}"
        )
    of_model = rows if model is None else rows.filter(pl.col("model") == model)
    count = of_model.select(RUN).unique().height
    if count > 1:
        raise ResultsError(
            f"the results hold {count} runs ({', '.join(names)}); name one with --model, or a file "
            "that holds one"
        )
    return of_model


@dataclass(frozen=True, slots=True)
class Climb:
    """What one run did on the ladder of a task.

    Attributes:
        answers: those with a score.
        names: instance id of each of them.
        expected: answers asked for, samples apart: on each rung, shape (top,).
        read: of each answer, the share of its samples that could be read.
    """

    answers: Answers
    names: Sequence[str]
    expected: Floats
    read: Floats


def climb_of(block: Block, run: int) -> Climb:
    """Return what a run did on the ladder of a task.

    Samples are averaged, and so are the scores of one answer; what has no score is left out.
    """
    rungs = np.array([rung_of(name) or 0 for name in block.names])
    scores = block.item_means[:, run]
    there = (block.counts[:, run] > 0).astype(float)
    floors = np.where(there > 0, np.nan_to_num(block.floors[:, run]), 0.0)
    n, total, floor = block.per_answer(
        np.column_stack([there, np.where(there > 0, scores, 0.0), floors])
    ).T
    answered = np.flatnonzero(n)
    requested = np.flatnonzero(block.per_answer(block.rows[:, run]))
    top = int(rungs.max())
    return Climb(
        Answers(
            rungs[answered].astype(float),
            total[answered] / n[answered],
            floor[answered] / n[answered],
            top,
        ),
        [block.names[i] for i in answered.tolist()],
        np.bincount(rungs[requested] - 1, minlength=top).astype(float),
        block.readable[answered, run],
    )


@dataclass(frozen=True, slots=True)
class Climbs:
    """All runs on all ladders.

    Attributes:
        matrix: the scores.
        climbs: by run, then by task.
        fits: likewise, of tasks with a score that tells of a level.
        ceilings: by run, then by task: share of the replies that can be read, as all spatial tasks
            together say, or all text tasks.
        drifts: by run, then by task: how far down and up levels go with the ends of the ceiling.
    """

    matrix: Matrix
    climbs: Sequence[Mapping[str, Climb]]
    fits: Sequence[Mapping[str, Fit]]
    ceilings: Sequence[Mapping[str, float]]
    drifts: Sequence[Mapping[str, tuple[float, float]]]

    def drift(self, run: int, tasks: Collection[str]) -> tuple[float, float]:
        """Return how far down and up the mean level of some tasks goes with the ceiling."""
        down, up = np.mean([self.drifts[run][task] for task in tasks], axis=0)
        return max(0.0, float(down)), max(0.0, float(up))


def climbs_of(
    results: pl.DataFrame, draws: int = DRAWS, level: float = LEVEL
) -> Climbs:
    """Fit a curve for each run and task.

    Args:
        results: as `scbench.analysis.results.read_results` gives them.
        draws: see `scbench.analysis.levels.fit`.
        level: of the intervals.

    Raises:
        ResultsError: there is no instance of a ladder in them.
    """
    matrix = score_matrix(on_ladder(results))
    climbs = [
        {task: climb_of(block, r) for task, block in matrix.blocks.items()}
        for r in range(len(matrix.runs))
    ]
    fits: list[dict[str, Fit]] = []
    ceilings, drifts = [], []
    errors = NormalDist().inv_cdf((1 + level) / 2)
    for of_run in climbs:
        of_task = ceilings_of(of_run)
        curves = {
            t: fit(climb.answers, draws, level, of_task[t].value)
            for t, climb in of_run.items()
        }
        fits.append(
            {t: curve for t, curve in curves.items() if not np.isnan(curve.level.value)}
        )
        ceilings.append({t: ceiling.value for t, ceiling in of_task.items()})
        drift = {}
        for task, curve in fits[-1].items():
            here, _, _ = curve.level.clipped()
            low, high = (
                fit(of_run[task].answers, 0, ceiling=end).level.clipped()[0]
                for end in (of_task[task].low, of_task[task].high)
            )
            # The lower the ceiling is taken to be, the higher is the level.
            drift[task] = errors * (here - high), errors * (low - here)
        drifts.append(drift)
    return Climbs(matrix, climbs, fits, ceilings, drifts)


def families(tasks: Iterable[str]) -> list[list[str]]:
    """Return the spatial tasks and the text tasks, which have levels apart; neither if empty."""
    of_family: dict[bool, list[str]] = {False: [], True: []}
    for name in tasks:
        of_family[get_task(name).bucket == MANIFOLDS].append(name)
    return [names for names in of_family.values() if names]


def ceilings_of(of_run: Mapping[str, Climb]) -> dict[str, Ceiling]:
    """Return the share of a run's replies that can be read, by task, see `families`."""
    return {
        name: ceiling
        for names in families(of_run)
        for ceiling in [_ceiling_of({name: of_run[name] for name in names})]
        for name in names
    }


def _ceiling_of(of_run: Mapping[str, Climb]) -> Ceiling:
    """Return the share of the replies that can be read, of a run's answers to some tasks.

    Scores have a say in it where half of the ladder or more is answered. Fewer answers, asked near
    the level, do not tell a ceiling from a level.
    """
    climbs = of_run.values()
    scored = sum(len(climb.names) for climb in climbs)
    share = share_read(sum(int(climb.read.sum()) for climb in climbs), scored)
    easy = [
        climb.read[
            climb.answers.rungs
            <= fit(climb.answers, 0, ceiling=share.value).level.value
        ]
        for climb in climbs
    ]
    known = share_read(sum(int(read.sum()) for read in easy), sum(map(len, easy)))
    if scored < _FITTED * sum(climb.expected.sum() for climb in climbs):
        return known
    return fit_ceiling([climb.answers for climb in climbs], known)


def ladder_table(all_climbs: Climbs) -> pl.DataFrame:
    """Return the level of each run on each task, bucket and overall.

    Returns:
        Columns `SCHEMA`: rungs (of the ladder; the most, over several tasks), n (answers asked
        for), scored (those with a score), coverage, floor (mean over the scored), level with its
        interval low to high, null beyond the ladder, where beyond says more ("below 1");
        slope, readable (the share of the run's replies that can be read, fitted over all spatial
        tasks or all text tasks), misfit (how a task's rungs do not fit the curve), and over
        several tasks how many of their levels lie below the first rung and above the top. Levels
        of tasks without a score are null, and no part of what adds them up.
    """
    rows: list[dict[str, Any]] = []
    for r, run in enumerate(all_climbs.matrix.runs):
        for bucket, task, tasks in all_climbs.matrix.lines("task"):
            climbs = [all_climbs.climbs[r][name] for name in tasks]
            requested = [climb for climb in climbs if climb.expected.any()]
            if not requested:
                continue
            fitted = [name for name in tasks if name in all_climbs.fits[r]]
            fits = [all_climbs.fits[r][name] for name in fitted]
            n = int(sum(climb.expected.sum() for climb in requested))
            scored = sum(len(climb.names) for climb in requested)
            floors = np.concatenate([climb.answers.floors for climb in requested])
            row = dict.fromkeys(SCHEMA) | dict(zip(RUN, run, strict=True))
            row |= all_climbs.matrix.labels(bucket, task, r)
            row |= {"rungs": max(climb.answers.top for climb in requested)}
            row |= {"n": n, "scored": scored, "coverage": scored / n}
            if fits:
                drift = all_climbs.drift(r, fitted)
                level = mean_level([curve.level for curve in fits], scored / n, drift)
                row |= level.cells() | {"floor": float(floors.mean())}
                row |= (
                    {"slope": level.slope, "misfit": fits[0].misfit or None}
                    if task
                    else {}
                )
                row |= {"readable": all_climbs.ceilings[r][fitted[0]]}
                row |= {"tasks_below": level.below, "tasks_above": level.above}
            rows.append(row)
    return pl.DataFrame(rows, schema=SCHEMA)


def overall_levels(results: pl.DataFrame) -> dict[tuple[object, ...], str]:
    """Return the overall level of each run and that of its text tasks, if it is on a ladder.

    They are in words with their intervals, by model, setting, budget and bucket.
    """
    if not is_ladder(results):
        return {}
    table = ladder_table(climbs_of(results)).filter(
        pl.col("bucket").is_in([OVERALL, MANIFOLDS]) & pl.col("task").is_null()
    )
    return {
        tuple(
            row[name] for name in (*RUN, "bucket")
        ): f"{_level_cell(row)} ({interval_words(row)})"
        for row in table.to_dicts()
    }


def rung_table(all_climbs: Climbs) -> pl.DataFrame:
    """Return means by rung, for each run and task.

    Returns:
        Columns `RUNG_SCHEMA`: n (answers asked for), scored (those with a score), their mean, the
        mean of their floors, and the mean above the floor, from 0 (no better) to 1.
    """
    rows: list[dict[str, Any]] = []
    for r, run in enumerate(all_climbs.matrix.runs):
        for bucket, task, _ in all_climbs.matrix.lines("task"):
            if task is None:
                continue
            climb = all_climbs.climbs[r][task]
            for rung, expected in enumerate(climb.expected, 1):
                on_rung = climb.answers.rungs == rung
                row = dict.fromkeys(RUNG_SCHEMA) | dict(zip(RUN, run, strict=True))
                row |= {"bucket": bucket, "task": task, "rung": rung}
                row |= {"n": int(expected), "scored": int(on_rung.sum())}
                if on_rung.any():
                    mean = float(climb.answers.scores[on_rung].mean())
                    floor = float(climb.answers.floors[on_rung].mean())
                    row |= {"mean": mean, "floor": floor}
                    if floor < 1:
                        row["above"] = max(0.0, (mean - floor) / (1 - floor))
                rows.append(row)
    return pl.DataFrame(rows, schema=RUNG_SCHEMA)


def compare_levels(all_climbs: Climbs) -> pl.DataFrame:
    """Return differences of levels between each two runs, second minus first.

    A level is over all answers of its run. Runs that answered the same items share the luck of
    these: how much is told from what their scores depart from their curves by, on all spatial or
    all text tasks, and makes the interval shorter.

    Returns:
        Columns `COMPARED`: shared (answers that both have), the levels (null and said by
        first_beyond or second_beyond where they leave the ladder), and the difference with its
        interval, in which a level counts for at most half a rung beyond its ladder.

    Raises:
        ResultsError: there are fewer than two runs.
    """
    runs = all_climbs.matrix.runs
    if len(runs) < 2:
        raise ResultsError("to compare, name the results of two runs or more")
    rows: list[dict[str, Any]] = []
    for a, b in combinations(range(len(runs)), 2):
        both = [task for task in all_climbs.fits[a] if task in all_climbs.fits[b]]
        lucks = {
            name: luck
            for names in families(both)
            for luck in [_Luck(all_climbs, a, b, names)]
            for name in names
        }
        for bucket, task, tasks in all_climbs.matrix.lines("task"):
            common = [name for name in tasks if name in both]
            if not common:
                continue
            first_levels, second_levels = (
                [all_climbs.fits[r][name].level for name in common] for r in (a, b)
            )
            alike = np.array([lucks[name].of(name) for name in common])
            (down_one, up_one), (down_two, up_two) = (
                all_climbs.drift(r, common) for r in (a, b)
            )
            drift = float(np.hypot(down_two, up_one)), float(np.hypot(up_two, down_one))
            value, low, high = level_difference(
                first_levels, second_levels, alike, drift
            )
            first, second = (
                mean_level(first_levels).cells(),
                mean_level(second_levels).cells(),
            )
            rows.append(
                {"first": run_name(*runs[a]), "second": run_name(*runs[b])}
                | all_climbs.matrix.labels(bucket, task, a, b)
                | {"shared": sum(lucks[name].shared(name) for name in common)}
                | {"first_level": first["level"], "second_level": second["level"]}
                | {"first_beyond": first["beyond"], "second_beyond": second["beyond"]}
                | {"difference": value, "low": low, "high": high}
            )
    return pl.DataFrame(rows, schema=COMPARED)


class _Luck:
    """How much the levels of two runs rise and fall together, because they answered the same."""

    def __init__(
        self, all_climbs: Climbs, a: int, b: int, tasks: Collection[str]
    ) -> None:
        self.pairs = {
            task: [
                (all_climbs.climbs[r][task], all_climbs.fits[r][task]) for r in (a, b)
            ]
            for task in tasks
        }
        self.places = {
            task: _shared_answers(*(climb for climb, _ in self.pairs[task]))
            for task in tasks
        }
        parts = [self._departures(task) for task in tasks]
        together, possible = (sum(part[i] for part in parts) for i in (0, 1))
        self.correlation = (
            float(np.clip(together / possible, 0.0, 1.0)) if possible > 0 else 0.0
        )

    def shared(self, task: str) -> int:
        """Return how many answers of a task both runs have."""
        return len(self.places[task][0])

    def _departures(self, task: str) -> tuple[float, float]:
        """Return the product of what scores depart from both curves by, and of what they could."""
        away, spread = [], []
        for (climb, curve), places in zip(
            self.pairs[task], self.places[task], strict=True
        ):
            p = curve.expected[places]
            away.append(climb.answers.scores[places] - p)
            spread.append(curve.dispersion * p * (1 - p))
        return float(away[0] @ away[1]), float(np.sqrt(spread[0] * spread[1]).sum())

    def of(self, task: str) -> float:
        """Return the correlation of the two levels on a task.

        Answers tell of a level as much as their information; what only one run has, or what tells
        of one level alone, is not shared.
        """
        information = []
        for climb, curve in self.pairs[task]:
            information.append(
                curve.information()[climb.answers.rungs.astype(np.int64) - 1]
            )
        first, second = (
            part[places]
            for part, places in zip(information, self.places[task], strict=True)
        )
        total = float(np.sqrt(information[0].sum() * information[1].sum()))
        return (
            self.correlation * float(np.sqrt(first * second).sum()) / total
            if total > 0
            else 0.0
        )


def _shared_answers(first: Climb, second: Climb) -> tuple[list[int], list[int]]:
    """Return the places of the answers that both have, in each."""
    at = {name: i for i, name in enumerate(second.names)}
    pairs = [(i, at[name]) for i, name in enumerate(first.names) if name in at]
    return [i for i, _ in pairs], [j for _, j in pairs]


def level_words(row: Row, name: str = "") -> str:
    """Return a level as it is read: a number of rungs, "below 1", or a dash."""
    return row[f"{name}beyond"] or number(f"{name}level", ".1f")(row)


def interval_words(row: Row) -> str:
    """Return an interval; what lies beyond the ladder says at which end."""
    if row["level"] is None and row["beyond"] is None:
        return ""
    low, high = row["low"], row["high"]
    below, above = f"<{FIRST:g}", f">{row['rungs']}"
    if high is not None and high < FIRST:
        return below
    if low is not None and low > row["rungs"]:
        return above
    return f"{below if low is None else f'{low:.1f}'} to {above if high is None else f'{high:.1f}'}"


def _answers_cell(row: Row) -> str:
    return (
        f"{row['scored']}"
        if row["scored"] == row["n"]
        else f"{row['scored']}/{row['n']}"
    )


def _level_cell(row: Row) -> str:
    """Return a level, and of several tasks how many lie beyond their ladders."""
    strays = (
        ((" +", row["tasks_above"]), (" -", row["tasks_below"]))
        if not row["task"]
        else ()
    )
    return level_words(row) + "".join(
        f"{sign}{count}" for sign, count in strays if count
    )


_LEVELS = (
    Column("task", line_words, is_words=True),
    Column("answers", _answers_cell),
    Column("level", _level_cell),
    Column("95 %", interval_words),
    Column("readable", lambda row: "" if row["task"] else points(row["readable"])),
    Column("slope", number("slope", missing="")),
    Column("fit", lambda row: row["misfit"] or "", is_words=True),
    Column("floor", number("floor", missing="")),
)


def ladder_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `ladder_table`, a sheet for each run."""
    runs = frame.partition_by(RUN, maintain_order=True)
    sheets = []
    for part in runs:
        rows = part.to_dicts()
        notes = (
            notes_of("ladder") if part is runs[-1] else []
        )  # once, below the last table
        if any(row["coverage"] < 1 for row in rows):
            notes.append("Answers without a score are left out: scored/asked for.")
        title = f"Levels, {run_words(rows[0])}"
        sheets.append(sheet_of(title, _LEVELS, rows, notes, after_sums(rows), _DROPS))
    return sheets


_LEVEL_PAIRS = (
    Column("task", line_words, is_words=True),
    Column("shared", "shared"),
    Column("first", partial(level_words, name="first_")),
    Column("second", partial(level_words, name="second_")),
    Column("difference", lambda row: rungs_signed(row["difference"])),
    Column("95 %", partial(interval, form=rungs_signed)),
)


def level_pairs_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `compare_levels`, a sheet for each pair."""
    sheets = []
    for (first, second), part in frame.group_by("first", "second", maintain_order=True):
        rows = part.to_dicts()
        title = f"Levels, {printable(str(first))} and {printable(str(second))}"
        sheets.append(
            sheet_of(
                title, _LEVEL_PAIRS, rows, notes_of("level_pairs"), after_sums(rows)
            )
        )
    return sheets
