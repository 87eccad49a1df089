"""Command-line tests of ``scbench export-results``."""

import json
import os

import pytest
import yaml

from scbench.base.errors import ResultsError
from scbench.cli.exchange import write_new
from scbench.freezing.example import example_predictions


@pytest.fixture
def graded(command, parity_release, tmp_path):
    path = tmp_path / "predictions.jsonl"
    path.write_text("\n".join(example_predictions(parity_release)) + "\n")
    release = ("--release", parity_release.root)
    assert command("scbench-grade", path, *release, "--out", "out").returncode == 0
    return ("out", *release)


def test_each_run_has_its_own_files_and_none_is_overwritten(inside, graded, tmp_path):
    export = ("export-results", *graded, "--format", "every-eval-ever", "--out", "eee")
    done = inside(*export)
    assert done.returncode == 2
    assert "add --date YYYY-MM-DD" in done.stderr
    done = inside(*export, "--date", "2026-11-22")
    assert done.returncode == 0, done.stderr
    paths = sorted(path for path in (tmp_path / "eee").rglob("*") if path.is_file())
    assert len(paths) == 4, "two models: a file and its samples each"
    assert all(str(path.name) in done.stderr for path in paths)
    assert json.loads(paths[0].read_text())["model_info"]["name"] == "oracle"
    assert inside(*export, "--date", "2026-11-22", "-q").returncode == 0, (
        "the same bytes again"
    )
    paths[0].write_text("mine")
    done = inside(*export, "--date", "2026-11-22")
    assert done.returncode == 2
    assert "exists with different content" in done.stderr
    assert paths[0].read_text() == "mine"


def test_links_and_pipes_at_an_export_path_are_not_overwritten(tmp_path):
    mine = tmp_path / "mine"
    mine.write_text("mine")
    (tmp_path / "link").symlink_to(tmp_path / "new")
    write_new(tmp_path / "link", b"text")
    assert not (tmp_path / "new").exists()
    assert (tmp_path / "link").read_bytes() == b"text"
    (tmp_path / "other").symlink_to(mine)
    with pytest.raises(ResultsError, match="exists with different content"):
        write_new(tmp_path / "other", b"text")
    assert mine.read_text() == "mine"
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        write_new(tmp_path / "pipe", b"text")


def test_results_folder_becomes_a_file_for_the_hub(inside, graded, tmp_path):
    export = ["export-results", *graded, "--format", "eval-results", "--out", "hub"]
    export += ["--date", "2026-11-22"]
    done = inside(*export)
    assert done.returncode == 2
    assert "needs --dataset ORG/NAME" in done.stderr
    done = inside(*export, "--dataset", "scbench")
    assert done.returncode == 2
    assert "use ORG/NAME" in done.stderr
    done = inside(*export, "--dataset", "scbench/scbench")
    assert done.returncode == 0, done.stderr
    (path,) = (tmp_path / "hub").glob("sloppy*.yaml")
    entries = yaml.safe_load(path.read_text())
    assert entries[0]["dataset"] == {"id": "scbench/scbench", "task_id": "default"}
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    lines = {
        line["bucket"]: line for line in summary["buckets"] if line["model"] == "sloppy"
    }
    lines["default"] = lines.pop("overall")
    assert lines["default"]["normalized"] != lines["default"]["mean"]
    assert {entry["dataset"]["task_id"] for entry in entries} == lines.keys()
    for entry in entries:
        line = lines[entry["dataset"]["task_id"]]
        assert entry["date"] == "2026-11-22"
        assert entry["value"] == round(100 * line["normalized"], 1)
        assert entry["notes"].endswith(f"; mean {100 * line['mean']:.1f}")
