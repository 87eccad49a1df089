"""Items of a report: one run's answer to one instance, built from rows of the results.

An item has one verdict for each score of an answer.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from scbench.base.errors import ResultsError
from scbench.base.model import Check, Instance, Status, Verdict
from scbench.catalog import all_tasks
from scbench.release.load import Release

if TYPE_CHECKING:
    import polars as pl

# Columns of the results that items need, in addition to `scbench.analysis.results.NEEDED`.
COLUMNS = (
    "line",
    "failed_checks",
    "checks",
    "metrics",
    "notes",
    "reason",
    "answer",
    "answer_source",
    "repairs",
    "finish_reason",
    "prediction_hash",
    "turn_scores",
)
# Columns that an item copies unchanged.
_COPIED = (
    "id",
    "task",
    "bucket",
    "instance_hash",
    "status",
    "answer",
    "finish_reason",
    "prediction_hash",
)

# Model, setting, budget and sample.
Run = tuple[str, str | None, int | None, int]


class Graded(NamedTuple):
    """A score and its verdict, still as JSON text, because reports have many."""

    score: float
    checks: str
    metrics: str
    notes: tuple[str, ...]

    def verdict(self) -> Verdict:
        """Return the verdict, as read back from JSON."""
        checks = tuple(
            Check(check["id"], check["passed"], check["message"], check["details"])
            for check in json.loads(self.checks)
        )
        return Verdict(self.score, checks, json.loads(self.metrics), self.notes)


@dataclass(frozen=True, slots=True)
class Item:
    """The answer of one run to one instance, or an instance without an answer.

    Attributes:
        id: id of the instance.
        task: id of the task.
        bucket: bucket of the task.
        instance_hash: content hash of the instance that was graded.
        run: model, setting, budget and sample.
        status: status of the first row.
        graded: one for each score of the task, or none if there is no score.
        reason: why there is no answer or no score; empty if there is a score.
        answer: as canonical JSON; None if there is none, or it is too large.
        source: where the answer was found in the prediction, and the repairs applied to it.
        finish_reason: as the provider gave it.
        prediction_hash: SHA-256 of the prediction's line.
        turn_scores: score of each turn of a loop, None for turns without an answer; empty without a
            loop.
    """

    id: str
    task: str
    bucket: str
    instance_hash: str | None
    run: Run = ("", None, None, 0)
    status: str = ""
    graded: tuple[Graded, ...] = ()
    reason: str = ""
    answer: str | None = None
    source: str = ""
    finish_reason: str | None = None
    prediction_hash: str | None = None
    turn_scores: tuple[float | None, ...] = ()

    @property
    def score(self) -> float | None:
        """Mean of the scores; None if no score exists."""
        return mean_score([part.score for part in self.graded])

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One verdict for each score."""
        return tuple(part.verdict() for part in self.graded)

    @property
    def unanswered(self) -> bool:
        """Whether there is neither an answer nor a score."""
        return self.answer is None and not self.graded

    @property
    def failed(self) -> bool:
        """Whether an answer was expected and does not have full marks."""
        score = self.score
        return self.status != Status.MISSING if score is None else score < 1


def items_of(results: "pl.DataFrame") -> list[Item]:
    """Return the items of results, sorted by task, instance and run."""
    positions = {name: i for i, name in enumerate(all_tasks())}

    def item_key(row: Mapping[str, Any]) -> tuple[Any, ...]:
        model, setting, budget, sample = run_of(row)
        run = (model, setting or "", budget or 0, sample)
        position = positions.get(row["task"], len(positions))
        # Numbers of instances have two digits, or more if there are more than a hundred.
        return (position, len(row["id"]), row["id"], run)

    rows = sorted(results.to_dicts(), key=lambda row: (*item_key(row), row["subtask"]))
    return [item_of_rows(list(group)) for _, group in groupby(rows, item_key)]


def run_of(row: Mapping[str, Any]) -> Run:
    """Return the run that a row of the results belongs to."""
    return row["model"], row["setting"], row["budget"], row["sample"]


def item_of_rows(rows: Sequence[Mapping[str, Any]]) -> Item:
    """Return the item of rows that differ only in their subtasks."""
    first = rows[0]
    source = first["answer_source"] or ""
    if first["repairs"]:
        source += f" ({', '.join(first['repairs'])})"
    graded = []
    for row in rows:
        # Rows without a score have no verdict.
        if row["score"] is not None:
            notes = tuple(row["notes"] or ())
            graded.append(Graded(row["score"], row["checks"], row["metrics"], notes))
    # A turn has a score for each row.
    turns = zip(*(row["turn_scores"] or () for row in rows), strict=True)
    return Item(
        **{name: first[name] for name in _COPIED},
        run=run_of(first),
        graded=tuple(graded),
        reason=first["reason"] or "",
        source=source,
        turn_scores=tuple(mean_score(turn) for turn in turns),
    )


def mean_score(scores: Iterable[float | None]) -> float | None:
    """Return the mean of the scores that exist; None if none does."""
    present = [score for score in scores if score is not None]
    return sum(present) / len(present) if present else None


def run_labels(runs: Iterable[Run]) -> dict[Run, str]:
    """Return a name for each run: its model, and the settings in which runs differ."""
    distinct = sorted(
        dict.fromkeys(runs), key=lambda run: (run[0], run[1] or "", run[2] or 0, run[3])
    )
    settings = {setting for _, setting, _, _ in distinct}
    budgets = {budget for _, _, budget, _ in distinct}
    samples = {sample for _, _, _, sample in distinct}
    labels = {}
    for run in distinct:
        model, setting, budget, sample = run
        parts = [model]
        if len(settings) > 1 and setting:
            parts.append(setting.replace("_", " "))
        if len(budgets) > 1 and budget is not None:
            parts.append(f"budget {budget:,}")
        if len(samples) > 1:
            parts.append(f"sample {sample}")
        labels[run] = ", ".join(parts)
    return labels


def select_items(items: Iterable[Item], which: str) -> Iterator[Item]:
    """Yield the items for a report: ``all``, ``failed`` (short of full marks) or ``none``.

    Raises:
        ResultsError: there is no such choice.
    """
    if which not in {"all", "failed", "none"}:
        raise ResultsError(f"items must be all, failed or none, not {which!r}")
    for item in items:
        if which == "all" or (which == "failed" and item.failed):
            yield item


def instances_of(
    items: Sequence[Item], release: Release | None
) -> list[Instance | None]:
    """Return the instance of each item; None if the release does not contain it.

    Answers to terse prompts and to pictures have the same item names. Instances missing in the
    default config are therefore looked up in the others.
    """
    if release is None:
        return [None] * len(items)
    tasks_by_hash = {item.instance_hash: item.task for item in items}
    instances: dict[str | None, Instance] = {}
    sources = [release]
    if release.manifest.terse:
        sources.append(release.terse())
    if release.manifest.pictures:
        sources.append(release.pictures())
    # Prompts are large, so a config is read only for instances that are still missing.
    for source in sources:
        missing = tasks_by_hash.keys() - instances.keys()
        if not missing:
            break
        rows = source.instances({tasks_by_hash[digest] for digest in missing})
        for row in rows.values():
            if row.content_hash in tasks_by_hash:
                instances[row.content_hash] = row
    return [instances.get(item.instance_hash) for item in items]
