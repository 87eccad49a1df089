"""Command-line tests of ``scbench tables``, ``compare`` and ``cost``."""

import json
import re
from pathlib import Path

import pytest


@pytest.fixture
def paper(paper_results, tmp_path) -> Path:
    """The paper's scores as a results file."""
    path = tmp_path / "paper.parquet"
    paper_results.write_parquet(path)
    return path


@pytest.fixture
def sweep(make_results, tmp_path) -> Path:
    """A small budget sweep as a results file, with a second bucket."""
    rows = [
        {"budget": budget, "subtask": i, "task": task, "score": float(i <= k)}
        | {"usage": json.dumps({"output_tokens": budget - i})}
        for k, budget in enumerate((1024, 4096))
        for task in ("two_segments", "csg_union")
        for i in range(3)
    ]
    path = tmp_path / "sweep.parquet"
    make_results(*rows).write_parquet(path)
    return path


def test_tables_prints_the_paper_table_reproducibly(command, inside, paper):
    done = command("scbench", "tables", paper, "--by", "bucket")
    assert done.returncode == 0, done.stderr
    assert "Scores by bucket, release 9.9.9" in done.stdout
    lines = done.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("overall"))
    assert lines[2].split()[-2:] == ["Δ", "mean"]
    rows = [line.split() for line in lines[at : at + 6]]
    assert rows[0][:4] == ["overall", "claude-sonnet-4-5", "no_tools", "285"]
    place = re.search(r" mean\b", lines[2]).end()
    means = [line[:place].split()[-1] for line in lines[at : at + 6 : 2]]
    assert means == ["34.9", "57.6", "57.6"]
    changes = [row[-1] for row in rows[1::2]]
    assert changes == ["+3.2", "+8.8", "+6.8"]
    assert inside("tables", paper, "--by", "bucket").stdout == done.stdout
    assert done.stderr == ""


def test_compare_names_the_better_run_and_separates_files(
    inside, make_results, tmp_path
):
    for name, right in (("a", 4), ("b", 27)):
        rows = ({"subtask": i, "score": float(i < right)} for i in range(27))
        make_results(*rows).write_parquet(tmp_path / f"{name}.parquet")
    done = inside("compare", "a.parquet", "b.parquet", "--format", "markdown")
    assert done.returncode == 0, done.stderr
    assert (
        "m (b.parquet) no_tools (second) compared with m (a.parquet) no_tools (first)"
        in done.stdout
    )
    line = next(
        line for line in done.stdout.splitlines() if line.startswith("| all axiomatic")
    )
    assert "m (b.parquet) no_tools is better" in line
    assert line.startswith(
        "| all axiomatic (only two_segments) | 27 | +85.2 | +56.0 to +96.5 | m (b.parquet) "
    )
    single = inside("compare", "a.parquet")
    assert single.returncode == 2
    assert "a comparison needs the results of at least two runs" in single.stderr


def test_budget_prints_and_draws_points(inside, sweep, tmp_path):
    done = inside(
        "cost", sweep, "--by", "budget", "--bucket", "axiomatic", "--plot", "b.svg"
    )
    assert done.returncode == 0, done.stderr
    assert "1,023.0" in done.stdout
    assert "wrote b.svg" in done.stderr
    assert ">4,096</text>" in (tmp_path / "b.svg").read_text()
    wrong = inside(
        "cost", sweep, "--by", "budget", "--bucket", "axiomatik", "--plot", "b.pdf"
    )
    assert wrong.returncode == 2
    assert "Did you mean 'axiomatic'?" in wrong.stderr


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["tables", "nowhere.parquet"], "no such file: nowhere.parquet"),
        (["tables", "{sweep}", "--format", "yaml"], "yaml"),
        (
            ["tables", "{sweep}", "--out", "no/such/folder.md"],
            "cannot write no/such/folder.md",
        ),
        (["samples", "{sweep}", "--k", "1,x"], "--k must be positive whole numbers"),
        (
            ["cost", "{sweep}", "--plot", "b.pdf"],
            ".svg, .png or .html, not as 'pdf'",
        ),
    ],
)
def test_wrong_usage_exits_with_2_and_helps(inside, sweep, args, words):
    done = inside(*(arg.format(sweep=sweep) for arg in args))
    assert done.returncode == 2
    # Some versions of typer write the names of arguments in capitals.
    assert words in done.stderr or words.upper() in done.stderr
    assert done.stdout == ""
