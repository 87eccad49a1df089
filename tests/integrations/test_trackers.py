"""``scbench-grade --log`` with the real libraries, without a network."""

import json
import sys

import pytest
from commands import run
from stored_replies import installed

LINES = [
    {"id": "two_segments/07", "model": "a", "response": "none"},
    {"id": "two_segments/08", "model": "b", "status": "api_error", "error": "500"},
]
LIBRARIES = {
    "wandb": ("wandb==0.31.0", {"WANDB_MODE": "offline", "WANDB_SILENT": "true"}),
    "mlflow": ("mlflow==3.17.2", {"MLFLOW_TRACKING_URI": "sqlite:///mlflow.db"}),
}

FAILING = {
    "wandb without a key": ("wandb", {"WANDB_MODE": "online", "WANDB_API_KEY": ""}),
    "mlflow in a folder": ("mlflow", {"MLFLOW_TRACKING_URI": "file:./mlruns"}),
    "mlflow that is down": ("mlflow", {"MLFLOW_TRACKING_URI": "http://127.0.0.1:9"}),
}


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    return path


@pytest.mark.parametrize("tracker", LIBRARIES)
def test_offline_tracker_keeps_tables_scores_and_files(
    tracker, predictions, tmp_path, pytestconfig
):
    package, settings = LIBRARIES[tracker]
    folder = installed(pytestconfig.cache.mkdir("packages"), package)
    program = "from scbench.cli.grade import run; run()"
    options = (
        predictions,
        "--partial",
        "--workers",
        "1",
        "--out",
        "out",
        "--log",
        tracker,
    )
    command = (sys.executable, "-c", program, *options)
    done = run(*command, cwd=tmp_path, PYTHONPATH=folder, **settings)
    assert f"logged to {tracker}" in done.stderr, done.stderr[-2000:]
    kept = [path.name for path in tmp_path.rglob("*") if path.is_file()]
    assert (
        sum(name.startswith("bucket") and name.endswith(".json") for name in kept) == 2
    )
    if tracker == "mlflow":
        assert kept.count("results.parquet") == 3
    else:
        assert sum(name.endswith(".wandb") for name in kept) == 2


@pytest.mark.parametrize("case", FAILING)
def test_unusable_tracker_is_named_before_grading(
    case, predictions, tmp_path, pytestconfig
):
    tracker, settings = FAILING[case]
    package, _ = LIBRARIES[tracker]
    folder = installed(pytestconfig.cache.mkdir("packages"), package)
    program = "from scbench.cli.grade import run; run()"
    options = (predictions, "--partial", "--out", "out", "--log", tracker)
    command = (sys.executable, "-c", program, *options)
    done = run(*command, cwd=tmp_path, PYTHONPATH=folder, HOME=tmp_path, **settings)
    assert done.returncode == 2, done.stderr[-2000:]
    assert "Traceback" not in done.stderr
    assert f"error: {tracker}" in done.stderr
    assert not (tmp_path / "out").exists()


def test_settings_of_the_working_folder_cannot_redirect_results(
    predictions, tmp_path, pytestconfig
):
    folder = installed(pytestconfig.cache.mkdir("packages"), LIBRARIES["wandb"][0])
    settings = tmp_path / "wandb" / "settings"
    settings.parent.mkdir()
    settings.write_text("[default]\nbase_url = http://127.0.0.1:9\n")
    program = "from scbench.cli.grade import run; run()"
    options = (predictions, "--partial", "--out", "out", "--log", "wandb")
    command = (sys.executable, "-c", program, *options)
    key = {"WANDB_API_KEY": "a" * 40, "WANDB_MODE": "online"}
    done = run(*command, cwd=tmp_path, PYTHONPATH=folder, HOME=tmp_path, **key)
    assert done.returncode == 2, done.stderr[-2000:]
    assert f"{settings} could send your key and results to another" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("place", ["http://127.0.0.1:9/x", "/", "file:///etc/x"])
def test_database_of_the_working_folder_cannot_redirect_files(place, tmp_path):
    """The library is a stub with what MLflow returns for a database made by a stranger."""
    (tmp_path / "mlflow.py").write_text(
        f"class experiment: artifact_location = {place!r}\n"
        "def set_experiment(name): return experiment\n"
    )
    program = "from scbench.integrations.trackers import *; check_tracker('mlflow')"
    command = (sys.executable, "-c", program)
    done = run(*command, cwd=tmp_path, PYTHONPATH=tmp_path)
    assert f"stores files in {place}; if you trust it" in done.stderr
    here = {"MLFLOW_TRACKING_URI": "sqlite:///mlflow.db"}
    done = run(*command, cwd=tmp_path, PYTHONPATH=tmp_path, **here)
    assert done.returncode == 0, done.stderr


def test_tracker_failure_after_grading_changes_nothing_else(predictions, tmp_path):
    library = tmp_path / "library"
    library.mkdir()
    (library / "mlflow.py").write_text(
        "class experiment: artifact_location = 'mlruns/1'\n"
        "def set_experiment(name): return experiment\n"
        "def start_run(run_name): raise OSError('the server is gone\\nwith details')\n"
    )
    program = "from scbench.cli.grade import run; run()"
    options = (predictions, "--partial", "--workers", "1", "--out", "out")
    command = (sys.executable, "-c", program, *options)
    plain = run(*command, cwd=tmp_path)
    done = run(
        *command, "--log", "mlflow", "--restart", cwd=tmp_path, PYTHONPATH=library
    )
    assert done.returncode == plain.returncode
    assert done.stdout == plain.stdout
    assert (
        "not logged to mlflow: the server is gone; the results in out are complete"
        in done.stderr
    )
    assert "with details" not in done.stderr
