"""Rows of the results: one per score, or the reason why there is none."""

from collections.abc import Iterable
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from scbench.canonical import canonical_json
from scbench.catalog import Task
from scbench.grading.rows.wire import Packed
from scbench.model import Instance, Prediction
from scbench.predictions import Line

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True, slots=True, order=True)
class RunKey:
    """What makes a line one of a run: same model, setting, sample and budget."""

    model: str
    setting: str | None
    sample: int
    budget: int | None

    @property
    def order(self) -> tuple[object, ...]:
        """What runs are sorted by."""
        return (
            self.model,
            self.setting or "",
            self.sample,
            self.budget is not None,
            self.budget or 0,
        )

    def __str__(self) -> str:
        parts = [f"model {self.model!r}"]
        parts += [f"setting {self.setting}"] if self.setting else []
        parts += [f"sample {self.sample}"] if self.sample else []
        parts += [f"budget {self.budget}"] if self.budget is not None else []
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the results: one score, or the reason why there is none.

    Attributes:
        line: line of the predictions file; None for a row that had no line.
        id: instance id. Rows of one answer with several scores share it and differ in `subtask`.
        setting: "no_tools", "tools" or None if the file does not say.
        score: in [0, 1]; None if the status is unscored.
        failed_checks: ids of the checks that did not pass.
        checks: every check of the verdict, as canonical JSON.
        metrics: the verdict's metrics, as canonical JSON.
        notes: remarks, such as keys that were ignored.
        reason: why there is no answer or no score; empty if there is one.
        answer: the answer as canonical JSON, if found and of moderate size.
        answer_source: where it was found (see `scbench.answers.extract`).
        repairs: what had to be done to read it.
        response_characters: length of the model's text without blanks around it; None if the line
            gives none.
        usage: what the provider reported, as canonical JSON.
        prediction_hash: SHA-256 of the line's bytes.
        instance_hash: content hash of the instance; None if the release does not hold it.
        grader_version: version of the task's grader.
    """

    line: int | None
    id: str
    task: str
    bucket: str
    subtask: int
    model: str
    setting: str | None
    sample: int
    budget: int | None
    status: str
    score: float | None
    failed_checks: list[str]
    checks: str
    metrics: str
    notes: list[str]
    reason: str
    answer: str | None
    answer_source: str | None
    repairs: list[str]
    finish_reason: str | None
    response_characters: int | None
    usage: str | None
    prediction_hash: str | None
    instance_hash: str | None
    grader_version: int | None
    release: str
    release_hash: str


def visible(prediction: Prediction) -> int | None:
    """Return the length of a model's text without blanks around it; None if there is none."""
    return None if prediction.response is None else len(prediction.response.strip())


def results_schema() -> "dict[str, pl.DataType | type[pl.DataType]]":
    """Return the column types of the results, as polars knows them."""
    import polars as pl  # noqa: PLC0415  (heavy; wanted once per run)

    types = {int: pl.Int64(), float: pl.Float64(), str: pl.String(), list[str]: pl.List(pl.String)}
    return {
        name: types[hint if hint in types else get_args(hint)[0]]
        for name, hint in get_type_hints(Row).items()
    }


@dataclass(frozen=True, slots=True)
class RowMaker:
    """Makes result rows that belong to one release."""

    release: str
    release_hash: str

    def graded(
        self, line: Line, digest: str, instance: Instance, task: Task, outcome: Packed
    ) -> list[Row]:
        """Return the rows of a graded line, of which ``digest`` is the hash: one per score."""
        prediction = line.prediction
        usage = prediction.usage
        return [
            Row(
                line=line.number,
                id=instance.id,
                task=instance.task,
                bucket=instance.bucket,
                subtask=instance.subtask + i,
                model=prediction.model,
                setting=prediction.setting,
                sample=prediction.sample,
                budget=prediction.budget,
                status=outcome.status,
                score=scored.score if scored else None,
                failed_checks=scored.failed_checks if scored else [],
                checks=scored.checks if scored else "[]",
                metrics=scored.metrics if scored else "{}",
                notes=scored.notes if scored else [],
                reason=outcome.reason,
                answer=outcome.answer if i == 0 else None,
                answer_source=outcome.source,
                repairs=outcome.repairs,
                finish_reason=prediction.finish_reason,
                response_characters=visible(prediction),
                usage=canonical_json(usage.model_dump(exclude_none=True)) if usage else None,
                prediction_hash=digest,
                instance_hash=instance.content_hash,
                grader_version=task.grader_version,
                release=self.release,
                release_hash=self.release_hash,
            )
            for i, scored in enumerate(outcome.scores or (None,) * instance.scores)
        ]


def sort_key(row: Row) -> tuple[Any, ...]:
    """Return the order of rows in the results: by line, then rows without one by run and item."""
    missing = row.line is None
    run = RunKey(row.model, row.setting, row.sample, row.budget).order if missing else ()
    return (missing, row.line or 0, *run, row.id, row.subtask)


def results_frame(rows: Iterable[Row]) -> "pl.DataFrame":
    """Return rows as a polars frame, sorted, with the columns of `Row`."""
    import polars as pl  # noqa: PLC0415  (as above)

    ordered = sorted(rows, key=sort_key)
    columns = {name: list(map(attrgetter(name), ordered)) for name in Row.__slots__}
    return pl.DataFrame(columns, schema=results_schema())
