"""Hostile predictions: every line is accounted for, nothing fails, no other file changes.

`tests/data/hostile/lines.bin` has short lines: broken JSON, odd numbers, tricks with Unicode,
impossible ids, replies that look like code. Long lines are made here; answers against one grader
come from `hostile_answers.py`.
"""

import io
import json
import os
import runpy
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from bounds import a_minute_of_work

from scbench.base.model import Status
from scbench.catalog import get_task
from scbench.formats.predictions import (
    Line,
    parse_line,
    read_predictions,
)
from scbench.scoring.outcomes import grade_prediction

BIN = Path(sys.executable).parent
SHORT_LINES = Path(__file__).parent.parent / "data" / "hostile" / "lines.bin"
HOSTILE = SimpleNamespace(
    **runpy.run_path(str(Path(__file__).with_name("hostile_answers.py")))
)
HEAD = b'{"id":"two_segments/00","model":"bombs","answer":'

BOMBS = {
    "deep arrays": (
        lambda: HEAD + b"[" * 1_000_000 + b"]" * 1_000_000 + b"}",
        "not_json",
    ),
    "deep objects": (
        lambda: HEAD + b'{"a":' * 300_000 + b"1" + b"}" * 300_001,
        "not_json",
    ),
    "deep and open": (lambda: b"[" * 5_000_000, "not_json"),
    "just deep enough": (lambda: HEAD + b"[" * 199 + b"]" * 199 + b"}", None),
    "wide array": (lambda: HEAD + b"[" + b"0," * 5_000_000 + b"0]}", None),
    "wide object": (
        lambda: HEAD + b"{" + b",".join(b'"%d":0' % i for i in range(600_000)) + b"}}",
        None,
    ),
    "empty arrays": (lambda: HEAD + b"[" + b"[]," * 4_000_000 + b"[]]}", None),
    "one key often": (
        lambda: HEAD + b"{" + b",".join([b'"a":0'] * 600_000) + b"}}",
        "not_json",
    ),
    "long key": (lambda: HEAD + b'{"' + b"k" * 9_000_000 + b'":0}}', None),
    "long text": (lambda: HEAD + b'"' + b"\\u0041" * 2_000_000 + b'"}', None),
    "digits": (lambda: HEAD + b"9" * 5_000 + b"}", "not_json"),
    "many digits": (lambda: HEAD + b"9" * 10_000_000 + b"}", "not_json"),
    "digits after the point": (lambda: HEAD + b"0." + b"3" * 4_000 + b"}", None),
    "long exponent": (lambda: HEAD + b"1e" + b"9" * 4_000 + b"}", "not_json"),
    "surrogates": (lambda: HEAD + b'"' + b"\\ud83d" * 100_000 + b'"}', "not_json"),
    "over the limit": (lambda: b"x" * (16 * 2**20 + 1), "line_too_long"),
    "long id": (lambda: b'{"id":"' + b"i" * 5_000_000 + b'"}', "bad_prediction"),
    "long model": (
        lambda: b'{"id":"a","model":"' + b"m" * 5_000_000 + b'"}',
        "bad_prediction",
    ),
    "long error": (
        lambda: (
            b'{"id":"two_segments/01","model":"bombs","status":"api_error","error":"'
            + b"\\u001b[2J" * 500_000
            + b'"}'
        ),
        None,
    ),
}
"""Makers of long lines, and the code of their problem; None if they can be graded."""

FILL = 1_000_000
TEXTS = {
    "fences": lambda: "```\n" * (FILL // 4),
    "backticks": lambda: "`" * FILL,
    "tags": lambda: "<answer>" * (FILL // 8),
    "thoughts": lambda: "</think>" * (FILL // 8),
    "marks": lambda: "Answer: " * (FILL // 8),
    "open brackets": lambda: "[" * FILL,
    "braces": lambda: "{" * FILL,
    "nested": lambda: "[" * 100_000 + "]" * 100_000,
    "quotes": lambda: '"' * FILL,
    "backslashes": lambda: '{"' + "\\" * FILL,
    "escaped quotes": lambda: "{'" + "\\'" * (FILL // 2),
    "triple quotes": lambda: "['''" + "'' " * (FILL // 3),
    "objects": lambda: '{"segments": 0} ' * (FILL // 16),
    "comments": lambda: "[" + "#\n" * 300_000 + "1]",
    "commas": lambda: "[" + "," * 900_000 + "]",
    "tuples": lambda: "(" * 190 + "1" + ",)" * 190,
    "numbers": lambda: "[" + "1e5," * 240_000 + "]",
    "blanks": lambda: "[" + " \t\n" * 300_000 + "]",
    "boxes": lambda: "\\boxed{" * (FILL // 7),
    "refusals": lambda: "I cannot " * (FILL // 9) + "not",
    "apostrophes": lambda: "I can’t I’m " * (FILL // 14),
    "combining": lambda: "e" + "\u0301" * (FILL // 2),
    "line separators": lambda: "\u2028\r\v\f\x85" * (FILL // 8),
}
"""Makers of replies that are hard for patterns, a million characters each."""


def lines_of_all():
    """Every hostile line, with blank lines between them."""
    yield from SHORT_LINES.read_bytes().splitlines()
    yield b"  \t "
    yield from (make() for make, _ in BOMBS.values())
    for i, make in enumerate(TEXTS.values()):
        yield HOSTILE.as_line("two_segments/02", i, response=make())
    for i, (_, instance_id, answer) in enumerate(HOSTILE.answers()):
        yield HOSTILE.as_line(instance_id, i, answer=answer)
    yield b""


@pytest.mark.parametrize("name", BOMBS)
def test_decompression_bombs_are_read_or_refused(name):
    make, code = BOMBS[name]
    (result,) = read_predictions(
        io.BytesIO(make() + b"\n"), SimpleNamespace(update=len)
    )
    if code is None:
        assert isinstance(result, Line)
    else:
        assert result.code == code
        assert len(str(result)) < 1000
        assert str(result).isprintable()


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("task_id", ["maze_3d", "arithmetic"])
def test_replies_are_searched_in_linear_time(task_id, name):
    task = get_task(task_id)
    line = HOSTILE.as_line(f"{task_id}/00", 0, response=TEXTS[name]())
    prediction = parse_line(line, 1).prediction
    builder = task.builder()
    paper = builder.paper()
    params = paper[0].params if paper else _drawn(task)
    with a_minute_of_work():
        result = grade_prediction(prediction, task, params)
    assert result.status in {Status.ANSWERED, Status.UNPARSED, Status.REFUSED}
    assert result.verdicts[0].score == 0


def _drawn(task):
    case = task.builder().case(task.builder().get_generation_schema()(), 1)
    return task.params_model.model_validate(case.instance)


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    """The size and modification time of every file below a folder."""
    return {
        str(path.relative_to(folder)): (stat.st_size, stat.st_mtime_ns)
        for path in sorted(folder.rglob("*"))
        for stat in [path.lstat()]
    }


def test_command_survives_hostile_predictions_and_changes_no_other_file(tmp_path):
    """In one run, each line has its rows or its problem; no grader fails and no file is left.

    Every answer of `hostile_answers.py` gets a verdict, within the time limit.
    """
    folders = {name: tmp_path / name for name in ("work", "home", "temporary")}
    for folder in folders.values():
        folder.mkdir()
        (folder / "precious").write_text("keep me")
    lines = list(lines_of_all())
    path = folders["work"] / "hostile.jsonl"
    path.write_bytes(b"\n".join(lines))
    # The key of this user's runs, which the first run makes.
    cache = folders["home"] / ".cache" / "scbench"
    cache.mkdir(parents=True)
    (cache / "run-key").write_bytes(bytes(32))
    before = {name: snapshot(folder) for name, folder in folders.items()}
    out = tmp_path / "out"
    done = subprocess.run(
        [
            BIN / "scbench-grade",
            path.name,
            "--out",
            out,
            "--partial",
            "--timeout",
            "600",
        ],
        cwd=folders["work"],
        env={
            "PATH": os.environ["PATH"],
            "HOME": str(folders["home"]),
            "TMPDIR": str(folders["temporary"]),
            "LC_ALL": "C.UTF-8",
        },
        capture_output=True,
        check=False,
        timeout=3600,
    )
    message = done.stderr.decode()
    assert done.returncode == 1, message[-3000:]
    assert "Traceback" not in message
    assert {name: snapshot(folder) for name, folder in folders.items()} == before
    # Nothing that was quoted can steer a terminal.
    assert not set(message + done.stdout.decode()) & {
        "\x1b",
        "\x07",
        "\0",
        "\u202e",
        "\x85",
    }

    summary = json.loads((out / "summary.json").read_text())
    frame = pl.read_parquet(out / "results.parquet")
    assert set(frame["status"]) <= {"answered", "unparsed", "refused", "api_error", "not_run",
                                    "missing", "blocked"}  # fmt: skip
    assert frame.filter(pl.col("score") == 1).is_empty()
    expected = {
        i
        for i, line in enumerate(lines, 1)
        if line.removeprefix(b"\xef\xbb\xbf").strip()
    }
    graded = set(frame["line"].drop_nulls())
    refused = {problem["line"] for problem in summary["problems"]}
    assert graded | refused >= expected
    assert not graded & refused
    assert graded | refused - {None} <= expected
    hostile = frame.filter(pl.col("model") == "hostile")
    assert hostile["line"].drop_nulls().n_unique() == sum(
        b'"model": "hostile"' in line for line in lines
    )
    rows = {(row["id"], row["sample"]): row for row in hostile.iter_rows(named=True)}
    statuses = {
        name: rows[instance_id, sample]["status"]
        for sample, (name, instance_id, _) in enumerate(HOSTILE.answers())
    }
    if sys.version_info >= (3, 12):  # nothing simulates blasts there
        statuses = {
            n: s for n, s in statuses.items() if not n.startswith("terrain_levelling")
        }
    assert {n: s for n, s in statuses.items() if s != "answered"} == {}
