"""Command-line tests of ``scbench import`` and ``scbench-grade FILE...`` with files of any form."""

import json

import polars as pl
import pytest

from scbench.formats.custom_id import RequestKey
from scbench.freezing.example import example_predictions


@pytest.fixture
def predictions(parity_release) -> list[dict]:
    """Replies of one model in scbench's own format."""
    lines = [json.loads(line) for line in example_predictions(parity_release)]
    texts = [
        {"id": line["id"], "model": "M", "response": line.get("response", '{"bit": 1}')}
        for line in lines
        if line["model"] == "oracle"
    ]
    assert len(texts) == 12
    return texts


def in_a_batch(line: dict) -> dict:
    choice = {"finish_reason": "stop", "message": {"content": line["response"]}}
    body = {"model": line["model"], "choices": [choice]}
    name = RequestKey(line["id"]).custom_id
    return {
        "custom_id": name,
        "response": {"status_code": 200, "body": body},
        "error": None,
    }


@pytest.fixture
def files(tmp_path, predictions):
    """The same replies twice: in our own format, and as a batch with one in its error file."""
    lines = {
        "own.jsonl": predictions,
        "out.jsonl": [in_a_batch(line) for line in reversed(predictions[1:])],
        "err.jsonl": [
            {"custom_id": "parity-00", "response": None, "error": {"code": "expired"}},
            {"custom_id": "nobody", "response": None, "error": {"code": "expired"}},
        ],
    }
    for name, entries in lines.items():
        text = "".join(json.dumps(entry) + "\n" for entry in entries)
        (tmp_path / name).write_text(text, "utf-8")
    return list(lines)


def rows(folder) -> pl.DataFrame:
    columns = ["id", "model", "status", "score", "failed_checks", "answer"]
    return pl.read_parquet(folder / "results.parquet").select(columns).sort("id")


def test_batch_and_own_format_get_the_same_scores(
    command, files, parity_release, tmp_path
):
    of_run, out, err = files
    release = ("--release", parity_release.root)
    assert command("scbench-grade", of_run, *release, "--out", "one").returncode == 0
    done = command("scbench-grade", out, err, *release, "--out", "two")
    assert done.returncode == 1
    assert (
        "recognised out.jsonl: OpenAI batch (11); err.jsonl: OpenAI batch (2)"
        in done.stderr
    )
    assert (
        "1 problem:\n  err.jsonl, line 2: 'nobody' is neither"
        in done.stderr.replace('"', "'")
    )
    first, two = rows(tmp_path / "one"), rows(tmp_path / "two")
    answered = pl.col("id") != "parity/00"
    assert first.filter(answered).equals(two.filter(answered))
    assert two.filter(~answered)["status"].to_list() == ["api_error"]
    summary = json.loads((tmp_path / "two" / "summary.json").read_text())
    assert summary["predictions"]["file"] == "imported.jsonl"
    assert summary["predictions"]["made_of"].startswith("out.jsonl: OpenAI batch")
    assert (summary["problems"][0]["file"], summary["problems"][0]["line"]) == (
        "err.jsonl",
        2,
    )
    lines = (tmp_path / "two" / "imported.jsonl").read_bytes()
    done = command("scbench", "import", out, err)
    assert done.returncode == 1
    assert done.stdout.encode() == lines


def test_two_own_files_make_one_run_and_duplicates_are_named(
    command, files, parity_release, tmp_path
):
    lines = (tmp_path / files[0]).read_text().splitlines(keepends=True)
    (tmp_path / "a.jsonl").write_text("".join(lines[:7]))
    (tmp_path / "b.jsonl").write_text("".join(lines[6:]))
    release = ("--release", parity_release.root)
    done = command(
        "scbench-grade", "a.jsonl", "b.jsonl", *release, "--out", "two", "--check"
    )
    assert done.returncode == 1
    row_id = json.loads(lines[6])["id"]
    assert (
        f"b.jsonl: problem: line 1: line 7 of a.jsonl already answers {row_id}"
        in done.stdout
    )
    assert command("scbench-grade", files[0], *release, "--out", "one").returncode == 0
    command("scbench-grade", "a.jsonl", "b.jsonl", *release, "--out", "two")
    assert rows(tmp_path / "one").equals(rows(tmp_path / "two"))


def test_existing_files_are_not_lost(command, files, parity_release, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "imported.jsonl").write_text("mine")
    grade = (
        "scbench-grade",
        files[1],
        "--release",
        parity_release.root,
        "--out",
        "out",
    )
    done = command(*grade)
    assert done.returncode == 2
    assert "was not written by scbench-grade" in done.stderr
    assert (tmp_path / "out" / "imported.jsonl").read_text() == "mine"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["imported.jsonl"]
    (tmp_path / "out" / "imported.jsonl").unlink()
    assert command(*grade, "--partial").returncode == 0
    assert command(*grade, "--partial").returncode == 0, "over results of our own"


def test_table_is_read_with_a_map(
    command, files, predictions, parity_release, tmp_path
):
    frame = pl.DataFrame(predictions).rename({"id": "item", "response": "output"})
    frame.write_csv(tmp_path / "t.csv")
    release = ("--release", parity_release.root)
    done = command(
        "scbench-grade",
        "t.csv",
        "--map",
        "id=item,response=output",
        "--model",
        "M",
        *release,
        "--out",
        "two",
    )
    assert done.returncode == 0, done.stderr
    assert command("scbench-grade", files[0], *release, "--out", "one").returncode == 0
    assert rows(tmp_path / "one").equals(rows(tmp_path / "two"))
