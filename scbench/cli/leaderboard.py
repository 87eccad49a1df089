"""``scbench leaderboard``: a leaderboard from a folder of submissions."""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from scbench.base.wording import counted
from scbench.cli.console import PROBLEMS, need, plain, reported_errors, say
from scbench.cli.options import AllowCodeOption, HumanOption, WorkersOption
from scbench.cli.progress import drawing_display, grading_display
from scbench.grading.workers.live import MEMORY
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.findings import Finding, as_text
from scbench.machine.limits import processors
from scbench.release.load import find_release

app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="""\
Build the leaderboard from a folder of submissions.

Exit codes: 0 done, 1 some submissions were rejected (others are shown), 2 wrong usage.""",
)


@app.command()
def build(
    submissions: Annotated[
        Path,
        typer.Argument(help="Folder whose subfolders and archives are submissions."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            help="Folder for the leaderboard: a web page, JSON and Parquet files, and graded/."
        ),
    ] = Path("leaderboard"),
    release: Annotated[
        list[str] | None,
        typer.Option(
            help=(
                "Release to accept in addition to the installed ones: a folder, a .zip file, or "
                "ORG/NAME@REVISION on the Hub. Repeat for more."
            )
        ),
    ] = None,
    regrade: Annotated[
        bool,
        typer.Option(
            "--regrade", help="Grade every submission again and ignore receipts."
        ),
    ] = False,
    organisations: Annotated[
        Path | None,
        typer.Option(
            help="File organisations.toml, which lists who may submit for whom. [default: anyone]"
        ),
    ] = None,
    private: Annotated[
        Path | None,
        typer.Option(
            help=(
                "Folder with release/ (a private ladder) and submissions/ (answers to it). "
                "The leaderboard shows only scores, ranks and the gap to the public ladder."
            )
        ),
    ] = None,
    dataset: Annotated[
        str | None,
        typer.Option(
            help=(
                "ORG/NAME of a dataset on the Hub: also write .eval_results files for its "
                "leaderboard."
            )
        ),
    ] = None,
    human: HumanOption = None,
    allow_code: AllowCodeOption = False,
    report: Annotated[
        bool,
        typer.Option(help="Write a report on each submission; needs scbench[report]."),
    ] = True,
    workers: WorkersOption = 0,
) -> None:
    """Grade new and changed submissions, and write the leaderboard.

    A submission with a receipt is not graded again unless the release, a grader version or a hash
    of the submission changes. Keep the leaderboard's folder, because it contains the receipts.
    """
    with reported_errors("leaderboard", required=True):
        from scbench.analysis.human import human_table, read_people
        from scbench.leaderboard.board import make_board
        from scbench.leaderboard.collect import collect
        from scbench.leaderboard.names import read_organisations
        from scbench.leaderboard.private import add_private, collect_private
        from scbench.leaderboard.publish import write_board
        from scbench.leaderboard.validate import release_finder

        releases = release_finder([find_release(name) for name in release or []])
        limits = WorkerLimits(workers or processors(), None, MEMORY, allow_code)
        # Check this first: grading takes long, and reports are written after it.
        if report:
            need("report", instead="--no-report")
        registry = read_organisations(organisations) if organisations else None
        private_entries = None
        if private is not None:
            private_entries = collect_private(
                private,
                out,
                limits,
                regrade=regrade,
                organisations=registry,
                on_step=say,
                open_display=grading_display(quiet=False),
            )
        public_entries = collect(
            submissions,
            out,
            releases,
            limits,
            regrade=regrade,
            reports=report,
            organisations=registry,
            on_step=say,
            open_display=grading_display(quiet=False),
            open_drawing=partial(drawing_display, quiet=False),
        )
        say("building the leaderboard")
        parts = [(submissions, public_entries)]
        if private is not None and private_entries is not None:
            parts.append((private / "submissions", private_entries))
        for folder, part in parts:
            print_findings(folder, part.refused)
            print_findings(folder, part.warnings)
        board = make_board(public_entries)
        if private_entries is not None:
            add_private(board, public_entries, private_entries)
        if human:
            board["people"] = human_table(read_people(human)).to_dicts()
        for path in write_board(out, board, public_entries.entries, dataset):
            say(f"wrote {path}")
        entries = public_entries.entries
        reused = sum(entry.reused for entry in entries)
        say(
            f"{counted(len(entries), 'submission')} on the leaderboard "
            f"({reused} with receipts, not graded again), {len(public_entries.refused)} rejected"
        )
        any_refused = any(part.refused for _, part in parts)
        raise typer.Exit(PROBLEMS if any_refused else 0)


def print_findings(folder: Path, findings: Mapping[str, Sequence[Finding]]) -> None:
    """Print the findings in submissions of a folder, with the name and file of each."""
    for name, submission_findings in findings.items():
        for finding in submission_findings:
            place = f"{folder / name}/{finding.file}"
            # A finding on the submission as a whole has no file.
            print(plain(as_text(finding, place.rstrip("/"))))  # noqa: T201
