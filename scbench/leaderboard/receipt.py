"""Receipts: what was graded, by what, and what came of it, sealed by a hash.

The digest is the SHA-256 of the receipt with an empty digest, as in a release's manifest. It shows
that a receipt was changed, not who made it: maintainers keep the receipts that they made.
"""

from collections.abc import Iterable, Mapping
from math import fsum
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from scbench.base.canonical import canonical_json, sha256
from scbench.base.errors import ResultsError, faults_of
from scbench.base.model import OneShot, RunMetadata, Status
from scbench.grading.score_tables import OVERALL
from scbench.machine.files import write_whole
from scbench.release.manifest import Manifest

if TYPE_CHECKING:
    import polars as pl

RECEIPT = "receipt.json"
_MOST_BYTES = 1_000_000
_LEFT_OUT = "metrics"
"""A column that may name the machine and its libraries; no score depends on it."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ReleaseOf(_Part):
    """Which release was graded against."""

    version: str
    rows_hash: str


class PredictionsOf(_Part):
    """Which predictions were graded."""

    file: str
    bytes: int
    sha256: str = Field(description="of the file as it was sent")
    content_sha256: str = Field(description="of the file once unpacked")
    lines: int


class Score(_Part):
    """What a bucket or task came to."""

    n: int = Field(description="scores of one sample")
    expected: int = Field(description="scores over all samples")
    scored: int
    mean: float | None = Field(description="of the scores there are, from 0 to 1")
    mean_missing_as_zero: float


class Receipt(_Part):
    """What ``receipt.json`` holds."""

    format: Literal[1] = 1
    release: ReleaseOf
    package_version: str
    graders: dict[str, int] = Field(description="version of each task's grader")
    fingerprints: dict[str, list[str]] = Field(
        default_factory=dict,
        description="of the machines that judged tasks whose scores depend on how they compute",
    )
    predictions: PredictionsOf
    submission_sha256: str = Field(description="of submission.yaml")
    model: str
    organisation: str
    tasks_of: Literal["spatial", "manifolds", "ladder"] = Field(
        default="spatial", description="which tasks were answered, and so which board it is for"
    )
    setting: OneShot
    date: str = Field(description="as submission.yaml gives it")
    attempts: int
    allow_code: bool = Field(description="whether Python programs among the answers were run")
    statuses: dict[str, int]
    buckets: dict[str, Score] = Field(description='by bucket, and "overall"')
    tasks: dict[str, Score]
    run: list[RunMetadata] = Field(
        default_factory=list, description="how the run was made, as the predictions say"
    )
    ungraded: int = Field(description="answers that the grading machine could not grade")
    results_sha256: str = Field(description="of the rows of results.parquet, see results_hash")
    digest: str = Field(default="", description="SHA-256 of this receipt with an empty digest")

    def sealed(self) -> "Receipt":
        """Return the receipt with its digest."""
        blank = self.model_copy(update={"digest": ""})
        return self.model_copy(update={"digest": sha256(blank.text())})

    def text(self) -> str:
        """Return the text of the receipt's file: canonical JSON."""
        return canonical_json(self.model_dump(mode="json")) + "\n"

    @property
    def overall(self) -> Score:
        """The score over everything."""
        return self.buckets[OVERALL]

    @property
    def complete(self) -> bool:
        """Whether every score is there, so that the model can be ranked."""
        return self.overall.scored == self.overall.expected


def results_hash(results: "pl.DataFrame") -> str:
    """Return the identity of results: SHA-256 over their rows as canonical JSON, one per line.

    The column that may name the machine (metrics) is left out. Parquet files of the same rows
    differ with the version of the library that wrote them; this does not.
    """
    rows = results.drop(_LEFT_OUT).iter_rows(named=True)
    return sha256("".join(f"{canonical_json(row)}\n" for row in rows))


def ungraded(results: "pl.DataFrame") -> int:
    """Return how many answers are there, but could not be graded on this machine."""
    import polars as pl  # noqa: PLC0415  (heavy)

    not_run = pl.col("status") == Status.NOT_RUN.value
    return results.filter(not_run & pl.col("answer_source").is_not_null()).height


def scores_of(results: "pl.DataFrame", column: str) -> dict[str, Score]:
    """Return scores by bucket or task, in the order of the rows' first appearance."""
    found: dict[str, list[float | None]] = {}
    for name, score in results.select(column, "score").iter_rows():
        found.setdefault(name, []).append(score)
    counts = dict(
        results.group_by(column).agg(_items()).iter_rows()  # samples of a score count once
    )
    return {name: _score(scores, counts[name]) for name, scores in found.items()}


def _items() -> "pl.Expr":
    import polars as pl  # noqa: PLC0415  (heavy)

    return pl.struct("id", "subtask").n_unique()


def _score(scores: Iterable[float | None], n: int) -> Score:
    given = list(scores)
    known = [score for score in given if score is not None]
    total = fsum(known)
    return Score(
        n=n,
        expected=len(given),
        scored=len(known),
        mean=total / len(known) if known else None,
        mean_missing_as_zero=total / len(given),
    )


def overall_of(results: "pl.DataFrame") -> Score:
    """Return the score over all rows."""
    return _score(results["score"], int(results.select(_items()).item()))


def write_receipt(folder: Path, receipt: Receipt) -> None:
    """Write a receipt, whole or not at all.

    Raises:
        ResultsError: the folder cannot be written.
    """
    try:
        write_whole(folder / RECEIPT, lambda part: part.write_text(receipt.text(), "utf-8"))
    except OSError as error:
        raise ResultsError(f"cannot write to {folder}: {error.strerror}") from None


def read_receipt(path: Path) -> Receipt:
    """Read a receipt, and check its digest.

    Raises:
        ResultsError: it cannot be read, is no receipt, or was changed.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror}") from None
    try:
        receipt = Receipt.model_validate_json(data)
    except ValidationError as error:
        raise ResultsError(f"{path} is no receipt: {faults_of(error, 1)[0]}") from None
    if receipt != receipt.sealed():
        raise ResultsError(f"{path} was changed after it was written")
    return receipt


def mismatch(
    receipt: Receipt, manifest: Manifest, graders: Mapping[str, int], predictions: str, about: str
) -> str | None:
    """Return why a receipt does not speak for a submission any more; None if it does.

    Args:
        receipt: of an earlier grading.
        manifest: of the release that the submission names.
        graders: versions of the installed graders of its tasks.
        predictions: SHA-256 of the predictions as sent.
        about: SHA-256 of submission.yaml.
    """
    if receipt.release != ReleaseOf(version=manifest.version, rows_hash=manifest.rows_hash):
        return f"the receipt is of release {receipt.release.version}, not {manifest.version}"
    for task in sorted(receipt.graders.keys() | graders.keys()):
        old, new = receipt.graders.get(task), graders.get(task)
        if old != new:
            return f"{task} was graded by version {old}, installed is version {new}"
    if receipt.predictions.sha256 != predictions:
        return "the predictions have changed"
    if receipt.submission_sha256 != about:
        return "submission.yaml has changed"
    if receipt.ungraded:
        return f"{receipt.ungraded} answers could not be graded then"
    return None
