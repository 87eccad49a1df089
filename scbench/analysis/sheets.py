"""Tables laid out as people read them. Figures are rounded here, once, and nowhere before."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scbench.analysis.layout import Sheet
from scbench.analysis.paper import BASELINE, TOOLS
from scbench.catalog import all_tasks
from scbench.errors import printable
from scbench.model import Status

if TYPE_CHECKING:
    import polars as pl


def points(share: float | None) -> str:
    """Return a share as points of a hundred, one decimal; a dash if it is missing."""
    return "-" if share is None else f"{100 * share:.1f}"


def signed(share: float | None) -> str:
    """Return a difference of shares in points, with its sign; ±0.0 if it rounds to nothing."""
    if share is None:
        return "-"
    text = f"{100 * share:+.1f}"
    return "±0.0" if text in {"+0.0", "-0.0"} else text


def score_sheet(title: str, frame: "pl.DataFrame") -> Sheet:
    """Lay out a table of `scbench.grading.score_tables.score_table`.

    Columns that say nothing are left out.
    """
    rows = frame.to_dicts()
    heads = ["model"]
    heads += [name for name in ("setting", "budget") if any(row[name] is not None for row in rows)]
    heads += ["task"] if "task" in frame.columns else ["bucket"]
    heads += ["N"]
    heads += ["samples"] if any(row["samples"] > 1 for row in rows) else []
    gaps = any(row["scored"] < row["n"] * row["samples"] for row in rows)
    heads += ["mean", "missing as 0"] if gaps else ["mean"]
    heads += ["coverage", "status"]
    breaks = {i for i in range(1, len(rows)) if rows[i]["model"] != rows[i - 1]["model"]}
    cells = [[_score_cell(row, head) for head in heads] for row in rows]
    return Sheet(title, heads, cells, breaks=frozenset(breaks))


def _score_cell(row: Mapping[str, Any], head: str) -> str:
    match head:
        case "N":
            return str(row["n"])
        case "mean":
            return points(row["mean"]) + ("*" if row["scored"] and row["coverage"] < 1 else "")
        case "missing as 0":
            return points(row["mean_missing_as_zero"])
        case "coverage":
            return f"{row['scored']}/{row['n'] * row['samples']}"
        case "status":
            return ", ".join(f"{row[s.value]} {s.value}" for s in Status if row[s.value])
    return "" if row[head] is None else printable(str(row[head]))


def paper_sheet(title: str, frame: "pl.DataFrame", *, missing_as_zero: bool = False) -> Sheet:
    """Lay out a table of `scbench.analysis.paper.paper_table` as the paper does.

    A column for each model's mean (without tools, if there is such a run), one for what tools add.

    Args:
        title: what it shows.
        frame: the table.
        missing_as_zero: print the mean with missing scores as zeros below the mean.
    """
    cells = {
        (row["bucket"], row["task"], row["model"], row["budget"], row["setting"]): row
        for row in frame.to_dicts()
    }
    lines = list(dict.fromkeys((bucket, task) for bucket, task, *_ in cells))
    columns = _columns(sorted({key[2:] for key in cells}, key=_run_order))
    by_task = any(task for _, task in lines)
    titles = {task.id: task.title for task in all_tasks().values()}
    rows, breaks = [], set()
    for i, (bucket, task) in enumerate(lines):
        found = [cells.get((bucket, task, *run)) for _, run, _ in columns]
        n = max(row["n"] for row in found if row)
        name = titles.get(task, task) if task else bucket
        figures = [
            "" if row is None else _figure(row, n, missing_as_zero=missing_as_zero, delta=delta)
            for row, (_, _, delta) in zip(found, columns, strict=True)
        ]
        rows.append([name if task or not by_task else f"all {bucket}", str(n), *figures])
        if i and lines[i - 1][1] is None and by_task:
            breaks.add(i)
    notes = ["Means in points of 100, with 95 % bootstrap intervals; Δ is what tools add."]
    if any(row["coverage"] < 1 for row in cells.values()):
        notes.append("* over scored rows only: coverage is below 1.")
        if missing_as_zero:
            notes.append("Below a marked mean: the mean with missing scores as zeros.")
    if any(_LESS in cell for row in rows for cell in row[2:]):
        notes.append(f"{_LESS} over fewer scores than N: tasks lack as a whole.")
    heads = ["task" if by_task else "bucket", "N", *(head for head, _, _ in columns)]
    return Sheet(title, heads, rows, notes=notes, breaks=frozenset(breaks))


Run = tuple[str, int | None, str | None]


def _run_order(run: Run) -> tuple[Any, ...]:
    """Return the sort key of a run: a run with tools follows the same without."""
    model, budget, setting = run
    return (model, budget is not None, budget or 0, setting is not None, setting or "")


def _columns(runs: Sequence[Run]) -> list[tuple[str, Run, bool]]:
    """Return heading, run, and whether it is a difference, for each column of figures."""
    columns = []
    for run in runs:
        model, budget, setting = run
        name = printable(model) + ("" if budget is None else f" @{budget}")
        delta = setting == TOOLS and (model, budget, BASELINE) in runs
        alone = setting in {None, BASELINE}
        columns.append(
            (f"{name} Δ" if delta else name if alone else f"{name} {setting}", run, delta)
        )
    return columns


_LESS = "†"
"""Marks figures over fewer scores than the line says, because whole tasks are missing."""


def _figure(
    row: Mapping[str, Any], n: int, *, missing_as_zero: bool = False, delta: bool = False
) -> str:
    """Return a mean or a difference with its marks, and its interval on a line below."""
    if row["delta" if delta else "mean"] is None:
        return "-"
    less = _LESS if row["n"] < n else ""
    if delta:
        between = ""
        if row["delta_low"] is not None:
            between = f"\n{signed(row['delta_low'])} to {signed(row['delta_high'])}"
        gap = "*" if row["delta_n"] < row["n"] else ""
        return signed(row["delta"]) + gap + less + between
    between = "" if row["low"] is None else f"\n{points(row['low'])} to {points(row['high'])}"
    if row["coverage"] == 1:
        return points(row["mean"]) + less + between
    zero = f"\n({points(row['mean_missing_as_zero'])})" if missing_as_zero else ""
    return points(row["mean"]) + "*" + less + zero + between


_COMPARED = (
    (
        "Difference: second minus first over the scores both have, in points, with its 95 % "
        "paired bootstrap interval; tied: the interval holds zero."
    ),
    (
        "p: McNemar's exact test on scores that are right or wrong; Holm: corrected for all tests "
        "of all pairs. Of many lines some differ by chance: trust what the correction leaves."
    ),
)


def comparison_sheets(frame: "pl.DataFrame") -> list[Sheet]:
    """Lay out a table of `scbench.analysis.compare.compare_runs`, a sheet for each pair of runs."""
    titles = {task.id: task.title for task in all_tasks().values()}
    sheets = []
    heads = ["task", "N", "first", "second", "difference", "only 1st", "only 2nd", "p", "p (Holm)"]
    for (first, second), part in frame.group_by("first", "second", maintain_order=True):
        rows, breaks = [], set()
        for i, row in enumerate(part.iter_rows(named=True)):
            task = row["task"]
            between = f"\n{signed(row['low'])} to {signed(row['high'])}"
            tests = ["", "", "", ""]
            if row["p_value"] is not None:
                tests = [str(row["only_first"]), str(row["only_second"])]
                tests += [_chance(row["p_value"]), _chance(row["p_holm"])]
            verdict = (
                "tied" if row["verdict"] == "tied" else f"{printable(row['verdict'])} is better"
            )
            rows.append(
                [
                    titles.get(task, task) if task else f"all {row['bucket']}",
                    str(row["n"]),
                    points(row["first_mean"]),
                    points(row["second_mean"]),
                    signed(row["difference"]) + between,
                    *tests,
                    verdict,
                ]
            )
            if task is None:
                breaks.add(i + 1)
        title = f"{printable(str(first))} (first) against {printable(str(second))} (second)"
        words = frozenset({"task", "verdict"})
        sheets.append(Sheet(title, [*heads, "verdict"], rows, words, _COMPARED, frozenset(breaks)))
    return sheets


def _chance(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def samples_sheet(frame: "pl.DataFrame") -> Sheet:
    """Lay out a table of `scbench.analysis.compare.pass_at_k`."""
    titles = {task.id: task.title for task in all_tasks().values()}
    ks = sorted(frame["k"].unique())
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in frame.iter_rows(named=True):
        key = (row["model"], row["setting"], row["budget"], row["bucket"], row["task"])
        lines.setdefault(key, row | {"passes": {}})["passes"][row["k"]] = row["pass_at_k"]
    rows = []
    for (model, setting, budget, bucket, task), row in lines.items():
        error = "" if row["error"] is None else f" ± {points(row['error'])}"
        rows.append(
            [
                " ".join(
                    printable(str(part)) for part in (model, setting, budget) if part is not None
                ),
                titles.get(task, task) if task else f"all {bucket}",
                str(row["n"]),
                str(row["samples"]),
                points(row["mean"]) + error,
                *(points(row["passes"].get(k)) for k in ks),
            ]
        )
    heads = ["model", "task", "N", "samples", "mean", *(f"pass@{k}" for k in ks)]
    note = "± is the standard error, clustered by item: samples of one item are not independent."
    return Sheet("Several samples per item", heads, rows, notes=[note])


def budget_sheet(frame: "pl.DataFrame") -> Sheet:
    """Lay out a table of `scbench.analysis.budget.budget_sweep`."""
    shares = ("truncated", "empty", "cap_hit", "unparsed", "api_error")
    rows = []
    for row in frame.iter_rows(named=True):
        tokens, seen = row["mean_output_tokens"], row["token_observations"]
        rows.append(
            [
                printable(row["model"]),
                row["setting"] or "",
                f"{row['budget']:,}",
                str(row["n"]),
                _figure(row | {"mean": row["accuracy"]}, row["n"]),
                "-" if tokens is None else f"{tokens:,.1f}",
                f"{seen}/{row['n']}",
                *(points(row[name]) for name in shares),
            ]
        )
    heads = ["model", "setting", "budget", "N", "accuracy", "mean tokens", "reported"]
    note = "Shares of all rows, in points. Tokens: as the provider reports them, where it does."
    return Sheet(
        "Output-token budget sweep",
        [*heads, *(name.replace("_", " ") for name in shares)],
        rows,
        notes=[note],
    )
