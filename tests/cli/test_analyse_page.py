"""Every example under "Analysing results" in docs/analyse.md, on simulated runs with gaps.

What is printed is recomputed here a second way, from the rows alone: with loops, scipy and numbers
solved for, and none of the package's analysis.
"""

import json
import math
import random
import re
import shlex
import sys
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from later import Later
from rich.cells import cell_len

from scbench.analysis.terminal_tables import terminal
from scbench.catalog import get_task
from scbench.cli.printing import PEOPLE
from scbench.grading.rows.columns import column_types
from scbench.release.load import find_release

optimize = Later("scipy.optimize")
stats = Later("scipy.stats")

PAGE = Path(__file__).resolve().parents[2] / "docs" / "analyse.md"
STATUSES = ["answered"] * 14 + [
    "unparsed",
    "truncated",
    "refused",
    "missing",
    "api_error",
]
SCORED = {"answered", "unparsed", "truncated", "refused"}


def examples() -> list[list[str]]:
    text = PAGE.read_text("utf-8").partition("## Analysing results")[2]
    block = text.partition("```sh\n")[2].partition("```")[0]
    return [shlex.split(line, comments=True)[1:] for line in block.splitlines()]


def simulated(
    release, floors, model, skill, *, setting="no_tools", texts=False, budget=None, n=1
):
    """Rows of a simulated run: better for items it knows more of, with every kind of gap."""
    rng = random.Random(f"{model} {setting} {budget}")
    rows = []
    for instance in release.instances().values():
        if (instance.bucket == "manifolds") != texts:
            continue
        if texts and instance.task not in {"arithmetic", "boolean"}:
            continue
        task = get_task(instance.task)
        for sample in range(n):
            status = rng.choice(STATUSES)
            usage = {"output_tokens": rng.randint(50, budget or 9000)}
            usage |= {"cost": rng.randint(1, 99) / 1000} if rng.random() < 0.8 else {}
            point = json.loads(instance.point or "{}")
            chance = skill / (1 + point.get("length", 0) / 8)
            for i in range(instance.scores):
                right = float(rng.random() < chance)
                if task.scoring == "partial" and rng.random() < 0.4:
                    right = rng.randint(1, 9) / 10
                score = (
                    right if status == "answered" else 0.0 if status in SCORED else None
                )
                rows.append(
                    dict.fromkeys(column_types())
                    | {"id": instance.id, "task": task.id, "bucket": task.bucket}
                    | {
                        "subtask": instance.subtask + i,
                        "model": model,
                        "setting": setting,
                    }
                    | {
                        "sample": sample,
                        "budget": budget,
                        "status": status,
                        "score": score,
                    }
                    | {"failed_checks": [], "notes": [], "repairs": [], "reason": ""}
                    | {"checks": _checks(rng, score), "metrics": "{}"}
                    | {
                        "answer": str(rng.randint(0, 2))
                        if status == "answered" and i == 0
                        else None
                    }
                    | {"usage": json.dumps(usage) if rng.random() < 0.9 or i else None}
                    | {"response_characters": 0 if status == "truncated" else 50}
                    | {"finish_reason": "length" if rng.random() < 0.05 else "stop"}
                    | {
                        "run_metadata": json.dumps(
                            {"effort": "high", "budget_stated": True}
                        )
                    }
                    | {"instance_hash": instance.content_hash, "grader_version": 1}
                    | {"floor": floors.get(instance.id, 0.125)}
                    | {
                        "release": release.version,
                        "release_hash": release.manifest.rows_hash,
                    }
                )
    return rows


def _checks(rng, score) -> str:
    bad = score is not None and score < 0.6
    details = {"count": rng.randint(1, 4), "offenders": []}
    check = {"id": "some_rule", "passed": not bad, "message": "", "details": details}
    return json.dumps([check])


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with the results that the page uses, and their rows by name."""
    release = find_release()
    floors = release.floors()
    home = tmp_path_factory.mktemp("analyse")
    rows_of_runs = {
        "mine": simulated(release, floors, "mine", 0.5)
        + simulated(release, floors, "mine", 0.8, setting="tools"),
        "theirs": simulated(release, floors, "theirs", 0.55),
        "several": simulated(release, floors, "several", 0.6, n=3),
        "sweep": [
            row
            for budget, skill in ((1024, 0.2), (4096, 0.5), (16384, 0.6))
            for row in simulated(release, floors, "swept", skill, budget=budget)
        ],
        "texts": simulated(release, floors, "texts", 1.0, texts=True),
    }
    for name, rows in rows_of_runs.items():
        (home / "scbench-results" / name).mkdir(parents=True)
        frame = pl.DataFrame(rows, schema=column_types())
        frame.write_parquet(home / "scbench-results" / name / "results.parquet")
    return home, rows_of_runs


@pytest.fixture
def ran(runs, inside, monkeypatch):
    """A function that runs an example, with extra options, and returns its output."""
    home, _ = runs
    monkeypatch.chdir(home)

    def run(example, *more):
        args = [
            part
            for word in example
            for part in (sorted(map(str, Path().glob(word))) if "*" in word else [word])
        ]
        done = inside(*args, *more)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


def printed(command: str, ran, *more) -> tuple[str, list[dict]]:
    """The output of an example as a table and as JSON."""
    (example,) = [e for e in examples() if set(command.split()) <= set(e)][:1]
    return ran(example), json.loads(ran(example, *more, "--format", "json"))


# A second way.


def interval(parts, weights=None):
    """Solve for the interval of docs/evidence.md; parts: by task, (score, weight) per answer."""
    z, q = stats.norm.ppf(0.975), stats.norm.ppf(0.95)
    tasks = []
    for i, scores in enumerate(parts):
        weight = math.fsum(w for _, w in scores)
        mean = math.fsum(s * w for s, w in scores) / weight
        n = weight**2 / math.fsum(w * w for _, w in scores)
        spread = math.fsum(w * (s - mean) ** 2 for s, w in scores) / weight
        raised = (n * spread + mean**2 + (1 - mean) ** 2) / (n + 2)
        ratio = min(1, raised / max(mean * (1 - mean), 1e-12))
        tasks.append((weight if weights is None else weights[i], mean, n / ratio))
    total = math.fsum(weight for weight, _, _ in tasks)
    mean = math.fsum(weight * m for weight, m, _ in tasks) / total
    room = mean * (1 - mean)
    if room > 1e-12:
        variance = 0.0
        for weight, m, worth in tasks:
            near = (m * worth + mean) / (worth + 1)
            variance += (weight / total) ** 2 * near * (1 - near) / worth
        n = room / variance
    else:
        n = 1 / math.fsum((weight / total) ** 2 / worth for weight, _, worth in tasks)
    z *= 1 + 0.6 * math.sqrt(max(room, 0)) / n

    def lower(m):
        def off(p):
            return (m - p) * math.sqrt(n) - z * math.sqrt(p * (1 - p))

        low = (
            0.0
            if m < 1e-12
            else optimize.brentq(off, 1e-15, min(m, 1 - 1e-9), xtol=1e-14)
        )
        count = max(m * n, 1e-12)
        poisson = (
            count * max(1 - 1 / (9 * count) - q / (3 * math.sqrt(count)), 0) ** 3 / n
        )
        part = min(max(3 - m * n, 0), 1) * min(max(3 - 4 * m, 0), 1)
        return max(0.0, low + part * (min(low, poisson) - low))

    return lower(mean), 1 - lower(1 - mean)


def of(rows, *, bucket=None, task=None, **run):
    """Rows of a run that belong to a line; "overall" is everything except text tasks."""
    return [
        row
        for row in rows
        if all(row[key] == value for key, value in run.items())
        and (task is None or row["task"] == task)
        and (
            bucket in {None, row["bucket"]}
            or (bucket == "overall" and row["bucket"] != "manifolds")
        )
    ]


def by_answer(rows):
    """By task, (mean, number of scores) of each answer, with samples averaged first."""
    result = defaultdict(lambda: defaultdict(list))
    for (row_id, _), mean in items_of(rows).items():
        result[row_id.partition("/")[0]][row_id].append(mean)
    return [
        [(sum(s) / len(s), len(s)) for s in task.values()] for task in result.values()
    ]


def mean_of(rows):
    means = items_of(rows).values()
    return sum(map(Fraction, means)) / len(means)


def heights(rows):
    """By task and answer, the normalized score; for text tasks before stretching."""
    tries = defaultdict(list)
    for row in rows:
        if row["score"] is not None and row["floor"] < 1:
            tries[row["task"], row["id"], row["sample"]].append(row)
    result = defaultdict(lambda: defaultdict(list))
    for (task, row_id, _), answer in tries.items():
        score, floor = sum(r["score"] for r in answer) / len(answer), answer[0]["floor"]
        if answer[0]["bucket"] == "manifolds":
            height = score if answer[0]["status"] == "answered" else floor
        else:
            height = min(max((score - floor) / (1 - floor), 0), 1)
        result[task][row_id].append(height)
    return {
        t: {k: sum(u) / len(u) for k, u in of_task.items()}
        for t, of_task in result.items()
    }


def normalized_of(rows):
    """The normalized score and its interval; None if the floor leaves no room."""
    weights, by_task = find_release().weights(), heights(rows)
    if not by_task:
        return None, None, None
    is_text = {row["task"]: row["bucket"] == "manifolds" for row in rows}
    floors = {row["id"]: row["floor"] for row in rows}
    g = {
        task: is_text[task] * sum(floors[k] for k in answers) / len(answers)
        for task, answers in by_task.items()
    }
    total = sum(weights[task] for task in by_task)
    stretched = [weights[task] / (1 - g[task]) / total for task in by_task]
    shift = sum(w * g[task] for w, task in zip(stretched, by_task, strict=True))
    means = [sum(answers.values()) / len(answers) for answers in by_task.values()]
    value = sum(w * m for w, m in zip(stretched, means, strict=True)) - shift
    parts = [[(u, 1) for u in answers.values()] for answers in by_task.values()]
    low, high = interval(parts, stretched)
    return value, low * sum(stretched) - shift, high * sum(stretched) - shift


def items_of(rows):
    """By (id, subtask), the mean over samples."""
    result = defaultdict(list)
    for row in rows:
        if row["score"] is not None:
            result[row["id"], row["subtask"]].append(row["score"])
    return {key: sum(scores) / len(scores) for key, scores in result.items()}


def changes(first, second):
    """By task and answer, the score differences where both runs have a score."""
    a, b = items_of(first), items_of(second)
    result = defaultdict(lambda: defaultdict(list))
    for row_id, subtask in sorted(a.keys() & b.keys()):
        change = b[row_id, subtask] - a[row_id, subtask]
        result[row_id.partition("/")[0]][row_id].append(change)
    return result


def interval_of_changes(found):
    parts = [
        [((sum(d) / len(d) + 1) / 2, len(d)) for d in answers.values()]
        for answers in found.values()
    ]
    low, high = interval(parts)
    return 2 * low - 1, 2 * high - 1


def points(value) -> str:
    return str(Decimal(f"{100 * value:.8f}").quantize(Decimal("0.1"), "ROUND_HALF_UP"))


def signed(value) -> str:
    text = points(abs(value))
    return f"{'+' if value > 0 else '-'}{text}" if float(text) else "±0.0"


def check_mean(row, rows):
    assert row["mean"] == pytest.approx(float(mean_of(rows)))
    assert (row["low"], row["high"]) == pytest.approx(
        interval(by_answer(rows)), abs=1e-9
    )


def test_every_example_is_checked():
    looked_at = {
        *("tables", "compare", "samples", "cost", "items", "manifolds"),
        *("failure-modes judge", "failure-modes shares", "failure-modes agree"),
    }
    result = {" ".join(e[: 1 + (e[0] == "failure-modes")]) for e in examples()}
    assert result == looked_at


PRINTED = [e for e in examples() if "judge" not in e and "latex" not in e]


@pytest.fixture(scope="module")
def layouts():
    """The output of each example, and the sheets that it lays out."""
    return {}


@pytest.mark.parametrize("width", [80, 120])
@pytest.mark.parametrize("example", PRINTED, ids=[" ".join(e)[:40] for e in PRINTED])
def test_tables_fit_a_terminal_and_shorten_nothing(
    example, width, ran, layouts, monkeypatch, terminal_of
):
    """Columns are dropped in the stated order; every other word of the table is printed in full."""
    key = " ".join(example)
    if key not in layouts:
        if "shares" in example:
            ran(next(e for e in examples() if "judge" in e))
        sheets = []
        monkeypatch.setitem(
            PEOPLE, "table", lambda sheet: sheets.append(sheet) or terminal(sheet)
        )
        ran(
            [word for word in example if word != "--plot" and not word.endswith(".svg")]
        )
        layouts[key] = sheets
    for sheet in layouts[key]:
        text = terminal_of(width, lambda: sys.stdout.write(terminal(sheet)))  # noqa: B023
        lines = text.split("\n")
        assert max(map(cell_len, lines)) <= width
        # The note may take several lines.
        _, _, last = text.replace("\n", " ").partition("Hidden at this width:")
        droppable = []
        for drop in sheet.drops:
            # Some columns are dropped together.
            droppable += [drop] if isinstance(drop, str) else drop
        dropped = [
            head for head in droppable if re.search(rf"[ ,]{re.escape(head)}[,.]", last)
        ]
        # A long id of a task may continue on the next line.
        wraps = sheet.wraps | {"task"}
        for head, *cells in zip(sheet.heads, *sheet.rows, strict=True):
            for word in [] if head in dropped else " ".join(cells).split():
                assert word in text or head in wraps, (head, word)
        assert "…" not in text


def test_tables(runs, ran):
    _, rows_of_runs = runs
    everything = [row for rows in rows_of_runs.values() for row in rows]
    text, table = printed("tables", ran)
    assert len(table) > 26 * 6
    for row in table:
        run = {name: row[name] for name in ("model", "setting", "budget")}
        rows = of(everything, bucket=row["bucket"], task=row["task"], **run)
        scored = [r for r in rows if r["score"] is not None]
        assert row["n"] == len({(r["id"], r["subtask"]) for r in rows})
        assert (row["scored"], row["coverage"]) == (
            len(scored),
            len(scored) / len(rows),
        )
        if not scored:
            assert row["mean"] is row["low"] is row["normalized"] is None
            continue
        check_mean(row, rows)
        gaps_as_zeros = defaultdict(list)
        for r in rows:
            gaps_as_zeros[r["id"], r["subtask"]].append(r["score"] or 0)
        means = [sum(scores) / len(scores) for scores in gaps_as_zeros.values()]
        assert row["mean_missing_as_zero"] == pytest.approx(sum(means) / len(means))
        floors = {(r["id"], r["subtask"]): r["floor"] for r in scored}
        assert row["floor"] == pytest.approx(math.fsum(floors.values()) / len(floors))
        names = ("normalized", "normalized_low", "normalized_high")
        assert [row[name] for name in names] == pytest.approx(
            normalized_of(rows), abs=1e-9
        )
        if row["delta"] is None and row["delta_mean"] is None:
            assert points(row["mean"]) in text
        else:
            before = of(
                everything,
                bucket=row["bucket"],
                task=row["task"],
                **run | {"setting": "no_tools"},
            )
            change = changes(before, rows)
            flat = [
                d for answers in change.values() for ds in answers.values() for d in ds
            ]
            assert row["delta_n"] == len(flat)
            assert row["delta_mean"] == pytest.approx(sum(flat) / len(flat), abs=1e-12)
            ends = (row["delta_mean_low"], row["delta_mean_high"])
            assert ends == pytest.approx(interval_of_changes(change), abs=1e-9)
            assert signed(row["delta_mean"]) in text
            both = {(r["id"], r["subtask"]) for r in before if r["score"] is not None}
            both &= {(r["id"], r["subtask"]) for r in rows if r["score"] is not None}
            pair = [
                normalized_of([r for r in side if (r["id"], r["subtask"]) in both])[0]
                for side in (before, rows)
            ]
            if row["delta"] is not None:
                assert row["delta"] == pytest.approx(pair[1] - pair[0], abs=1e-9)


def test_budget(runs, ran):
    home, rows_of_runs = runs
    text, table = printed("cost budget", ran)
    assert ">16,384</text>" in (home / "sweep.svg").read_text()
    assert [row["budget"] for row in table] == [1024, 4096, 16384]
    for row in table:
        rows = of(rows_of_runs["sweep"], budget=row["budget"])
        message = [r for r in rows if r["status"] in SCORED]
        check_mean(row | {"mean": row["accuracy"]}, rows)
        one_each = {
            r["id"]: r for r in reversed(rows)
        }.values()  # an answer may have nine scores
        assert (row["n"], row["answers"]) == (len(rows), len(one_each))
        rows, message = ([r for r in part if r in one_each] for part in (rows, message))
        tokens = [json.loads(r["usage"])["output_tokens"] for r in rows if r["usage"]]
        assert row["mean_output_tokens"] == pytest.approx(sum(tokens) / len(tokens))
        capped = [
            r for r in message
            if r["usage"] and json.loads(r["usage"])["output_tokens"] >= row["budget"]
        ]  # fmt: skip
        assert row["cap_hit"] == pytest.approx(len(capped) / len(message))
        cut = [
            r
            for r in message
            if r["finish_reason"] == "length" or r["status"] == "truncated"
        ]
        assert row["truncated"] == pytest.approx(len(cut) / len(message))
        failed = [r for r in rows if r["status"] == "api_error"]
        assert row["api_error"] == pytest.approx(len(failed) / len(rows))
        assert (row["answered"], row["stated"]) == (len(message), "yes")
        assert points(row["accuracy"]) in text
        assert f"{row['mean_output_tokens']:,.1f}" in text


def test_notebook_and_commands_read_the_same_results(runs, monkeypatch):
    home, _ = runs
    monkeypatch.chdir(home)
    text = PAGE.read_text("utf-8").partition("## Analysing results")[2]
    lines = text.partition("```python\n")[2].partition("```")[0]
    names: dict = {}
    exec(lines, names)  # noqa: S102
    assert (home / "scores.svg").exists()
    assert "3 runs" in repr(names["runs"])
