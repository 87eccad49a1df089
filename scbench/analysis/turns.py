"""Scores after each turn of a loop, and the gain of each turn.

The score after a turn is the score of the last answer so far: 0 before the first
answer, and the final score after the end of a trial. Turns are compared like runs,
answer by answer.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import polars as pl

from scbench.analysis.columns import RUN_TYPES, counts, figures, texts
from scbench.analysis.differences import difference_of, pair_scores
from scbench.analysis.layout import Column, Row, Sheet, notes_of, sheet_of
from scbench.analysis.matrix import score_matrix
from scbench.analysis.sheets import (
    interval_below,
    line_words,
    mean_cell,
    number,
    points,
    run_words,
    share,
    signed,
)
from scbench.base.canonical import canonical_json, parse_json
from scbench.base.errors import ResultsError
from scbench.base.intervals import LEVEL
from scbench.base.model import LOOP_SETTINGS, Status
from scbench.grading.means import RUN, means_of

# Columns of the results that are needed in addition to
# `scbench.analysis.results.NEEDED`.
COLUMNS = ("loop", "turn_scores", "turn_floors", "queries")

# Columns of `turn_table`.
SCHEMA: Mapping[str, Any] = (
    RUN_TYPES
    | texts("loop bucket task over")
    | counts("n turn cut")
    | figures(
        "mean low high gain gain_low gain_high solved solved_low solved_high played queries"
    )
    | figures("normalized floor")
)

# Turns that have a row, in addition to the last one.
_LISTED_TURNS = (*range(1, 11), 20, 50, 100, 200, 500)
# Tolerance for rounding errors of a full score.
_EXACT = 1e-9
# Parts of a setup shown in titles, by setting.
_PROMISED = {
    "retry": ("attempts", "disclose"),
    "probe": ("budget",),
    "act": ("budget",),
}


class Setup(NamedTuple):
    """A setup without its budget, as JSON, and the budget."""

    words: str
    budget: int | None


def turn_table(
    results: pl.DataFrame, by: str = "bucket", *, level: float = LEVEL
) -> pl.DataFrame:
    """Return the scores of models after each turn.

    Args:
        results: as returned by `scbench.analysis.results.read_results`, with `COLUMNS`; rows of
            other settings, and those without a score, are left out.
        by: "bucket", or "task" to add a line for each task.
        level: level of the intervals.

    Returns:
        One row per run, setup, line and turn, with columns `SCHEMA`:

        - loop: the setup, as JSON;
        - n: number of scores;
        - mean: mean score after that turn, with its interval;
        - gain: difference from the previous row over the same items, with its interval;
        - solved: share with the full score after that turn, with its interval;
        - floor: score of guesses over the same number of answers;
        - normalized: see `scbench.grading.means`;
        - played: share of trials with such a turn;
        - cut: trials that stopped without an answer (truncated, refused or unparsed),
          which count as 0;
        - queries: mean cost of queries or actions in a whole trial.

    Raises:
        ResultsError: the results contain no loop trial.
    """
    is_trial = pl.col("loop").is_not_null() & pl.col("setting").is_in(LOOP_SETTINGS)
    trials = results.filter(is_trial & pl.col("score").is_not_null())
    if trials.is_empty():
        raise ResultsError(
            f"no scored trials with setting {', '.join(LOOP_SETTINGS)}; their predictions need "
            '"loop" and "turns"'
        )
    trials = with_shared_setups(trials)
    runs = trials.select(*RUN, "loop").unique().sort(*RUN, "loop", nulls_last=False)
    rows: list[dict[str, Any]] = []
    for run in runs.iter_rows(named=True):
        run_frame = pl.DataFrame([run], schema=runs.schema)
        part = trials.join(run_frame, on=runs.columns, nulls_equal=True)
        rows += (run | line for line in turn_lines(part, by, level))
    return pl.DataFrame(rows, schema=SCHEMA)


def with_shared_setups(trials: pl.DataFrame) -> pl.DataFrame:
    """Reduce each trial's setup to the parts that the model sees, so that tasks share a table.

    Worlds and default budgets differ between tasks. The budget is part of the setup
    only if a task was played with several budgets.
    """
    words = {}
    budgets = {}
    for text in trials["loop"].unique():
        words[text], budgets[text] = setup_of(parse_json(text.encode()))
    loop = pl.col("loop")
    budget = loop.replace_strict(budgets, return_dtype=pl.Int64)
    trials = trials.with_columns(loop=loop.replace_strict(words), loop_budget=budget)
    budgets_of_task = pl.col("loop_budget").n_unique().over(*RUN, "loop", "task")
    has_several = budgets_of_task.max().over(*RUN, "loop") > 1
    with_budget = pl.format(
        '{},"budget":{}}}', loop.str.head(-1), pl.col("loop_budget")
    )
    setup = pl.when(has_several).then(with_budget).otherwise("loop")
    return trials.with_columns(loop=setup).drop("loop_budget")


def setup_of(loop: Any) -> Setup:  # noqa: ANN401  (JSON of the results)
    """Return the setup of a trial."""
    names = ["setting"]
    if loop["setting"] == "retry":
        names += ["attempts", "disclose"]
    setup = {name: loop[name] for name in names if name in loop}
    return Setup(canonical_json(setup), loop.get("budget"))


def turn_lines(part: pl.DataFrame, by: str, level: float) -> Iterator[dict[str, Any]]:
    """Yield the rows of one run and setup."""
    played = pl.col("turn_scores").list.len()
    last = max(1, int(part.select(played.max()).item() or 1))
    turns = [turn for turn in _LISTED_TURNS if turn < last]
    turns.append(last)
    after = pl.concat([scores_after(part, turn) for turn in turns])
    is_full = (pl.col("score") >= 1 - _EXACT).cast(pl.Float64)
    scores = score_matrix(after)
    full_scores = score_matrix(after.with_columns(is_full))
    for bucket, task, tasks in scores.lines(by):
        blocks = [scores.blocks[name] for name in tasks]
        means = means_of(blocks, level)
        solved = means_of([full_scores.blocks[name] for name in tasks], level)
        line_trials = part.filter(pl.col("task").is_in(tasks))
        is_cut = line_trials["status"] != Status.ANSWERED.value
        # Each turn is a run of the matrix.
        for i, turn in enumerate(turns):
            mean_cells = means.cells(i)
            solved_cells = solved.cells(i)
            row: dict[str, Any] = scores.labels(bucket, task)
            for name in ("mean", "low", "high", "normalized", "floor"):
                row[name] = mean_cells[name]
            if i:
                pairs = [pair_scores(block, i - 1, i) for block in blocks]
                gain = difference_of(pairs, level)
                row["gain"] = gain.of_means
                row["gain_low"] = gain.of_means_low
                row["gain_high"] = gain.of_means_high
            yield row | {
                "n": line_trials.height,
                "cut": int(is_cut.sum()),
                "turn": turn,
                "solved": solved_cells["mean"],
                "solved_low": solved_cells["low"],
                "solved_high": solved_cells["high"],
                "played": line_trials.select((played >= turn).mean()).item(),
                "queries": line_trials["queries"].mean(),
            }


def scores_after(part: pl.DataFrame, turn: int) -> pl.DataFrame:
    """Return the scores after a turn as a separate run; the turn's number replaces the budget."""
    scores = pl.col("turn_scores").list
    answers = scores.head(turn).list.drop_nulls()
    so_far = answers.list.last().fill_null(0.0)
    floor_of_turn = pl.col("turn_floors").list.get(turn - 1, null_on_oob=True)
    return part.with_columns(
        score=pl.when(scores.len() > turn).then(so_far).otherwise("score"),
        floor=pl.coalesce(floor_of_turn, "floor"),
        budget=pl.lit(turn, pl.Int64),
    )


def turn_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `turn_table` as a sheet for each run and setup."""
    sheets = []
    for (setup,), setup_rows in frame.group_by("loop", maintain_order=True):
        words = setup_words(json.loads(str(setup)))
        for _, run in setup_rows.group_by("model", "budget", maintain_order=True):
            rows = run.to_dicts()
            title = f"Scores by turn: {run_words(rows[0])} ({words})"
            sheets.append(turn_sheet(title, rows))
    return sheets


def turn_sheet(title: str, rows: Sequence[Row]) -> Sheet:
    """Lay out the turns of one run and setup."""
    columns = (
        Column("task", line_cell, is_words=True),
        Column("turn", "turn"),
        Column("mean", mean_cell),
        Column("gain", gain_cell),
        Column("floor", share("floor")),
        Column("normalized", share("normalized")),
        Column("solved", solved_cell),
        Column("played", share("played")),
        Column("queries", number("queries", ".1f")),
        Column("N", "n"),
        Column("cut", "cut"),
    )
    breaks = [i for i, row in enumerate(rows) if i and row["turn"] == 1]
    return sheet_of(title, columns, rows, notes_of("turns"), breaks)


def setup_words(loop: Mapping[str, Any]) -> str:
    """Return the parts of a setup that the model sees, as text."""
    names = _PROMISED[loop["setting"]]
    return ", ".join(f"{name} {loop[name]}" for name in names if name in loop)


def line_cell(row: Row) -> str:
    """Return the name of a line in its first turn, otherwise an empty string."""
    return line_words(row) if row["turn"] == 1 else ""


def gain_cell(row: Row) -> str:
    """Return the gain of a turn with its interval below."""
    return signed(row["gain"]) + interval_below(row, "gain_", signed)


def solved_cell(row: Row) -> str:
    """Return the share with full score, with its interval below."""
    return points(row["solved"]) + interval_below(row, "solved_")
