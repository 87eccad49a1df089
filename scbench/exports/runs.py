"""Results by run and try, as the schemas of others want them."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import polars as pl

from scbench.canonical import content_hash
from scbench.errors import ResultsError
from scbench.grading.score_tables import RUN, metadata_by_run, score_table
from scbench.model import Instance
from scbench.release.load import find_release

COLUMNS = ("failed_checks", "reason", "answer", "usage", "finish_reason", "run_metadata")
"""Columns of the results that are needed besides those that every analysis needs."""


@dataclass(frozen=True, slots=True)
class Try:
    """One answer to one instance.

    Attributes:
        score: the mean of its scores; None if it has none, and the status says why.
        answer: as JSON; empty if none was found.
        explanation: the reason why there is no answer or score, or the checks that failed.
        usage: what the provider reported.
    """

    instance: Instance
    sample: int
    status: str
    score: float | None
    answer: str
    explanation: str
    finish_reason: str | None
    usage: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Run:
    """All answers of one run.

    Attributes:
        date: of the answers, midnight in UTC.
        release: version of the release it was graded against.
        graders: version of each task's grader.
        lines: rows of the table by bucket, see `score_table`.
        task_lines: those of the table by task.
        tries: in the order of the results.
    """

    model: str
    setting: str | None
    budget: int | None
    date: datetime
    release: str
    graders: Mapping[str, int]
    lines: list[dict[str, Any]]
    task_lines: list[dict[str, Any]]
    tries: list[Try]

    @property
    def name(self) -> str:
        """What tells it apart from others, for names of files."""
        parts = [self.model, self.setting, None if self.budget is None else str(self.budget)]
        return re.sub(r"[^A-Za-z0-9._-]+", "_", "-".join(filter(None, parts)))[:100]

    @property
    def key(self) -> str:
        """A short hash of what was graded, the same on every machine."""
        scores = [[one.instance.content_hash, one.sample, one.score] for one in self.tries]
        named = [self.model, self.setting, self.budget, self.release]
        return content_hash([*named, scores])[:16]


def runs_in(
    results: pl.DataFrame, date: str | None = None, release: str | None = None
) -> Iterator[Run]:
    """Yield the runs of results, in alphabetical order.

    Args:
        results: as `scbench.analysis.results.read_results` gives them, with `COLUMNS`.
        date: of the answers, YYYY-MM-DD, for runs that do not say it.
        release: where the one is that was graded against, if it is not installed.

    Raises:
        ResultsError: a run has no date; or the release is another one.
        ReleaseError: it is not installed.
    """
    (version,) = results["release"].unique()
    found = find_release(release or version).fitting(version)
    if found.version != version:
        raise ResultsError(f"the results are of release {version}, not of {found.version}")
    instances = found.instances(set(results["task"].unique()))
    said = metadata_by_run(results)
    by_bucket, by_task = score_table(results, "bucket"), score_table(results, "task")
    for key, rows in sorted(
        results.partition_by(RUN, as_dict=True, maintain_order=True).items(),
        key=lambda pair: tuple(map(str, pair[0])),
    ):
        told = {one["date"] for one in said.get(key, ()) if one.get("date")}
        day = max(told, default=date)
        if day is None:
            raise ResultsError(f"no line of {key[0]!r} says when it was run; add --date YYYY-MM-DD")
        try:
            when = datetime.strptime(day, "%Y-%m-%d").replace(tzinfo=UTC)
        except ValueError:
            raise ResultsError(f"{day!r} is no date; a date is YYYY-MM-DD") from None
        model, setting, budget = key
        yield Run(
            model=model,
            setting=setting,
            budget=budget,
            date=when,
            release=version,
            graders=dict(rows.select("task", "grader_version").unique().sort("task").rows()),
            lines=_lines(by_bucket, key),
            task_lines=_lines(by_task, key),
            tries=list(_tries(rows, instances)),
        )


def _lines(table: pl.DataFrame, key: tuple[Any, ...]) -> list[dict[str, Any]]:
    return [row for row in table.to_dicts() if tuple(row[name] for name in RUN) == key]


def _tries(rows: pl.DataFrame, instances: Mapping[str, Instance]) -> Iterator[Try]:
    first = ("status", "answer", "reason", "usage", "finish_reason")
    grouped = rows.group_by("id", "sample", maintain_order=True).agg(
        pl.col("score").mean(),
        pl.col("failed_checks").explode().drop_nulls().unique(maintain_order=True),
        *(pl.col(name).first() for name in first),
    )
    for row in grouped.iter_rows(named=True):
        failed = ", ".join(row["failed_checks"])
        yield Try(
            instances[row["id"]],
            row["sample"],
            row["status"],
            row["score"],
            row["answer"] or "",
            row["reason"] or (f"failed: {failed}" if failed else ""),
            row["finish_reason"],
            json.loads(row["usage"] or "{}"),
        )
