"""What each turn of a loop is worth: scores after every turn, and what was gained by it.

The score after a turn is that of the last answer up to then: 0 before there is one, and from the
end of a trial on that of the whole trial. Turns are compared as runs are, answer by answer.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

import polars as pl

from scbench.analysis.columns import RUN_TYPES, counts, figures, texts
from scbench.analysis.differences import difference_of, paired
from scbench.analysis.layout import Column, Sheet, notes_of, sheet_of
from scbench.analysis.matrix import score_matrix
from scbench.analysis.sheets import (
    interval_below,
    line_words,
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

# Turns that have a row; the last one has one, too.
_LISTED_TURNS = (*range(1, 11), 20, 50, 100, 200, 500)
_EXACT = 1e-9


_TURNS = (
    Column(
        "task", lambda row: line_words(row) if row["turn"] == 1 else "", is_words=True
    ),
    Column("turn", "turn"),
    Column("mean", lambda row: points(row["mean"]) + interval_below(row)),
    Column(
        "gain", lambda row: signed(row["gain"]) + interval_below(row, "gain_", signed)
    ),
    Column("floor", share("floor")),
    Column("normalized", share("normalized")),
    Column(
        "solved", lambda row: points(row["solved"]) + interval_below(row, "solved_")
    ),
    Column("played", share("played")),
    Column("queries", number("queries", ".1f")),
    Column("N", "n"),
    Column("cut", "cut"),
)
_PROMISED = {
    "retry": ("attempts", "disclose"),
    "probe": ("budget",),
    "act": ("budget",),
}


def turn_table(
    results: pl.DataFrame, by: str = "bucket", *, level: float = LEVEL
) -> pl.DataFrame:
    """Return what models score after each turn.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, with `COLUMNS`; rows of
            other settings, and those without a score, are left out.
        by: "bucket", or "task" for those as well.
        level: of the intervals.

    Returns:
        One row per run, setup, line and turn, with columns `SCHEMA`: loop (the setup, as JSON), n
        (scores), mean after that turn, gain (the difference to the row before, over the same
        items), solved (share with the full score after that turn), each with its interval; floor
        (what guesses earn in so many answers) and normalized (see `scbench.grading.means`); played
        (share of trials that had such a turn), cut (trials that stopped without an answer:
        truncated, refused or unparsed, which count as 0) and queries (what queries or actions cost
        in a whole trial, on average).

    Raises:
        ResultsError: there is no trial of a loop.
    """
    trials = results.filter(
        pl.col("loop").is_not_null()
        & pl.col("setting").is_in(LOOP_SETTINGS)
        & pl.col("score").is_not_null()
    )
    if trials.is_empty():
        raise ResultsError(
            f"there are no scored trials of setting {', '.join(LOOP_SETTINGS)}; their predictions "
            'hold "loop" and "turns"'
        )
    trials = _of_setups(trials)
    runs = trials.select(*RUN, "loop").unique().sort(*RUN, "loop", nulls_last=False)
    rows: list[dict[str, Any]] = []
    for run in runs.iter_rows(named=True):
        part = trials.join(
            pl.DataFrame([run], schema=runs.schema), on=runs.columns, nulls_equal=True
        )
        rows += (run | row for row in _turn_lines(part, by, level))
    return pl.DataFrame(rows, schema=SCHEMA)


def _of_setups(trials: pl.DataFrame) -> pl.DataFrame:
    """Say of each trial only what the model was promised, so that tasks share a table.

    With what it was played differs from task to task, and so do budgets, unless one was given: they
    stand there where a task was played with several.
    """
    setups = {
        text: _promised(parse_json(text.encode())) for text in trials["loop"].unique()
    }
    trials = trials.with_columns(
        loop=pl.col("loop").replace_strict(
            {text: words for text, (words, _) in setups.items()}
        ),
        given=pl.col("loop").replace_strict(
            {text: budget for text, (_, budget) in setups.items()},
            return_dtype=pl.Int64,
        ),
    )
    several = (
        pl.col("given").n_unique().over(*RUN, "loop", "task").max().over(*RUN, "loop")
        > 1
    )
    with_budget = pl.format(
        '{},"budget":{}}}', pl.col("loop").str.head(-1), pl.col("given")
    )
    return trials.with_columns(
        loop=pl.when(several).then(with_budget).otherwise("loop")
    ).drop("given")


def _promised(loop: Any) -> tuple[str, int | None]:  # noqa: ANN401  (JSON of the results)
    """Return the setup without its budget, as JSON, and the budget."""
    names = ("attempts", "disclose") if loop["setting"] == "retry" else ()
    setup = {name: loop[name] for name in (*names, "setting") if name in loop}
    return canonical_json(setup), loop.get("budget")


def _turn_lines(part: pl.DataFrame, by: str, level: float) -> Iterator[dict[str, Any]]:
    last = max(1, int(part.select(pl.col("turn_scores").list.len().max()).item() or 1))
    turns = [turn for turn in _LISTED_TURNS if turn < last] + [last]
    after = pl.concat([_scores_after(part, turn) for turn in turns])
    scores = score_matrix(after)
    full = score_matrix(
        after.with_columns((pl.col("score") >= 1 - _EXACT).cast(pl.Float64))
    )
    for bucket, task, tasks in scores.lines(by):
        blocks = [scores.blocks[name] for name in tasks]
        means = means_of(blocks, level)
        solved = means_of([full.blocks[name] for name in tasks], level)
        of_line = part.filter(pl.col("task").is_in(tasks))
        for i, turn in enumerate(turns):
            of_turn = means.cells(i)
            row: dict[str, Any] = scores.labels(bucket, task)
            row |= {
                name: of_turn[name]
                for name in ("mean", "low", "high", "normalized", "floor")
            }
            if i:
                gain = difference_of(
                    [paired(block, i - 1, i) for block in blocks], level
                )
                ends = {"gain_low": gain.of_means_low, "gain_high": gain.of_means_high}
                row |= {"gain": gain.of_means} | ends
            cells = solved.cells(i)
            yield row | {
                "n": of_line.height,
                "cut": int((of_line["status"] != Status.ANSWERED.value).sum()),
                "turn": turn,
                "solved": cells["mean"],
                "solved_low": cells["low"],
                "solved_high": cells["high"],
                "played": of_line.select(
                    (pl.col("turn_scores").list.len() >= turn).mean()
                ).item(),
                "queries": of_line["queries"].mean(),
            }


def _scores_after(part: pl.DataFrame, turn: int) -> pl.DataFrame:
    """Return the scores after a turn, as a run of its own: its number stands for the budget."""
    so_far = (
        pl.col("turn_scores")
        .list.head(turn)
        .list.drop_nulls()
        .list.last()
        .fill_null(0.0)
    )
    going_on = pl.col("turn_scores").list.len() > turn
    return part.with_columns(
        score=pl.when(going_on).then(so_far).otherwise("score"),
        floor=pl.coalesce(
            pl.col("turn_floors").list.get(turn - 1, null_on_oob=True), "floor"
        ),
        budget=pl.lit(turn, pl.Int64),
    )


def turn_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `turn_table`, a sheet for each run and setup."""
    sheets = []
    for (setup,), part in frame.group_by("loop", maintain_order=True):
        loop = json.loads(str(setup))
        promised = ", ".join(
            f"{name} {loop[name]}"
            for name in _PROMISED[loop["setting"]]
            if name in loop
        )
        for _, run in part.group_by("model", "budget", maintain_order=True):
            rows = run.to_dicts()
            title = f"Scores by turn: {run_words(rows[0])} ({promised})"
            breaks = [i for i, row in enumerate(rows) if i and row["turn"] == 1]
            sheets.append(sheet_of(title, _TURNS, rows, notes_of("turns"), breaks))
    return sheets
