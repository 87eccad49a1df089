"""``scbench leaderboard``: the board of a folder of submissions."""

from pathlib import Path

import typer

from scbench.cli.console import PROBLEMS, counted, need, reported_errors, say
from scbench.cli.options import Commands
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.findings import as_text
from scbench.machine.processes import processors
from scbench.release.load import find_release

app = Commands("leaderboard", no_args_is_help=True)


@app.command()
def build(
    submissions: Path,
    out: Path = Path("leaderboard"),
    release: list[str] | None = None,
    regrade: bool = False,
    organisations: Path | None = None,
    private: Path | None = None,
    dataset: str | None = None,
    allow_code: bool = False,
    report: bool = True,
    workers: int = 0,
) -> None:
    """Grade what is new or has changed, and write the board.

    A receipt is used again while release, grader versions and the hashes of the submission are what
    it says; everything else is graded anew. Keep the folder of the board: the receipts are in it.
    """
    with reported_errors("leaderboard", required=True):
        from scbench.leaderboard.board import make_board
        from scbench.leaderboard.collect import collect
        from scbench.leaderboard.names import read_organisations
        from scbench.leaderboard.private import add_private, collect_private
        from scbench.leaderboard.publish import write_board
        from scbench.leaderboard.validate import release_finder

        releases = release_finder([find_release(name) for name in release or []])
        limits = WorkerLimits(workers or processors(), None, 4 * 2**30, allow_code)
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
            )
        done = collect(
            submissions,
            out,
            releases,
            limits,
            regrade=regrade,
            reports=report,
            organisations=registry,
            on_step=say,
        )
        parts = [
            (submissions, done),
            *(
                [(private / "submissions", private_entries)]
                if private and private_entries
                else []
            ),
        ]
        for folder, part in parts:
            for name, findings in (*part.refused.items(), *part.warnings.items()):
                for finding in findings:
                    print(  # noqa: T201
                        as_text(finding, f"{folder / name}/{finding.file}".rstrip("/"))
                    )
        board = make_board(done)
        if private_entries is not None:
            add_private(board, done, private_entries)
        for path in write_board(out, board, done.entries, dataset):
            say(f"{path} written")
        reused = sum(entry.reused for entry in done.entries)
        say(
            f"{counted(len(done.entries), 'submission')}, {reused} by their receipts; "
            f"{len(done.refused)} refused"
        )
        raise typer.Exit(PROBLEMS if any(part.refused for _, part in parts) else 0)
