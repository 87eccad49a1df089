"""Grading a submission anew: results, summary, report, and a receipt of what was graded.

The digest is the SHA-256 of the receipt with an empty digest, as in a release's manifest. It shows
that a receipt was changed, not who made it: maintainers keep the receipts that they made.
"""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from math import fsum
from pathlib import Path
from typing import Literal

import polars as pl
from pydantic import Field, ValidationError

from scbench.analysis.layout import markdown
from scbench.analysis.score_sheets import score_sheet
from scbench.base import __version__
from scbench.base.canonical import canonical_json, sha256
from scbench.base.errors import ResultsError, faults_of
from scbench.base.model import Frozen, OneShot, RunMetadata, Status
from scbench.base.progress import no_progress
from scbench.grading.run import Options, choose_tasks, grade_file
from scbench.grading.score_tables import OVERALL, in_release, metadata_by_run
from scbench.grading.summary import RunReport, fingerprints_in
from scbench.grading.workers.scheduler import Waiting, WorkerLimits
from scbench.leaderboard.findings import Finding, finding
from scbench.leaderboard.folder import CLAIMED
from scbench.leaderboard.predictions import measure
from scbench.leaderboard.submission import Submission
from scbench.leaderboard.validate import Validated
from scbench.machine.files import write_whole
from scbench.release.load import Release
from scbench.release.manifest import Manifest

RECEIPT = "receipt.json"
_MOST_BYTES = 1_000_000
# A column that may name the machine and its libraries; no score depends on it.
_LEFT_OUT = "metrics"
# How many scores there are; samples of one count once.
_ITEMS = pl.struct("id", "subtask").n_unique()
REPORT = "report.html"


class ReleaseOf(Frozen):
    """Which release was graded against."""

    version: str
    rows_hash: str


class PredictionsOf(Frozen):
    """Which predictions were graded."""

    file: str
    bytes: int
    sha256: str = Field(description="of the file as it was sent")
    content_sha256: str = Field(description="of the file once unpacked")
    lines: int


class Score(Frozen):
    """What a bucket or task came to."""

    n: int = Field(description="scores of one sample")
    expected: int = Field(description="scores over all samples")
    scored: int
    mean: float | None = Field(description="of the scores there are, from 0 to 1")
    mean_missing_as_zero: float


class Receipt(Frozen):
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
        default="spatial",
        description="which tasks were answered, and so which board it is for",
    )
    setting: OneShot
    date: str = Field(description="as submission.yaml gives it")
    attempts: int
    allow_code: bool = Field(
        description="whether Python programs among the answers were run"
    )
    statuses: dict[str, int]
    buckets: dict[str, Score] = Field(description='by bucket, and "overall"')
    tasks: dict[str, Score]
    run: list[RunMetadata] = Field(
        default_factory=list, description="how the run was made, as the predictions say"
    )
    ungraded: int = Field(
        description="answers that the grading machine could not grade"
    )
    results_sha256: str = Field(
        description="of the rows of results.parquet, see results_hash"
    )
    digest: str = Field(
        default="", description="SHA-256 of this receipt with an empty digest"
    )

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


def results_hash(results: pl.DataFrame) -> str:
    """Return the identity of results: SHA-256 over their rows as canonical JSON, one per line.

    The column that may name the machine (metrics) is left out. Parquet files of the same rows
    differ with the version of the library that wrote them; this does not.
    """
    rows = results.drop(_LEFT_OUT).iter_rows(named=True)
    return sha256("".join(f"{canonical_json(row)}\n" for row in rows))


def scores_of(results: pl.DataFrame, column: str) -> dict[str, Score]:
    """Return scores by bucket or task, in the order of the rows' first appearance."""
    by_name: dict[str, list[float | None]] = {}
    for name, score in results.select(column, "score").iter_rows():
        by_name.setdefault(name, []).append(score)
    counts = dict(results.group_by(column).agg(_ITEMS).iter_rows())
    return {name: _score_over(scores, counts[name]) for name, scores in by_name.items()}


def _score_over(scores: Iterable[float | None], n: int) -> Score:
    all_scores = list(scores)
    present = [score for score in all_scores if score is not None]
    total = fsum(present)
    return Score(
        n=n,
        expected=len(all_scores),
        scored=len(present),
        mean=total / len(present) if present else None,
        mean_missing_as_zero=total / len(all_scores),
    )


def write_receipt(folder: Path, receipt: Receipt) -> None:
    """Write a receipt, whole or not at all.

    Raises:
        ResultsError: the folder cannot be written.
    """
    try:
        write_whole(
            folder / RECEIPT, lambda part: part.write_text(receipt.text(), "utf-8")
        )
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
    receipt: Receipt,
    manifest: Manifest,
    graders: Mapping[str, int],
    predictions: str,
    about: str,
) -> str | None:
    """Return why a receipt speaks no more for files of these SHA-256; None if it does."""
    if receipt.release != ReleaseOf(
        version=manifest.version, rows_hash=manifest.rows_hash
    ):
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


@dataclass(slots=True)
class GradedSubmission:
    """What came of grading a submission."""

    report: RunReport  #: of the run.
    #: what was graded; None if a grader failed, or a claim is wrong.
    receipt: Receipt | None = None
    findings: list[Finding] = field(
        default_factory=list
    )  #: claims that are not what was found.


def grade_submission(
    done: Validated,
    out: Path,
    limits: WorkerLimits,
    on_progress: Callable[[int, int], object] = no_progress,
    on_wait: Callable[[Sequence[Waiting]], object] = no_progress,
) -> GradedSubmission:
    """Grade a submission that has no problems into a folder.

    Raises:
        ScbenchError: the release or the output folder cannot be used.
    """
    about, release, predictions = done.about, done.release, done.opened.predictions
    if done.problems or about is None or release is None or predictions is None:
        raise ResultsError(
            f"{done.opened.path} has problems; `submission validate` lists them"
        )
    name, path = predictions
    # What was made of earlier results must not outlive them.
    for old in (RECEIPT, REPORT):
        (out / old).unlink(missing_ok=True)
    names = list(release.manifest.board_records(about.tasks))
    options = Options(str(path), release, out, limits, tasks=names, restart=True)
    graded = GradedSubmission(grade_file(options, on_progress, on_wait))
    results = in_release(graded.report.results)
    receipt = make_receipt(
        about,
        release,
        results,
        predictions=_predictions_record(
            name, path, graded.report.summary["predictions"]["lines"]
        ),
        submission_sha256=done.about_hash,
        allow_code=limits.allow_code,
    )
    graded.findings = list(_wrong_claims(done, receipt))
    if not graded.report.grader_errors and not graded.findings:
        write_receipt(out, receipt)
        graded.receipt = receipt
    return graded


def write_report_of(done: Validated, out: Path, workers: int) -> None:
    """Write the report on a graded submission beside its results.

    Raises:
        ResultsError: the file cannot be written.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    from scbench.report.page import write_report  # noqa: PLC0415  (needs an extra)

    predictions = str(done.opened.predictions[1]) if done.opened.predictions else None
    write_report(
        [out],
        out / REPORT,
        release=done.release,
        predictions=predictions,
        items="failed",
        workers=workers,
    )


def _predictions_record(name: str, path: Path, lines: int) -> PredictionsOf:
    data = path.read_bytes()
    measured = measure(path)
    if measured is None:
        raise ResultsError(f"{name} is too large")
    return PredictionsOf(
        file=name,
        bytes=len(data),
        sha256=sha256(data),
        content_sha256=measured[1],
        lines=lines,
    )


def make_receipt(
    about: Submission,
    release: Release,
    results: pl.DataFrame,
    *,
    predictions: PredictionsOf,
    submission_sha256: str,
    allow_code: bool = False,
) -> Receipt:
    """Return the receipt of results, sealed."""
    order = release.manifest.board_records(about.tasks)
    tasks = scores_of(results, "task")
    overall = _score_over(results["score"], int(results.select(_ITEMS).item()))
    buckets = scores_of(results, "bucket") | {OVERALL: overall}
    not_run = pl.col("status") == Status.NOT_RUN.value
    statuses = dict(sorted(results["status"].value_counts().iter_rows()))
    runs = metadata_by_run(results).values()
    by_text = {canonical_json(metadata): metadata for run in runs for metadata in run}
    return Receipt(
        release=ReleaseOf(
            version=release.version, rows_hash=release.manifest.rows_hash
        ),
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
        statuses=statuses,
        buckets=buckets,
        tasks={task: tasks[task] for task in order},
        ungraded=results.filter(not_run & pl.col("answer_source").is_not_null()).height,
        run=[RunMetadata.model_validate(by_text[text]) for text in sorted(by_text)],
        results_sha256=results_hash(results),
    ).sealed()


def installed_graders(release: Release, part: str) -> dict[str, int]:
    """Return the versions of the installed graders of a board's tasks."""
    names = list(release.manifest.board_records(part))
    return {task.id: task.grader_version for task in choose_tasks(release, names)}


def _wrong_claims(done: Validated, receipt: Receipt) -> list[Finding]:
    """Return claims that differ from what was found, at the digits to which they are given."""
    scores = {**receipt.tasks, **receipt.buckets}
    wrong = []
    for name, claim in done.claims.items():
        mean = scores[name].mean
        points = None if mean is None else 100 * mean
        # One figure is rounded and the other is not: half of the last digit may lie between them.
        digits = min(max(-int(Decimal(repr(claim)).as_tuple().exponent), 1), 6)
        if points is None or abs(points - claim) > 0.5 * 10**-digits + 1e-9:
            result = "has no score" if points is None else f"scores {points:.{digits}f}"
            words = {"name": name, "claim": claim, "result": result}
            wrong.append(finding("claim_differs", CLAIMED, **words))
    return wrong


def markdown_table(graded: GradedSubmission) -> str:
    """Return the scores as a Markdown table, for a comment on a pull request."""
    release = graded.report.summary["release"]["version"]
    return markdown(score_sheet(f"Release {release}", graded.report.tables["bucket"]))


def as_json(graded: GradedSubmission) -> str:
    """Return the receipt as indented JSON; null if there is no receipt."""
    value = None if graded.receipt is None else graded.receipt.model_dump(mode="json")
    return json.dumps(value, indent=1, ensure_ascii=False)
