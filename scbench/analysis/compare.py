"""Are two runs different? Paired, answer by answer, over the scores that both have."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.matrix import (
    Difference,
    Matrix,
    Paired,
    difference_of,
    paired,
    score_matrix,
)
from scbench.analysis.results import (
    LINE_TYPES,
    ON_PICTURES,
    ON_TERSE,
    counts,
    figures,
    texts,
)
from scbench.analysis.sheets import (
    NOTE,
    after_sums,
    chance,
    interval_below,
    line_words,
    share,
    signed,
)
from scbench.analysis.sign_flips import DRAWS, Tested, lines_tested
from scbench.base.errors import ResultsError, printable
from scbench.base.intervals import LEVEL, Floats
from scbench.grading.means import Run
from scbench.grading.score_tables import OVERALL

# Columns of `compare_runs`.
SCHEMA: Mapping[str, Any] = (
    texts("first second")
    | LINE_TYPES
    | counts("n")
    | figures("first_normalized second_normalized difference low high")
    | figures("first_mean second_mean of_means of_means_low of_means_high")
    | counts("answers first_ahead second_ahead")
    | figures("p_value p_corrected shows")
    | texts("verdict")
)

TIED, APART, TOO_FEW, NO_ROOM = (
    "tied",
    "not told apart",
    "too few items to tell",
    "no room",
)
# Runs are tied where an interval says that they differ by no more than this.
MARGIN = 0.05
_UNDECIDED = frozenset({TIED, APART, TOO_FEW, NO_ROOM})


_DROPS = ("of means", "shows", "p", "1st ahead", "2nd ahead", "N")


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

    Runs on terse prompts, or on pictures, are compared with those of the same models on full
    prompts and with no others: the difference is then what a full specification is worth, or what
    it costs to see the data in place of reading it.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, of two or more runs.
        draws: of signs, see `scbench.analysis.sign_flips`.
        seed: of the draws.
        level: of the intervals, and one minus the level of the tests.

    Returns:
        One row per pair and per task, bucket and overall, with columns `SCHEMA`: over (what a line
        is over, if not all tasks of its bucket are there), n (scores that both have), the two
        normalized scores over those, difference (second minus first) with its interval; the means,
        of_means (their difference) with its own; answers with room above their floors, and on how
        many of them each run is ahead; p_value and p_corrected, shows (the difference that would be
        found with a chance of 80 %; null if none would), and verdict: the name of the better run if
        p_corrected is at most 0.05, else "tied" where the interval lies within `MARGIN` to either
        side of 0, "not told apart", "too few items to tell" where no outcome could have reached
        that, or "no room" where every floor is 1. The overall lines of all pairs are corrected
        among themselves, as the board's ranks are, and so are all other lines. In results without
        floors, means are compared in place of normalized scores.

    Raises:
        ResultsError: there are fewer than two runs, or two have no score in common.
    """
    matrix = score_matrix(results)
    if len(matrix.runs) < 2:
        raise ResultsError("to compare, name the results of two runs or more")
    lines: list[_Line] = []
    main: list[int] = []
    for a, b in _pairs_to_compare(matrix.runs):
        of_pair = list(_lines_of_pair(matrix, a, b, level))
        buckets = [line.row["bucket"] for line in of_pair]
        # The overall line is the one question; over a single bucket it is that bucket's.
        at = buckets.index(OVERALL) if OVERALL in buckets else len(of_pair) - 1
        main.append(len(lines) + at)
        lines += of_pair
    is_main = np.isin(np.arange(len(lines)), main)
    for family in (is_main, ~is_main):
        places = np.flatnonzero(family)
        if not len(places):
            continue
        differences, weights = (
            np.column_stack([getattr(lines[i], name) for i in places])
            for name in ("differences", "weights")
        )
        tested = lines_tested(differences, weights, level, draws, seed)
        for j, i in enumerate(places.tolist()):
            lines[i].row.update(_tested_cells(tested, j, lines[i].row, level))
    return pl.DataFrame([line.row for line in lines], schema=SCHEMA)


@dataclass(frozen=True, slots=True)
class _Line:
    """A row of the table, and the columns that the test takes: an entry for each answer."""

    row: dict[str, Any]
    differences: Floats
    weights: Floats


def _tested_cells(tested: Tested, line: int, row: Row, level: float) -> dict[str, Any]:
    """Return what the test says of a line."""
    corrected, shows = float(tested.p_corrected[line]), float(tested.shows[line])
    if row["difference"] is None:
        verdict = NO_ROOM
    elif corrected <= 1 - level + 1e-12:
        verdict = row["second" if row["difference"] > 0 else "first"]
    elif max(-row["low"], row["high"]) <= MARGIN:
        verdict = TIED
    else:
        verdict = TOO_FEW if tested.too_few[line] else APART
    figures = {"p_value": float(tested.p_value[line]), "p_corrected": corrected}
    return figures | {"shows": None if np.isnan(shows) else shows, "verdict": verdict}


def _pairs_to_compare(runs: tuple[Run, ...]) -> list[tuple[int, int]]:
    at = {run: i for i, run in enumerate(runs)}
    full = {i: (without_prompt(run[0]), *run[1:]) for run, i in at.items()}
    twins = [(i, at[run]) for i, run in full.items() if run != runs[i] and run in at]
    return twins or list(combinations(range(len(runs)), 2))


def without_prompt(model: str) -> str:
    """Return a model's name without what says which prompts it answered."""
    for words in (ON_TERSE, *ON_PICTURES.values()):
        model = model.removesuffix(words)
    return model


def _lines_of_pair(matrix: Matrix, a: int, b: int, level: float) -> Iterator[_Line]:
    """Yield a pair's lines."""
    first, second = run_name(*matrix.runs[a]), run_name(*matrix.runs[b])
    pairs = {task: paired(block, a, b) for task, block in matrix.blocks.items()}
    if not any(len(pair.weights) for pair in pairs.values()):
        raise ResultsError(f"{first} and {second} have no score in common")
    if not all(pair.is_known for pair in pairs.values()):
        pairs = {task: pair.without_floors() for task, pair in pairs.items()}
    starts, total = _answer_starts(matrix)
    for bucket, task, tasks in matrix.lines("task"):
        of_line = {name: pairs[name] for name in tasks}
        found = difference_of([*of_line.values()], level)
        if not found.n:
            continue
        columns = _test_columns(of_line, starts, total)
        row: dict[str, Any] = {"first": first, "second": second}
        row |= matrix.labels(bucket, task, a, b) | _cells_of(found, pairs)
        row |= {"answers": int((columns[1] > 0).sum())}
        row |= {"first_ahead": int((columns[0] < -1e-9).sum())}
        row |= {"second_ahead": int((columns[0] > 1e-9).sum())}
        yield _Line(row, *columns)


def _cells_of(found: Difference, pairs: Mapping[str, Paired]) -> dict[str, Any]:
    """Return the figures of a line; without floors there are no normalized scores."""
    cells = found._asdict()
    if any(pair.is_plain for pair in pairs.values()):
        ends = {"low": found.of_means_low, "high": found.of_means_high}
        cells |= {"difference": found.of_means, "first_normalized": None}
        cells |= ends | {"second_normalized": None}
    return cells


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
    """Return each answer's share of the normalized difference, and its weight in it."""
    differences, weights = np.zeros(total), np.zeros(total)
    for task, pair in pairs.items():
        room = pair.room
        if not pair.weight:
            continue
        places = starts[task] + pair.answers[room]
        each = pair.weight / room.sum()
        differences[places], weights[places] = each * pair.gains[room], each
    return differences, weights


def _difference_cell(row: Row) -> str:
    return signed(row["difference"]) + interval_below(row, form=signed)


def _means_cell(row: Row) -> str:
    return f"{signed(row['of_means'])}{interval_below(row, 'of_means_', signed)}"


def _verdict_cell(row: Row) -> str:
    verdict = row["verdict"]
    return str(verdict) if verdict in _UNDECIDED else f"{printable(verdict)} is better"


_COMPARISON = (
    Column("task", line_words, is_words=True),
    Column("N", "n"),
    Column("first", share("first_normalized")),
    Column("second", share("second_normalized")),
    Column("difference", _difference_cell),
    Column("1st ahead", "first_ahead"),
    Column("2nd ahead", "second_ahead"),
    Column("p", lambda row: chance(row["p_value"])),
    Column("p corrected", lambda row: chance(row["p_corrected"])),
    Column("shows", share("shows")),
    Column("verdict", _verdict_cell, is_words=True, wraps=True),
    Column("of means", _means_cell),
)


def comparison_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `compare_runs`, a sheet for each pair of runs."""
    sheets = []
    for (first, second), part in frame.group_by("first", "second", maintain_order=True):
        rows = part.to_dicts()
        title = (
            f"{printable(str(first))} (first) against {printable(str(second))} (second)"
        )
        if ON_TERSE in str(first):
            title += ": what a full specification is worth"
        if any(words in str(first) for words in ON_PICTURES.values()):
            title += ": what text is worth"
        notes = [NOTE, *notes_of("compare")]
        sheets.append(
            sheet_of(title, _COMPARISON, rows, notes, after_sums(rows), _DROPS)
        )
    return sheets
