"""What a judge says of candidates, and the table that labels are kept in."""

from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Annotated, Any

import polars as pl
from pydantic import BaseModel, ConfigDict, Field

from scbench.analysis.failure_modes.candidates import KEY
from scbench.analysis.failure_modes.labels import Mode
from scbench.base.errors import ResultsError, reading_parquet
from scbench.schemas.base import Index, Number, Text

MAX_TAGS = 8


class Decision(BaseModel):
    """A judge's decision on one candidate."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_enum_values=True)

    candidate: Text = Field(description="name of the candidate, as in the bundle")
    task: Text = Field(description="id of its task")
    subtask: Index = Field(description="number of its subtask")
    failure_mode: Mode = Field(description="the label")
    confidence: Annotated[Number, Field(ge=0, le=1)] = Field(
        description="how plain the evidence is, by the judge's own account; low if ambiguous"
    )
    justification: Annotated[Text, Field(pattern=r"\S", max_length=10_000)] = Field(
        description="why, grounded in the verdict and the output"
    )
    evidence_tags: Annotated[list[Text], Field(max_length=MAX_TAGS)] = Field(
        description=f"up to {MAX_TAGS} short tags, such as ids of checks"
    )


DECISIONS: Mapping[str, Any] = {
    "candidate": pl.String(),
    "task": pl.String(),
    "subtask": pl.Int64(),
    "failure_mode": pl.String(),
    "confidence": pl.Float64(),
    "justification": pl.String(),
    "evidence_tags": pl.List(pl.String),
}
"""Columns of decisions."""

_KINDS = {"budget": pl.Int64(), "sample": pl.Int64(), "subtask": pl.Int64()}
LABELS: Mapping[str, Any] = {
    "candidate": pl.String(),
    **{name: _KINDS.get(name, pl.String()) for name in KEY},
    "score": pl.Float64(),
    **{name: kind for name, kind in DECISIONS.items() if name not in {"candidate", *KEY}},
    "judge": pl.String(),
    "prompt_version": pl.String(),
}
"""Columns of a file of labels."""


def labelled(
    rows: pl.DataFrame, decisions: pl.DataFrame, judge: str, prompt_version: str
) -> pl.DataFrame:
    """Put decisions beside the candidates they are about.

    Args:
        rows: as `scbench.analysis.failure_modes.candidates.candidates` gives them.
        decisions: columns `DECISIONS`, one row per candidate.
        judge: who decided.
        prompt_version: what the judge was told, by version.

    Returns:
        Columns `LABELS`, in the order of the rows.
    """
    verdicts = decisions.drop("task", "subtask")
    return rows.join(verdicts, on="candidate", validate="1:1", maintain_order="left").select(
        pl.col(list(LABELS)[:-2]), judge=pl.lit(judge), prompt_version=pl.lit(prompt_version)
    )


def labels_file(labels: pl.DataFrame) -> bytes:
    """Return labels as a Parquet file."""
    data = BytesIO()
    labels.select(list(LABELS)).write_parquet(data, compression="zstd")
    return data.getvalue()


def read_labels(paths: Iterable[Path]) -> pl.DataFrame:
    """Read files of labels.

    Args:
        paths: Parquet files that `labels_file` made, each of other candidates.

    Returns:
        Columns `LABELS`.

    Raises:
        ResultsError: a file cannot be read or holds no labels, or a candidate is named twice.
    """
    labels = pl.concat([_read_file_of_labels(path) for path in paths])
    if labels["candidate"].is_duplicated().any():
        raise ResultsError("the labels name a candidate twice; give those of one judge, each once")
    return labels


def _read_file_of_labels(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise ResultsError(
            f"no such file: {path}; `scbench failure-modes judge` or `import` writes labels"
        )
    with reading_parquet(path, ResultsError):
        schema = pl.read_parquet_schema(path)
        lacking = [name for name in LABELS if name not in schema]
        if lacking:
            raise ResultsError(f"{path} holds no labels: it has no column {lacking[0]!r}")
        labels = pl.read_parquet(path, columns=list(LABELS))
    for name, kind in LABELS.items():
        if labels.schema[name] not in {kind, pl.Null()}:
            raise ResultsError(f"{path}: column {name!r} is {labels.schema[name]}, must be {kind}")
    strange = set(labels["failure_mode"]) - set(Mode)
    if strange:
        raise ResultsError(f"{path}: {min(map(str, strange))!r} is no failure mode")
    return labels.cast(dict(LABELS))  # type: ignore[arg-type]


def check_labels(labels: pl.DataFrame, rows: pl.DataFrame) -> None:
    """Refuse labels that are not of these candidates.

    Args:
        labels: columns `LABELS`.
        rows: as `scbench.analysis.failure_modes.candidates.candidates` gives them.

    Raises:
        ResultsError: a candidate has no label, a label no candidate, or a score has changed.
    """
    judged, candidates = set(labels["candidate"]), set(rows["candidate"])
    strange, lacking = judged - candidates, candidates - judged
    if strange or lacking:
        raise ResultsError(
            f"the labels are not of these results: {len(lacking)} candidates have no label, "
            f"{len(strange)} labels no candidate; were other files or another threshold labelled?"
        )
    both = rows.select("candidate", "id", "score").join(
        labels.select("candidate", told="score"), on="candidate"
    )
    changed = both.filter((pl.col("score") - pl.col("told")).abs() > 1e-9)
    if changed.height:
        row = changed.row(0, named=True)
        raise ResultsError(
            f"the labels are of another grading: {changed.height} scores have changed since, the "
            f"first is of {row['id']}, {row['told']:.3f} then and {row['score']:.3f} now"
        )
