"""Every example of the part Analyse of docs/analyse.md, on simulated runs with gaps.

What is printed is recomputed here a second way, from the rows alone: with loops, scipy and numbers
solved for, and none of the package's analysis.
"""

import json
import math
import random
import re
import shlex
import sys
from collections import Counter, defaultdict
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from pathlib import Path

import polars as pl
import pytest
from rich.cells import cell_len
from scipy.optimize import brentq, minimize
from scipy.special import expit
from scipy.stats import binomtest, norm

from scbench.analysis.layout import terminal
from scbench.catalog import get_task
from scbench.cli.printing import PEOPLE
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
    (example,) = [e for e in examples() if set(command.split()) <= set(e)][:1]
    return ran(example), json.loads(ran(example, *more, "--format", "json"))


# A second way.


def interval(parts, weights=None):
    """The interval of docs/evidence.md, solved for; parts: by task, (score, weight) by answer."""
    z, q = norm.ppf(0.975), norm.ppf(0.95)
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


def by_answer(rows):
    """By task, (mean, number of scores) of each answer; samples are averaged first."""
    result = defaultdict(lambda: defaultdict(list))
    for (row_id, _), mean in items_of(rows).items():
        result[row_id.partition("/")[0]][row_id].append(mean)
    return [[(sum(s) / len(s), len(s)) for s in task.values()] for task in result.values()]


def mean_of(rows):
    means = items_of(rows).values()
    return sum(map(Fraction, means)) / len(means)


def heights(rows):
    """By task and answer, the normalized score; that of text tasks before it is stretched."""
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
    return {t: {k: sum(u) / len(u) for k, u in of_task.items()} for t, of_task in result.items()}


def normalized_of(rows):
    """The normalized score and its interval; None where there is no room."""
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
    low, high = interval(parts)
    return 2 * low - 1, 2 * high - 1


def points(value) -> str:
    return str(Decimal(f"{100 * value:.8f}").quantize(Decimal("0.1"), "ROUND_HALF_UP"))


def signed(value) -> str:
    text = points(abs(value))
    return f"{'+' if value > 0 else '-'}{text}" if float(text) else "±0.0"


def check_mean(row, rows):
    assert row["mean"] == pytest.approx(float(mean_of(rows)))
    assert (row["low"], row["high"]) == pytest.approx(interval(by_answer(rows)), abs=1e-9)


def test_every_example_is_looked_at():
    looked_at = {
        *("tables", "compare", "samples", "cost", "items", "manifolds"),
        *("failure-modes judge", "failure-modes shares", "failure-modes agree"),
    }
    result = {" ".join(e[: 1 + (e[0] == "failure-modes")]) for e in examples()}
    assert result == looked_at


PRINTED = [e for e in examples() if "judge" not in e and "latex" not in e]


@pytest.fixture(scope="module")
def layouts():
    """What examples print, and the sheets that they lay out, by example."""
    return {}


@pytest.mark.parametrize("width", [80, 100, 120, 160])
@pytest.mark.parametrize("example", PRINTED, ids=[" ".join(e)[:40] for e in PRINTED])
def test_tables_fit_a_terminal_and_shorten_nothing(
    example, width, ran, layouts, monkeypatch, terminal_of
):
    """Columns are dropped in the order stated; every other word of the table is there, whole."""
    key = " ".join(example)
    if key not in layouts:
        if "shares" in example:
            ran(next(e for e in examples() if "judge" in e))
        sheets = []
        monkeypatch.setitem(PEOPLE, "table", lambda sheet: sheets.append(sheet) or terminal(sheet))
        ran([word for word in example if word != "--plot" and not word.endswith(".svg")])
        layouts[key] = sheets
    for sheet in layouts[key]:
        text = terminal_of(width, lambda: sys.stdout.write(terminal(sheet)))  # noqa: B023
        lines = text.split("\n")
        assert max(map(cell_len, lines)) <= width
        last = next((line for line in lines if line.startswith("Not shown at this width: ")), "")
        dropped = [head for head in sheet.drops if re.search(rf"[ ,]{re.escape(head)}[,.]", last)]
        for head, *cells in zip(sheet.heads, *sheet.rows, strict=True):
            for word in [] if head in dropped else " ".join(cells).split():
                assert word in text or head in sheet.wraps, (head, word)
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
        assert (row["scored"], row["coverage"]) == (len(scored), len(scored) / len(rows))
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
        assert [row[name] for name in names] == pytest.approx(normalized_of(rows), abs=1e-9)
        if row["delta"] is None and row["delta_mean"] is None:
            assert points(row["mean"]) in text
        else:
            before = of(
                everything, bucket=row["bucket"], task=row["task"], **run | {"setting": "no_tools"}
            )
            change = changes(before, rows)
            flat = [d for answers in change.values() for ds in answers.values() for d in ds]
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


def test_tables_in_latex_hold_the_same_figures(ran):
    latex, table = printed("tables", ran)[0], json.loads(ran(examples()[1], "--format", "json"))
    latex = ran(examples()[1])
    assert all(points(row["mean"]) in latex for row in table if row["delta_mean"] is None)


def test_compare(runs, ran):
    _, rows_of_runs = runs
    text, table = printed("compare", ran)
    everything = rows_of_runs["mine"] + rows_of_runs["theirs"]
    names = {"mine no_tools": ("mine", "no_tools"), "mine tools": ("mine", "tools")}
    names["theirs no_tools"] = ("theirs", "no_tools")
    weights = find_release().weights()
    for row in table:
        first, second = (
            of(
                everything, bucket=row["bucket"], task=row["task"],
                model=names[row[side]][0], setting=names[row[side]][1],
            )
            for side in ("first", "second")
        )  # fmt: skip
        change = changes(first, second)
        flat = [d for task in change.values() for ds in task.values() for d in ds]
        assert row["n"] == len(flat)
        assert row["of_means"] == pytest.approx(sum(flat) / len(flat), abs=1e-12)
        ends = (row["of_means_low"], row["of_means_high"])
        assert ends == pytest.approx(interval_of_changes(change), abs=1e-9)
        a, b = heights(first), heights(second)
        gains = {
            task: {k: b[task][k] - a[task][k] for k in a[task].keys() & b[task].keys()}
            for task in a
            if task in b and a[task].keys() & b[task].keys()
        }
        if not gains:
            assert row["verdict"] == "no room"
            continue
        share = {task: weights[task] / sum(weights[t] for t in gains) for task in gains}
        parts = [[((d + 1) / 2, 1) for d in of_task.values()] for of_task in gains.values()]
        ends = [2 * end - 1 for end in interval(parts, [share[task] for task in gains])]
        assert (row["low"], row["high"]) == pytest.approx(ends, abs=1e-9)
        answers = [share[t] * d / len(gains[t]) for t in gains for d in gains[t].values()]
        assert row["answers"] == len(answers)
        assert row["difference"] == pytest.approx(sum(answers), abs=1e-12)
        up, down = (sum(sign * d > 1e-9 for d in answers) for sign in (1, -1))
        assert (row["second_ahead"], row["first_ahead"]) == (up, down)
        nonzero = [d for d in answers if abs(d) > 1e-9]
        if nonzero and len({round(abs(d), 9) for d in nonzero}) == 1:
            assert row["p_value"] == pytest.approx(binomtest(up, up + down).pvalue)
        elif len(nonzero) <= 10:
            every = [abs(sum(s)) for s in _signed(nonzero)]
            expected = sum(value >= abs(sum(nonzero)) - 1e-9 for value in every) / len(every)
            assert row["p_value"] == pytest.approx(expected)
        else:
            sums = [
                abs(
                    sum(
                        d * random.Random(f"{i} {j}").choice((1, -1)) for j, d in enumerate(nonzero)
                    )
                )
                for i in range(400)
            ]
            expected = sum(value >= abs(sum(nonzero)) - 1e-9 for value in sums) / 400
            assert row["p_value"] == pytest.approx(expected, abs=0.12)
        assert row["p_corrected"] >= row["p_value"]
        better = row["second"] if row["difference"] > 0 else row["first"]
        reported = row["p_corrected"] <= 0.05
        assert (row["verdict"] == better) == reported
        if row["answers"] < 6:
            assert row["verdict"] == "too few items to tell"
        assert points(row["first_normalized"]) in text
        assert ("<0.001" if row["p_value"] < 0.001 else f"{row['p_value']:.3f}") in text
    overall = [row for row in table if row["bucket"] == "overall"]
    assert {row["verdict"] for row in overall} >= {"mine tools"}, "the planted difference is found"


def _signed(values):
    if not values:
        return [[]]
    remainder = _signed(values[1:])
    return [[sign * values[0], *remaining] for sign in (1, -1) for remaining in remainder]


def test_samples(runs, ran):
    _, rows_of_runs = runs
    text, table = printed("samples", ran)
    for row in table:
        rows = of(rows_of_runs["several"], bucket=row["bucket"], task=row["task"])
        tries = defaultdict(list)
        for r in rows:
            if r["score"] is not None:
                tries[r["id"], r["subtask"]].append(r["score"])
        present = [scores for scores in tries.values() if len(scores) >= row["k"]]
        assert (row["n"], row["samples"], row["pass_n"]) == (
            *(len(tries), min(map(len, tries.values())), len(present)),
        )
        chances = [
            sum(max(some) >= 1 - 1e-9 for some in combinations(scores, row["k"]))
            / math.comb(len(scores), row["k"])
            for scores in present
        ]
        assert row["pass_at_k"] == pytest.approx(sum(chances) / len(chances))
        means = {key: sum(scores) / len(scores) for key, scores in tries.items()}
        assert row["mean"] == pytest.approx(sum(means.values()) / len(means))
        several = [s for s in tries.values() if len(s) > 1]
        within = [sum((x - sum(s) / len(s)) ** 2 for x in s) / (len(s) - 1) for s in several]
        if several:
            assert row["within"] == pytest.approx(sum(within) / len(within))
        answers = {(r["sample"], r["id"]): r["answer"] for r in rows if r["answer"] is not None}
        votes = defaultdict(list)
        for r in rows:
            if r["score"] is not None and (r["sample"], r["id"]) in answers:
                votes[r["id"], r["subtask"]].append((answers[r["sample"], r["id"]], r["score"]))
        won, settled = [], 0
        for (row_id, subtask), scores in tries.items():
            given = votes.get((row_id, subtask), [])
            most = max(Counter(answer for answer, _ in given).values(), default=0)
            settled += most > 1 or (not most and not sum(scores))
            top = [a for a, n in Counter(a for a, _ in given).items() if n == most]
            won.append([s for a, s in given if a in top] if most else scores)
        assert row["majority_n"] == settled
        if settled < 0.9 * len(tries):
            assert row["majority"] is None
        else:
            expected = sum(sum(scores) / len(scores) for scores in won) / len(won)
            assert row["majority"] == pytest.approx(expected)
        assert points(row["pass_at_k"]) in text


def test_cost(runs, ran):
    home, rows_of_runs = runs
    text, table = printed("cost", ran)
    assert "US dollars" in (home / "cost.svg").read_text()
    for row in table:
        rows = of(
            rows_of_runs["mine"] + rows_of_runs["theirs"], bucket=row["bucket"], task=row["task"],
            model=row["model"], setting=row["setting"],
        )  # fmt: skip
        answers = defaultdict(list)
        for r in rows:
            if r["status"] in SCORED:
                answers[r["id"]].append(r)
        assert row["answers"] == len(answers)
        cut = [
            a for a in answers.values()
            if a[0]["finish_reason"] == "length" or a[0]["status"] == "truncated"
        ]  # fmt: skip
        assert row["cut_off"] == pytest.approx(len(cut) / len(answers))
        check_mean(row, rows)
        used = {key: json.loads(a[0]["usage"] or "{}") for key, a in answers.items()}
        costs = [u["cost"] for u in used.values() if "cost" in u]
        assert row["cost_reported"] == len(costs)
        assert row["cost"] == (pytest.approx(sum(costs) / len(costs)) if costs else None)
        reported = [key for key, u in used.items() if "output_tokens" in u]
        tokens = sum(used[key]["output_tokens"] for key in reported)
        points_of = sum(r["score"] for key in reported for r in answers[key])
        if reported:
            assert row["score_per_1000_tokens"] == pytest.approx(1000 * points_of / tokens)
            assert f"{row['score_per_1000_tokens']:.3f}" in text


def test_budget(runs, ran):
    home, rows_of_runs = runs
    text, table = printed("cost budget", ran)
    assert ">16,384</text>" in (home / "sweep.svg").read_text()
    assert [row["budget"] for row in table] == [1024, 4096, 16384]
    for row in table:
        rows = of(rows_of_runs["sweep"], budget=row["budget"])
        message = [r for r in rows if r["status"] in SCORED]
        check_mean(row | {"mean": row["accuracy"]}, rows)
        one_each = {r["id"]: r for r in reversed(rows)}.values()  # an answer may have nine scores
        assert (row["n"], row["answers"]) == (len(rows), len(one_each))
        rows, message = ([r for r in part if r in one_each] for part in (rows, message))
        tokens = [json.loads(r["usage"])["output_tokens"] for r in rows if r["usage"]]
        assert row["mean_output_tokens"] == pytest.approx(sum(tokens) / len(tokens))
        capped = [
            r for r in message
            if r["usage"] and json.loads(r["usage"])["output_tokens"] >= row["budget"]
        ]  # fmt: skip
        assert row["cap_hit"] == pytest.approx(len(capped) / len(message))
        cut = [r for r in message if r["finish_reason"] == "length" or r["status"] == "truncated"]
        assert row["truncated"] == pytest.approx(len(cut) / len(message))
        failed = [r for r in rows if r["status"] == "api_error"]
        assert row["api_error"] == pytest.approx(len(failed) / len(rows))
        assert (row["answered"], row["stated"]) == (len(message), "yes")
        assert points(row["accuracy"]) in text
        assert f"{row['mean_output_tokens']:,.1f}" in text


def test_items(runs, ran):
    home, rows_of_runs = runs
    text, table = printed("items", ran)
    assert (home / "items.svg").read_text().startswith("<svg")
    by_run = [of(rows_of_runs["mine"], setting=s) for s in ("no_tools", "tools")] + [
        rows_of_runs["theirs"]
    ]
    scores = [items_of(rows) for rows in by_run]
    labels = {row.id: row.difficulty for row in find_release().instances().values()}
    for row in table:
        key = (row["id"], row["subtask"])
        present = [run[key] for run in scores if key in run]
        assert row["runs"] == len(present)
        assert row["mean"] == pytest.approx(sum(present) / len(present))
        assert row["right"] == pytest.approx(sum(s == 1 for s in present) / len(present))
        assert row["difficulty"] == labels[row["id"]]
        if row["discrimination"] is not None:
            remainder = [
                (sum(run.values()) - run[key]) / (len(run) - 1) for run in scores if key in run
            ]
            a, b = (
                [x - sum(values) / len(values) for x in values] for values in (present, remainder)
            )
            product = sum(x * y for x, y in zip(a, b, strict=True))
            size = math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
            assert row["discrimination"] == pytest.approx(product / size)
    fit = printed("items", ran, "--labels")[1]
    complete = {row["difficulty"]: row for row in fit if row["task"] is None}
    for label, row in complete.items():
        means = [
            sum(result) / len(result)
            for name in {row_id for run in scores for row_id, _ in run if labels[row_id] == label}
            for result in [_means_of_answer(name, scores)]
        ]
        assert (row["n"], row["mean"]) == (len(means), pytest.approx(sum(means) / len(means)))
        assert points(row["mean"]) in text


def _means_of_answer(name, scores):
    result = []
    for run in scores:
        present = [score for (row_id, _), score in run.items() if row_id == name]
        result += [sum(present) / len(present)] if present else []
    return result


def test_runs(runs, ran):
    _, rows_of_runs = runs
    text, table = printed("tables run", ran)
    everything = [row for rows in rows_of_runs.values() for row in rows]
    counts = Counter((r["model"], r["setting"], r["budget"]) for r in everything)
    result = {(row["model"], row["setting"], row["budget"]): row["rows"] for row in table}
    assert result == counts
    assert {(row["effort"], row["budget_stated"]) for row in table} == {("high", "yes")}
    assert all(f" {count} " in text for count in counts.values())


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
    options = ("--parameter", "length", "--half", "--format", "json")
    for row in json.loads(ran(["manifolds", "scbench-results/texts"], *options)):
        rows = [r for r in of(rows_of_runs["texts"], task=row["task"]) if r["score"] is not None]
        assert row["n"] == len(rows)
        if row["half"] is None:
            continue
        assert f"{row['half']:.2f}" in text
        assert row["half"] == pytest.approx(half_by_descent(rows, lengths), abs=0.15)


def half_by_descent(rows, lengths):
    """The half-way point of greatest likelihood, by scipy instead of a grid."""

    def loss(theta):
        total = 0.0
        for r in rows:
            g = guessed[lengths[r["id"]]]
            chance = g + (1 - g) * expit(theta[1] * (theta[0] - float(lengths[r["id"]])))
            chance = min(max(chance, 1e-6), 1 - 1e-6)
            total -= r["score"] * math.log(chance) + (1 - r["score"]) * math.log(1 - chance)
        return total

    guessed = {}
    for value in set(lengths.values()):
        present = [r for r in rows if lengths[r["id"]] == value]
        sums = math.fsum(r["floor"] for r in present if r["status"] == "answered")
        guessed[value] = sums / len(present) if present else 0.0
    tried = [
        minimize(loss, [start, slope], method="Nelder-Mead")
        for start in (4, 12, 24)
        for slope in (0.05, 0.5)
    ]
    return min(tried, key=lambda found: found.fun).x[0]


def test_failure_modes(runs, ran):
    home, rows_of_runs = runs
    judge, shares, agree = [e for e in examples() if e[0] == "failure-modes"]
    ran(judge)
    labels = pl.read_parquet(home / "labels.parquet")
    low = [
        r for r in rows_of_runs["mine"]
        if r["score"] is not None and r["score"] < 0.6 and r["status"] != "truncated"
    ]  # fmt: skip
    assert labels.height == len(low)
    text, table = ran(shares), json.loads(ran(shares, "--format", "json"))
    for row in table:
        of_run = labels.filter(pl.col("setting") == row["setting"])
        count = (of_run["failure_mode"] == row["failure_mode"]).sum()
        assert (row["count"], row["judged"]) == (count, of_run.height)
        assert row["share"] == pytest.approx(count / of_run.height)
        assert f"{count} ({points(row['share'])})" in text
    assert "mine tools" in (home / "modes.svg").read_text()
    text, result = ran(agree), json.loads(ran(agree, "--format", "json"))
    assert {row["kappa"] for row in result} == {1.0}
    assert f"of {len(low)} candidates, Cohen's kappa 1.000" in text
    assert 0.8 < result[0]["kappa_low"] < 1


def test_the_notebook_reads_what_the_commands_read(runs, monkeypatch):
    home, _ = runs
    monkeypatch.chdir(home)
    text = PAGE.read_text("utf-8").partition("## Analyse")[2]
    lines = text.partition("```python\n")[2].partition("```")[0]
    names: dict = {}
    exec(lines, names)  # noqa: S102
    assert (home / "scores.svg").exists()
    assert "3 runs" in repr(names["runs"])
