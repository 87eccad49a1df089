"""Comparing runs: paired differences over the answers that both runs have."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from scbench.analysis.columns import LINE_TYPES, counts, figures, texts
from scbench.analysis.differences import Difference, Paired, difference_of, pair_scores
from scbench.analysis.layout import (
    Column,
    Row,
    Sheet,
    explanations_of,
    notes_of,
    sheet_of,
)
from scbench.analysis.matrix import Matrix, score_matrix
from scbench.analysis.prompts import ON_PICTURES, ON_TERSE, without_prompt
from scbench.analysis.sheets import (
    NOTE,
    after_sums,
    chance,
    interval,
    line_words,
    share,
    signed,
)
from scbench.analysis.sign_flips import DRAWS, Tested, sign_flip_tests
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

# Verdicts that name no run.
TIED = "tied"
INCONCLUSIVE = "inconclusive"
TOO_FEW = "too few items to tell"
NO_ROOM = "no room"
_UNDECIDED = frozenset({TIED, INCONCLUSIVE, TOO_FEW, NO_ROOM})
# Runs are tied if the interval of their difference is within this distance of 0.
MARGIN = 0.05
# Tolerances for rounding errors of the level, and of the gain of an answer.
_LEVEL_ROUNDING = 1e-12
_GAIN_ROUNDING = 1e-9
# Columns that a narrow terminal drops, in this order. The scores of both runs are
# dropped together, because one alone would be misread.
_DROPS = (
    "95 % CI of means",
    "of means",
    "detectable",
    "p",
    "ahead",
    "N both",
    "p corrected",
    ("first", "second"),
)


@dataclass(frozen=True, slots=True)
class PairLine:
    """A row of the table, and the data of its test with an entry for each answer.

    Attributes:
        row: cells by column.
        differences: each answer's share of the normalized difference.
        weights: weight of each answer in the normalized difference.
    """

    row: dict[str, Any]
    differences: Floats
    weights: Floats


class AnswerPlaces(NamedTuple):
    """The position of each task's first answer among the answers of all tasks, and their number."""

    starts: dict[str, int]
    total: int


def run_name(model: str, setting: str | None, budget: int | None) -> str:
    """Return the name of a run in comparisons."""
    parts = [model]
    if setting:
        parts.append(setting)
    if budget is not None:
        parts.append(f"@{budget}")
    return " ".join(parts)


def compare_runs(
    results: pl.DataFrame, *, draws: int = DRAWS, seed: int = 0, level: float = LEVEL
) -> pl.DataFrame:
    """Compare each pair of runs, overall, by bucket and by task.

    Runs on terse prompts or pictures are only compared with runs of the same models on full
    prompts. The difference is then the effect of the full prompt, or of text instead of pictures.

    Args:
        results: as returned by `scbench.analysis.results.read_results`, of two or more runs.
        draws: number of draws of signs, see `scbench.analysis.sign_flips`.
        seed: seed of the draws.
        level: level of the intervals, and one minus the level of the tests.

    Returns:
        One row per pair and per task, bucket and overall, with columns `SCHEMA`:

        - over: the tasks of a line, if they are not all tasks of its bucket;
        - n: number of scores that both runs have; the two normalized scores are over
          these;
        - difference: second minus first, with its interval; of_means is the difference
          of the plain means;
        - answers: number of answers with room above their floors, and the number on
          which each run is ahead;
        - p_value and p_corrected;
        - shows: the smallest difference that would be detected with 80 % power; null if none would;
        - verdict: the name of the better run if p_corrected is at most 0.05; "tied" if the interval
          lies within `MARGIN` on either side of 0; "too few items to tell" if no outcome could have
          been significant; "no room" if every floor is 1; otherwise "inconclusive".

        The overall lines of all pairs are corrected together, like the ranks of the
        leaderboard; all other lines form a second family. Without floors, means are
        compared instead of normalized scores.

    Raises:
        ResultsError: there are fewer than two runs, or two have no score in common.
    """
    matrix = score_matrix(results)
    if len(matrix.runs) < 2:
        raise ResultsError("a comparison needs the results of at least two runs")
    # Families of lines that are corrected together.
    main_lines: list[PairLine] = []
    lines: list[PairLine] = []
    further_lines: list[PairLine] = []
    for first, second in pairs_to_compare(matrix.runs):
        pair_lines = list(lines_of_pair(matrix, first, second, level))
        main_line = main_line_of(pair_lines)
        main_lines.append(main_line)
        further_lines += [line for line in pair_lines if line is not main_line]
        lines += pair_lines
    # With one line per pair, there is no second family.
    for family in (main_lines, further_lines):
        if family:
            test_family(family, level, draws, seed)
    return pl.DataFrame([line.row for line in lines], schema=SCHEMA)


def pairs_to_compare(runs: tuple[Run, ...]) -> list[tuple[int, int]]:
    """Return the positions of runs to compare: twins on other prompts, or else all pairs."""
    places = {run: place for place, run in enumerate(runs)}
    twins = []
    for place, run in enumerate(runs):
        model, setting, budget = run
        full = (without_prompt(model), setting, budget)
        if full != run and full in places:
            twins.append((place, places[full]))
    # Twins differ only in prompts, so only they are compared.
    return twins or list(combinations(range(len(runs)), 2))


def main_line_of(lines: Sequence[PairLine]) -> PairLine:
    """Return the overall line of a pair, which is the main question.

    If there is only one bucket, that bucket's line, which comes last, is the overall line.
    """
    for line in lines:
        if line.row["bucket"] == OVERALL:
            return line
    return lines[-1]


def test_family(lines: Sequence[PairLine], level: float, draws: int, seed: int) -> None:
    """Test a family of lines, corrected together, and add the results to their rows."""
    differences = np.column_stack([line.differences for line in lines])
    weights = np.column_stack([line.weights for line in lines])
    tested = sign_flip_tests(differences, weights, level, draws, seed)
    for place, line in enumerate(lines):
        line.row.update(test_cells(tested, place, line.row, level))


def test_cells(tested: Tested, place: int, row: Row, level: float) -> dict[str, Any]:
    """Return the cells of a line's test."""
    corrected = float(tested.p_corrected[place])
    shows = float(tested.shows[place])
    if row["difference"] is None:
        verdict = NO_ROOM
    elif corrected <= 1 - level + _LEVEL_ROUNDING:
        verdict = row["second" if row["difference"] > 0 else "first"]
    # Not significant, but the whole interval is near 0.
    elif max(-row["low"], row["high"]) <= MARGIN:
        verdict = TIED
    elif tested.too_few[place]:
        verdict = TOO_FEW
    else:
        verdict = INCONCLUSIVE
    return {
        "p_value": float(tested.p_value[place]),
        "p_corrected": corrected,
        "shows": None if np.isnan(shows) else shows,
        "verdict": verdict,
    }


def lines_of_pair(
    matrix: Matrix, first: int, second: int, level: float
) -> Iterator[PairLine]:
    """Yield the lines that compare two runs.

    Raises:
        ResultsError: the two runs have no scored items in common.
    """
    first_name = run_name(*matrix.runs[first])
    second_name = run_name(*matrix.runs[second])
    pairs = {
        task: pair_scores(block, first, second) for task, block in matrix.blocks.items()
    }
    if not any(len(pair.weights) for pair in pairs.values()):
        raise ResultsError(
            f"{first_name} and {second_name} have no scored items in common"
        )
    # If any floor is unknown, all lines of the pair compare means.
    has_floors = all(pair.is_known for pair in pairs.values())
    if not has_floors:
        pairs = {task: pair.without_floors() for task, pair in pairs.items()}
    places = answer_places(matrix)
    for bucket, task, tasks in matrix.lines("task"):
        line_pairs = {name: pairs[name] for name in tasks}
        difference = difference_of(list(line_pairs.values()), level)
        # The two runs have no score of these tasks in common.
        if not difference.n:
            continue
        differences, weights = _test_columns(line_pairs, places)
        row: dict[str, Any] = {
            "first": first_name,
            "second": second_name,
            "answers": int((weights > 0).sum()),
            "first_ahead": int((differences < -_GAIN_ROUNDING).sum()),
            "second_ahead": int((differences > _GAIN_ROUNDING).sum()),
        }
        row |= matrix.labels(bucket, task, first, second)
        row |= difference._asdict() if has_floors else _cells_of_means(difference)
        yield PairLine(row, differences, weights)


def _cells_of_means(difference: Difference) -> dict[str, Any]:
    """Return the figures of a line without floors, where there are no normalized scores."""
    return difference._asdict() | {
        "difference": difference.of_means,
        "low": difference.of_means_low,
        "high": difference.of_means_high,
        "first_normalized": None,
        "second_normalized": None,
    }


def answer_places(matrix: Matrix) -> AnswerPlaces:
    """Return the positions of each task's answers among the answers of all tasks."""
    starts = {}
    total = 0
    for task, block in matrix.blocks.items():
        starts[task] = total
        # Answers of a task are numbered from 0.
        total += int(block.answers.max(initial=-1)) + 1
    return AnswerPlaces(starts, total)


def _test_columns(
    pairs: Mapping[str, Paired], places: AnswerPlaces
) -> tuple[Floats, Floats]:
    """Return each answer's share of the normalized difference, and its weight."""
    differences = np.zeros(places.total)
    weights = np.zeros(places.total)
    for task, pair in pairs.items():
        room = pair.room
        if not pair.weight:
            continue
        task_places = places.starts[task] + pair.answers[room]
        # A task's weight is divided among its answers with room.
        weight = pair.weight / room.sum()
        differences[task_places] = weight * pair.gains[room]
        weights[task_places] = weight
    return differences, weights


def comparison_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `compare_runs` as a sheet for each pair of runs."""
    columns = (
        Column("task", line_words, is_words=True),
        Column("N both", "n"),
        Column("difference", lambda row: signed(row["difference"])),
        Column("95 %", partial(interval, form=signed)),
        Column("verdict", verdict_cell, is_words=True, wraps=True),
        Column("first", share("first_normalized")),
        Column("second", share("second_normalized")),
        Column("ahead", lambda row: f"{row['first_ahead']} : {row['second_ahead']}"),
        Column("p", lambda row: chance(row["p_value"])),
        Column("p corrected", lambda row: chance(row["p_corrected"])),
        Column("detectable", share("shows")),
        Column("of means", lambda row: signed(row["of_means"])),
        Column("95 % CI of means", partial(interval, name="of_means_", form=signed)),
    )
    explanations = explanations_of("compare")
    notes = [NOTE, *notes_of("compare"), *explanations.values()]
    sheets = []
    for (first, second), part in frame.group_by("first", "second", maintain_order=True):
        rows = part.to_dicts()
        title = comparison_title(str(first), str(second))
        breaks = after_sums(rows)
        sheet = sheet_of(title, columns, rows, notes, breaks, _DROPS, one_line=True)
        sheets.append(replace(sheet, explanations=explanations))
    return sheets


def comparison_title(first: str, second: str) -> str:
    """Return the title of a comparison of two runs."""
    title = f"{printable(second)} (second) compared with {printable(first)} (first)"
    if ON_TERSE in first:
        title += ": effect of the full prompt"
    if any(words in first for words in ON_PICTURES.values()):
        title += ": effect of text instead of pictures"
    return title


def verdict_cell(row: Row) -> str:
    """Return a verdict in words."""
    verdict = row["verdict"]
    return str(verdict) if verdict in _UNDECIDED else f"{printable(verdict)} is better"
