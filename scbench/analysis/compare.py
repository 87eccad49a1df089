"""Are two runs different? Paired, answer by answer, over the scores that both have."""

from collections.abc import Mapping
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.matrix import Matrix, Paired, Run, difference_of, paired, score_matrix
from scbench.analysis.results import LINE_TYPES, ON_TERSE, counts, figures, texts
from scbench.analysis.sheets import (
    ABOVE_NOTE,
    above_line,
    after_sums,
    chance,
    interval_below,
    line_words,
    share,
    signed,
)
from scbench.analysis.sign_flips import DRAWS, lines_tested
from scbench.base.errors import ResultsError, printable
from scbench.base.intervals import LEVEL, Floats

SCHEMA: Mapping[str, Any] = (
    texts("first second")
    | LINE_TYPES
    | counts("n")
    | figures("first_mean second_mean difference low high above above_low above_high")
    | counts("answers first_ahead second_ahead")
    | figures("p_value p_corrected shows")
    | texts("verdict")
)
"""Columns of `compare_runs`."""

TIED, TOO_FEW = "tied", "too few items to tell"


def run_name(model: str, setting: str | None, budget: int | None) -> str:
    """Return how a run is called in comparisons."""
    parts = [
        model,
        *([setting] if setting else []),
        *([f"@{budget}"] if budget is not None else []),
    ]
    return " ".join(parts)


def compare_runs(
    results: pl.DataFrame, *, draws: int = DRAWS, seed: int = 0, level: float = LEVEL
) -> pl.DataFrame:
    """Compare each pair of runs, overall, by bucket and by task.

    Runs on terse prompts are compared with those of the same models on full prompts and with no
    others: the difference is then what a full specification is worth.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, of two or more runs.
        draws: of signs, see `scbench.analysis.sign_flips`.
        seed: of the draws.
        level: of the intervals, and one minus the level of the tests.

    Returns:
        One row per pair and per task, bucket and overall, with columns `SCHEMA`: over (what a line
        is over, if not all tasks of its bucket are there), n (scores that both have), the two means
        over those, difference (second minus first) with its interval, and the same above the floor;
        answers (that the scores are of) and on how many of them each run is ahead; p_value and
        p_corrected (over all rows of the table), shows (the difference that would be found with a
        chance of 80 %; null if none would), and verdict: the name of the better run if p_corrected
        is at most 0.05, else "tied", or "too few items to tell" where no outcome could have reached
        that.

    Raises:
        ResultsError: there are fewer than two runs, or two have no score in common.
    """
    matrix = score_matrix(results)
    if len(matrix.runs) < 2:
        raise ResultsError("to compare, name the results of two runs or more")
    rows: list[dict[str, Any]] = []
    columns: list[tuple[Floats, Floats]] = []
    for a, b in _pairs_to_compare(matrix.runs):
        _compare_pair(matrix, a, b, level, rows, columns)
    differences, weights = (np.column_stack(parts) for parts in zip(*columns, strict=True))
    tested = lines_tested(differences, weights, level, draws, seed)
    for i, row in enumerate(rows):
        row["p_value"] = float(tested.p_value[i])
        row["p_corrected"] = float(tested.p_corrected[i])
        row["shows"] = None if np.isnan(tested.shows[i]) else float(tested.shows[i])
        row["verdict"] = TOO_FEW if tested.too_few[i] else TIED
        if row["p_corrected"] <= 1 - level + 1e-12:
            row["verdict"] = row["second" if row["difference"] > 0 else "first"]
    return pl.DataFrame(rows, schema=SCHEMA)


def _pairs_to_compare(runs: tuple[Run, ...]) -> list[tuple[int, int]]:
    at = {run: i for i, run in enumerate(runs)}
    full = {i: (run[0].removesuffix(ON_TERSE), *run[1:]) for run, i in at.items()}
    twins = [(i, at[run]) for i, run in full.items() if run != runs[i] and run in at]
    return twins or list(combinations(range(len(runs)), 2))


def _compare_pair(
    matrix: Matrix,
    a: int,
    b: int,
    level: float,
    rows: list[dict[str, Any]],
    columns: list[tuple[Floats, Floats]],
) -> None:
    """Append a pair's rows, and for each the columns that the test takes."""
    first, second = run_name(*matrix.runs[a]), run_name(*matrix.runs[b])
    pairs = {task: paired(block, a, b) for task, block in matrix.blocks.items()}
    if not any(len(pair.weights) for pair in pairs.values()):
        raise ResultsError(f"{first} and {second} have no score in common")
    starts, total = _answer_starts(matrix)
    for bucket, task, tasks in matrix.lines("task"):
        of_tasks = [pairs[name] for name in tasks]
        difference = difference_of(of_tasks, level)
        if not difference.n:
            continue
        changes = [pair.differences for pair in of_tasks]
        rows.append(
            {"first": first, "second": second}
            | matrix.labels(bucket, task, a, b)
            | difference._asdict()
            | {"answers": sum(len(pair.weights) for pair in of_tasks)}
            | {"first_ahead": sum(int((change < -1e-9).sum()) for change in changes)}
            | {"second_ahead": sum(int((change > 1e-9).sum()) for change in changes)}
        )
        columns.append(_test_columns(dict(zip(tasks, of_tasks, strict=True)), starts, total))


def _answer_starts(matrix: Matrix) -> tuple[dict[str, int], int]:
    """Return where each task's answers begin among all, and how many all are."""
    starts, total = {}, 0
    for task, block in matrix.blocks.items():
        starts[task] = total
        total += int(block.answers.max(initial=-1)) + 1
    return starts, total


def _test_columns(
    pairs: Mapping[str, Paired], starts: Mapping[str, int], total: int
) -> tuple[Floats, Floats]:
    differences, weights = np.zeros(total), np.zeros(total)
    for task, pair in pairs.items():
        places = starts[task] + pair.answers
        differences[places], weights[places] = pair.differences, pair.weights
    return differences, weights


_SAME = 1e-9


def _differs_above(row: Row) -> bool:
    """Whether the difference above the floor is another than that of the means."""
    return row["above"] is not None and abs(row["above"] - row["difference"]) > _SAME


def _difference_cell(row: Row) -> str:
    above = above_line(row, "above", signed) if _differs_above(row) else ""
    return signed(row["difference"]) + interval_below(row, form=signed) + above


def _verdict_cell(row: Row) -> str:
    verdict = row["verdict"]
    return str(verdict) if verdict in {TIED, TOO_FEW} else f"{printable(verdict)} is better"


_COMPARISON = (
    Column("task", line_words, is_words=True),
    Column("N", "n"),
    Column("first", share("first_mean")),
    Column("second", share("second_mean")),
    Column("difference", _difference_cell),
    Column("1st ahead", "first_ahead"),
    Column("2nd ahead", "second_ahead"),
    Column("p", lambda row: chance(row["p_value"])),
    Column("p corrected", lambda row: chance(row["p_corrected"])),
    Column("shows", share("shows")),
    Column("verdict", _verdict_cell, is_words=True),
)


def comparison_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `compare_runs`, a sheet for each pair of runs."""
    sheets = []
    for (first, second), part in frame.group_by("first", "second", maintain_order=True):
        rows = part.to_dicts()
        title = f"{printable(str(first))} (first) against {printable(str(second))} (second)"
        if ON_TERSE in str(first):
            title += ": what a full specification is worth"
        notes = [*notes_of("compare"), *([ABOVE_NOTE] if any(map(_differs_above, rows)) else [])]
        sheets.append(sheet_of(title, _COMPARISON, rows, notes, after_sums(rows)))
    return sheets
