"""Columns of the results: each row has a score or the reason for a missing one."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, get_args, get_type_hints

if TYPE_CHECKING:
    import polars as pl


ColumnTypes = dict[str, "pl.DataType | type[pl.DataType]"]


class RunKey(NamedTuple):
    """The key of a run: its lines share model, setting, sample and budget."""

    model: str
    setting: str | None
    sample: int
    budget: int | None

    @property
    def order(self) -> tuple[object, ...]:
        """The key by which runs are sorted; None comes first."""
        return (
            self.model,
            self.setting or "",
            self.sample,
            self.budget is not None,
            self.budget or 0,
        )

    def __str__(self) -> str:
        parts = [f"model {self.model!r}"]
        if self.setting:
            parts.append(f"setting {self.setting}")
        if self.sample:
            parts.append(f"sample {self.sample}")
        if self.budget is not None:
            parts.append(f"budget {self.budget}")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the results: a score, or the reason for a missing one.

    Attributes:
        line: line of the predictions file; None for a row that had no line.
        id: instance id. Rows of one answer with several scores share it and differ in `subtask`.
        setting: "no_tools", "tools", one of `scbench.base.model.LOOP_SETTINGS`, or None
            if the file does not state it.
        score: score in [0, 1]; None if the status is unscored.
        failed_checks: ids of the checks that did not pass.
        checks: every check of the verdict, as canonical JSON.
        metrics: the verdict's metrics, as canonical JSON.
        notes: remarks, such as keys that were ignored.
        reason: why there is no answer or no score; empty if there is one.
        answer: the answer as canonical JSON, if found and of moderate size.
        answer_source: where the answer was found (see
            `scbench.scoring.answers.extract`).
        repairs: repairs that were necessary to read it.
        response_characters: length of the model's text without blanks around it; None
            if the line has no text.
        usage: usage that the provider reported, as canonical JSON.
        run_metadata: how the run was made (`scbench.base.model.RunMetadata`), as canonical JSON.
        prompt_sha256: SHA-256 of the text that was sent, according to the line.
        reasoning_characters: length of the reasoning in the line; None if it has no
            reasoning.
        loop: setup of a loop (`scbench.base.model.Played`), as canonical JSON; None for
            other lines.
        turn_scores: score of the answer in each turn of a loop; null for turns without
            an answer.
        best_score: the best of these scores.
        queries: cost of the queries (probe) or actions (act).
        prediction_hash: SHA-256 of the line's bytes.
        instance_hash: content hash of the instance; None if the release does not contain it.
        floor: floor of the instance in the release; None if it is not known. In setting
            retry, the score that guesses reach in all allowed answers.
        turn_floors: in setting retry, the floor after each number of answers; None for
            other lines.
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
    run_metadata: str | None
    prompt_sha256: str | None
    reasoning_characters: int | None
    loop: str | None
    turn_scores: list[float] | None
    best_score: float | None
    queries: int | None
    prediction_hash: str | None
    instance_hash: str | None
    floor: float | None
    turn_floors: list[float] | None
    grader_version: int | None
    release: str
    release_hash: str


def column_types() -> ColumnTypes:
    """Return the polars types of the columns of the results, in the order of `Row`."""
    import polars as pl  # noqa: PLC0415  (heavy; needed once per run)

    types = {
        int: pl.Int64(),
        float: pl.Float64(),
        str: pl.String(),
        list[str]: pl.List(pl.String),
        list[float]: pl.List(pl.Float64),
    }
    columns: ColumnTypes = {}
    for name, hint in get_type_hints(Row).items():
        # The type hint of a nullable column is a union with None.
        plain = hint if hint in types else get_args(hint)[0]
        columns[name] = types[plain]
    return columns
