"""Common mistakes on the command line give one sentence with a remedy.

All in this process, and none gets as far as grading.
"""

import json
from pathlib import Path

import polars as pl
import pytest
from typer.testing import CliRunner

import scbench
from scbench.base.errors import PredictionsError
from scbench.cli import main
from scbench.grading.rows.columns import column_types

SEGMENTS = {"segments": [[[0, 0], [1, 0.2]], [[1, 0.4], [0, 0.8]]]}

MISTAKES = {
    # mistakes in files
    "tables good.jsonl": "if it contains predictions, grade it first: scbench-grade good.jsonl",
    "compare good.jsonl good.jsonl": "grade it first",
    "grade results": "results is a folder; give a predictions file",
    "grade results/results.parquet": "contains results; show them with `scbench tables",
    "tables parent": "folders in it do (a, b); name those you want, or all: parent/*",
    "tables nothing": "no such file: nothing",
    "tables other.parquet": "other.parquet is not a results file: it has no column 'id'",
    "grade other.parquet": "has no columns id and response; its columns are a, b. Name",
    "grade answers.csv": "its columns are item, text. Name the columns with --map id=COLUMN",
    "grade answers.csv --map id=item,response=txt": "has no column 'txt'; its columns are item",
    "grade answers.csv --map item": "--map must be id=COLUMN,response=COLUMN",
    "grade empty.jsonl": "empty.jsonl contains no predictions; nothing was written",
    "grade nothing.jsonl": "no such file: nothing.jsonl",
    "grade requests.jsonl": "contains requests, not replies; use the provider's output file",
    # mistakes in lines
    "grade ids.jsonl --check": "no item 'two-segments/07' in this release. "
    "Did you mean 'two_segments/07'?",
    "grade quotes.jsonl --check": "line 2: not valid JSON: keys need double quotes",
    "grade wide.jsonl --check": "276 of 277 items",
    "grade twice.jsonl --check --partial": "line 1 already answers two_segments/07",
    "grade messages.jsonl --check": "response: must be a string; got a list of 1 entry",
    "grade text.jsonl --check --partial": "Put a model's text in response, not in answer",
    "grade keys.jsonl --check --partial": "did you mean 'response'?",
    "grade fresh.jsonl --check": "grade it against its folder with --release FOLDER",
    # mistakes in choices
    "grade good.jsonl --tasks two_segments,csg": "Did you mean 'csg_union'?",
    "grade good.jsonl --tasks csg_union --check --partial": "select them with "
    "--tasks axiomatic,",
    "grade good.jsonl --release 1.9": "not an installed version (4.0.0",
    "compare results parent/a": "grade with --partial or --tasks",
    "show csg_union/99": "those of csg_union are csg_union/00 to csg_union/21",
    # mistyped words
    "tabels results": "Did you mean 'tables'?",
    "grade good.jsonl --taks x": "No such option: --taks (Possible options: --tasks)",
    "generate arithmetic --lenght 4": "Did you mean --length?",
    "run gpt-5": "should be in the format of <api_name>/<model_name>",
    "release publish 4.0.0": "give one target: either --repo ORG/NAME or --to PATH_OR_URL",
}


def lines(*rows: dict) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def row(instance: str = "two_segments/07", **rest: object) -> dict:
    return {"id": instance, "model": "m", "answer": SEGMENTS} | rest


FILES = {
    "good.jsonl": lines(row()),
    "empty.jsonl": "\n \n",
    "answers.csv": "item,text\ntwo_segments/07,hello\n",
    "ids.jsonl": lines(
        *(row(f"two{a}segments{b}") for a, b in (("_", "/7"), ("-", "/07")))
    ),
    "text.jsonl": lines(row(answer=json.dumps(SEGMENTS))),
    "messages.jsonl": lines({"id": "two_segments/07", "response": [{"role": "user"}]}),
    "fresh.jsonl": lines(*(row(f"b001f663:arithmetic/{i:02d}") for i in range(20))),
    "quotes.jsonl": '{"id": two_segments/07}\n{id: "two_segments/07"}\n',
    "twice.jsonl": lines(row(), row()),
    "wide.jsonl": json.dumps(row(), indent=1),
    "utf16.jsonl": "",
    "requests.jsonl": lines(
        {"custom_id": "two_segments-07", "method": "POST", "body": {}}
    ),
    "keys.jsonl": lines(row(respones="x")),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    base = tmp_path_factory.mktemp("mistakes")
    for name, text in FILES.items():
        (base / name).write_text(text, "utf-8")
    release = scbench.load_release()
    shared = dict.fromkeys(column_types()) | {
        "task": "two_segments", "bucket": "axiomatic", "subtask": 0, "sample": 0, "model": "m",
        "status": "answered", "score": 1.0, "grader_version": 1, "release": release.version,
        "release_hash": release.manifest.rows_hash,
    }  # fmt: skip
    graded = [
        shared | {"id": instance.id, "instance_hash": instance.content_hash}
        for instance in release.instances(["two_segments"]).values()
    ]
    frame = pl.DataFrame(graded, schema=column_types())
    for place in ("results", "parent/a", "parent/b"):
        (base / place).mkdir(parents=True)
        frame.write_parquet(base / place / "results.parquet")
    pl.DataFrame({"a": [1], "b": [2]}).write_parquet(base / "other.parquet")
    return base


@pytest.mark.parametrize(("line", "sentence"), MISTAKES.items())
def test_mistake_gives_a_remedy(line, sentence, folder, monkeypatch):
    monkeypatch.chdir(folder)
    before = sorted(folder.rglob("*"))
    done = CliRunner().invoke(main.app, line.split())
    assert sentence in done.stdout + done.stderr
    assert done.exit_code in {1, 2} or "warning" in done.stdout
    assert sorted(folder.rglob("*")) == before
    assert "1 lines" not in done.stdout + done.stderr
    assert "1 problems" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    "messages",
    [[{"role": "assistant", "content": "{}"}], {"role": "assistant", "content": "{}"}],
)
def test_chat_messages_are_not_answers(messages):
    with pytest.raises(
        PredictionsError, match=r"chat messages; pass the text of the model's last"
    ):
        scbench.score("two_segments/07", messages)


def test_file_in_place_of_a_command(monkeypatch, tmp_path, capsys):
    path = tmp_path / "predictions.jsonl"
    path.write_text("{}")
    monkeypatch.setattr("sys.argv", ["scbench", str(path)])
    with pytest.raises(SystemExit) as ended:
        main.run()
    assert ended.value.code == 2
    assert f"to grade it: scbench grade {path}" in capsys.readouterr().err
