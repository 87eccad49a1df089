"""The runs and attempts in results, for export to other programs by `scbench.formats.exports`."""

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import polars as pl

from scbench.base.errors import ResultsError
from scbench.base.model import Instance
from scbench.formats.exports import Run, Try, file_names
from scbench.grading.means import RUN
from scbench.grading.score_tables import headline, metadata_by_run, score_table
from scbench.release.load import release_in_results

# Columns of the results that are needed in addition to
# `scbench.analysis.results.NEEDED`.
COLUMNS = (
    "failed_checks",
    "reason",
    "answer",
    "usage",
    "finish_reason",
    "run_metadata",
)


def runs_in(
    results: pl.DataFrame, date: str | None = None, release: str | None = None
) -> Iterator[Run]:
    """Yield the runs of results, in alphabetical order.

    Args:
        results: as returned by `scbench.analysis.results.read_results`, with `COLUMNS`.
        date: date of the answers, YYYY-MM-DD, for runs that do not state it.
        release: path of the release that was graded against, if it is not installed.

    Raises:
        ResultsError: a run has no date, or the release does not match.
        ReleaseError: the release is not installed.
    """
    (version,) = results["release"].unique()
    graded = release_in_results(version, release)
    if graded.version != version:
        raise ResultsError(
            f"the results are from release {version}, not {graded.version}"
        )
    instances = graded.instances(set(results["task"].unique()))
    metadata = metadata_by_run(results)
    weights = graded.weights()
    by_bucket = score_table(results, "bucket", weights)
    by_task = score_table(results, "task", weights)
    by_run = results.partition_by(RUN, as_dict=True, maintain_order=True)
    names = file_names(by_run)
    for key in sorted(by_run, key=lambda run: tuple(map(str, run))):
        rows = by_run[key]
        dates = {line["date"] for line in metadata.get(key, ()) if line.get("date")}
        day = max(dates, default=date)
        if day is None:
            raise ResultsError(
                f"no line of {key[0]!r} states a date; add --date YYYY-MM-DD"
            )
        model, setting, budget = key
        versions = rows.select("task", "grader_version").unique().sort("task")
        yield Run(
            name=names[key],
            model=model,
            setting=setting,
            budget=budget,
            date=_date_of(day),
            release=version,
            graders=dict(versions.rows()),
            lines=_lines_of_run(by_bucket, key),
            task_lines=_lines_of_run(by_task, key),
            tries=list(tries_of_run(rows, instances)),
        )


def _date_of(day: str) -> datetime:
    try:
        return datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)
    except ValueError:
        raise ResultsError(f"{day!r} is not a date in the form YYYY-MM-DD") from None


def _lines_of_run(table: pl.DataFrame, key: tuple[Any, ...]) -> list[dict[str, Any]]:
    lines = []
    for row in table.to_dicts():
        run = tuple(row[name] for name in RUN)
        if run == key:
            lines.append(row | {"score": headline(row)})
    return lines


def tries_of_run(
    rows: pl.DataFrame, instances: Mapping[str, Instance]
) -> Iterator[Try]:
    """Yield the attempts of a run; an answer with several scores gets their mean."""
    failed_checks = pl.col("failed_checks").explode().drop_nulls()
    by_answer = rows.group_by("id", "sample", maintain_order=True).agg(
        pl.col("score").mean(),
        failed_checks.unique(maintain_order=True),
        pl.col("status", "answer", "reason", "usage", "finish_reason").first(),
    )
    for row in by_answer.iter_rows(named=True):
        reason = row["reason"] or ""
        if not reason and row["failed_checks"]:
            reason = f"failed: {', '.join(row['failed_checks'])}"
        yield Try(
            instances[row["id"]],
            row["sample"],
            row["status"],
            row["score"],
            row["answer"] or "",
            reason,
            row["finish_reason"],
            json.loads(row["usage"] or "{}"),
        )
