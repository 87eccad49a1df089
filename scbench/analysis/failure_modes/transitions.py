"""Moves between states from one run to another, and differences in the shares of states."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import polars as pl

from scbench.analysis.columns import counts, figures, texts
from scbench.analysis.compare import run_name
from scbench.analysis.failure_modes.modes import ordered_states
from scbench.analysis.failure_modes.squares import square_sheet, state_title
from scbench.analysis.layout import Column, Row, Sheet, sheet_of
from scbench.analysis.paper import BASELINE, TOOLS
from scbench.analysis.sheets import points, signed
from scbench.base.errors import ResultsError, did_you_mean, printable
from scbench.base.model import Status
from scbench.grading.means import RUN, Run

# Columns that match rows of two runs.
PAIRED = ("sample", "id", "subtask")

# Columns of `transitions`.
MATRIX: Mapping[str, Any] = texts("first second first_state second_state") | counts(
    "count"
)
# Columns of `state_deltas`.
DELTAS: Mapping[str, Any] = (
    texts("first second state")
    | counts("n left_out first_count second_count")
    | figures("first_rate second_rate delta")
)


def run_pairs(
    row_states: pl.DataFrame, first: str | None = None, second: str | None = None
) -> list[tuple[Run, Run]]:
    """Return the pairs of runs to compare.

    Args:
        row_states: as returned by `scbench.analysis.failure_modes.shares.states`.
        first: name of a run, as returned by `scbench.analysis.compare.run_name`; with
            ``second``, the only pair.
        second: name of the other run.

    Returns:
        The named pair; if none is named, each run without tools with the same model's
        run with tools; if there are none, the only two runs.

    Raises:
        ResultsError: a run does not exist, or there is no pair.
    """
    runs: list[Run] = list(
        row_states.select(RUN).unique().sort(RUN, nulls_last=False).iter_rows()
    )
    if first is not None and second is not None:
        return [(run_of_name(runs, first), run_of_name(runs, second))]
    if first is not None or second is not None:
        raise ResultsError("name both runs with --first and --second")
    pairs: list[tuple[Run, Run]] = []
    for run in runs:
        model, setting, budget = run
        baseline = (model, BASELINE, budget)
        if setting == TOOLS and baseline in runs:
            pairs.append((baseline, run))
    if pairs:
        return pairs
    # With two runs there is only one pair.
    if len(runs) == 2:
        return [(runs[0], runs[1])]
    names = ", ".join(repr(run_name(*run)) for run in runs)
    raise ResultsError(f"name two of these runs with --first and --second: {names}")


def run_of_name(runs: Sequence[Run], name: str) -> Run:
    """Return the run with a name.

    Raises:
        ResultsError: no run has this name.
    """
    by_name = {run_name(*run): run for run in runs}
    if name not in by_name:
        names = ", ".join(map(repr, by_name))
        raise ResultsError(
            f"no run {name!r}; the runs are {names}.{did_you_mean(name, by_name)}"
        )
    return by_name[name]


def transitions(
    row_states: pl.DataFrame, pairs: Iterable[tuple[Run, Run]]
) -> pl.DataFrame:
    """Return the moves between states from one run to another for each score.

    Args:
        row_states: as returned by `scbench.analysis.failure_modes.shares.states`.
        pairs: as returned by `run_pairs`.

    Returns:
        Columns `MATRIX`: for each pair, a row for every combination of a state in the
        first run and a state in the second. Pass and the five labels come first, then
        the statuses that occur in either run. count is the number of scores. Each row
        of the matrix adds up to the first run's count, over the scores for which both
        runs have a row; samples are paired by their numbers.

    Raises:
        ResultsError: two runs have no rows in common.
    """
    rows: list[dict[str, Any]] = []
    for first, second in pairs:
        moves = Counter(paired_states(row_states, first, second).iter_rows())
        occurring = set(chain.from_iterable(moves))
        order = ordered_states()
        order += [status.value for status in Status if status.value in occurring]
        names = {"first": run_name(*first), "second": run_name(*second)}
        for first_state in order:
            for second_state in order:
                move = {
                    "first_state": first_state,
                    "second_state": second_state,
                    "count": moves[first_state, second_state],
                }
                rows.append(names | move)
    return pl.DataFrame(rows, schema=MATRIX)


def paired_states(row_states: pl.DataFrame, first: Run, second: Run) -> pl.DataFrame:
    """Return columns first_state and second_state, with a row for each score that both runs have.

    Raises:
        ResultsError: the runs have no rows in common.
    """
    first_states = states_of_run(row_states, first, "first_state")
    second_states = states_of_run(row_states, second, "second_state")
    paired = first_states.join(second_states, on=PAIRED, validate="1:1")
    if paired.is_empty():
        raise ResultsError(
            f"{run_name(*first)} and {run_name(*second)} have no rows in common"
        )
    return paired.select("first_state", "second_state")


def states_of_run(row_states: pl.DataFrame, run: Run, name: str) -> pl.DataFrame:
    """Return the states of a run, in a column of this name."""
    is_of_run = [
        pl.col(column).eq_missing(pl.lit(value))
        for column, value in zip(RUN, run, strict=True)
    ]
    return row_states.filter(*is_of_run).select(*PAIRED, pl.col("state").alias(name))


def state_deltas(
    row_states: pl.DataFrame, pairs: Iterable[tuple[Run, Run]]
) -> pl.DataFrame:
    """Return the frequency of each state in two runs, and the difference.

    Args:
        row_states: as returned by `scbench.analysis.failure_modes.shares.states`.
        pairs: as returned by `run_pairs`.

    Returns:
        Columns `DELTAS`: for each pair, a row per state (pass and the five labels). n
        is the number of scores that pass or have a label in both runs, and left_out is
        the number of other scores for which both runs have a row. Counts and rates are
        over those n; delta is the second rate minus the first, in [-1, 1]. Rates add up
        to 1.

    Raises:
        ResultsError: two runs have no rows in common.
    """
    rows: list[dict[str, Any]] = []
    for first, second in pairs:
        all_rows = paired_states(row_states, first, second)
        # Shares are over diagnosed scores, so both must be diagnosed.
        diagnosed = all_rows.filter(pl.all_horizontal(pl.all().is_in(ordered_states())))
        n = diagnosed.height
        first_counts = Counter(diagnosed["first_state"].to_list())
        second_counts = Counter(diagnosed["second_state"].to_list())
        for state in ordered_states():
            first_count = first_counts[state]
            second_count = second_counts[state]
            row: dict[str, Any] = dict.fromkeys(DELTAS)
            row |= {
                "first": run_name(*first),
                "second": run_name(*second),
                "state": str(state),
                "n": n,
                "left_out": all_rows.height - n,
                "first_count": first_count,
                "second_count": second_count,
            }
            if n:
                row["first_rate"] = first_count / n
                row["second_rate"] = second_count / n
                row["delta"] = (second_count - first_count) / n
            rows.append(row)
    return pl.DataFrame(rows, schema=DELTAS)


def matrix_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `transitions` as a sheet per pair."""
    note = "Number of scores, paired by subtask and sample."
    sheets = []
    for (first, second), part in frame.group_by("first", "second", maintain_order=True):
        states = part["first_state"].unique(maintain_order=True).to_list()
        moves = part.drop("first", "second")
        title = (
            f"From {printable(str(first))} (rows) to {printable(str(second))} (columns)"
        )
        sheets.append(square_sheet(title, "state", states, moves, note))
    return sheets


def deltas_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `state_deltas`."""
    columns = (
        Column("state", lambda row: state_title(row["state"]), is_words=True),
        Column("first", partial(rate_cell, "first")),
        Column("second", partial(rate_cell, "second")),
        Column("difference", lambda row: signed(row["delta"])),
    )
    sheets = []
    for (first, second), part in frame.group_by("first", "second", maintain_order=True):
        note = (
            f"Counts and percentages cover the {part['n'][0]} scores with a state in both runs; "
            f"scores left out: {part['left_out'][0]}. These are differences of totals; "
            "for changes of individual scores, see `matrix`."
        )
        title = f"States of {printable(str(first))} (first) and {printable(str(second))} (second)"
        sheets.append(sheet_of(title, columns, part.to_dicts(), [note]))
    return sheets


def rate_cell(side: str, row: Row) -> str:
    """Return the count of a state and its rate, in the first or second run."""
    return f"{row[f'{side}_count']} ({points(row[f'{side}_rate'])})"
