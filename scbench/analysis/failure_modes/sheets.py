"""Tables of failure modes laid out as people read them."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from scbench.analysis.compare import run_name
from scbench.analysis.failure_modes.labels import MEANINGS, Mode
from scbench.analysis.layout import Sheet
from scbench.analysis.sheets import points, signed
from scbench.base.errors import printable
from scbench.base.model import Status
from scbench.catalog import all_tasks

if TYPE_CHECKING:
    import polars as pl

_NOTE = (
    "Labels: count and share of the judged candidates, in points. What was never sent, blocked, "
    "lost, cut off or blank is not judged and stands under status."
)


def state_title(state: str) -> str:
    """Return a state's name for people; book-keeping states are named by their status."""
    return MEANINGS[Mode(state)].short if state in set(Mode) else state


def shares_sheet(frame: "pl.DataFrame") -> Sheet:
    """Lay out a table of `scbench.analysis.failure_modes.shares.label_shares`."""
    titles = {task.id: task.title for task in all_tasks().values()}
    by_task = frame["task"].null_count() < frame.height
    rows: list[list[str]] = []
    breaks = set()
    keys = ["model", "setting", "budget", "task"]
    run = None
    for _, part in frame.group_by(keys, maintain_order=True):
        head = part.row(0, named=True)
        name = printable(run_name(head["model"], head["setting"], head["budget"]))
        if rows and by_task and name != run:
            breaks.add(len(rows))
        run = name
        counts = dict(part.select("failure_mode", "count").iter_rows())
        shares = dict(part.select("failure_mode", "share").iter_rows())
        rows.append(
            [
                name,
                *([titles.get(head["task"], head["task"])] if by_task else []),
                *(str(head[kind]) for kind in ("rows", "passed", "judged")),
                *(f"{counts[mode]} ({points(shares[mode])})" for mode in Mode),
                ", ".join(f"{head[s.value]} {s.value}" for s in Status if head[s.value]),
            ]
        )
    heads = ["run", *(["task"] if by_task else []), "rows", "pass", "judged"]
    heads += [*(MEANINGS[mode].short for mode in Mode), "status"]
    words = frozenset({"run", "task", "status"})
    return Sheet("Failure modes", heads, rows, words, [_NOTE], frozenset(breaks))


def matrix_sheets(frame: "pl.DataFrame") -> list[Sheet]:
    """Lay out a table of `scbench.analysis.failure_modes.shares.transitions`, a sheet per pair."""
    sheets = []
    for (first, second), part in frame.group_by("first", "second", maintain_order=True):
        states = part["first_state"].unique(maintain_order=True).to_list()
        cells = {(a, b): n for a, b, n in part.select(list(part.columns[2:])).iter_rows()}
        title = f"From {printable(str(first))} (rows) to {printable(str(second))} (columns)"
        note = "Scores, paired: the same subtask, and the same sample, in both runs."
        sheets.append(_square(title, "state", states, cells, note))
    return sheets


def _square(
    title: str, head: str, states: Sequence[str], cells: Mapping[tuple[str, str], int], note: str
) -> Sheet:
    """Lay out counts of pairs of states, with their sums; cells are by row and column."""
    titles = [*map(state_title, states), "all"]
    table = [[cells[a, b] for b in states] for a in states]
    table.append([sum(column) for column in zip(*table, strict=True)])
    rows = [[name, *map(str, row), str(sum(row))] for name, row in zip(titles, table, strict=True)]
    words, breaks = frozenset({head}), frozenset({len(states)})
    return Sheet(title, [head, *titles], rows, words, [note], breaks)


def deltas_sheets(frame: "pl.DataFrame") -> list[Sheet]:
    """Lay out a table of `scbench.analysis.failure_modes.shares.state_deltas`."""
    sheets = []
    for (first, second), part in frame.group_by("first", "second", maintain_order=True):
        rows = [
            [
                state_title(row["state"]),
                *(
                    f"{row[f'{side}_count']} ({points(row[f'{side}_rate'])})"
                    for side in ("first", "second")
                ),
                signed(row["delta"]),
            ]
            for row in part.iter_rows(named=True)
        ]
        note = (
            f"Counts and rates in points, over the {part['n'][0]} scores with a state in both "
            f"runs; {part['left_out'][0]} have none in one of them. These are differences of "
            "margins: see `matrix` for what became of each score."
        )
        sheets.append(
            Sheet(
                f"States of {printable(str(first))} (first) and {printable(str(second))} (second)",
                ["state", "first", "second", "difference"],
                rows,
                frozenset({"state"}),
                [note],
            )
        )
    return sheets


def agreement_sheet(frame: "pl.DataFrame", first: str, second: str) -> Sheet:
    """Lay out a table of `scbench.analysis.failure_modes.agreement.agreement`.

    Args:
        frame: the table.
        first: who gave the first labels.
        second: who gave the others.
    """
    cells = {(a, b): n for a, b, n in frame.select(list(frame.columns[:3])).iter_rows()}
    head = frame.row(0, named=True)
    kappa = "-"
    if head["kappa"] is not None:
        kappa = f"{head['kappa']:.3f} (95 %: {head['kappa_low']:.3f} to {head['kappa_high']:.3f})"
    agreed = points(head["agreement"])
    note = f"Agreement {agreed} % of {head['n']} candidates, Cohen's kappa {kappa}."
    title = f"Labels by {printable(first)} (rows) and {printable(second)} (columns)"
    return _square(title, "label", list(Mode), cells, note)
