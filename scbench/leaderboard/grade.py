"""Grading a submission: results, a summary, a report, and a receipt."""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path

from scbench.analysis.layout import markdown
from scbench.analysis.score_sheets import score_sheet
from scbench.base.canonical import sha256
from scbench.base.errors import ResultsError
from scbench.base.progress import no_progress
from scbench.grading.expected_work import OpenDisplay, no_display, work_to_come
from scbench.grading.options import Options, choose_tasks
from scbench.grading.run import grade_file
from scbench.grading.score_tables import in_release
from scbench.grading.summary import RunReport
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.findings import Finding, finding
from scbench.leaderboard.predictions import unpacked_hash
from scbench.leaderboard.receipt import (
    RECEIPT,
    PredictionsOf,
    Receipt,
    make_receipt,
    write_receipt,
)
from scbench.leaderboard.submission_files import CLAIMED
from scbench.leaderboard.validate import Validated

REPORT = "report.html"
# Tolerance for decimal figures stored as binary fractions.
_ROUNDING = 1e-9

# Opens a progress display for drawing, to call with the number of finished items and the total.
OpenDrawing = Callable[[], AbstractContextManager[Callable[[int, int], object]]]


@contextmanager
def no_drawing() -> Iterator[Callable[[int, int], object]]:
    """Show nothing."""
    yield no_progress


@dataclass(slots=True)
class GradedSubmission:
    """The result of grading a submission.

    Attributes:
        report: the report on the run.
        receipt: the receipt; None if a grader failed, or a claim is wrong.
        findings: claims that differ from the scores.
    """

    report: RunReport
    receipt: Receipt | None = None
    findings: list[Finding] = field(default_factory=list)


def grade_submission(
    done: Validated,
    out: Path,
    limits: WorkerLimits,
    open_display: OpenDisplay = no_display,
) -> GradedSubmission:
    """Grade a valid submission, and write the results into a folder.

    Raises:
        ScbenchError: the release or the output folder cannot be used.
    """
    about = done.about
    release = done.release
    predictions = done.opened.predictions
    if done.problems or about is None or release is None or predictions is None:
        raise ResultsError(
            f"{done.opened.path} is not valid; `scbench submission validate` lists the problems"
        )
    name, path = predictions
    # Old receipts and reports must not remain next to new results.
    for old in (RECEIPT, REPORT):
        (out / old).unlink(missing_ok=True)
    names = list(release.manifest.board_records(about.tasks))
    is_folder = done.opened.path.is_dir()
    options = Options(
        str(path),
        release,
        out,
        limits,
        tasks=names,
        restart=True,
        copied_from=str(done.opened.path / name) if is_folder else None,
        has_resume=False,
    )
    work = work_to_come(str(path), choose_tasks(release, names))
    with open_display(work) as display:
        graded = GradedSubmission(grade_file(options, *display))
    lines = graded.report.summary["predictions"]["lines"]
    receipt = make_receipt(
        about,
        release,
        in_release(graded.report.results),
        predictions=predictions_record(name, path, lines),
        submission_sha256=done.about_hash,
        allow_code=limits.allow_code,
    )
    graded.findings = list(wrong_claims(done, receipt))
    # A receipt certifies that everything was graded and agrees with the claims.
    if not graded.report.grader_errors and not graded.findings:
        write_receipt(out, receipt)
        graded.receipt = receipt
    return graded


def predictions_record(name: str, path: Path, lines: int) -> PredictionsOf:
    """Return the identity of a predictions file.

    Raises:
        ResultsError: the file is too large once unpacked.
    """
    data = path.read_bytes()
    content_hash = unpacked_hash(path)
    if content_hash is None:
        raise ResultsError(f"{name} is too large")
    return PredictionsOf(
        file=name,
        bytes=len(data),
        sha256=sha256(data),
        content_sha256=content_hash,
        lines=lines,
    )


def wrong_claims(done: Validated, receipt: Receipt) -> Iterator[Finding]:
    """Yield claims that differ from the scores at the claims' precision."""
    scores = {**receipt.tasks, **receipt.buckets}
    for name, claim in done.claims.items():
        score = scores[name].normalized
        # Number of decimals: at least one, at most six.
        digits = min(max(-int(Decimal(repr(claim)).as_tuple().exponent), 1), 6)
        if score is None:
            result = "has no normalized score"
        else:
            points = 100 * score
            # The claim is rounded and the score is not, so they may differ by half a
            # unit of the last digit.
            if abs(points - claim) <= 0.5 * 10**-digits + _ROUNDING:
                continue
            result = f"scores {points:.{digits}f}"
        yield finding("claim_differs", CLAIMED, name=name, claim=claim, result=result)


def write_report_of(
    done: Validated,
    out: Path,
    workers: int,
    open_drawing: OpenDrawing = no_drawing,
) -> None:
    """Write the report on a graded submission into the folder of its results.

    Args:
        done: the submission.
        out: the folder.
        workers: processes that draw pictures.
        open_drawing: opens a display of the progress of drawing.

    Raises:
        ResultsError: the file cannot be written.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    from scbench.report.page import write_report  # noqa: PLC0415  (needs an extra)

    predictions = done.opened.predictions
    with open_drawing() as on_item:
        write_report(
            [out],
            out / REPORT,
            release=done.release,
            predictions=str(predictions.path) if predictions else None,
            items="failed",
            workers=workers,
            on_item=on_item,
        )


def markdown_table(graded: GradedSubmission) -> str:
    """Return the scores as a Markdown table, for a comment on a pull request."""
    release = graded.report.summary["release"]["version"]
    return markdown(score_sheet(f"Release {release}", graded.report.tables["bucket"]))


def as_json(graded: GradedSubmission) -> str:
    """Return the receipt as indented JSON; null if there is no receipt."""
    record = graded.receipt.model_dump(mode="json") if graded.receipt else None
    return json.dumps(record, indent=1, ensure_ascii=False)
