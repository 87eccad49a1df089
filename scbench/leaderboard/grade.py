"""Grading a submission anew: results, summary, report, and a receipt that says what was graded."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING

from scbench.base.canonical import canonical_json, sha256
from scbench.base.errors import ResultsError
from scbench.base.model import RunMetadata
from scbench.base.progress import no_progress
from scbench.base.version import __version__
from scbench.grading.run import Options, RunReport, choose_tasks, grade_file
from scbench.grading.score_tables import OVERALL, in_release, metadata_by_run
from scbench.grading.summary import fingerprints_in
from scbench.grading.workers.scheduler import Waiting, WorkerLimits
from scbench.leaderboard.files import CLAIMED
from scbench.leaderboard.findings import Finding
from scbench.leaderboard.predictions import measure
from scbench.leaderboard.receipt import (
    RECEIPT,
    PredictionsOf,
    Receipt,
    ReleaseOf,
    overall_of,
    results_hash,
    scores_of,
    ungraded,
    write_receipt,
)
from scbench.leaderboard.validate import Validated

if TYPE_CHECKING:
    import polars as pl

    from scbench.leaderboard.submission import Submission
    from scbench.release.load import Release

REPORT = "report.html"


@dataclass(slots=True)
class GradedSubmission:
    """What came of grading a submission.

    Attributes:
        report: of the run.
        receipt: what was graded; None if a grader failed, or a claim is wrong.
        findings: claims that are not what was found.
    """

    report: RunReport
    receipt: Receipt | None = None
    findings: list[Finding] = field(default_factory=list)


def grade_submission(
    done: Validated,
    out: Path,
    limits: WorkerLimits,
    on_progress: Callable[[int, int], object] = no_progress,
    on_wait: Callable[[Sequence[Waiting]], object] = no_progress,
) -> GradedSubmission:
    """Grade a submission that has no problems.

    Args:
        done: the submission, validated.
        out: folder for ``results.parquet``, ``summary.json`` and ``receipt.json``.
        limits: workers, seconds and memory.
        on_progress: see `scbench.grading.run.grade_file`.
        on_wait: likewise.

    Raises:
        ScbenchError: the release or the output folder cannot be used.
    """
    about, release, predictions = done.about, done.release, done.opened.predictions
    if done.problems or about is None or release is None or predictions is None:
        raise ResultsError(f"{done.opened.path} has problems; `submission validate` lists them")
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
        predictions=_file(name, path, graded.report.summary["predictions"]["lines"]),
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

    Args:
        done: the submission.
        out: folder that holds its results.
        workers: processes that draw pictures.

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


def _file(name: str, path: Path, lines: int) -> PredictionsOf:
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
    about: "Submission",
    release: "Release",
    results: "pl.DataFrame",
    *,
    predictions: PredictionsOf,
    submission_sha256: str,
    allow_code: bool = False,
) -> Receipt:
    """Return the receipt of results, sealed.

    Args:
        about: what the submission says of itself.
        release: what it was graded against.
        results: rows of ``results.parquet``, those of the release.
        predictions: which file was graded.
        submission_sha256: of ``submission.yaml``.
        allow_code: whether Python programs among the answers were run.
    """
    order = release.manifest.board_records(about.tasks)
    tasks = scores_of(results, "task")
    buckets = scores_of(results, "bucket") | {OVERALL: overall_of(results)}
    statuses = dict(sorted(results["status"].value_counts().iter_rows()))
    return Receipt(
        release=ReleaseOf(version=release.version, rows_hash=release.manifest.rows_hash),
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
        ungraded=ungraded(results),
        run=_run_of(results),
        results_sha256=results_hash(results),
    ).sealed()


def _run_of(results: "pl.DataFrame") -> list[RunMetadata]:
    """Return what the predictions say of how the run was made."""
    said = metadata_by_run(results).values()
    found = {canonical_json(given): given for run in said for given in run}
    return [RunMetadata.model_validate(found[text]) for text in sorted(found)]


def installed_graders(release: "Release", part: str) -> dict[str, int]:
    """Return the versions of the installed graders of a board's tasks."""
    names = list(release.manifest.board_records(part))
    return {task.id: task.grader_version for task in choose_tasks(release, names)}


def _wrong_claims(done: Validated, receipt: Receipt) -> list[Finding]:
    """Return claims that differ from what was found, at the digits to which they are given."""
    found = {**receipt.tasks, **receipt.buckets}
    wrong = []
    for name, claim in done.claims.items():
        mean = found[name].mean
        points = None if mean is None else 100 * mean
        # One figure is rounded and the other is not: half of the last digit may lie between them.
        digits = min(max(-int(Decimal(repr(claim)).as_tuple().exponent), 1), 6)
        if points is None or abs(points - claim) > 0.5 * 10**-digits + 1e-9:
            said = "has no score" if points is None else f"scores {points:.{digits}f}"
            message = f"{name}: {claim} is claimed, but graded anew it {said}"
            todo = "grade the same file with the release's graders, and correct or leave the claim"
            wrong.append(Finding("claim_differs", message, todo, CLAIMED))
    return wrong


def markdown_table(graded: GradedSubmission) -> str:
    """Return the scores as a Markdown table, for a comment on a pull request."""
    from scbench.analysis.layout import markdown  # noqa: PLC0415  (not wanted by boards)
    from scbench.analysis.sheets import score_sheet  # noqa: PLC0415

    release = graded.report.summary["release"]["version"]
    return markdown(score_sheet(f"Release {release}", graded.report.tables["bucket"]))


def as_json(graded: GradedSubmission) -> str:
    """Return the receipt as indented JSON; null if there is no receipt."""
    value = None if graded.receipt is None else graded.receipt.model_dump(mode="json")
    return json.dumps(value, indent=1, ensure_ascii=False)
