"""Files of labels: the decisions of one judge and their candidates."""

from collections.abc import Iterable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import polars as pl

from scbench.analysis.failure_modes.labels import DECISIONS, KEY
from scbench.analysis.failure_modes.modes import Mode
from scbench.base.errors import ResultsError
from scbench.base.wording import counted
from scbench.machine.children import checked_parquet

_KEY_TYPES = {"budget": pl.Int64(), "sample": pl.Int64(), "subtask": pl.Int64()}
# Columns of a file of labels.
LABELS: Mapping[str, Any] = {
    "candidate": pl.String(),
    **{name: _KEY_TYPES.get(name, pl.String()) for name in KEY},
    "score": pl.Float64(),
    "failure_mode": DECISIONS["failure_mode"],
    "confidence": DECISIONS["confidence"],
    "justification": DECISIONS["justification"],
    "evidence_tags": DECISIONS["evidence_tags"],
    "judge": pl.String(),
    "prompt_version": pl.String(),
}
# Score differences up to this size do not indicate another grading.
_EXACT = 1e-9


def labelled(
    rows: pl.DataFrame, decisions: pl.DataFrame, judge: str, prompt_version: str
) -> pl.DataFrame:
    """Join decisions to their candidates.

    Args:
        rows: as returned by `scbench.analysis.failure_modes.labels.candidates`.
        decisions: columns `DECISIONS`, one row per candidate.
        judge: name of the judge.
        prompt_version: version of the judge's prompt.

    Returns:
        Columns `LABELS`, in the order of the rows.
    """
    joined = rows.join(
        decisions.drop("task", "subtask"),
        on="candidate",
        validate="1:1",
        maintain_order="left",
    )
    joined = joined.with_columns(
        judge=pl.lit(judge), prompt_version=pl.lit(prompt_version)
    )
    return joined.select(list(LABELS))


def labels_file(labels: pl.DataFrame) -> bytes:
    """Return labels as a Parquet file."""
    data = BytesIO()
    labels.select(list(LABELS)).write_parquet(data, compression="zstd")
    return data.getvalue()


def read_labels(paths: Iterable[Path]) -> pl.DataFrame:
    """Read files of labels.

    Args:
        paths: Parquet files made by `labels_file`, with different candidates in each.

    Returns:
        Columns `LABELS`.

    Raises:
        ResultsError: a file cannot be read or has no labels, or a candidate occurs
            twice.
    """
    labels = pl.concat([read_labels_file(path) for path in paths])
    if labels["candidate"].is_duplicated().any():
        raise ResultsError(
            "a candidate has two labels; use the labels of one judge, each file once"
        )
    return labels


def read_labels_file(path: Path) -> pl.DataFrame:
    """Return the labels in one file.

    Raises:
        ResultsError: the file cannot be read or has no labels.
    """
    if not path.is_file():
        raise ResultsError(
            f"no such file: {path}; `scbench failure-modes judge` or `import` writes labels"
        )
    with checked_parquet(path, ResultsError) as lazy:
        schema = lazy.collect_schema()
        missing = [name for name in LABELS if name not in schema]
        if missing:
            raise ResultsError(
                f"{path} is not a file of labels: it has no column {missing[0]!r}"
            )
        labels = lazy.select(list(LABELS)).collect()
    for name, kind in LABELS.items():
        if labels.schema[name] not in {kind, pl.Null()}:
            raise ResultsError(
                f"{path}: column {name!r} has the type {labels.schema[name]} instead of {kind}"
            )
    # A file of another version may contain other modes.
    unknown = set(labels["failure_mode"]) - set(Mode)
    if unknown:
        raise ResultsError(f"{path}: {min(map(str, unknown))!r} is not a failure mode")
    return labels.cast(dict(LABELS))  # type: ignore[arg-type]


def check_labels(labels: pl.DataFrame, rows: pl.DataFrame) -> None:
    """Refuse labels that do not belong to these candidates.

    Args:
        labels: columns `LABELS`.
        rows: as returned by `scbench.analysis.failure_modes.labels.candidates`.

    Raises:
        ResultsError: a candidate has no label, a label has no candidate, or a score has
            changed.
    """
    judged = set(labels["candidate"])
    candidates = set(rows["candidate"])
    unknown = judged - candidates
    missing = candidates - judged
    if unknown or missing:
        raise ResultsError(
            f"the labels do not match these results (candidates without a label: {len(missing)}, "
            f"labels without a candidate: {len(unknown)}); use the files and the threshold that "
            "were used for labelling"
        )
    # A label for another score belongs to another answer.
    then = labels.select("candidate", then="score")
    joined = rows.select("candidate", "id", "score").join(then, on="candidate")
    changed = joined.filter((pl.col("score") - pl.col("then")).abs() > _EXACT)
    if changed.height:
        row = changed.row(0, named=True)
        raise ResultsError(
            f"{counted(changed.height, 'score')} changed after the answers were labelled, so the "
            f"labels are outdated; the first is {row['id']}, from {row['then']:.3f} to "
            f"{row['score']:.3f}"
        )
