"""``scbench-grade --log``: what the real libraries keep, without a network."""

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


@pytest.fixture
def predictions(tmp_path):
    path = tmp_path / "x.jsonl"
    path.write_text("".join(f"{json.dumps(line)}\n" for line in LINES))
    return path


@pytest.mark.parametrize("tracker", LIBRARIES)
def test_offline_it_keeps_tables_scores_and_files(
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
