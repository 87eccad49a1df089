"""Every example under "Analysing results" in docs/analyse.md, on simulated runs with gaps.

Printed numbers are recomputed in a second way, from the rows alone: with loops, scipy and an
equation solver, and without the package's analysis.
"""

import json
import math
import operator
import random
import re
import shlex
import sys
from collections import defaultdict
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from statistics import fmean

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
            of_item = {
                "id": instance.id,
                "task": task.id,
                "bucket": task.bucket,
                "model": model,
                "setting": setting,
                "sample": sample,
                "budget": budget,
                "status": status,
                "failed_checks": [],
                "notes": [],
                "repairs": [],
                "reason": "",
                "metrics": "{}",
                "response_characters": 0 if status == "truncated" else 50,
                "run_metadata": json.dumps({"effort": "high", "budget_stated": True}),
                "instance_hash": instance.content_hash,
                "grader_version": 1,
                "floor": floors.get(instance.id, 0.125),
                "release": release.version,
                "release_hash": release.manifest.rows_hash,
            }
            for i in range(instance.scores):
                right = float(rng.random() < chance)
                if task.scoring == "partial" and rng.random() < 0.4:
                    right = rng.randint(1, 9) / 10
                score = None
                if status == "answered":
                    score = right
                elif status in SCORED:
                    score = 0.0
                row = dict.fromkeys(column_types()) | of_item
                row |= {"subtask": instance.subtask + i, "score": score}
                row["checks"] = _checks(rng, score)
                # Rows of an answer with several scores give its text once.
                if status == "answered" and i == 0:
                    row["answer"] = str(rng.randint(0, 2))
                if rng.random() < 0.9 or i:
                    row["usage"] = json.dumps(usage)
                row["finish_reason"] = "length" if rng.random() < 0.05 else "stop"
                rows.append(row)
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
        args = []
        for word in example:
            if "*" in word:
                args += sorted(map(str, Path().glob(word)))
            else:
                args.append(word)
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
    task_weights, means, worths = [], [], []
    for scores in parts:
        weight = math.fsum(w for _, w in scores)
        mean = math.fsum(s * w for s, w in scores) / weight
        n = weight**2 / math.fsum(w * w for _, w in scores)
        spread = math.fsum(w * (s - mean) ** 2 for s, w in scores) / weight
        # One right and one wrong answer more: equal scores do not prove a spread of zero.
        raised = (n * spread + mean**2 + (1 - mean) ** 2) / (n + 2)
        ratio = min(1, raised / max(mean * (1 - mean), 1e-12))
        task_weights.append(weight)
        means.append(mean)
        # The number of right-or-wrong answers that would be as informative.
        worths.append(n / ratio)
    if weights is not None:
        task_weights = weights
    total = math.fsum(task_weights)
    shares = [weight / total for weight in task_weights]
    mean = math.fsum(map(operator.mul, shares, means))
    room = mean * (1 - mean)
    variance = 0.0
    for share, task_mean, worth in zip(shares, means, worths, strict=True):
        if room > 1e-12:
            near = (task_mean * worth + mean) / (worth + 1)
            variance += share**2 * near * (1 - near) / worth
        else:
            variance += share**2 / worth
    n = room / variance if room > 1e-12 else 1 / variance
    z *= 1 + 0.6 * math.sqrt(max(room, 0)) / n

    def lower(m):
        def off(p):
            return (m - p) * math.sqrt(n) - z * math.sqrt(p * (1 - p))

        low = 0.0
        if m >= 1e-12:
            low = optimize.brentq(off, 1e-15, min(m, 1 - 1e-9), xtol=1e-14)
        # With few right answers, the limit moves towards that of a Poisson count.
        count = max(m * n, 1e-12)
        cube_root = max(1 - 1 / (9 * count) - q / (3 * math.sqrt(count)), 0)
        poisson = count * cube_root**3 / n
        part = min(max(3 - m * n, 0), 1) * min(max(3 - 4 * m, 0), 1)
        return max(0.0, low + part * (min(low, poisson) - low))

    return lower(mean), 1 - lower(1 - mean)


def of(rows, *, bucket=None, task=None, **run):
    """Rows of a run that belong to a line; "overall" is everything except text tasks."""
    if task is not None:
        run["task"] = task
    result = []
    for row in rows:
        in_overall = bucket == "overall" and row["bucket"] != "manifolds"
        in_bucket = in_overall or bucket in {None, row["bucket"]}
        if in_bucket and all(row[key] == value for key, value in run.items()):
            result.append(row)
    return result


def by_answer(rows):
    """By task, (mean, number of scores) of each answer, with samples averaged first."""
    scores = defaultdict(lambda: defaultdict(list))
    for (row_id, _), mean in items_of(rows).items():
        scores[row_id.partition("/")[0]][row_id].append(mean)
    result = []
    for answers in scores.values():
        of_task = [(fmean(score), len(score)) for score in answers.values()]
        result.append(of_task)
    return result


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
        score = fmean(row["score"] for row in answer)
        floor = answer[0]["floor"]
        if answer[0]["bucket"] == "manifolds":
            height = score if answer[0]["status"] == "answered" else floor
        else:
            height = min(max((score - floor) / (1 - floor), 0), 1)
        result[task][row_id].append(height)
    means = {}
    for task, answers in result.items():
        means[task] = {row_id: fmean(tried) for row_id, tried in answers.items()}
    return means


def normalized_of(rows):
    """The normalized score and its interval; None if the floor leaves no room."""
    weights, by_task = find_release().weights(), heights(rows)
    if not by_task:
        return None, None, None
    is_text = {row["task"]: row["bucket"] == "manifolds" for row in rows}
    floors = {row["id"]: row["floor"] for row in rows}
    total = sum(weights[task] for task in by_task)
    stretched, parts = [], []
    value = shift = 0
    for task, answers in by_task.items():
        # Text tasks are stretched from their mean floor; spatial answers already were.
        guessed = fmean(floors[row_id] for row_id in answers) if is_text[task] else 0
        weight = weights[task] / (1 - guessed) / total
        stretched.append(weight)
        parts.append([(height, 1) for height in answers.values()])
        value += weight * (fmean(answers.values()) - guessed)
        shift += weight * guessed
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
    parts = []
    for answers in found.values():
        # Differences lie within -1 and 1; the interval is for scores within 0 and 1.
        raised = [((fmean(diff) + 1) / 2, len(diff)) for diff in answers.values()]
        parts.append(raised)
    low, high = interval(parts)
    return 2 * low - 1, 2 * high - 1


def points(value) -> str:
    return str(Decimal(f"{100 * value:.8f}").quantize(Decimal("0.1"), "ROUND_HALF_UP"))


def signed(value) -> str:
    text = points(abs(value))
    return f"{'+' if value > 0 else '-'}{text}" if float(text) else "±0.0"


def restricted(rows, items):
    """Rows of items, given as (id, subtask)."""
    return [row for row in rows if (row["id"], row["subtask"]) in items]


def check_mean(row, rows):
    assert row["mean"] == pytest.approx(float(mean_of(rows)))
    assert (row["low"], row["high"]) == pytest.approx(
        interval(by_answer(rows)), abs=1e-9
    )


def test_every_example_is_checked():
    checked = {
        "tables",
        "compare",
        "samples",
        "cost",
        "items",
        "manifolds",
        "failure-modes judge",
        "failure-modes shares",
        "failure-modes agree",
    }
    commands = set()
    for words in examples():
        is_group = words[0] == "failure-modes"
        commands.add(" ".join(words[:2] if is_group else words[:1]))
    assert commands == checked


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
        plot = {"--plot", *(word for word in example if word.endswith(".svg"))}
        ran([word for word in example if word not in plot])
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
            if head in dropped or head in wraps:
                continue
            for word in " ".join(cells).split():
                assert word in text, (head, word)
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
        means = map(fmean, gaps_as_zeros.values())
        assert row["mean_missing_as_zero"] == pytest.approx(fmean(means))
        floors = {(r["id"], r["subtask"]): r["floor"] for r in scored}
        assert row["floor"] == pytest.approx(fmean(floors.values()))
        names = ("normalized", "normalized_low", "normalized_high")
        assert [row[name] for name in names] == pytest.approx(
            normalized_of(rows), abs=1e-9
        )
        if row["delta"] is None and row["delta_mean"] is None:
            assert points(row["mean"]) in text
        else:
            without_tools = run | {"setting": "no_tools"}
            before = of(
                everything, bucket=row["bucket"], task=row["task"], **without_tools
            )
            change = changes(before, rows)
            differences = []
            for answers in change.values():
                for of_answer in answers.values():
                    differences += of_answer
            assert row["delta_n"] == len(differences)
            assert row["delta_mean"] == pytest.approx(fmean(differences), abs=1e-12)
            ends = (row["delta_mean_low"], row["delta_mean_high"])
            assert ends == pytest.approx(interval_of_changes(change), abs=1e-9)
            assert signed(row["delta_mean"]) in text
            if row["delta"] is not None:
                both = items_of(before).keys() & items_of(rows).keys()
                first, *_ = normalized_of(restricted(before, both))
                second, *_ = normalized_of(restricted(rows, both))
                assert row["delta"] == pytest.approx(second - first, abs=1e-9)


def tokens_of(row) -> int:
    return json.loads(row["usage"])["output_tokens"]


def test_budget(runs, ran):
    home, rows_of_runs = runs
    text, table = printed("cost budget", ran)
    assert ">16,384</text>" in (home / "sweep.svg").read_text()
    assert [row["budget"] for row in table] == [1024, 4096, 16384]
    for row in table:
        rows = of(rows_of_runs["sweep"], budget=row["budget"])
        check_mean(row | {"mean": row["accuracy"]}, rows)
        # An answer with nine scores has nine rows; the first one counts here.
        answers = list({r["id"]: r for r in reversed(rows)}.values())
        assert (row["n"], row["answers"]) == (len(rows), len(answers))
        replied = [r for r in answers if r["status"] in SCORED]
        tokens = [tokens_of(r) for r in answers if r["usage"]]
        assert row["mean_output_tokens"] == pytest.approx(fmean(tokens))
        capped = cut = 0
        for r in replied:
            capped += bool(r["usage"]) and tokens_of(r) >= row["budget"]
            cut += r["finish_reason"] == "length" or r["status"] == "truncated"
        assert row["cap_hit"] == pytest.approx(capped / len(replied))
        assert row["truncated"] == pytest.approx(cut / len(replied))
        failed = [r for r in answers if r["status"] == "api_error"]
        assert row["api_error"] == pytest.approx(len(failed) / len(answers))
        assert (row["answered"], row["stated"]) == (len(replied), "yes")
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
