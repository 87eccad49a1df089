"""Results in an experiment tracker: Weights & Biases, or MLflow (``scbench-grade --log``).

A run of theirs for each run in the results: the means of its tables as metrics, the tables, and
files as artifacts. Where it goes is theirs to say: ``WANDB_MODE=offline`` and ``WANDB_DIR``, or
``MLFLOW_TRACKING_URI``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, NamedTuple

import polars as pl

from scbench.grading.means import RUN
from scbench.grading.score_tables import OVERALL

Tracker = Literal["wandb", "mlflow"]
PROJECT = "scbench"
_METRICS = ("normalized", "mean", "coverage", "readable", "output_tokens", "cost")


class _Logged(NamedTuple):
    name: str
    config: dict[str, Any]
    metrics: dict[str, float]
    tables: dict[str, pl.DataFrame]


def log_results(
    tracker: Tracker,
    tables: Mapping[Literal["bucket", "task"], pl.DataFrame],
    config: Mapping[str, Any],
    files: Sequence[Path],
) -> None:
    """Log the score tables of a file, run by run.

    Args:
        tracker: whose library does it.
        tables: by what they are.
        config: what is the same for all runs, such as the release.
        files: artifacts; those that are not there are left out.

    Raises:
        ModuleNotFoundError: the library is not installed.
    """
    log = {"wandb": _log_wandb, "mlflow": _log_mlflow}[tracker]
    log(_logged_runs(tables, config), [file for file in files if file.is_file()])


def _logged_runs(
    tables: Mapping[Literal["bucket", "task"], pl.DataFrame], config: Mapping[str, Any]
) -> Iterator[_Logged]:
    for run in (
        tables["bucket"].select(RUN).unique(maintain_order=True).rows(named=True)
    ):
        same = [pl.col(key).eq_missing(value) for key, value in run.items()]
        own = {by: table.filter(*same) for by, table in tables.items()}
        metrics: dict[str, float] = {}
        for row in own["bucket"].rows(named=True):
            prefix = "" if row["bucket"] == OVERALL else f"{row['bucket']}/"
            values = {f"{prefix}{name}": row[name] for name in _METRICS}
            metrics |= {
                name: value for name, value in values.items() if value is not None
            }
        name = " ".join(str(value) for value in run.values() if value is not None)
        yield _Logged(
            name, {**config, **run}, metrics, {str(by): own[by] for by in own}
        )


def _log_wandb(runs: Iterable[_Logged], files: Sequence[Path]) -> None:
    import wandb  # noqa: PLC0415  (an extra)

    for logged in runs:
        with wandb.init(project=PROJECT, name=logged.name, config=logged.config) as run:
            run.log(
                {
                    by: wandb.Table(
                        columns=table.columns, data=[[*row] for row in table.rows()]
                    )
                    for by, table in logged.tables.items()
                }
            )
            run.summary.update(logged.metrics)
            artifact = wandb.Artifact("scbench-results", type="results")
            for file in files:
                artifact.add_file(str(file))
            run.log_artifact(artifact)


def _log_mlflow(runs: Iterable[_Logged], files: Sequence[Path]) -> None:
    import mlflow  # noqa: PLC0415  (an extra)

    mlflow.set_experiment(PROJECT)
    for logged in runs:
        with mlflow.start_run(run_name=logged.name):
            mlflow.log_params(logged.config)
            mlflow.log_metrics(logged.metrics)
            for by, table in logged.tables.items():
                mlflow.log_table(table.to_dict(as_series=False), f"{by}.json")
            for file in files:
                mlflow.log_artifact(str(file))
