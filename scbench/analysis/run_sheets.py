"""Tables of comparisons, samples, cost, budgets and runs, laid out as people read them."""

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scbench.analysis.compare import TIED, TOO_FEW
from scbench.analysis.layout import Sheet
from scbench.analysis.results import ON_TERSE
from scbench.analysis.sheets import ABOVE_NOTE, above_line, figure, line_name, points, signed
from scbench.base.errors import printable
from scbench.catalog import all_tasks

if TYPE_CHECKING:
    import polars as pl

_COMPARED = (
    (
        "Difference: second minus first over the scores both have, in points, with its 95 % "
        "interval. Ahead: answers on which one run scores higher."
    ),
    (
        "p: signs of the answers' differences flipped at random, exact where answers are few or "
        "right or wrong; corrected: over all lines of all pairs, and the verdict comes from it. "
        "Shows: the difference that would be found here with a chance of 80 %; - where none would."
    ),
)


def _titles() -> dict[str, str]:
    return {task.id: task.title for task in all_tasks().values()}


def _run(row: Mapping[str, Any]) -> str:
    parts = (row["model"], row["setting"], row["budget"])
    return " ".join(printable(str(part)) for part in parts if part is not None)


def _line(row: Mapping[str, Any], titles: Mapping[str, str]) -> str:
    return line_name(row["bucket"], row["task"], row["over"], titles, every=True)


def _between(row: Mapping[str, Any]) -> str:
    between = "" if row["low"] is None else f"\n{points(row['low'])} to {points(row['high'])}"
    return between + (above_line(row, "above", points) if row["floor"] else "")


def _above_note(frame: "pl.DataFrame") -> list[str]:
    return [ABOVE_NOTE] if any(frame["floor"]) else []


def comparison_sheets(frame: "pl.DataFrame") -> list[Sheet]:
    """Lay out a table of `scbench.analysis.compare.compare_runs`, a sheet for each pair of runs."""
    titles = _titles()
    sheets = []
    heads = ["task", "N", "first", "second", "difference", "1st ahead", "2nd ahead"]
    heads += ["p", "p corrected", "shows", "verdict"]
    for (first, second), part in frame.group_by("first", "second", maintain_order=True):
        rows, breaks = [], set()
        above = False
        for i, row in enumerate(part.iter_rows(named=True)):
            between = f"\n{signed(row['low'])} to {signed(row['high'])}"
            if row["above"] is not None and abs(row["above"] - row["difference"]) > _SAME:
                between += above_line(row, "above", signed)
                above = True
            tie = row["verdict"] in {TIED, TOO_FEW}
            rows.append(
                [
                    _line(row, titles),
                    str(row["n"]),
                    points(row["first_mean"]),
                    points(row["second_mean"]),
                    signed(row["difference"]) + between,
                    str(row["first_ahead"]),
                    str(row["second_ahead"]),
                    chance(row["p_value"]),
                    chance(row["p_corrected"]),
                    points(row["shows"]),
                    row["verdict"] if tie else f"{printable(row['verdict'])} is better",
                ]
            )
            if row["task"] is None:
                breaks.add(i + 1)
        title = f"{printable(str(first))} (first) against {printable(str(second))} (second)"
        if ON_TERSE in str(first):
            title += ": what a full specification is worth"
        words = frozenset({"task", "verdict"})
        notes = [*_COMPARED, *([ABOVE_NOTE] if above else [])]
        sheets.append(Sheet(title, heads, rows, words, notes, frozenset(breaks)))
    return sheets


_SAME = 1e-9


def chance(p: float) -> str:
    """Return a p-value as it is printed."""
    return "<0.001" if p < 0.001 else f"{p:.3f}"


def samples_sheet(frame: "pl.DataFrame") -> Sheet:
    """Lay out a table of `scbench.analysis.samples.pass_at_k`."""
    titles = _titles()
    ks = sorted(frame["k"].unique())
    lines: dict[tuple[Any, ...], dict[str, Any]] = {}
    for row in frame.iter_rows(named=True):
        key = (row["model"], row["setting"], row["budget"], row["bucket"], row["task"])
        lines.setdefault(key, row | {"passes": {}})["passes"][row["k"]] = _passes(row)
    rows = [
        [
            _run(row),
            _line(row, titles),
            str(row["n"]),
            str(row["samples"]),
            points(row["mean"]) + _between(row),
            points(row["majority"]) + (f"\nof {row['majority_n']}" if row["majority_n"] else ""),
            *("-" if row[name] is None else f"{row[name]:.3f}" for name in ("within", "between")),
            *(row["passes"].get(k, "-") for k in ks),
        ]
        for row in lines.values()
    ]
    heads = ["model", "task", "N", "samples", "mean of n", "majority"]
    heads += ["var. within", "var. between", *(f"pass@{k}" for k in ks)]
    notes = [
        (
            "Mean of n: over the means of items, with its 95 % interval. Majority: the score of "
            "the answer given most often, over the items with one that was given twice. Pass@k: "
            "the chance that one of k samples is right, unbiased, over the items with so many."
        ),
        "Variances are of scores: within items, over samples; between items, beyond that.",
    ]
    return Sheet("Several samples per item", heads, rows, notes=notes + _above_note(frame))


def _passes(row: Mapping[str, Any]) -> str:
    few = row["pass_n"] < row["n"]
    return points(row["pass_at_k"]) + (f"\nof {row['pass_n']}" if few else "")


def turn_sheets(frame: "pl.DataFrame") -> list[Sheet]:
    """Lay out a table of `scbench.analysis.turns.turn_table`, a sheet for each run and setup."""
    titles = _titles()
    sheets = []
    for (loop,), part in frame.group_by("loop", maintain_order=True):
        for _, run in part.group_by("model", "budget", maintain_order=True):
            sheets.append(_turn_sheet(run, json.loads(str(loop)), titles))
    return sheets


def _turn_sheet(part: "pl.DataFrame", loop: Mapping[str, Any], titles: Mapping[str, str]) -> Sheet:
    rows, breaks = [], set()
    for i, row in enumerate(part.iter_rows(named=True)):
        if row["turn"] == 1:
            breaks.add(i)
        gain = "-"
        if row["gain"] is not None:
            gain = f"{signed(row['gain'])}\n{signed(row['gain_low'])} to {signed(row['gain_high'])}"
        solved = {"mean": row["solved"], "low": row["solved_low"], "high": row["solved_high"]}
        rows.append(
            [
                _line(row, titles) if row["turn"] == 1 else "",
                str(row["turn"]),
                points(row["mean"]) + _limits(row),
                gain,
                points(row["solved"]) + _limits(solved),
                points(row["played"]),
                "-" if row["queries"] is None else f"{row['queries']:.1f}",
                str(row["n"]),
            ]
        )
    promised = ", ".join(
        f"{name} {loop[name]}" for name in _PROMISED[loop["setting"]] if name in loop
    )
    note = (
        "After a turn the last answer up to then counts, 0 before there is one. Gain: over the "
        "turn above, over the same items, in points. Solved: share with the full score. Played: "
        "share of trials with such a turn. Queries: what queries or actions cost in a whole trial. "
        "These scores share no mean with answers given at once."
    )
    heads = ["task", "turn", "mean", "gain", "solved", "played", "queries", "N"]
    title = f"Scores by turn: {_run(part.row(0, named=True))} ({promised})"
    return Sheet(title, heads, rows, notes=[note], breaks=frozenset(breaks - {0}))


_PROMISED = {"retry": ("attempts", "disclose"), "probe": ("budget",), "act": ("budget",)}


def _limits(row: Mapping[str, Any]) -> str:
    return "" if row["low"] is None else f"\n{points(row['low'])} to {points(row['high'])}"


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
                row["stated"] or "-",
                str(row["n"]),
                figure(row | {"mean": row["accuracy"]}, row["n"]),
                "-" if tokens is None else f"{tokens:,.1f}",
                f"{seen}/{row['n']}",
                str(row["answered"]),
                *(points(row[name]) for name in shares),
            ]
        )
    heads = ["model", "setting", "budget", "stated", "N", "accuracy", "mean tokens", "reported"]
    note = (
        "Stated: whether the prompt said the budget. Shares are of the answered, in points; API "
        "errors are of all rows. Tokens: as the provider reports them, where it does."
    )
    return Sheet(
        "Output-token budget sweep",
        [*heads, "answered", *(name.replace("_", " ") for name in shares)],
        rows,
        notes=[note, *_above_note(frame)],
    )


def cost_sheet(frame: "pl.DataFrame") -> Sheet:
    """Lay out a table of `scbench.analysis.usage.cost_table`, without what nobody reports."""
    titles = _titles()
    amounts = {"input_tokens": ",.0f", "output_tokens": ",.0f", "reasoning_tokens": ",.0f"}
    amounts |= {"seconds": ",.1f", "cost": ",.4f"}
    used = {name: form for name, form in amounts.items() if frame[f"{name}_reported"].sum()}
    rows: list[list[str]] = []
    breaks: set[int] = set()
    previous = None
    for i, row in enumerate(frame.iter_rows(named=True)):
        breaks |= {i} if previous not in {None, _run(row)} else set()
        previous = _run(row)
        per = row["score_per_1000_tokens"]
        rows.append(
            [
                _run(row),
                _line(row, titles),
                str(row["answers"]),
                points(row["mean"]) + _between(row),
                *(_amount(row, name, form) for name, form in used.items()),
                "-" if per is None else f"{per:.3f}",
                points(row["cut_off"]),
            ]
        )
    heads = ["model", "task", "answers", "mean"]
    heads += [name.replace("_", " ") for name in used]
    note = (
        "Per answer, as the provider reports it; below a figure that not all answers have, their "
        "number. Cost is in US dollars; cut off: share of the answers that the length limit ended, "
        "in points. Score per 1,000 tokens: scores over output tokens, where these are reported."
    )
    heads += ["score / 1,000 tokens", "cut off"]
    notes = [note, *_above_note(frame)]
    return Sheet("What answers cost", heads, rows, notes=notes, breaks=frozenset(breaks))


def _amount(row: Mapping[str, Any], name: str, form: str) -> str:
    if row[name] is None:
        return "-"
    count = row[f"{name}_reported"]
    return f"{row[name]:{form}}" + (f"\nof {count}" if count < row["answers"] else "")


def runs_sheet(frame: "pl.DataFrame") -> Sheet:
    """Lay out a table of `scbench.analysis.runs.run_table`; what nobody says is left out."""
    said = [name for name in frame.columns[3:-2] if frame[name].is_not_null().any()]
    heads = [name for name in ("model", "setting", "budget") if frame[name].is_not_null().any()]
    rows = [
        [
            *("" if row[name] is None else printable(str(row[name])) for name in heads),
            *("-" if row[name] is None else _short(name, row[name]) for name in said),
            str(row["rows"]),
            str(row["prompts_hashed"]),
        ]
        for row in frame.iter_rows(named=True)
    ]
    titles = [name.replace("_", " ").removesuffix(" sha256") for name in said]
    words = frozenset({*heads, *titles} - {"budget", "temperature"})
    note = (
        "As the predictions say; - where they do not. Prompts hashed: rows whose line has the "
        "hash of the text that was sent."
    )
    return Sheet("Runs", [*heads, *titles, "rows", "prompts hashed"], rows, words, [note])


def _short(name: str, text: str) -> str:
    if not name.endswith("sha256"):
        return printable(text)
    return " / ".join(digest[:12] for digest in text.split(" / "))


def falloff_sheet(frame: "pl.DataFrame") -> Sheet:
    """Lay out a table of `scbench.analysis.falloff.falloff_table`."""
    titles = _titles()
    rows = [
        [
            _run(row),
            titles.get(row["task"], row["task"]),
            row["parameter"],
            str(row["n"]),
            str(row["values"]),
            row["direction"],
            _number(row["half"]),
            _reach(row),
        ]
        for row in frame.iter_rows(named=True)
    ]
    heads = ["model", "task", "parameter", "N", "values", "accuracy", "half at", "95 %"]
    note = (
        "Half at: the value at which a logistic curve is half-way from all right to what guessing "
        "gets; its interval holds what a likelihood-ratio test does not refuse, and is open where "
        "the values do not bound it. Level: no slope can be told from none."
    )
    words = frozenset({"model", "task", "parameter", "accuracy"})
    return Sheet("Where half is lost", heads, rows, words, [note])


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _reach(row: Mapping[str, Any]) -> str:
    low, high = row["half_low"], row["half_high"]
    if low is None and high is None:
        return "-"
    if low is None or high is None:
        return f"below {high:.2f}" if low is None else f"above {low:.2f}"
    return f"{low:.2f} to {high:.2f}"


def item_sheets(tables: "Mapping[str, pl.DataFrame]") -> list[Sheet]:
    """Lay out the tables of `scbench.analysis.items`."""
    titles = _titles()
    items = Sheet(
        "Items, over all runs",
        ["task", "subtask", "difficulty", "runs", "mean", "share right", "discrimination"],
        [
            [
                titles.get(row["task"], row["task"]),
                str(row["subtask"]),
                row["difficulty"] or "-",
                str(row["runs"]),
                points(row["mean"]),
                points(row["right"]),
                _number(row["discrimination"]),
            ]
            for row in tables["items"].iter_rows(named=True)
        ],
        frozenset({"task", "difficulty"}),
        [
            (
                "Means are over runs, in points. Discrimination: correlation over runs of an "
                "item's score with the run's mean on all other items of the table; - with fewer "
                "than three runs, or where all score alike."
            )
        ],
        _starts([row["task"] for row in tables["items"].iter_rows(named=True)]),
    )
    labels = Sheet(
        "Difficulty labels against means",
        ["task", "difficulty", "N", "mean", "95 %", "as labelled"],
        [
            [
                titles.get(row["task"], row["task"]) if row["task"] else "all",
                row["difficulty"],
                str(row["n"]),
                points(row["mean"]),
                f"{points(row['low'])} to {points(row['high'])}",
                {None: "-", True: "yes", False: "no: easier labels score lower"}[row["in_order"]],
            ]
            for row in tables["labels"].iter_rows(named=True)
        ],
        frozenset({"task", "difficulty", "as labelled"}),
        ["As labelled: whether the mean is no higher than that of the next easier label."],
        _starts([row["task"] for row in tables["labels"].iter_rows(named=True)]),
    )
    return [items, labels]


def _starts(names: Sequence[str | None]) -> frozenset[int]:
    return frozenset(i for i in range(1, len(names)) if names[i] != names[i - 1])
