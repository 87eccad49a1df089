"""Results in an experiment tracker: Weights & Biases, or MLflow (``scbench-grade --log``).

Each run in the results becomes a run of the tracker: the means of its tables as
metrics, the tables, and files as artifacts. Environment variables of the tracker set
the destination: ``WANDB_MODE=offline`` and ``WANDB_DIR``, or ``MLFLOW_TRACKING_URI``.
"""

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple
from urllib.parse import unquote, urlsplit

import polars as pl

from scbench.base.errors import TrackerError
from scbench.grading.means import RUN
from scbench.grading.score_tables import OVERALL

Tracker = Literal["wandb", "mlflow"]
# Score tables by the column that identifies their rows.
Tables = Mapping[Literal["bucket", "task"], pl.DataFrame]

PROJECT = "scbench"
# Characters of a tracker's error that are printed.
_MAX_ERROR = 300
# By default, MLflow retries an unresponsive server for minutes.
_MLFLOW_PATIENCE = {
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "20",
}
_METRICS = ("normalized", "mean", "coverage", "readable", "output_tokens", "cost")


class TrackedRun(NamedTuple):
    """A run in the format for trackers.

    Attributes:
        name: model, setting and so on, separated by spaces.
        config: the same as key-value pairs, and values common to all runs.
        metrics: means of the buckets by name.
        tables: rows of this run.
    """

    name: str
    config: dict[str, Any]
    metrics: dict[str, float]
    tables: dict[str, pl.DataFrame]


def check_tracker(tracker: Tracker) -> None:
    """Check that a tracker can probably receive results.

    Raises:
        ModuleNotFoundError: the library is not installed.
        TrackerError: the tracker has no key, or no place to write to.
    """
    match tracker:
        case "wandb":
            check_wandb()
        case "mlflow":
            check_mlflow()


def check_wandb() -> None:
    """Check that Weights & Biases has a key, unless it works offline.

    Raises:
        TrackerError: there is no key, or the working folder has settings for wandb.
    """
    import wandb  # noqa: PLC0415  (an extra)

    # The folder may be from a stranger, whose settings could send the key and the
    # results to any server.
    local_settings = Path(wandb.Settings().settings_workspace)
    if local_settings.exists():
        raise TrackerError(
            f"{local_settings} could send your key and results to another server; set what "
            "you need from it with WANDB_BASE_URL, WANDB_ENTITY or WANDB_PROJECT, and remove it"
        )
    settings = wandb.setup().settings
    if settings.mode == "online" and not wandb.api.api_key:
        raise TrackerError(
            "wandb has no key; run `wandb login`, set WANDB_API_KEY, or set WANDB_MODE=offline"
        )


def check_mlflow() -> None:
    """Check that MLflow can store an experiment at MLFLOW_TRACKING_URI.

    Raises:
        TrackerError: MLflow cannot, or the working folder would send the files elsewhere.
    """
    import mlflow  # noqa: PLC0415  (an extra)

    for name, value in _MLFLOW_PATIENCE.items():
        os.environ.setdefault(name, value)
    try:
        experiment = mlflow.set_experiment(PROJECT)
    # MLflow, its databases and its servers raise different errors.
    except Exception as error:
        where = mlflow.get_tracking_uri()
        raise TrackerError(f"mlflow cannot use {where}: {first_line(error)}") from error
    if "MLFLOW_TRACKING_URI" in os.environ:
        return
    # By default, MLflow uses a database in the working folder, which may be from a
    # stranger.
    place = urlsplit(experiment.artifact_location)
    folder = Path(unquote(place.path)).resolve()
    is_here = place.scheme in {"", "file"} and folder.is_relative_to(Path.cwd())
    if not is_here:
        raise TrackerError(
            f"mlflow's experiment in this folder stores files in {experiment.artifact_location}; "
            "if you trust it, set MLFLOW_TRACKING_URI"
        )


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its class if the message is empty."""
    lines = str(error).strip().splitlines()
    return lines[0][:_MAX_ERROR] if lines else type(error).__name__


def log_results(
    tracker: Tracker, tables: Tables, config: Mapping[str, Any], files: Sequence[Path]
) -> None:
    """Log the score tables of a file, run by run.

    Args:
        tracker: the tracker to use.
        tables: the score tables.
        config: values that are the same for all runs, such as the release.
        files: artifacts; those that do not exist are left out.

    Raises:
        ModuleNotFoundError: the library is not installed.
        TrackerError: the tracker failed.
    """
    runs = tracked_runs(tables, config)
    artifacts = [file for file in files if file.is_file()]
    try:
        match tracker:
            case "wandb":
                log_wandb(runs, artifacts)
            case "mlflow":
                log_mlflow(runs, artifacts)
    except ModuleNotFoundError:
        raise
    # Each tracker raises different errors, even if the network fails.
    except Exception as error:
        raise TrackerError(first_line(error)) from error


def tracked_runs(tables: Tables, config: Mapping[str, Any]) -> Iterator[TrackedRun]:
    """Yield the runs in score tables, in their order."""
    runs = tables["bucket"].select(RUN).unique(maintain_order=True)
    for run in runs.rows(named=True):
        is_run = [pl.col(key).eq_missing(value) for key, value in run.items()]
        run_tables = {str(by): table.filter(*is_run) for by, table in tables.items()}
        metrics: dict[str, float] = {}
        for row in run_tables["bucket"].rows(named=True):
            prefix = "" if row["bucket"] == OVERALL else f"{row['bucket']}/"
            for name in _METRICS:
                if row[name] is not None:
                    metrics[f"{prefix}{name}"] = row[name]
        name = " ".join(str(value) for value in run.values() if value is not None)
        yield TrackedRun(name, {**config, **run}, metrics, run_tables)


def log_wandb(runs: Iterable[TrackedRun], files: Sequence[Path]) -> None:
    """Log runs to Weights & Biases."""
    import wandb  # noqa: PLC0415  (an extra)

    for tracked in runs:
        with wandb.init(
            project=PROJECT, name=tracked.name, config=tracked.config
        ) as run:
            tables = {}
            for by, table in tracked.tables.items():
                rows = [list(row) for row in table.rows()]
                tables[by] = wandb.Table(columns=table.columns, data=rows)
            run.log(tables)
            run.summary.update(tracked.metrics)
            artifact = wandb.Artifact("scbench-results", type="results")
            for file in files:
                artifact.add_file(str(file))
            run.log_artifact(artifact)


def log_mlflow(runs: Iterable[TrackedRun], files: Sequence[Path]) -> None:
    """Log runs to MLflow."""
    import mlflow  # noqa: PLC0415  (an extra)

    mlflow.set_experiment(PROJECT)
    for tracked in runs:
        with mlflow.start_run(run_name=tracked.name):
            mlflow.log_params(tracked.config)
            mlflow.log_metrics(tracked.metrics)
            for by, table in tracked.tables.items():
                mlflow.log_table(table.to_dict(as_series=False), f"{by}.json")
            for file in files:
                mlflow.log_artifact(str(file))
