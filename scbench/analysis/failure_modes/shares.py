"""Label shares, how states move between runs, and how far two judges agree.

Every share stands beside its count and the run's statuses: the number of judged candidates falls as
accuracy rises, so a share can grow while its count shrinks.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from scbench.analysis.columns import RUN_TYPES, counts, figures, texts
from scbench.analysis.compare import run_name
from scbench.analysis.failure_modes.labels import (
    IDENTITY,
    KEY,
    MEANINGS,
    PASS,
    STATES,
    THRESHOLD,
    Mode,
    candidates,
    check_labels,
    undiagnosed,
)
from scbench.analysis.layout import Column, Row, Sheet, sheet_of
from scbench.analysis.paper import BASELINE, TOOLS
from scbench.analysis.sheets import changes_of, points, signed, statuses, task_title
from scbench.base.errors import ResultsError, did_you_mean, printable
from scbench.base.intervals import LEVEL, Floats
from scbench.base.model import Status
from scbench.catalog import all_tasks
from scbench.grading.means import RUN

# Model, setting and budget.
Run = tuple[str, str | None, int | None]

# Columns by which rows of two runs belong together.
PAIRED = ("sample", "id", "subtask")


# Columns of `label_shares`.
SHARES: Mapping[str, Any] = (
    RUN_TYPES
    | texts("task failure_mode")
    | counts("count judged")
    | figures("share")
    | counts("rows passed", *(status.value for status in Status))
)
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
_SHARES_NOTE = (
    "Labels: count and share of the judged candidates, in points. What was never sent, blocked, "
    "lost, cut off or blank is not judged and stands under status."
)
# Columns of `agreement`.
AGREEMENT: Mapping[str, Any] = (
    texts("first_label second_label")
    | counts("count n")
    | figures("agreement kappa kappa_low kappa_high")
)


def states(
    results: pl.DataFrame, labels: pl.DataFrame, threshold: float = THRESHOLD
) -> pl.DataFrame:
    """Return the state of every row.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, with
            `scbench.analysis.failure_modes.labels.COLUMNS`.
        labels: of all their candidates, columns
            `scbench.analysis.failure_modes.labels.LABELS`.
        threshold: scores of this and above pass.

    Returns:
        Columns `scbench.analysis.failure_modes.labels.KEY`, status, and state: "pass", the
        label of a candidate, or the row's status where there is nothing to diagnose.

    Raises:
        ResultsError: the labels are not those of the candidates.
    """
    check_labels(labels, candidates(results, threshold))
    undecided = undiagnosed(results, threshold).with_columns(status=results["status"])
    decisions = labels.select(*IDENTITY, "failure_mode")
    joined = undecided.join(
        decisions, on=IDENTITY, how="left", nulls_equal=True, maintain_order="left"
    )
    return joined.select(*KEY, "status", state=pl.coalesce("state", "failure_mode"))


def label_shares(row_states: pl.DataFrame, *, by_task: bool = False) -> pl.DataFrame:
    """Return how often each label occurs.

    Args:
        row_states: as `states` gives them.
        by_task: whether to count each task by itself.

    Returns:
        One row per run (and task) and label, with columns `SHARES`: count, judged (labelled
        candidates of the run), share (count over judged; null without any), rows and passed (all
        rows of the run, and those that pass), and one count per status over all rows. task is null
        unless counted by task.
    """
    groups = [*RUN, "task"] if by_task else [*RUN]
    order = {task: i for i, task in enumerate(all_tasks())}
    counted = row_states.group_by(groups).agg(
        *(
            (pl.col("state") == mode.value).sum().alias(f"label {mode}")
            for mode in Mode
        ),
        *(
            (pl.col("status") == status.value).sum().alias(status.value)
            for status in Status
        ),
        judged=pl.col("state").is_in([mode.value for mode in Mode]).sum(),
        passed=(pl.col("state") == PASS).sum(),
        rows=pl.len(),
    )
    place = (
        [pl.col("task").replace_strict(order, default=len(order))] if by_task else []
    )
    counted = counted.sort(*RUN, *place, nulls_last=False)
    rows: list[dict[str, Any]] = []
    for row in counted.iter_rows(named=True):
        beside = {name: row.get(name) for name in SHARES}
        for mode in Mode:
            count = row[f"label {mode}"]
            share = count / row["judged"] if row["judged"] else None
            rows.append(
                beside | {"failure_mode": mode.value, "count": count, "share": share}
            )
    return pl.DataFrame(rows, schema=SHARES)


def run_pairs(
    row_states: pl.DataFrame, first: str | None = None, second: str | None = None
) -> list[tuple[Run, Run]]:
    """Return the pairs of runs to compare.

    Args:
        row_states: as `states` gives them.
        first: name of a run, as `scbench.analysis.compare.run_name` makes it; with ``second`` the
            only pair.
        second: name of another.

    Returns:
        The named pair; else each run without tools and the same model's with them; else, of just
        two runs, these.

    Raises:
        ResultsError: there is no such run, or no pair.
    """
    runs: list[Run] = list(
        row_states.select(RUN).unique().sort(RUN, nulls_last=False).iter_rows()
    )
    if first is not None or second is not None:
        if first is None or second is None:
            raise ResultsError("name both runs, with --first and --second")
        return [(_run_of_name(runs, first), _run_of_name(runs, second))]
    pairs: list[tuple[Run, Run]] = [
        ((model, BASELINE, budget), (model, setting, budget))
        for model, setting, budget in runs
        if setting == TOOLS and (model, BASELINE, budget) in runs
    ]
    if not pairs and len(runs) == 2:
        return [(runs[0], runs[1])]
    if not pairs:
        names = ", ".join(repr(run_name(*run)) for run in runs)
        raise ResultsError(f"name two of these runs with --first and --second: {names}")
    return pairs


def _run_of_name(runs: Sequence[Run], name: str) -> Run:
    by_name = {run_name(*run): run for run in runs}
    if name not in by_name:
        names = ", ".join(map(repr, by_name))
        raise ResultsError(
            f"there is no run {name!r} among {names}.{did_you_mean(name, by_name)}"
        )
    return by_name[name]


def transitions(
    row_states: pl.DataFrame, pairs: Iterable[tuple[Run, Run]]
) -> pl.DataFrame:
    """Return what became of each state from one run to another, score by score.

    Args:
        row_states: as `states` gives them.
        pairs: as `run_pairs` gives them.

    Returns:
        Columns `MATRIX`: for each pair one row per state of the first run and state of the second,
        pass and the five labels first, then the statuses that occur in either; count is the number
        of scores. Rows of the matrix add up to the first run's counts over the scores that both
        runs have a row for; samples are paired by their numbers.

    Raises:
        ResultsError: two runs have no row in common.
    """
    rows: list[dict[str, Any]] = []
    for a, b in pairs:
        counts = Counter(_both(row_states, a, b).iter_rows())
        occurring = {state for pair in counts for state in pair}
        order = [
            *STATES,
            *(status.value for status in Status if status.value in occurring),
        ]
        pair = {"first": run_name(*a), "second": run_name(*b)}
        rows += (
            pair | {"first_state": x, "second_state": y, "count": counts[x, y]}
            for x in order
            for y in order
        )
    return pl.DataFrame(rows, schema=MATRIX)


def _both(row_states: pl.DataFrame, a: Run, b: Run) -> pl.DataFrame:
    """Return columns first_state and second_state, a row for each score that both runs have."""
    first, second = (
        row_states.filter(
            pl.all_horizontal(
                pl.col(name).eq_missing(pl.lit(value))
                for name, value in zip(RUN, run, strict=True)
            )
        ).select(*PAIRED, pl.col("state").alias(side))
        for run, side in ((a, "first_state"), (b, "second_state"))
    )
    both = first.join(second, on=PAIRED, validate="1:1").select(
        "first_state", "second_state"
    )
    if both.is_empty():
        raise ResultsError(f"{run_name(*a)} and {run_name(*b)} have no row in common")
    return both


def state_deltas(
    row_states: pl.DataFrame, pairs: Iterable[tuple[Run, Run]]
) -> pl.DataFrame:
    """Return how often each state occurs in two runs, and the difference.

    Args:
        row_states: as `states` gives them.
        pairs: as `run_pairs` gives them.

    Returns:
        Columns `DELTAS`: for each pair a row per state (pass and the five labels); n is the number
        of scores that pass or have a label in both runs, left_out that of the others both have a
        row for; counts and rates are over those n, and delta is the second rate minus the first,
        in [-1, 1]. Rates add up to 1.

    Raises:
        ResultsError: two runs have no row in common.
    """
    rows: list[dict[str, Any]] = []
    for a, b in pairs:
        all_rows = _both(row_states, a, b)
        both = all_rows.filter(pl.all_horizontal(pl.all().is_in(list(STATES))))
        n = both.height
        firsts, seconds = (Counter(both[side].to_list()) for side in both.columns)
        for state in STATES:
            first, second = firsts[state], seconds[state]
            row = {
                "first": run_name(*a),
                "second": run_name(*b),
                "state": str(state),
                "n": n,
            }
            row |= {"left_out": all_rows.height - n}
            row |= {"first_count": first, "second_count": second}
            if n:
                row |= {"first_rate": first / n, "second_rate": second / n}
                row |= {"delta": (second - first) / n}
            rows.append(dict.fromkeys(DELTAS) | row)
    return pl.DataFrame(rows, schema=DELTAS)


def _run_cell(row: Row) -> str:
    return printable(run_name(row["model"], row["setting"], row["budget"]))


def _label_cell(mode: Mode, row: Row) -> str:
    count, share = row["labels"][mode]
    return f"{count} ({points(share)})"


def shares_sheet(frame: pl.DataFrame) -> Sheet:
    """Lay out a table of `label_shares`."""
    by_task = frame["task"].null_count() < frame.height
    rows = []
    for part in frame.partition_by(*RUN, "task", maintain_order=True):
        labels = {
            row[0]: row[1:]
            for row in part.select("failure_mode", "count", "share").rows()
        }
        rows.append({**part.row(0, named=True), "labels": labels})
    columns = [
        Column("run", _run_cell, is_words=True),
        *([Column("task", task_title, is_words=True)] if by_task else []),
        *(
            Column(*names)
            for names in (("rows", "rows"), ("pass", "passed"), ("judged", "judged"))
        ),
        *(Column(MEANINGS[mode].short, partial(_label_cell, mode)) for mode in Mode),
        Column("status", statuses, is_words=True, wraps=True),
    ]
    breaks = changes_of([*map(_run_cell, rows)]) if by_task else ()
    meanings = [f"{MEANINGS[mode].short}: {MEANINGS[mode].applies}" for mode in Mode]
    return sheet_of("Failure modes", columns, rows, [_SHARES_NOTE, *meanings], breaks)


def state_title(state: str) -> str:
    """Return a state's name for people; book-keeping states are named by their status."""
    return MEANINGS[Mode(state)].short if state in set(Mode) else state


def square_sheet(
    title: str, head: str, states: Sequence[str], pairs: pl.DataFrame, note: str
) -> Sheet:
    """Lay out counts of pairs of states, with their sums.

    Args:
        title: what it shows.
        head: of the states.
        states: in their order.
        pairs: with the state of the row, that of the column, and the count, as first columns.
        note: to stand below.
    """
    cells = {(a, b): n for a, b, n in pairs.select(pairs.columns[:3]).iter_rows()}
    titles = [*map(state_title, states), "all"]
    table = [[cells[a, b] for b in states] for a in states]
    table.append([sum(column) for column in zip(*table, strict=True)])
    rows = [
        [name, *map(str, row), str(sum(row))]
        for name, row in zip(titles, table, strict=True)
    ]
    words, breaks = frozenset({head}), frozenset({len(states)})
    return Sheet(title, [head, *titles], rows, words, [note], breaks)


def matrix_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `transitions`, a sheet per pair."""
    sheets = []
    for (first, second), part in frame.group_by("first", "second", maintain_order=True):
        states = part["first_state"].unique(maintain_order=True).to_list()
        title = (
            f"From {printable(str(first))} (rows) to {printable(str(second))} (columns)"
        )
        note = "Scores, paired: the same subtask, and the same sample, in both runs."
        sheets.append(
            square_sheet(title, "state", states, part.drop("first", "second"), note)
        )
    return sheets


def _rate_cell(side: str, row: Row) -> str:
    return f"{row[f'{side}_count']} ({points(row[f'{side}_rate'])})"


_DELTAS = (
    Column("state", lambda row: state_title(row["state"]), is_words=True),
    *(Column(side, partial(_rate_cell, side)) for side in ("first", "second")),
    Column("difference", lambda row: signed(row["delta"])),
)


def deltas_sheets(frame: pl.DataFrame) -> list[Sheet]:
    """Lay out a table of `state_deltas`."""
    sheets = []
    for (first, second), part in frame.group_by("first", "second", maintain_order=True):
        note = (
            f"Counts and rates in points, over the {part['n'][0]} scores with a state in both "
            f"runs; {part['left_out'][0]} have none in one of them. These are differences of "
            "margins: see `matrix` for what became of each score."
        )
        title = f"States of {printable(str(first))} (first) and {printable(str(second))} (second)"
        sheets.append(sheet_of(title, _DELTAS, part.to_dicts(), [note]))
    return sheets


def agreement(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
    """Return how far two judges agree on the same candidates.

    Args:
        first: labels of one judge, columns `scbench.analysis.failure_modes.labels.LABELS`.
        second: those of another.

    Returns:
        The confusion matrix, a row per pair of labels, with columns `AGREEMENT`: count; and the
        same in every row: n (candidates), agreement (the share with the same label) and Cohen's
        kappa, which takes off what would agree by chance (null if both gave one and the same label
        throughout, so that there is no chance to take off) with its interval.

    Raises:
        ResultsError: the two are not of the same candidates, or there are none.
    """
    lacking = [
        a.join(b, on="candidate", how="anti").height
        for a, b in ((first, second), (second, first))
    ]
    if any(lacking):
        raise ResultsError(
            f"the labels are of different candidates: {lacking[0]} are in the first file alone, "
            f"{lacking[1]} in the second"
        )
    if first.is_empty():
        raise ResultsError("there are no labels to compare")
    both = first.select("candidate", a="failure_mode").join(
        second.select("candidate", b="failure_mode"), on="candidate"
    )
    counts = Counter(both.select("a", "b").iter_rows())
    n = both.height
    same = sum(counts[mode, mode] for mode in Mode)
    ours, theirs = (Counter(both[side].to_list()) for side in "ab")
    # Whole numbers, so that perfect agreement gives exactly 1.
    chance = sum(ours[mode] * theirs[mode] for mode in Mode)
    kappa = (n * same - chance) / (n * n - chance) if chance < n * n else None
    table = np.array([[counts[a, b] for b in Mode] for a in Mode], dtype=np.float64)
    low, high = (None, None) if kappa is None else kappa_interval(table, kappa)
    fixed = {
        "n": n,
        "agreement": same / n,
        "kappa": kappa,
        "kappa_low": low,
        "kappa_high": high,
    }
    return pl.DataFrame(
        [
            {"first_label": str(a), "second_label": str(b), "count": counts[a, b]}
            | fixed
            for a in Mode
            for b in Mode
        ],
        schema=AGREEMENT,
    )


def kappa_interval(
    table: Floats, kappa: float, level: float = LEVEL
) -> tuple[float, float]:
    """Return an interval of Cohen's kappa.

    Its variance is that of Fleiss, Cohen and Everitt (1969), of a table to which two candidates
    are added, one that agrees and one that does not, by the margins: perfect agreement on a few
    candidates is no proof of agreement.

    Args:
        table: counts of pairs of labels, square.
        kappa: of the table.
        level: chance with which the interval is to hold the true kappa.
    """
    n = table.sum() + 2
    shares = (table.sum(axis=0) + table.sum(axis=1)) / (2 * table.sum())
    apart = np.outer(shares, shares) * (1 - np.eye(len(table)))
    p = (table + np.diag(shares) + apart / apart.sum()) / n
    rows, columns = p.sum(axis=1), p.sum(axis=0)
    agreed, chance = float(np.trace(p)), float(rows @ columns)
    smooth = (agreed - chance) / (1 - chance)
    weights = (
        columns[:, None] + rows[None, :]
    )  # of each cell, the margins of the other judge
    on = float(
        (np.diag(p) * ((1 - chance) - np.diag(weights) * (1 - agreed)) ** 2).sum()
    )
    off = p * weights.T**2
    apart_sum = float(off.sum() - np.trace(off)) * (1 - agreed) ** 2
    last = (agreed * chance - 2 * chance + agreed) ** 2
    spread = max(on + apart_sum - last, 0) ** 0.5 / ((1 - chance) ** 2 * n**0.5)
    half = NormalDist().inv_cdf((1 + level) / 2) * spread
    return max(-1.0, min(smooth - half, kappa)), min(1.0, max(smooth + half, kappa))


def agreement_sheet(frame: pl.DataFrame, first: str, second: str) -> Sheet:
    """Lay out a table of `agreement`.

    Args:
        frame: the table.
        first: who gave the first labels.
        second: who gave the others.
    """
    head = frame.row(0, named=True)
    kappa = "-"
    if head["kappa"] is not None:
        kappa = f"{head['kappa']:.3f} (95 %: {head['kappa_low']:.3f} to {head['kappa_high']:.3f})"
    agreed = points(head["agreement"])
    note = f"Agreement {agreed} % of {head['n']} candidates, Cohen's kappa {kappa}."
    title = f"Labels by {printable(first)} (rows) and {printable(second)} (columns)"
    return square_sheet(title, "label", list(Mode), frame, note)
