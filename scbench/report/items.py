"""From rows of the results to items: what a run made of an instance, ready to be shown.

One item stands for one answer, so it has as many verdicts as its task gives an answer scores.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

from scbench.base.errors import ResultsError
from scbench.base.model import Check, Instance, Status, Verdict
from scbench.catalog import Task, all_tasks
from scbench.report.picture import Picture, draw_of, with_reasons
from scbench.scoring.judge import validate

if TYPE_CHECKING:
    import polars as pl
    from pydantic import BaseModel

COLUMNS = (
    *("line", "failed_checks", "checks", "metrics", "notes", "reason", "answer"),
    *("answer_source", "repairs", "finish_reason", "prediction_hash", "turn_scores"),
)
"""Columns of the results that items need in addition to `scbench.analysis.results.NEEDED`."""

_COPIED = (
    *("id", "task", "bucket", "instance_hash", "status", "answer"),
    *("finish_reason", "prediction_hash"),
)
"""Columns that an item has as they are."""

Run = tuple[str, str | None, int | None, int]
"""Model, setting, budget and sample."""


class Graded(NamedTuple):
    """A score and what was found, still as the text that results hold: reports have many."""

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
    """What one run made of one instance."""

    id: str  #: of the instance.
    task: str  #: id of the task.
    bucket: str  #: its bucket.
    instance_hash: str | None  #: content hash of the instance that was graded.
    run: Run = ("", None, None, 0)  #: model, setting, budget and sample.
    status: str = ""  #: what happened.
    #: one for each score of the task, or none if there is no score.
    graded: tuple["Graded", ...] = ()
    reason: str = ""  #: why there is no answer or no score; empty if there is one.
    #: what was graded, as canonical JSON; None if there is none, or it is too large.
    answer: str | None = None
    source: str = ""  #: where in the prediction it was found, and what was done to read it.
    finish_reason: str | None = None  #: as the provider gave it.
    prediction_hash: str | None = None  #: SHA-256 of the prediction's line.
    #: of each turn of a loop, None for turns without an answer; empty of others.
    turn_scores: tuple[float | None, ...] = ()

    @property
    def score(self) -> float | None:
        """Mean of the scores; None if no score exists."""
        return sum(part.score for part in self.graded) / len(self.graded) if self.graded else None

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One for each score."""
        return tuple(part.verdict() for part in self.graded)

    @property
    def failed(self) -> bool:
        """Whether anything short of full marks came out of an answer that was asked for."""
        return self.score < 1 if self.score is not None else self.status != Status.MISSING


def items_of(results: "pl.DataFrame") -> list[Item]:
    """Return the items of results with `NEEDED` and `COLUMNS`, by tasks, instances and runs."""
    place = {name: i for i, name in enumerate(all_tasks())}

    def key(row: Mapping[str, Any]) -> tuple[Any, ...]:
        model, setting, budget, sample = run_of(row)
        run = (model, setting or "", budget or 0, sample)
        # Numbers of instances have two digits, or more where there are more than a hundred.
        return (place.get(row["task"], len(place)), len(row["id"]), row["id"], run)

    rows = sorted(results.to_dicts(), key=lambda row: (*key(row), row["subtask"]))
    return [_item(list(group)) for _, group in groupby(rows, key)]


def run_of(row: Mapping[str, Any]) -> Run:
    """Return the run that a row of the results belongs to."""
    return row["model"], row["setting"], row["budget"], row["sample"]


def _item(rows: Sequence[Mapping[str, Any]]) -> Item:
    first = rows[0]
    scored = [row for row in rows if row["score"] is not None]
    source = first["answer_source"] or ""
    if first["repairs"]:
        source += f" ({', '.join(first['repairs'])})"
    return Item(
        **{name: first[name] for name in _COPIED},
        run=run_of(first),
        graded=tuple(
            Graded(row["score"], row["checks"], row["metrics"], tuple(row["notes"] or ()))
            for row in scored
        ),
        reason=first["reason"] or "",
        source=source,
        turn_scores=_turn_scores([row["turn_scores"] or () for row in rows]),
    )


def _turn_scores(parts: Sequence[Sequence[float | None]]) -> tuple[float | None, ...]:
    turns = zip(*parts, strict=True)
    means = ([score for score in turn if score is not None] for turn in turns)
    return tuple(sum(scores) / len(scores) if scores else None for scores in means)


def run_labels(runs: Iterable[Run]) -> dict[Run, str]:
    """Return a name for each run: its model, and whatever else tells it from the others."""
    distinct = sorted(
        dict.fromkeys(runs), key=lambda run: (run[0], run[1] or "", run[2] or 0, run[3])
    )
    settings, budgets, samples = (len({run[i] for run in distinct}) > 1 for i in (1, 2, 3))
    labels = {}
    for run in distinct:
        model, setting, budget, sample = run
        parts = [model]
        parts += [setting.replace("_", " ")] if settings and setting else []
        parts += [f"budget {budget:,}"] if budgets and budget is not None else []
        parts += [f"sample {sample}"] if samples else []
        labels[run] = ", ".join(parts)
    return labels


def picture_of(
    task: Task, params: str, answer: str | None, verdicts: Sequence[Verdict]
) -> Picture | None:
    """Draw an instance, with an answer and what was found if there are any; params are JSON.

    What does not fit the task's schema is not drawn.

    Returns:
        The picture; None if the task has no pictures.

    Raises:
        Exception: whatever a faulty picture module raises.
    """
    draw = draw_of(task)
    if draw is None:
        return None
    checked_params = task.params_model.model_validate_json(params)
    valid = answer_of(task, answer)
    return with_reasons(draw(checked_params, valid, verdicts), valid, verdicts)


def answer_of(task: Task, answer: str | None) -> "BaseModel | None":
    """Return an answer as its task's model; None if there is none that fits its schema."""
    if answer is None:
        return None
    checked = validate(task.answer_model, json.loads(answer), len(answer))
    return None if isinstance(checked, Check) else checked


def selected(items: Iterable[Item], which: str) -> Iterator[Item]:
    """Yield the items to be shown: ``all``, ``failed`` (short of full marks) or ``none``.

    Raises:
        ResultsError: there is no such choice.
    """
    if which not in {"all", "failed", "none"}:
        raise ResultsError(f"a report shows all items, failed ones or none, not {which!r}")
    for item in items:
        if which == "all" or (which == "failed" and item.failed):
            yield item


def same_instance(item: Item, instances: Mapping[str, Instance]) -> Instance | None:
    """Return the instance that an item was graded on; None if the release holds another or none."""
    instance = instances.get(item.id)
    return instance if instance and instance.content_hash == item.instance_hash else None
