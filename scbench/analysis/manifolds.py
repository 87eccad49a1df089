"""Where accuracy falls off: results over points of parameter spaces.

Every table has raw accuracy, accuracy with blind guessing taken out, shares of truncated and
unreadable answers, and output tokens. It groups by task, by the values of each parameter, by what
tasks stress, or by the kind of difficulty that parameters set.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.points import Cases, Group, groups_of
from scbench.analysis.resample import LEVEL, Floats, Sums, interval, resample, total
from scbench.analysis.results import ITEM
from scbench.catalog import all_tasks
from scbench.errors import ResultsError
from scbench.grading.outcome import CUT_OFF
from scbench.grading.score_tables import RUN
from scbench.model import Status, task_of

COLUMNS = ("usage", "finish_reason")
"""Columns of the results that are needed in addition to `scbench.analysis.results.NEEDED`."""
RESAMPLES = 2_000
"""Fewer than elsewhere: these tables have hundreds of lines."""

LABELS = ("task", "dimension", "kind", "parameter", "value", "second_parameter", "second_value")
SCHEMA: Mapping[str, Any] = {
    "model": pl.String,
    "setting": pl.String,
    "budget": pl.Int64,
    **dict.fromkeys(LABELS, pl.String),
    "n": pl.Int64,
    "scored": pl.Int64,
    "coverage": pl.Float64,
    "guess_rate": pl.Float64,
    "accuracy": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "corrected": pl.Float64,
    "corrected_low": pl.Float64,
    "corrected_high": pl.Float64,
    "truncated": pl.Float64,
    "unparsed": pl.Float64,
    "mean_output_tokens": pl.Float64,
    "token_observations": pl.Int64,
}
"""Columns of `manifold_table` and `heat_table`."""


def manifold_table(
    results: pl.DataFrame,
    cases: Cases,
    by: str = "task",
    *,
    parameter: str | None = None,
    resamples: int = RESAMPLES,
    seed: int = 0,
    level: float = LEVEL,
) -> pl.DataFrame:
    """Return accuracy, corrected for guessing as well, over the drawn instances of a release.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, with `COLUMNS`.
        cases: of the release they belong to.
        by: see `groups_of`.
        parameter: see `groups_of`.
        resamples: bootstrap resamples; 0 for no intervals.
        seed: of the bootstrap.
        level: of the intervals.

    Returns:
        One row per run and line, with columns `SCHEMA`: n (scores expected), scored, coverage;
        guess_rate g (mean over the scored), accuracy a (mean score) with its interval low to high,
        corrected ((a - g) / (1 - g), at least 0) with the same ends; shares of n that are
        truncated and unparsed; mean_output_tokens over the token_observations rows that report
        them. Labels that do not apply are null.

    Raises:
        ResultsError: the results are of another release, or hold none of its drawn instances.
    """
    return _measured(results, cases, list(groups_of(cases, by, parameter)), resamples, seed, level)


def heat_table(
    results: pl.DataFrame,
    cases: Cases,
    first: str,
    second: str,
    *,
    resamples: int = 0,
    seed: int = 0,
) -> pl.DataFrame:
    """Return the same figures for each pair of values of two parameters or facts, task by task.

    Args:
        results: as `manifold_table` takes them.
        cases: of the release they belong to.
        first: parameter or fact.
        second: another one.
        resamples: bootstrap resamples; 0 for no intervals.
        seed: of the bootstrap.

    Raises:
        ResultsError: as `manifold_table`; or no task has both.
    """
    tasks = [task for task in cases.with_name(first) if task in cases.with_name(second)]
    if not tasks or first == second:
        raise ResultsError(f"no task has both {first} and {second}, so there is no map of them")
    # A map of one line says nothing, if there are better ones.
    maps = [task for task in tasks if min(len(cases.values(task, n)) for n in (first, second)) > 1]
    groups = []
    for task in maps or tasks:
        others = cases.values(task, second)
        for value, ids in cases.values(task, first).items():
            for other, its in others.items():
                shared = frozenset(ids) & frozenset(its)
                labels = {"task": task, "parameter": first, "value": value}
                labels |= {"second_parameter": second, "second_value": other}
                if shared:
                    groups.append(Group(labels, shared))
    return _measured(results, cases, groups, resamples, seed, LEVEL)


def _measured(
    results: pl.DataFrame,
    cases: Cases,
    groups: Sequence[Group],
    resamples: int,
    seed: int,
    level: float,
) -> pl.DataFrame:
    rows = _joined(results, cases)
    scores = _Scores(rows)
    lines: list[dict[str, Any]] = []
    for group in groups:
        held = rows.filter(pl.col("id").is_in(group.ids))
        figures = {
            tuple(row[name] for name in RUN): row
            for row in held.group_by(RUN).agg(*_FIGURES).iter_rows(named=True)
        }
        ends = scores.intervals(group.ids, resamples, seed, level)
        for run, (low, high) in zip(scores.runs, ends, strict=True):
            if run in figures:
                ends_of = {"low": low, "high": high}
                line = dict.fromkeys(SCHEMA) | dict(group.labels) | figures[run] | ends_of
                guess = line["guess_rate"]
                for raw, name in (("accuracy", "corrected"), ("low", ""), ("high", "")):
                    line[name or f"corrected_{raw}"] = corrected(line[raw], guess)
                lines.append(line)
    order = {run: i for i, run in enumerate(scores.runs)}
    lines.sort(key=lambda line: order[tuple(line[name] for name in RUN)])
    return pl.DataFrame(lines, schema=SCHEMA)


def corrected(accuracy: float | None, guess: float | None) -> float | None:
    """Return accuracy with blind guessing taken out: (a - g) / (1 - g), at least 0."""
    if accuracy is None or guess is None or guess >= 1:
        return None
    return max(0.0, (accuracy - guess) / (1 - guess))


_FIGURES = (
    pl.len().cast(pl.Int64).alias("n"),
    pl.col("score").count().cast(pl.Int64).alias("scored"),
    (pl.col("score").count() / pl.len()).alias("coverage"),
    pl.col("guess_rate").filter(pl.col("score").is_not_null()).mean(),
    pl.col("score").mean().alias("accuracy"),
    pl.col("cut").mean().alias("truncated"),
    (pl.col("status") == Status.UNPARSED.value).mean().alias("unparsed"),
    pl.col("tokens").mean().alias("mean_output_tokens"),
    pl.col("tokens").count().cast(pl.Int64).alias("token_observations"),
)


def _joined(results: pl.DataFrame, cases: Cases) -> pl.DataFrame:
    """Return the rows of drawn instances, with what the release says of them."""
    rows = results.filter(pl.col("id").is_in(cases.points.keys()))
    if rows.is_empty():
        raise ResultsError(
            "the results hold no drawn instance of this release; text tasks are graded with "
            "`scbench-grade --tasks manifolds`"
        )
    expected = pl.col("id").replace_strict(cases.hashes, return_dtype=pl.String)
    if not rows.select((pl.col("instance_hash") == expected).all()).item():
        raise ResultsError(
            "the results are of other instances than those of this release; name the one they "
            "were graded against with --release"
        )
    reasons = (
        pl.col("finish_reason").str.strip_chars().str.to_lowercase().str.split(".").list.last()
    )
    cut = reasons.is_in(CUT_OFF) | (pl.col("status") == Status.TRUNCATED.value)
    return rows.with_columns(
        guess_rate=pl.col("id").replace_strict(cases.guess_rates, return_dtype=pl.Float64),
        tokens=pl.col("usage").str.json_path_match("$.output_tokens").cast(pl.Int64, strict=False),
        cut=cut.fill_null(value=False),
    )


class _Scores:
    """Scores of all runs, to be resampled for any set of instances."""

    def __init__(self, rows: pl.DataFrame) -> None:
        cells = rows.group_by(*RUN, "task", *ITEM).agg(
            sum=pl.col("score").sum(), count=pl.col("score").count()
        )
        runs = cells.select(RUN).unique().sort(RUN, nulls_last=False)
        items = cells.select("task", *ITEM).unique().sort("task", *ITEM)
        cells = cells.join(runs.with_row_index("run"), on=RUN, nulls_equal=True)
        cells = cells.join(items.with_row_index("item"), on=["task", *ITEM])
        shape = (items.height, runs.height)
        self._sums: Floats = np.zeros(shape)
        self._counts: Floats = np.zeros(shape)
        at = (cells["item"].to_numpy(), cells["run"].to_numpy())
        self._sums[at], self._counts[at] = cells["sum"].to_numpy(), cells["count"].to_numpy()
        self.runs = list(runs.iter_rows())
        self._places: dict[str, list[int]] = {}
        for i, row_id in enumerate(items["id"]):
            self._places.setdefault(row_id, []).append(i)

    def intervals(
        self, ids: Collection[str], resamples: int, seed: int, level: float
    ) -> list[tuple[float | None, float | None]]:
        """Return the interval of each run's mean over some instances, task by task."""
        if not resamples:
            return [(None, None)] * len(self.runs)
        chosen: dict[str, list[int]] = {}
        for row_id in sorted(ids):
            chosen.setdefault(task_of(row_id), []).extend(self._places.get(row_id, []))
        known = [task for task in all_tasks() if chosen.get(task)]
        if not known:
            return [(None, None)] * len(self.runs)
        scores = {
            task: Sums(self._sums[chosen[task]], self._counts[chosen[task]]) for task in known
        }
        draws = total(resample(scores, resamples, seed).values()).means
        return [interval(draws[:, run], level) for run in range(len(self.runs))]
