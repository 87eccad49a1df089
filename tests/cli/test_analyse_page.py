"""Every example of the part Analyse of docs/analyse.md, on simulated runs with gaps.

What is printed is recomputed here a second way, from the rows alone: with loops, scipy and numbers
solved for, and none of the package's analysis.
"""

import json
import math
import random
import shlex
from collections import defaultdict
from fractions import Fraction
from pathlib import Path

import polars as pl
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from scbench.catalog import all_tasks, get_task
from scbench.grading.rows.columns import column_types
from scbench.release.load import find_release

PAGE = Path(__file__).resolve().parents[2] / "docs" / "analyse.md"
STATUSES = ["answered"] * 14 + ["unparsed", "truncated", "refused", "missing", "api_error"]
SCORED = {"answered", "unparsed", "truncated", "refused"}


def examples() -> list[list[str]]:
    text = PAGE.read_text("utf-8").partition("## Analyse")[2]
    block = text.partition("```sh\n")[2].partition("```")[0]
    return [shlex.split(line, comments=True)[1:] for line in block.splitlines()]


def simulated(release, floors, model, skill, *, setting="no_tools", texts=False, budget=None, n=1):
    """Rows of a run: better where it knows more, with everything that can be missing."""
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
                score = right if status == "answered" else 0.0 if status in SCORED else None
                rows.append(
                    dict.fromkeys(column_types())
                    | {"id": instance.id, "task": task.id, "bucket": task.bucket}
                    | {"subtask": instance.subtask + i, "model": model, "setting": setting}
                    | {"sample": sample, "budget": budget, "status": status, "score": score}
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
                    | {"run_metadata": json.dumps({"effort": "high", "budget_stated": True})}
                    | {"instance_hash": instance.content_hash, "grader_version": 1}
                    | {"floor": floors.get(instance.id, 0.125)}
                    | {"release": release.version, "release_hash": release.manifest.rows_hash}
                )
    return rows


def _checks(rng, score) -> str:
    bad = score is not None and score < 0.6
    details = {"count": rng.randint(1, 4), "offenders": []}
    check = {"id": "some_rule", "passed": not bad, "message": "", "details": details}
    return json.dumps([check])


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """A folder with the results that the page speaks of, and their rows by name."""
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
    """A function that runs an example, with more options, and returns what it printed."""
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
    """What an example prints for people, and for programs."""
    (example,) = [e for e in examples() if e[: len(command.split())] == command.split()][:1]
    return ran(example), json.loads(ran(example, *more, "--format", "json"))


# A second way.


def interval(parts, *, smoothing=0.04):
    """The interval of docs/statistics.md, solved for; parts: by task, (score, weight) by answer."""
    z, q = norm.ppf(0.975), norm.ppf(0.95)
    tasks = []
    for scores in parts:
        weight = math.fsum(w for _, w in scores)
        mean = math.fsum(s * w for s, w in scores) / weight
        n = weight**2 / math.fsum(w * w for _, w in scores)
        spread = math.fsum(w * (s - mean) ** 2 for s, w in scores) / weight
        little = smoothing / math.sqrt(n)
        ratio = min(1, (spread + little) / (mean * (1 - mean) + little))
        single = n <= 1 + 1e-9
        ratio = 1 if single else min(1, ratio * (1 + 1.8 * (1 - ratio) / (n - 1)))
        tasks.append((weight, mean, n / ratio))
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

        low = 0.0 if m < 1e-12 else brentq(off, 1e-15, min(m, 1 - 1e-9), xtol=1e-14)
        count = max(m * n, 1e-12)
        poisson = count * max(1 - 1 / (9 * count) - q / (3 * math.sqrt(count)), 0) ** 3 / n
        part = min(max(3 - m * n, 0), 1) * min(max(3 - 4 * m, 0), 1)
        return max(0.0, low + part * (min(low, poisson) - low))

    return lower(mean), 1 - lower(1 - mean)


def of(rows, *, bucket=None, task=None, **run):
    """Rows of a run in a line; overall is all but text tasks."""
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


def by_answer(rows, value="score"):
    """By task, (mean, number of scores) of each answer."""
    result = defaultdict(lambda: defaultdict(list))
    for row in rows:
        if row["score"] is not None:
            result[row["task"]][row["id"]].append(row[value])
    return [[(sum(s) / len(s), len(s)) for s in task.values()] for task in result.values()]


def mean_of(rows, value="score"):
    scores = [row[value] for row in rows if row["score"] is not None]
    return sum(Fraction(score) for score in scores) / len(scores)


def items_of(rows):
    """By (id, subtask), the mean over samples."""
    result = defaultdict(list)
    for row in rows:
        if row["score"] is not None:
            result[row["id"], row["subtask"]].append(row["score"])
    return {key: sum(scores) / len(scores) for key, scores in result.items()}


def changes(first, second):
    """By task and answer, the differences of the scores that both runs have."""
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
    low, high = interval(parts, smoothing=0.07)
    return 2 * low - 1, 2 * high - 1


def points(value) -> str:
    return f"{100 * value:.1f}"


def check_mean(row, rows):
    assert row["mean"] == pytest.approx(float(mean_of(rows)))
    assert (row["low"], row["high"]) == pytest.approx(interval(by_answer(rows)), abs=1e-9)


def test_every_example_is_looked_at():
    looked_at = {
        *("tables", "compare", "samples", "cost", "budget", "items", "runs", "manifolds"),
        *("failure-modes judge", "failure-modes shares", "failure-modes agree"),
    }
    result = {" ".join(e[: 1 + (e[0] == "failure-modes")]) for e in examples()}
    assert result == looked_at


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
        assert (row["scored"], row["coverage"]) == (len(scored), len(scored) / len(rows))
        if not scored:
            assert row["mean"] is row["low"] is row["above"] is None
            continue
        check_mean(row, rows)
        gaps_as_zeros = math.fsum(r["score"] or 0 for r in rows) / len(rows)
        assert row["mean_missing_as_zero"] == pytest.approx(gaps_as_zeros)
        floor = math.fsum(r["floor"] for r in scored) / len(scored)
        assert row["floor"] == pytest.approx(floor)
        if floor == 1:
            assert row["above"] is None, "there is no room"
        elif row["bucket"] != "manifolds":
            assert row["above"] == pytest.approx((row["mean"] - floor) / (1 - floor))
            assert row["above_low"] == pytest.approx((row["low"] - floor) / (1 - floor))
        else:
            right = math.fsum(r["score"] for r in scored)
            guessed = math.fsum(r["floor"] for r in scored if r["status"] == "answered")
            assert row["above"] == pytest.approx((right - guessed) / (len(scored) * (1 - floor)))
        if row["delta"] is None:
            assert points(row["mean"]) in text
        else:
            before = of(
                everything, bucket=row["bucket"], task=row["task"], **run | {"setting": "no_tools"}
            )
            change = changes(before, rows)
            flat = [d for answers in change.values() for ds in answers.values() for d in ds]
            assert row["delta_n"] == len(flat)
            assert row["delta"] == pytest.approx(sum(flat) / len(flat), abs=1e-12)
            ends = (row["delta_low"], row["delta_high"])
            assert ends == pytest.approx(interval_of_changes(change), abs=1e-9)
            assert (
                f"{100 * row['delta']:+.1f}".replace("+0.0", "±0.0").replace("-0.0", "±0.0") in text
            )


def test_compare(runs, ran):
    _, rows_of_runs = runs
    text, table = printed("compare", ran)
    everything = rows_of_runs["mine"] + rows_of_runs["theirs"]
    names = {"mine no_tools": ("mine", "no_tools"), "mine tools": ("mine", "tools")}
    names["theirs no_tools"] = ("theirs", "no_tools")
    for row in table:
        first, second = (
            of(
                everything, bucket=row["bucket"], task=row["task"],
                model=names[row[side]][0], setting=names[row[side]][1],
            )
            for side in ("first", "second")
        )  # fmt: skip
        change = changes(first, second)
        answers = [sum(d) for task in change.values() for d in task.values()]
        flat = [d for task in change.values() for ds in task.values() for d in ds]
        assert (row["n"], row["answers"]) == (len(flat), len(answers))
        assert row["difference"] == pytest.approx(sum(flat) / len(flat), abs=1e-12)
        ends = (row["low"], row["high"])
        assert ends == pytest.approx(interval_of_changes(change), abs=1e-9)
        up, down = (sum(sign * d > 1e-9 for d in answers) for sign in (1, -1))
        assert (row["second_ahead"], row["first_ahead"]) == (up, down)
        assert row["p_corrected"] >= row["p_value"]
        better = row["second"] if row["difference"] > 0 else row["first"]
        reported = row["p_corrected"] <= 0.05
        assert (row["verdict"] == better) == reported
        if row["answers"] < 6:
            assert row["verdict"] == "too few items to tell"
        assert points(row["first_mean"]) in text
        assert ("<0.001" if row["p_value"] < 0.001 else f"{row['p_value']:.3f}") in text
    overall = [row for row in table if row["bucket"] == "overall"]
    assert {row["verdict"] for row in overall} >= {"mine tools"}, "the planted difference is found"


def test_manifolds(runs, ran):
    _, rows_of_runs = runs
    text, table = printed("manifolds", ran)
    lengths = {
        row.id: str(json.loads(row.point)["length"])
        for row in find_release().instances({"arithmetic", "boolean"}).values()
    }
    assert {row["task"] for row in table} == {"arithmetic", "boolean"}
    for row in table:
        rows = [
            r
            for r in of(rows_of_runs["texts"], task=row["task"])
            if lengths[r["id"]] == row["value"]
        ]
        scored = [r for r in rows if r["score"] is not None]
        check_mean(row | {"mean": row["accuracy"]}, rows)
        room = math.fsum(1 - r["floor"] for r in scored)
        guessed = math.fsum(r["floor"] for r in scored if r["status"] == "answered")
        right = math.fsum(r["score"] for r in scored)
        assert row["above"] == pytest.approx((right - guessed) / room)
        assert points(row["accuracy"]) in text
    assert "Where half is lost" in text


FIGURES = {
    "samples": ("pass_at_k", None, None),
    "cost": ("mean", "cost.svg", "US dollars"),
    "budget": ("accuracy", "sweep.svg", ">16,384</text>"),
    "items": (None, "items.svg", "<svg"),
    "runs": (None, None, None),
}
"""Of commands whose figures tests/analysis works out again: one of them, a chart, and its words."""


@pytest.mark.parametrize("command", FIGURES)
def test_other_examples_print_what_programs_get(runs, ran, command):
    home, _ = runs
    figure, chart, words = FIGURES[command]
    text, table = printed(command, ran)
    assert table
    assert all(points(row[figure]) in text for row in table if figure and row[figure] is not None)
    if chart:
        assert words in (home / chart).read_text()


def test_failure_modes(runs, ran):
    home, rows_of_runs = runs
    judge, shares, agree = [e for e in examples() if e[0] == "failure-modes"]
    ran(judge)
    low = [
        r for r in rows_of_runs["mine"]
        if r["score"] is not None and r["score"] < 0.6 and r["status"] != "truncated"
    ]  # fmt: skip
    assert pl.read_parquet(home / "labels.parquet").height == len(low)
    text, table = ran(shares), json.loads(ran(shares, "--format", "json"))
    assert all(f"{row['count']} ({points(row['share'])})" in text for row in table)
    assert "mine tools" in (home / "modes.svg").read_text()
    assert f"of {len(low)} candidates, Cohen's kappa 1.000" in ran(agree)


def test_the_notebook_reads_what_the_commands_read(runs, monkeypatch):
    home, _ = runs
    monkeypatch.chdir(home)
    text = PAGE.read_text("utf-8").partition("## Analyse")[2]
    lines = text.partition("```python\n")[2].partition("```")[0]
    import scbench
    from scbench.analysis import paper_table

    assert "scbench.read_results([" in lines
    table = paper_table(
        scbench.read_results(["scbench-results/mine", "scbench-results/theirs"]), by="task"
    )
    tasks = [task for task in all_tasks().values() if task.bucket != "manifolds"]
    assert set(table["task"].drop_nulls()) <= {task.id for task in tasks}
