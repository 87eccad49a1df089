"""Tables of levels, laid out as people read them, with a chart of each line."""

from typing import TYPE_CHECKING, Any

from scbench.analysis.layout import Sheet
from scbench.analysis.levels import FIRST
from scbench.analysis.run_sheets import chance
from scbench.analysis.sheets import line_name, points, signed
from scbench.base.errors import printable
from scbench.catalog import all_tasks

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, Any]

_WIDE = 4
"""Signs of the chart from one rung to the next."""
_BARS = " ▁▂▃▄▅▆▇█"
NOTES = [
    (
        "Level: the rung on which a model scores half of what lies between the floor and 1. An "
        'interval that leaves the ladder ends in "<1" or ">8". Slope: how fast scores fall, per '
        "rung."
    ),
    (
        "Over several tasks: the mean of their levels, where one beyond its ladder counts for at "
        "most half a rung more; + and - say how many lie above and below."
    ),
]
_CHART = "Chart: ● the level, ─ its interval; by rung: mean scores above the floor."


def ladder_sheets(
    frame: "pl.DataFrame", rungs: "pl.DataFrame", *, chart: bool = True
) -> list[Sheet]:
    """Lay out a table of `scbench.analysis.ladder.ladder_table`, a sheet for each run.

    Args:
        frame: the table.
        rungs: of the same results, see `scbench.analysis.ladder.rung_table`.
        chart: whether to draw each line with signs.
    """
    titles = {task.id: task.title for task in all_tasks().values()}
    keys = ["model", "setting", "budget"]
    means: dict[tuple[Any, ...], dict[int, float | None]] = {}
    for row in rungs.iter_rows(named=True):
        line = tuple(row[name] for name in (*keys, "task"))
        means.setdefault(line, {})[row["rung"]] = row["above"]
    runs = frame.select(keys).n_unique()
    sheets: list[Sheet] = []
    for run, part in frame.group_by(keys, maintain_order=True):
        rows = part.to_dicts()
        top = max(row["rungs"] for row in rows)
        heads = ["task", "answers", "level", "95 %", "slope", "floor"]
        heads += [_ruler(top), "by rung"] if chart else []
        cells = []
        for row in rows:
            name = line_name(row["bucket"], row["task"], row["over"], titles, every=True)
            scored, n = row["scored"], row["n"]
            cell = [name, f"{scored}" if scored == n else f"{scored}/{n}"]
            cell += [level_words(row) + _strays(row), interval_words(row)]
            cell += ["" if row[key] is None else f"{row[key]:.2f}" for key in ("slope", "floor")]
            cell += [_track(row, top), _spark(means.get((*run, row["task"]), {}))] if chart else []
            cells.append(cell)
        breaks = {i for i in range(1, len(rows)) if rows[i - 1]["task"] is None}
        named = " ".join(printable(str(value)) for value in run if value is not None)
        words = frozenset({"task", *heads[6:]})
        # Once, below the last table.
        notes = [*NOTES, *([_CHART] if chart else [])] if len(sheets) + 1 == runs else []
        if any(row["coverage"] < 1 for row in rows):
            notes.append("Answers without a score are left out: scored/asked for.")
        sheets.append(Sheet(f"Levels, {named}", heads, cells, words, notes, frozenset(breaks)))
    return sheets


def level_words(row: Row, name: str = "") -> str:
    """Return a level as it is read: a number of rungs, "below 1", or a dash."""
    value, beyond = row[f"{name}level"], row[f"{name}beyond"]
    return beyond or ("-" if value is None else f"{value:.1f}")


def interval_words(row: Row) -> str:
    """Return an interval; what leaves the ladder says at which end."""
    if row["level"] is None and row["beyond"] is None:
        return ""
    low, high = row["low"], row["high"]
    below, above = f"<{FIRST:g}", f">{row['rungs']}"
    if high is not None and high < FIRST:
        return below
    if low is not None and low > row["rungs"]:
        return above
    return f"{below if low is None else f'{low:.1f}'} to {above if high is None else f'{high:.1f}'}"


def _strays(row: Row) -> str:
    """Say how many of several tasks lie beyond their ladders."""
    if row["task"] is not None:
        return ""
    above = f" +{row['tasks_above']}" if row["tasks_above"] else ""
    return above + (f" -{row['tasks_below']}" if row["tasks_below"] else "")


def _ruler(top: int) -> str:
    return " " + "".join(str(rung).ljust(_WIDE) for rung in range(1, top + 1)).rstrip()


def _track(row: Row, top: int) -> str:
    """Draw a level with its interval on a line from the first rung to the top."""
    if row["level"] is None and row["beyond"] is None:
        return ""
    wide = (top - 1) * _WIDE + 3
    end = (row["rungs"] - 1) * _WIDE + 2

    def place(value: float | None, beyond: int) -> int:
        return beyond if value is None else round((value - FIRST) * _WIDE) + 1

    low, high = place(row["low"], 0), place(row["high"], end)
    at = place(row["level"], 0 if row["beyond"] == f"below {FIRST:g}" else end)
    signs = ["·" if i % _WIDE == 1 else " " for i in range(wide)]
    signs[low : high + 1] = "─" * (high + 1 - low)
    signs[min(at, wide - 1)] = "●"
    return "".join(signs).rstrip()


def _spark(means: dict[int, float | None]) -> str:
    """Draw means by rung as bars; a dot where there is none."""
    shown = (means[rung] for rung in sorted(means))
    return "".join("·" if m is None else _BARS[round(m * (len(_BARS) - 1))] for m in shown)


def level_pairs_sheets(frame: "pl.DataFrame") -> list[Sheet]:
    """Lay out a table of `scbench.analysis.ladder.compare_levels`, a sheet for each pair."""
    titles = {task.id: task.title for task in all_tasks().values()}
    heads = ["task", "shared", "first", "second", "difference", "95 %"]
    sheets = []
    for (first, second), part in frame.group_by("first", "second", maintain_order=True):
        rows = part.to_dicts()
        cells = [
            [
                line_name(row["bucket"], row["task"], row["over"], titles, every=True),
                str(row["shared"]),
                level_words(row, "first_"),
                level_words(row, "second_"),
                rungs_signed(row["difference"]),
                f"{rungs_signed(row['low'])} to {rungs_signed(row['high'])}",
            ]
            for row in rows
        ]
        note = (
            "Difference: second minus first, in rungs, with its 95 % interval; a level counts for "
            "at most half a rung beyond its ladder. Shared: answers to the same items, whose luck "
            "is the same."
        )
        breaks = frozenset(i for i in range(1, len(rows)) if rows[i - 1]["task"] is None)
        title = f"Levels, {printable(str(first))} and {printable(str(second))}"
        sheets.append(Sheet(title, heads, cells, frozenset({"task"}), [note], breaks))
    return sheets


def rungs_signed(value: float | None) -> str:
    """Return a difference in rungs, with its sign."""
    if value is None:
        return "-"
    text = f"{value:+.1f}"
    return "±0.0" if text in {"+0.0", "-0.0"} else text


def gap_sheet(frame: "pl.DataFrame") -> Sheet:
    """Lay out a table of `scbench.analysis.gap.gap_table`."""
    titles = {task.id: task.title for task in all_tasks().values()}
    rows = frame.to_dicts()
    heads = ["task", "pairs", "public", "private", "difference", "95 %", "leak", "levels", "p"]
    heads += ["verdict"]
    cells = []
    for row in rows:
        name = (
            f"rung {row['rung']}"
            if row["rung"] is not None
            else line_name(row["bucket"], row["task"], row["over"], titles, every=True)
        )
        leak = "-" if row["leak"] is None else f"{points(row['leak'])} %"
        if row["leak"] is not None:
            leak += f"\n{points(row['leak_low'])} to {points(row['leak_high'])}"
        cells.append(
            [
                *(name, str(row["pairs"]), points(row["public"]), points(row["private"])),
                signed(row["difference"]),
                f"{signed(row['low'])} to {signed(row['high'])}",
                *(leak, rungs_signed(row["levels"]), chance(row["p_corrected"]), row["verdict"]),
            ]
        )
    breaks = {
        i
        for i in range(1, len(rows))
        if rows[i - 1]["task"] is None and rows[i - 1]["rung"] is None
    }
    notes = [
        (
            "Means in points, over rungs of tasks that both ladders have, each weighing the same; "
            "difference: public minus private, with its 95 % interval. Leak: the share of public "
            "items that would have to be known by heart to explain it. Levels: difference in rungs."
        ),
        (
            "p: signs of the rungs' differences flipped at random. The overall line is tested by "
            "itself, the others are corrected over the table."
        ),
    ]
    run = (rows[0]["model"], rows[0]["setting"], rows[0]["budget"])
    named = " ".join(printable(str(part)) for part in run if part is not None)
    title = f"Public against private ladder, {named}"
    return Sheet(title, heads, cells, frozenset({"task", "verdict"}), notes, frozenset(breaks))
