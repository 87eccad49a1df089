"""The public names of the package, and grading a file from Python."""

import inspect
import json
import sys
from pathlib import Path

import pytest
from commands import run
from typer.testing import CliRunner

import scbench
from scbench.cli import grade
from scbench.grading.options import default_folder, tasks_in
from scbench.release.load import find_release

NAMES = [
    "CannotGrade",
    "CatalogError",
    "Check",
    "ExperimentError",
    "GenerationError",
    "HubError",
    "Instance",
    "Prediction",
    "PredictionsError",
    "ReleaseError",
    "ResultsError",
    "ScbenchError",
    "Status",
    "Verdict",
    "__version__",
    "generate",
    "grade_file",
    "load_release",
    "outcome",
    "read_results",
    "score",
    "scores",
    "stream",
]


def test_package_offers_its_public_names_in_order():
    assert dir(scbench) == sorted(scbench.__all__) == scbench.__all__ == NAMES
    for name in NAMES:
        found = getattr(scbench, name)
        if name != "__version__":
            assert inspect.getdoc(found)
            assert found.__name__ == name


def test_other_names_are_no_attributes():
    with pytest.raises(AttributeError, match="no attribute 'grade_files'"):
        _ = scbench.grade_files
    assert not hasattr(scbench, "_no_such_name")


@pytest.fixture
def predictions(write_lines):
    answers = {
        ref.id: json.loads(ref.answer)
        for ref in scbench.load_release().references()
        if ref.kind == "reference" and ref.id.startswith("enumerate_edges/")
    }
    return write_lines(
        *({"id": name, "answer": answer} for name, answer in answers.items())
    )


def test_script_and_command_grade_a_file_alike(tmp_path, predictions):
    """The script has no main-program guard, which worker processes usually need."""
    script = tmp_path / "script.py"
    script.write_text(
        "import scbench\n"
        f"report = scbench.grade_file({str(predictions)!r}, tasks=['enumerate_edges'])\n"
        "frame = scbench.read_results(['scbench-results/predictions'], partial=True)\n"
        "print(report.exit_code, frame['score'].sum(), __file__)\n"
    )
    printed = run(sys.executable, script, cwd=tmp_path, code=0).stdout.strip()
    assert printed == f"0 8.0 {script}"
    words = [
        str(predictions),
        "--tasks",
        "enumerate_edges",
        "--out",
        str(tmp_path / "command"),
    ]
    assert CliRunner().invoke(grade.app, [*words, "--quiet"]).exit_code == 0
    script_bytes, command_bytes = (
        (tmp_path / name / "results.parquet").read_bytes()
        for name in ("scbench-results/predictions", "command")
    )
    assert script_bytes == command_bytes


def test_missing_items_are_a_problem_by_default(tmp_path, parity_release):
    path = tmp_path / "one.jsonl"
    path.write_text('{"id": "parity/00", "model": "m", "answer": {"bit": 0}}\n')
    report = scbench.grade_file(
        path, tmp_path / "out", release=parity_release, workers=1
    )
    assert [problem.code for problem in report.problems] == ["incomplete"]


def test_tasks_to_grade_follow_from_the_answers(tmp_path):
    lines = [
        {"id": "delaunay_triangulation/00", "response": '{"triangles": [[0, 1, 2]]}'},
        {"id": "shuffle/00", "response": "Answer: A"},
    ]
    release = find_release()
    for count, named in (
        (1, None),
        (2, [*release.manifest.named_tasks(None), "shuffle"]),
    ):
        path = tmp_path / f"{count}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines[:count]))
        chosen = tasks_in(str(path), release)
        assert (chosen is None) is (named is None)
        if named is not None:
            assert release.manifest.named_tasks(chosen) == [
                task for task in release.manifest.tasks if task in named
            ]
    path.write_text(json.dumps(lines[1]) + "\n")
    assert tasks_in(str(path), release) == ["shuffle"]
    assert tasks_in("-", release) is None


@pytest.mark.parametrize(("file", "name"), [("-", "stdin"), ("/", "results")])
def test_files_without_a_name_have_a_folder(file, name):
    assert default_folder(file) == Path("scbench-results", name)


def test_working_folder_has_a_results_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert default_folder(".").name.endswith(tmp_path.name)
