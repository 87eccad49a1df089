"""CLI tests of ``scbench report``, ``show``, ``gallery`` and ``scbench-grade --report``."""

import json
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from scbench.catalog import get_task
from scbench.cli import grade
from scbench.cli.task_introductions import (
    introduction,
    unwrap_paragraphs,
    wrapped_lines,
)
from scbench.freezing.example import example_predictions
from scbench.release.examples import examples
from scbench.release.load import find_release

TASKS = "shikaku_rectangles,maze_3d"

PROMPT = """\
Divide the whole grid below into rectangles, along the lines between its cells. Each rectangle must
contain exactly one clue.

The grid has 5 rows and 5 columns. Rows are counted from 0 at the top, columns from 0 at
the left.

column | 0 1 2
row  0 | 0 0 0
row  1 | 0 6 0

- A step leads to the next cell up, down, left or right, if the two heights differ by at most one or
  two.
- A jump leads two cells straight up.
The last JSON object counts.
(A) a long option without a full stop: drama, romance, music, friendship, family, faith
(B) another
"""


@pytest.fixture(scope="session")
def example(tmp_path_factory) -> Path:
    """The example's predictions for two quick tasks."""
    folder = tmp_path_factory.mktemp("example")
    lines = example_predictions(find_release())
    few = [line for line in lines if json.loads(line)["id"].split("/")[0] in TASKS]
    path = folder / "example.jsonl"
    path.write_text("".join(f"{line}\n" for line in few), "utf-8")
    return path


@pytest.fixture(scope="session")
def graded(example, tmp_path_factory) -> Path:
    """The folder that scbench-grade --report writes for them."""
    folder = tmp_path_factory.mktemp("graded") / "out"
    words = [str(example), "--tasks", TASKS, "--out", str(folder), "--report"]
    done = CliRunner().invoke(grade.app, words, prog_name="scbench-grade")
    assert done.exit_code == 0, done.stderr
    assert "report.html: 5 items, " in done.stderr
    assert done.stderr.rstrip().endswith(" s")
    return folder


def test_grading_writes_the_report_next_to_the_results(graded):
    assert sorted(path.name for path in graded.iterdir()) == [
        "report.html",
        "results.parquet",
        "summary.json",
    ]
    page = (graded / "report.html").read_text("utf-8")
    assert page.count('class="item"') == 5
    assert "oracle and sloppy" in page
    assert "example.jsonl, SHA-256" in page


def test_report_shows_responses_and_all_items_on_request(
    inside, graded, example, tmp_path
):
    done = inside(
        "report",
        graded,
        "--predictions",
        example,
        "--items",
        "all",
        "--out",
        "f.html",
        "-q",
    )
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "f.html").read_text("utf-8")
    assert page.count('class="item"') == 24
    assert "Response (" in page


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("report", "nothing.parquet"), "no such file: nothing.parquet"),
        (("show", "maze_3d/99"), "no item 'maze_3d/99'"),
        (
            ("show", "maze_3d/01", "--out", "x.pdf"),
            "must end in .svg, .png or .html for a picture",
        ),
        (
            ("show", "maze_3d/01", "--out", "x.glb"),
            "3D Maze has no solids; write FILE.svg",
        ),
        (
            ("show", "lego_hemispherical_shell/00", "--out", "x.stl"),
            "with --reference",
        ),
        (("show", "maze_3d/01", "--reference", "--predictions", "x"), "choose one of"),
        (("gallery", "."), "exists"),
    ],
)
def test_wrong_usage_is_explained(inside, args, message):
    done = inside(*args)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_show_separates_runs(inside, tmp_path):
    common = {"id": "arithmetic/00", "model": "m"}
    runs = [
        {"setting": "tools", "answer": {"answer": 1}},
        {"setting": "no_tools", "budget": 100, "answer": {"answer": 2}},
        {"setting": "no_tools", "budget": 200, "answer": {"answer": 13}},
    ]
    lines = [json.dumps(common | run) for run in runs]
    (tmp_path / "p.jsonl").write_text("\n".join(lines), "utf-8")
    show = ("show", "arithmetic/00", "--predictions", "p.jsonl", "--setting")
    done = inside(*show, "no_tools", "--budget", 200)
    assert done.returncode == 0, done.stderr
    assert 'answer: {"answer":13}' in done.stdout
    assert "- = 13" in done.stdout
    assert "Work out the value" in done.stdout
    assert 'answer: {"answer":1}' in inside(*show, "tools").stdout
    done = inside(*show, "no_tools")
    assert done.returncode == 0
    assert 'answer: {"answer":2}' in done.stdout
    assert (
        "p.jsonl has 2 answers to arithmetic/00; the first (line 2: m, budget 100) is shown. "
        "For another (line 3: m, budget 200), use --model"
    ) in done.stderr


@pytest.mark.parametrize(
    ("item", "pictures"),
    [("arithmetic/00", ""), ("polynomial_curve_fitting/04", "also has 1 picture;")],
)
def test_show_prints_prompts_as_models_get_them(inside, item, pictures):
    done = inside("show", item, "--prompt")
    prompt = find_release().instances()[item].prompt
    assert (done.returncode, done.stdout) == (0, prompt.rstrip("\n") + "\n")
    assert pictures in done.stderr
    assert bool(done.stderr) == bool(pictures)


def test_prompt_is_printed_alone(inside):
    for option in (("--reference",), ("--out", "x.svg"), ("--text",), ("--open",)):
        done = inside("show", "arithmetic/00", "--prompt", *option)
        assert done.returncode == 2
        assert "leave out the options for answers and pictures" in done.stderr


@pytest.mark.parametrize("form", ["table", "markdown"])
def test_task_is_introduced_by_sentence_picture_and_example(inside, form):
    done = inside("tasks", "csg_union", "--format", form)
    first, score, picture, *rest = done.stdout.split("\n\n")
    assert first == get_task("csg_union").summary
    assert score == f"Score: {get_task('csg_union').scored}."
    assert Path(picture.removeprefix("Picture: ")).read_bytes().startswith(b"\x89PNG")
    example = examples(find_release(), ["csg_union"])["csg_union"]
    assert f"`scbench show {example.instance.id} --prompt`" in rest[0]
    assert example.instance.prompt.splitlines()[0] in rest[1]
    assert "CSG Union, constructive, 22 scores" in done.stdout


def test_introduction_as_json(inside):
    record = json.loads(inside("tasks", "dates", "--format", "json").stdout)
    example = examples(find_release(), ["dates"])["dates"]
    assert record["summary"] == get_task("dates").summary
    assert record["example"] == {
        "id": example.instance.id,
        "prompt": example.instance.prompt,
        "answer": example.answer,
    }


def test_show_writes_solids_and_larger_pictures(inside, tmp_path):
    for name, start in {"x.glb": b"glTF", "x.stl": b"\x00"}.items():
        done = inside("show", "csg_union/00", "--out", name)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert (tmp_path / name).read_bytes().startswith(start)
    for name, extra in (("x.png", ("--scale", 3, "--dark")), ("y.png", ("--scale", 1))):
        assert inside("show", "two_segments/00", "--out", name, *extra).returncode == 0
    width = [
        int.from_bytes((tmp_path / name).read_bytes()[16:20], "big")
        for name in ("x.png", "y.png")
    ]
    assert width[0] == pytest.approx(3 * width[1], abs=3)


def test_show_opens_the_browser_on_request(inside, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda uri: opened.append(uri) or True)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    done = inside("show", "csg_union/00", "--open")
    assert done.returncode == 0, done.stderr
    (uri,) = opened
    assert uri.startswith("file://")
    assert uri.endswith("/csg_union-00.html")
    assert "csg_union/00" in Path(uri.removeprefix("file://")).read_text("utf-8")
    assert inside("show", "csg_union/00").returncode == 0
    assert len(opened) == 1, "not without a terminal"


def test_show_gives_the_path_of_pictures_it_cannot_print(inside, tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    done = inside("show", "csg_union/00")
    assert "add --open to see it in a browser, or --out FILE.svg" in done.stderr
    # The text of a puzzle shows everything.
    assert inside("show", "shikaku_rectangles/00").stderr == ""
    assert inside("show", "csg_union/00", "--text").stderr == ""
    monkeypatch.setattr("webbrowser.open", lambda _: False)
    done = inside("show", "csg_union/00", "--open")
    (page,) = tmp_path.glob("scbench-show-*/csg_union-00.html")
    message = f"no browser could be opened; the page is {page}, and --out FILE.png"
    assert message in done.stderr


def test_show_reads_the_output_of_a_batch_api(inside, tmp_path):
    content = json.dumps({"answer": 13})
    body = {
        "model": "m",
        "choices": [{"finish_reason": "stop", "message": {"content": content}}],
    }
    entry = {
        "id": "batch_req_1",
        "custom_id": "arithmetic/00",
        "response": {"status_code": 200, "body": body},
        "error": None,
    }
    (tmp_path / "batch.jsonl").write_text(json.dumps(entry), "utf-8")
    done = inside("show", "arithmetic/00", "--predictions", "batch.jsonl")
    assert done.returncode == 0, done.stderr
    assert 'answer: {"answer":13}' in done.stdout


def test_show_lists_the_models_of_a_file_without_the_requested_one(inside, tmp_path):
    lines = [
        json.dumps({"id": "arithmetic/00", "model": model, "answer": {"answer": 13}})
        for model in ("second", "first")
    ]
    (tmp_path / "p.jsonl").write_text("\n".join(lines), "utf-8")
    show = ("show", "arithmetic/00", "--predictions", "p.jsonl")
    done = inside(*show, "--model", "nobody")
    assert done.returncode != 0
    assert "p.jsonl has no model 'nobody'; its models are first, second." in done.stderr
    assert inside(*show, "--model", "second").returncode == 0


def test_prompt_paragraphs_are_reflowed_and_data_keeps_its_lines():
    paragraphs, items = unwrap_paragraphs(PROMPT).split(
        "\n\ncolumn | 0 1 2\nrow  0 | 0 0 0\n"
    )
    first, second = paragraphs.split("\n\n")
    assert first.endswith("Each rectangle must contain exactly one clue.")
    assert second.endswith("columns from 0 at the left.")
    lines = items.split("\n")
    assert lines[2].endswith("differ by at most one or two.")
    assert lines[3:] == [
        "- A jump leads two cells straight up.",
        "The last JSON object counts.",
        "(A) a long option without a full stop: drama, romance, music, friendship, family, faith",
        "(B) another",
        "",
    ]
    narrow = wrapped_lines(unwrap_paragraphs(PROMPT), 60).split("\n")
    assert max(map(len, narrow)) <= 60
    (place,) = [i for i, line in enumerate(narrow) if line.startswith("- A step")]
    assert narrow[place + 1].startswith("  ")
    assert narrow[place + 2] == "- A jump leads two cells straight up."


def test_path_is_not_wrapped_on_a_terminal(terminal_of):
    path = f"/a folder/{'long/' * 30}maze_3d.png"
    record = {"summary": "A sentence. " * 20, "scored": "", "example": None}
    text = terminal_of(
        60, lambda: sys.stdout.write(introduction(record | {"picture": path}, "table"))
    )
    lines = text.split("\n")
    assert f"Picture: {path}" in lines
    assert max(len(line) for line in lines if path not in line) <= 60
