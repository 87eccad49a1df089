"""``scbench report``, ``show``, ``gallery`` and ``scbench-grade --report`` as users meet them."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

TASKS = "shikaku_rectangles,maze_3d"


@pytest.fixture(scope="session")
def example(tmp_path_factory) -> Path:
    """The example's predictions for two quick tasks."""
    folder = tmp_path_factory.mktemp("example")
    program = Path(sys.executable).with_name("scbench")
    lines = subprocess.run([program, "example"], capture_output=True, check=True, text=True).stdout
    kept = [line for line in lines.splitlines() if json.loads(line)["id"].split("/")[0] in TASKS]
    path = folder / "example.jsonl"
    path.write_text("\n".join(kept) + "\n", "utf-8")
    return path


@pytest.fixture(scope="session")
def graded(example, tmp_path_factory) -> Path:
    """The folder that scbench-grade --report writes for them."""
    folder = tmp_path_factory.mktemp("graded") / "out"
    program = Path(sys.executable).with_name("scbench-grade")
    command = [program, example, "--tasks", TASKS, "--out", folder, "--report"]
    done = subprocess.run(command, capture_output=True, check=False, text=True)
    assert done.returncode == 0, done.stderr
    assert "report.html written: 5 items, " in done.stderr
    assert done.stderr.rstrip().endswith(" s")
    return folder


def test_grading_writes_the_report_beside_the_results(graded):
    assert sorted(path.name for path in graded.iterdir()) == [
        "report.html",
        "results.parquet",
        "summary.json",
    ]
    page = (graded / "report.html").read_text("utf-8")
    assert page.count('class="item"') == 5
    assert "oracle and sloppy" in page
    assert "example.jsonl, SHA-256" in page


def test_report_shows_responses_and_all_items_if_asked(inside, graded, example, tmp_path):
    done = inside(
        "report", graded, "--predictions", example, "--items", "all", "--out", "f.html", "-q"
    )
    assert (done.returncode, done.stderr) == (0, "")
    page = (tmp_path / "f.html").read_text("utf-8")
    assert page.count('class="item"') == 24
    assert "Response (" in page


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (("report", "nothing.parquet"), "no such file: nothing.parquet"),
        (("report", "nothing.parquet", "--items", "some"), "some"),
        (("show", "maze_3d/99"), "no item 'maze_3d/99'"),
        (("show", "maze/01"), "no task 'maze'"),
        (("show", "maze_3d/01", "--out", "x.pdf"), "written as .svg, .png or .html, solids as"),
        (("show", "maze_3d/01", "--out", "x.glb"), "3D Maze has no solids; write FILE.svg"),
        (("show", "lego_hemispherical_shell/00", "--out", "x.stl"), "such as --reference"),
        (("show", "maze_3d/01", "--reference", "--predictions", "x"), "choose one of"),
        (("show", "maze_3d/01", "--predictions", "x"), "cannot read 'x'"),
        (("gallery", "."), "exists"),
    ],
)
def test_wrong_usage_says_why(inside, args, said):
    done = inside(*args)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stdout == ""


def test_show_writes_every_form(inside, graded, tmp_path):
    common = ("show", "shikaku_rectangles/00", "--results", graded, "--model", "oracle", "--out")
    starts = {"svg": b"<svg", "png": b"\x89PNG", "html": b"<!doctype html>"}
    for form, start in starts.items():
        done = inside(*common, f"x.{form}")
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert f"x.{form} written" in done.stderr
        assert (tmp_path / f"x.{form}").read_bytes().startswith(start)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["x.html", "x.png", "x.svg"]


def test_show_tells_runs_apart(inside, tmp_path):
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
    assert done.returncode == 2
    assert "line 2: m, budget 100; line 3: m, budget 200; choose one with --model" in done.stderr


def test_show_writes_solids_and_larger_pictures(inside, tmp_path):
    common = ("show", "csg_union/00", "--out")
    starts = {"x.glb": b"glTF", "x.stl": b"\x00", "x.png": b"\x89PNG"}
    for name, start in starts.items():
        extra = ("--scale", 3, "--dark") if name == "x.png" else ()
        done = inside(*common, name, *extra)
        assert (done.returncode, done.stdout) == (0, ""), done.stderr
        assert (tmp_path / name).read_bytes().startswith(start)
    inside(*common, "y.png", "--scale", 1)
    width = [
        int.from_bytes((tmp_path / name).read_bytes()[16:20], "big") for name in ("x.png", "y.png")
    ]
    assert width[0] == pytest.approx(3 * width[1], abs=3)


def test_show_asks_for_the_library_before_it_works(inside, monkeypatch):
    monkeypatch.setattr(
        "importlib.util.find_spec",
        lambda name, *a, real=importlib.util.find_spec: (
            None if name == "trimesh" else real(name, *a)
        ),
    )
    monkeypatch.setattr("scbench.release.load.find_release", None)  # no work may begin
    done = inside("show", "csg_union/00", "--out", "x.stl")
    assert done.returncode == 2
    assert "trimesh is not installed; this needs `pip install 'scbench[report]'`" in done.stderr


def test_show_opens_the_browser_if_asked(inside, tmp_path, monkeypatch):
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
