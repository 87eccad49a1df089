"""The receipt of a submission: the graded files, the versions used, and the scores.

The digest is the SHA-256 of the receipt with an empty digest, as in a release's
manifest. It reveals changes to a receipt, but not who made it: maintainers keep their
own receipts.
"""

from collections.abc import Iterator, Mapping, Sequence
from math import fsum
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field, ValidationError

from scbench.base import __version__
from scbench.base.canonical import canonical_json, sha256
from scbench.base.errors import ResultsError, faults_of
from scbench.base.model import Frozen, OneShot, RunMetadata, Status
from scbench.base.wording import counted
from scbench.grading.means import Block, Cells, known_number, means_of
from scbench.grading.options import choose_tasks
from scbench.grading.score_tables import OVERALL, metadata_by_run
from scbench.grading.summary import fingerprints_in
from scbench.leaderboard.submission import Submission
from scbench.machine.files import write_whole
from scbench.release.load import Release
from scbench.release.manifest import Manifest

RECEIPT = "receipt.json"
# Larger files cannot be receipts and are not parsed.
_MOST_BYTES = 1_000_000
# A column that may contain names of the machine and its libraries; no score depends on
# it.
_MACHINE_COLUMN = "metrics"


class ReleaseOf(Frozen):
    """The release that was graded against."""

    version: str
    rows_hash: str


class PredictionsOf(Frozen):
    """The predictions that were graded.

    Attributes:
        file: name of the file.
        bytes: size of the file as it was sent.
        sha256: hash of the file as sent.
        content_sha256: hash of the unpacked file.
        lines: number of lines.
    """

    file: str
    bytes: int
    sha256: str
    content_sha256: str
    lines: int


class Score(Frozen):
    """The score of a bucket or task.

    Attributes:
        n: number of scores of one sample.
        expected: number of scores over all samples.
        scored: number of existing scores.
        normalized: the normalized score, from 0 to 1; None if no answer has room above its floor.
        mean: mean of the existing scores, from 0 to 1.
        mean_missing_as_zero: mean over the expected scores.
    """

    n: int
    expected: int
    scored: int
    normalized: float | None
    mean: float | None
    mean_missing_as_zero: float


class Receipt(Frozen):
    """The content of ``receipt.json``.

    Attributes:
        format: version of this format.
        release: the release.
        package_version: version of scbench.
        graders: version of each task's grader.
        fingerprints: by task, fingerprints of the grading machines, if its scores
            depend on how they compute.
        predictions: the predictions.
        submission_sha256: hash of ``submission.yaml``.
        model: name and version.
        organisation: as in ``submission.yaml``.
        tasks_of: the set of tasks that were answered, which selects the board.
        setting: with or without tools.
        date: as in ``submission.yaml``.
        attempts: answers per instance.
        allow_code: whether Python programs among the answers were run.
        statuses: number of rows by status.
        buckets: scores by bucket and "overall".
        tasks: scores by task.
        run: how the run was made, according to the predictions.
        ungraded: answers that the grading machine could not grade.
        results_sha256: hash of the rows of ``results.parquet``, see `results_hash`.
        digest: SHA-256 of this receipt with an empty digest.
    """

    format: Literal[1] = 1
    release: ReleaseOf
    package_version: str
    graders: dict[str, int]
    fingerprints: dict[str, list[str]] = Field(default_factory=dict)
    predictions: PredictionsOf
    submission_sha256: str
    model: str
    organisation: str
    tasks_of: Literal["spatial", "manifolds", "ladder"] = "spatial"
    setting: OneShot
    date: str
    attempts: int
    allow_code: bool
    statuses: dict[str, int]
    buckets: dict[str, Score]
    tasks: dict[str, Score]
    run: list[RunMetadata] = Field(default_factory=list)
    ungraded: int
    results_sha256: str
    digest: str = ""

    def sealed(self) -> "Receipt":
        """Return the receipt with its digest."""
        blank = self.model_copy(update={"digest": ""})
        return self.model_copy(update={"digest": sha256(blank.text())})

    def text(self) -> str:
        """Return the text of the receipt's file: canonical JSON."""
        return canonical_json(self.model_dump(mode="json")) + "\n"

    @property
    def overall(self) -> Score:
        """The overall score."""
        return self.buckets[OVERALL]

    @property
    def complete(self) -> bool:
        """Whether no score is missing, so that the model can be ranked."""
        return self.overall.scored == self.overall.expected


def make_receipt(
    about: Submission,
    release: Release,
    results: pl.DataFrame,
    *,
    predictions: PredictionsOf,
    submission_sha256: str,
    allow_code: bool = False,
) -> Receipt:
    """Return the receipt of results, with its digest."""
    # Tasks are in the order of the release, not of the rows.
    order = release.manifest.board_records(about.tasks)
    blocks = blocks_of(results, release.weights())
    buckets = {OVERALL: score_over(results, list(blocks.values()))}
    for bucket, rows in parts_of(results, "bucket"):
        in_bucket = [blocks[task] for task in rows["task"].unique().sort()]
        buckets[bucket] = score_over(rows, in_bucket)
    tasks = {}
    for task, rows in parts_of(results, "task"):
        tasks[task] = score_over(rows, [blocks[task]])
    # Runs may have equal metadata, which is listed once.
    runs = {}
    for run in metadata_by_run(results).values():
        for metadata in run:
            runs[canonical_json(metadata)] = RunMetadata.model_validate(metadata)
    # Rows that have an answer but were not graded.
    not_run = pl.col("status") == Status.NOT_RUN.value
    ungraded = results.filter(not_run & pl.col("answer_source").is_not_null())
    return Receipt(
        release=release_record(release.manifest),
        package_version=__version__,
        graders=installed_graders(release, about.tasks),
        fingerprints=fingerprints_in(results.lazy()),
        predictions=predictions,
        submission_sha256=submission_sha256,
        model=about.title,
        organisation=about.organisation,
        tasks_of=about.tasks,
        setting=about.setting,
        date=about.date,
        attempts=about.attempts,
        allow_code=allow_code,
        statuses=dict(sorted(results["status"].value_counts().iter_rows())),
        buckets=buckets,
        tasks={task: tasks[task] for task in order},
        ungraded=ungraded.height,
        run=[runs[text] for text in sorted(runs)],
        results_sha256=results_hash(results),
    ).sealed()


def release_record(manifest: Manifest) -> ReleaseOf:
    """Return the identity of a release."""
    return ReleaseOf(version=manifest.version, rows_hash=manifest.rows_hash)


def installed_graders(release: Release, board: str) -> dict[str, int]:
    """Return the versions of the installed graders of a board's tasks."""
    names = list(release.manifest.board_records(board))
    return {task.id: task.grader_version for task in choose_tasks(release, names)}


def blocks_of(results: pl.DataFrame, weights: Mapping[str, float]) -> dict[str, Block]:
    """Return the scores of each task of a submission in catalogue order."""
    # A submission is one run, regardless of the names in its lines.
    run = results.with_columns(
        model=pl.lit(""),
        setting=pl.lit(None, pl.String),
        budget=pl.lit(None, pl.Int64),
    )
    cells = Cells()
    cells.add(run)
    return cells.blocks(weights).blocks


def parts_of(results: pl.DataFrame, column: str) -> Iterator[tuple[str, pl.DataFrame]]:
    """Yield the rows of each bucket or task, in the order of the rows' first appearance."""
    for part in results.partition_by(column, maintain_order=True):
        yield part[column][0], part


def score_over(results: pl.DataFrame, blocks: Sequence[Block]) -> Score:
    """Return the score over rows, some of which may have no score.

    Args:
        results: the rows.
        blocks: the same rows, task by task.
    """
    (normalized,) = means_of(blocks).normalized
    scores = results["score"].to_list()
    present = [score for score in scores if score is not None]
    total = fsum(present)
    return Score(
        # Samples of one item count once.
        n=results.n_unique(["id", "subtask"]),
        expected=len(scores),
        scored=len(present),
        normalized=known_number(normalized),
        mean=total / len(present) if present else None,
        mean_missing_as_zero=total / len(scores),
    )


def results_hash(results: pl.DataFrame) -> str:
    """Return the identity of results: SHA-256 over their rows as canonical JSON, one per line.

    The column with machine names (metrics) is left out. Unlike Parquet files of the
    same rows, the hash does not depend on the library version.
    """
    rows = results.drop(_MACHINE_COLUMN).iter_rows(named=True)
    return sha256("".join(f"{canonical_json(row)}\n" for row in rows))


def write_receipt(folder: Path, receipt: Receipt) -> None:
    """Write a receipt atomically.

    Raises:
        ResultsError: the folder cannot be written.
    """
    text = receipt.text()
    try:
        write_whole(folder / RECEIPT, lambda part: part.write_text(text, "utf-8"))
    except OSError as error:
        raise ResultsError(f"cannot write to {folder}: {error.strerror}") from None


def read_receipt(path: Path) -> Receipt:
    """Read a receipt, and check its digest.

    Raises:
        ResultsError: it cannot be read, is not a receipt, or was changed.
    """
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise ResultsError(f"{path} cannot be read: {error.strerror}") from None
    try:
        receipt = Receipt.model_validate_json(data)
    except ValidationError as error:
        raise ResultsError(
            f"{path} is not a receipt: {faults_of(error, 1)[0]}"
        ) from None
    # Sealing it again gives the same digest if no field was changed.
    if receipt != receipt.sealed():
        raise ResultsError(f"{path} was changed after it was written")
    return receipt


def mismatch(
    receipt: Receipt,
    manifest: Manifest,
    graders: Mapping[str, int],
    predictions: str,
    about: str,
) -> str | None:
    """Return the reason why a receipt does not match a submission; None if it matches.

    Args:
        receipt: the receipt.
        manifest: manifest of the release that the submission answers.
        graders: versions of the installed graders by task.
        predictions: SHA-256 of the predictions file.
        about: SHA-256 of ``submission.yaml``.
    """
    if receipt.release != release_record(manifest):
        return f"the receipt is for release {receipt.release.version}, not {manifest.version}"
    for task in sorted(receipt.graders.keys() | graders.keys()):
        old = receipt.graders.get(task)
        new = graders.get(task)
        if old != new:
            return f"{task} was graded by version {old}, but version {new} is installed"
    if receipt.predictions.sha256 != predictions:
        return "the predictions have changed"
    if receipt.submission_sha256 != about:
        return "submission.yaml has changed"
    if receipt.ungraded:
        return f"{counted(receipt.ungraded, 'answer')} could not be graded earlier"
    return None
