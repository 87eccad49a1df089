"""``scbench release``: building, verifying, publishing and comparing releases and ladders."""

import os
import sys
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import Annotated

import typer

from scbench.analysis.layout import Sheet
from scbench.analysis.terminal_tables import terminal
from scbench.base.wording import counted
from scbench.catalog import MANIFOLDS, get_task
from scbench.cli.console import (
    NEEDS,
    PROBLEMS,
    misused,
    names_in,
    plain,
    reported_errors,
    require,
    say,
)
from scbench.cli.options import FromScratchOption, WorkersOption
from scbench.cli.seeds import SeedFileOption, read_seed
from scbench.freezing.compare import shared_items
from scbench.freezing.experiment import Experiment
from scbench.freezing.experiment import manifolds as manifolds_experiment
from scbench.freezing.ladder import Ladder, TaskLadder, ladder, own_ladder, read_ladder
from scbench.freezing.ladder_check import RungReport, check_ladder
from scbench.freezing.proofs import proofs_file
from scbench.freezing.shortcuts import ITEMS, best_of
from scbench.freezing.trials import DRAWS
from scbench.machine.limits import processors
from scbench.release.diff import diff_releases
from scbench.release.load import Release, find_release, installed_releases, open_release
from scbench.release.sources import hub_name

# Columns of the table of rungs: mean, minimum and maximum of the measure; the best program that
# sees only part of an item, with the floor of its items; the share of draws that fail; the longest
# prompt and answer in characters; seconds to draw the rung, and of its slowest verdict.
RUNG_HEADS = [
    "rung",
    "mean",
    "least",
    "most",
    "floor",
    "transfer",
    "shortcut",
    "items",
    "failed",
    "prompt",
    "answer",
    "draw",
    "judge",
    "point",
]

# Columns of the table of all tasks: mean floor of the rung; the best program, its score, and the
# floor of the fresh items; seeds tried, and how many of them gave no item.
SUMMARY_HEADS = [
    "task",
    "rung",
    "floor",
    "shortcut",
    "score",
    "fresh floor",
    "seeds",
    "failed",
    "verdict",
]

app = typer.Typer(
    rich_markup_mode=None,
    no_args_is_help=True,
    help="""\
Build, verify, publish and compare releases.""",
)


@app.command()
def publish(
    folder: Annotated[
        str, typer.Argument(help="Folder or installed version of the release.")
    ],
    repo: Annotated[
        str | None, typer.Option(help="ORG/NAME of a dataset on the Hugging Face Hub.")
    ] = None,
    to: Annotated[
        str | None,
        typer.Option(
            help="Folder or fsspec URL to publish to; the index of releases there is updated."
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Print the steps without taking them; needs no token.",
        ),
    ] = False,
    workers: Annotated[
        int,
        typer.Option(
            min=0,
            help="Processes for verification; 0 means one per available processor.",
        ),
    ] = 0,
) -> None:
    """Verify a release, then publish it.

    The published files are read back and compared byte by byte.

    On the Hub, a release is one commit with a tag such as v2.0.0, which never moves. The token
    comes from `hf auth login` or HF_TOKEN. If publishing is interrupted, run the same command
    again.
    """
    if (repo is None) == (to is None):
        misused("give one target: either --repo ORG/NAME or --to PATH_OR_URL")
    with reported_errors("build", required=True):
        # The Hub and URLs need extra libraries; a folder needs none.
        if to is None or "://" in to:
            require(*NEEDS["hub"])
        root = installed_releases().get(folder, Path(folder))
        # Before the import, which takes seconds.
        say(f"verifying {root}")
        from scbench.freezing.verify import verify_release

        problems = verify_release(root, workers=workers or processors())
        for problem in problems:
            print(plain(problem))  # noqa: T201
        if problems:
            count = counted(len(problems), "problem")
            say(f"{root} was not published: verification found {count}")
            raise typer.Exit(PROBLEMS)
        release = open_release(root)
        if repo is not None:
            upload_to_hub(release, repo, dry_run=dry_run)
        elif to is not None:
            from scbench.freezing.target import publish_to_target

            on_step = print_plan if dry_run else say
            publish_to_target(release, to, on_step, dry_run=dry_run)
        if not dry_run:
            say(f"release {release.version} was published and verified")


def upload_to_hub(release: Release, repo: str, *, dry_run: bool) -> None:
    """Upload a release to a dataset on the Hub, or print the plan."""
    from scbench.freezing.hub import plan_upload, publish_on_hub

    plan = plan_upload(release, repo, dry_run=dry_run)
    if dry_run:
        for line in plan.lines(release):
            print_plan(line)
        return
    publish_on_hub(release, plan, say)
    if plan.tagged:
        say(
            f"{repo} already contains {plan.tag} with the same bytes; nothing was uploaded"
        )
    say(f'load it with load_dataset("{repo}", revision="{plan.tag}")')


def print_plan(step: str) -> None:
    """Print a step that a dry run skips."""
    print(f"would: {step}")  # noqa: T201


@app.command()
def diff(
    old: Annotated[
        str,
        typer.Argument(
            help=(
                "Release: an installed version, a folder, a .zip file, or ORG/NAME@REVISION on "
                "the Hub."
            )
        ),
    ],
    new: Annotated[
        str,
        typer.Argument(
            help=(
                "Newer release: an installed version, a folder, a .zip file, or "
                "ORG/NAME@REVISION on the Hub."
            )
        ),
    ],
) -> None:
    """List the differences between two releases.

    Lists items of the default config and the ladder that were added, removed, changed or withdrawn,
    one per line. First prints counts per task on standard error, and the reason for the changes if
    the newer release states it.
    """
    with reported_errors():
        before = find_release(old)
        after = find_release(new)
        changes = diff_releases(before, after)
        for line in changes.by_task():
            say(line)
        lines = list(changes.lines())
        for line in lines:
            print(plain(line))  # noqa: T201
        say(f"{before.version} to {after.version}: {counted(len(lines), 'difference')}")


@app.command()
def overlap(
    first: Annotated[
        str,
        typer.Argument(
            help=(
                "Release: an installed version, a folder, a .zip file, or ORG/NAME@REVISION on "
                "the Hub."
            )
        ),
    ],
    second: Annotated[
        str,
        typer.Argument(
            help=(
                "Other release: an installed version, a folder, a .zip file, or "
                "ORG/NAME@REVISION on the Hub."
            )
        ),
    ],
) -> None:
    """Count the items that two releases or generated folders share.

    Exit code 1: they share at least one.
    """
    with reported_errors():
        total = 0
        for shared in shared_items(find_release(first), find_release(second)):
            print(  # noqa: T201
                f"{shared.task} ({shared.first:,} and {shared.second:,} items): "
                f"{counted(len(shared.prompts), 'prompt')} and "
                f"{counted(len(shared.params), 'parameter set')} in common"
            )
            total += len({*shared.prompts, *shared.params})
            # A few examples.
            for row_id in shared.prompts[:5]:
                print(plain(f"  {row_id}"))  # noqa: T201
        say(f"{counted(total, 'shared item')}")
        if total:
            raise typer.Exit(PROBLEMS)


def rungs_of(
    target: str | None,
    rung: int | None,
    count: int | None,
    seed: int | None,
    *,
    private: bool,
) -> Experiment:
    """Return the experiment that draws rungs of a ladder.

    Args:
        target: TOML file with a table of rungs, or tasks of the built-in table; None for all tasks.
        rung: generate only this rung; None for all.
        count: number of items on each rung.
        seed: seed of the draws.
        private: whether the seed is kept secret.
    """
    table, tasks = ladder_of(target)
    return table.experiment(
        seed=seed, private=private, tasks=tasks, rung=rung, count=count
    )


def ladder_of(target: str | None) -> tuple[Ladder, list[str] | None]:
    """Return the table in a file, or the built-in one with the names of the selected tasks."""
    if target is not None and target.endswith(".toml"):
        return read_ladder(Path(target)), None
    return ladder(), names_in(target)


@app.command()
def rungs(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="TABLE|TASKS",
            show_default=False,
            help=(
                "TOML file with a table of rungs; or tasks of the built-in table, separated by "
                "commas. [default: all tasks of the built-in table]"
            ),
        ),
    ] = None,
    rung: Annotated[
        int | None, typer.Option(min=1, help="Check only this rung.")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(min=1, help="Items per rung. [default: the number in the table]"),
    ] = None,
    draws: Annotated[
        int,
        typer.Option(
            min=0,
            help=(
                "Items to draw per rung, to estimate how many different items exist and how often "
                "a draw fails."
            ),
        ),
    ] = DRAWS,
    fresh: Annotated[
        int,
        typer.Option(
            min=0,
            help=(
                "Number of drawn items on which to test shortcuts (programs that see only part "
                "of an item); at least 2, or 0 to skip the test. More items are drawn if --draws "
                "gives fewer."
            ),
        ),
    ] = ITEMS,
) -> None:
    """Generate every rung of a ladder and check it.

    This includes the rungs beyond the top of the ladder.

    Each item is generated, solved and graded. A right answer must score 1 within the time limit.
    Prompts and answers must be short enough. Difficulty must rise from rung to rung, and the floors
    must leave room for improvement. No answer may be right for most items of a rung, and no program
    that ignores part of the item may beat the floor. Each rung needs enough different items, and
    draws must rarely fail. Exit code 1: a check failed.
    """
    with reported_errors():
        table, tasks = ladder_of(target)
        if fresh == 1:
            misused("--fresh must be 0, or at least 2")
        reports = check_ladder(
            table, tasks, rung=rung, count=count, draws=draws, fresh=fresh
        )
        problems = 0
        all_reports: list[RungReport] = []
        # Checks take long, so each task is printed when it is done.
        for task, group in groupby(reports, attrgetter("task")):
            total = len(table.tasks[task].all_rungs)
            task_reports = []
            for report in group:
                say(f"{task}: rung {report.rung} of {total} checked")
                task_reports.append(report)
            all_reports += task_reports
            sheet = rungs_sheet(table.tasks[task], task_reports)
            sys.stdout.write(terminal(sheet) + "\n\n")
            sys.stdout.flush()
            for report in task_reports:
                problems += len(report.problems)
        if fresh and len(table.tasks if tasks is None else tasks) > 1:
            sys.stdout.write(terminal(summary_sheet(all_reports)) + "\n\n")
        if problems:
            say(counted(problems, "problem"))
            raise typer.Exit(PROBLEMS)


def summary_sheet(reports: Sequence[RungReport]) -> Sheet:
    """Return one table of all rungs: floors, the best program, and how often draws fail."""
    lines = []
    for report in reports:
        cells = [report.task, str(report.rung)]
        cells.append(f"{report.floor:.2f}" if report.floors else "")
        if report.shortcuts:
            best = best_of(report.shortcuts)
            cells += [best.name, f"{best.score:.2f}", f"{best.floor:.2f}"]
        else:
            cells += ["", "", ""]
        trials = report.trials
        cells += [str(trials.attempts), str(trials.failures)] if trials else ["", ""]
        lines.append([*cells, "WRONG" if report.problems else ""])
    return Sheet(
        "Scores of the best shortcut on fresh items, for the rungs of all tasks",
        SUMMARY_HEADS,
        lines,
        words=frozenset({"task", "shortcut", "verdict"}),
    )


def rungs_sheet(table: TaskLadder, reports: Sequence[RungReport]) -> Sheet:
    """Return the table of a task's rungs, with the problems of each as notes."""
    notes: list[str] = []
    for report in reports:
        notes.extend(
            f"WRONG, rung {report.rung}: {problem}." for problem in report.problems
        )
    if table.small:
        notes.append(f"Small: {table.small}")
    if table.room:
        notes.append(f"Room: {table.room}")
    return Sheet(
        f"{reports[0].task}: {table.measure}",
        RUNG_HEADS,
        [rung_cells(table, report) for report in reports],
        words=frozenset({"point", "shortcut"}),
        notes=notes,
        drops=("point", "draw", "judge", "least", "most"),
    )


def rung_cells(table: TaskLadder, report: RungReport) -> list[str]:
    """Return the line of one rung. A rung without items shows only its number and point."""
    number = str(report.rung)
    if report.rung > len(table.rungs):
        # The rung is beyond the top.
        number += "+"
    point = ", ".join(f"{key} {value}" for key, value in report.point.items())
    if not report.measures:
        return [number] + [""] * (len(RUNG_HEADS) - 2) + [point]
    return [
        number,
        f"{report.mean:.6g}",
        f"{min(report.measures):.6g}",
        f"{max(report.measures):.6g}",
        f"{report.floor:.2f}",
        "" if report.transfer is None else f"{report.transfer:.2f}",
        shortcut_cell(report),
        str(report.trials.capacity) if report.trials else "",
        f"{report.trials.failure_rate:.1%}" if report.trials else "",
        str(report.prompt),
        str(report.answer),
        f"{report.drawing:.1f}",
        f"{report.judging:.1f}",
        point,
    ]


def shortcut_cell(report: RungReport) -> str:
    """Return the best program on a rung: its name, its score and the floor of its items."""
    if not report.shortcuts:
        return ""
    best = best_of(report.shortcuts)
    return f"{best.name} {best.score:.2f} ({best.floor:.2f})"


@app.command()
def build(
    version: Annotated[
        str, typer.Argument(help="Version of the release, such as 2.0.0.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="Folder to create. [default: releases/VERSION]")
    ] = None,
    loader: Annotated[
        Path | None,
        typer.Option(
            help="Also write a dataset card to this file; load_dataset uses it to find the release."
        ),
    ] = None,
    tasks: Annotated[
        str | None, typer.Option(help="Freeze only these tasks, separated by commas.")
    ] = None,
    withdrawn: Annotated[
        Path | None,
        typer.Option(help="TOML or JSON file of withdrawn items, with the reasons."),
    ] = None,
    with_ladder: Annotated[
        bool,
        typer.Option(
            "--ladder/--no-ladder",
            help="Include the rungs of the frozen tasks, as the ladder config.",
        ),
    ] = True,
    with_manifolds: Annotated[
        bool,
        typer.Option(
            "--manifolds/--no-manifolds",
            help="Include the text tasks (config `manifolds`).",
        ),
    ] = True,
    from_scratch: FromScratchOption = False,
    workers: WorkersOption = 0,
) -> None:
    """Freeze all tasks into a release folder. Building twice gives the same bytes."""
    with reported_errors("build", required=True):
        from scbench.freezing.card import render_loader
        from scbench.freezing.freeze import build_release, own_tasks, read_withdrawn

        folder = out or Path("releases", version)
        names = names_in(tasks)
        selection = None if names is None else [get_task(name) for name in names]
        experiment = manifolds_experiment() if with_manifolds else None
        if selection is not None and experiment is not None:
            experiment = experiment.only([task.id for task in selection])
            # The experiment draws items of these tasks; the other tasks have fixed lists of items.
            selection = [task for task in selection if task.bucket != MANIFOLDS]
        table = None
        if with_ladder:
            on_ladder = own_tasks() if selection is None else selection
            drawn_ids = experiment.task_ids if experiment else ()
            table = own_ladder([*on_ladder, *map(get_task, drawn_ids)])
        manifest = build_release(
            version,
            folder,
            selection,
            experiment=experiment,
            ladder=table,
            withdrawn=read_withdrawn(withdrawn) if withdrawn else {},
            workers=workers or processors(),
            on_task=lambda task: say(f"made {task.id}"),
            proofs=proofs_file(from_scratch=from_scratch),
        )
        if loader is not None:
            loader.parent.mkdir(parents=True, exist_ok=True)
            prefix = f"{path_from(loader, folder).as_posix()}/"
            loader.write_text(render_loader(manifest, prefix), "utf-8")
        if manifest.experiment:
            for short in manifest.experiment.shortfalls:
                say(
                    f"{short.task}: only {short.got} of {short.asked} items at {short.point}: "
                    f"{short.reason}"
                )
        say(
            f"{folder}: {counted(manifest.instances, 'item')}, "
            f"{counted(manifest.scores, 'score')}, rows {manifest.rows_hash}"
        )


def path_from(loader: Path, folder: Path) -> Path:
    """Return the path of a release relative to the folder of a loader card."""
    linked = loader.parent / folder
    # Our repository has a link to releases next to the card, with the same path.
    if linked.is_dir() and linked.samefile(folder):
        return folder
    return Path(os.path.relpath(folder, loader.parent))


@app.command()
def verify(
    folder: Annotated[
        str | None,
        typer.Argument(
            show_default=False,
            help=(
                "Release: a folder, an installed version, a .zip file, or ORG/NAME@REVISION on "
                "the Hub. [default: newest installed]"
            ),
        ),
    ] = None,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Print problems only.")
    ] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help=(
                "Base seed of generated items, if it is private. Without it, each item is "
                "regenerated from its own seed."
            ),
        ),
    ] = None,
    seed_file: SeedFileOption = None,
    from_scratch: FromScratchOption = False,
    workers: WorkersOption = 0,
) -> None:
    """Verify a release and print every mismatch.

    First compares hashes, which takes seconds; then generates everything again and compares it,
    which takes minutes. Exit code 1: there is a mismatch.
    """
    with reported_errors("build", required=True):
        from scbench.freezing.verify import verify_anywhere, verify_release

        if folder is None:
            root = find_release().root
        else:
            root = installed_releases().get(folder, Path(folder))
        progress = VerificationProgress(quiet)
        is_on_hub = folder is not None and hub_name(folder) is not None
        # A .zip, or a release on the Hub.
        is_elsewhere = is_on_hub or root.is_file()
        check = (
            partial(verify_anywhere, folder)
            if folder is not None and is_elsewhere
            else partial(verify_release, root)
        )
        problems = check(
            progress.say_step,
            workers=workers or processors(),
            seed=read_seed(seed, seed_file),
            on_hashes=progress.report_hashes,
            proofs=proofs_file(from_scratch=from_scratch),
        )
        progress.print_new(problems)
        if problems:
            say(f"{root}: {counted(len(problems), 'problem')}")
            raise typer.Exit(PROBLEMS)
        if not quiet:
            say(f"{root}: no problems")


class VerificationProgress:
    """Prints the steps and problems of a verification.

    Args:
        quiet: whether only problems are printed.
    """

    def __init__(self, quiet: bool) -> None:
        self._quiet = quiet
        self._printed = 0

    def say_step(self, name: str) -> None:
        """Say which part is being checked."""
        if not self._quiet:
            say(f"checking {name}")

    def report_hashes(self, problems: Sequence[str]) -> None:
        """Print the problems that the hashes show, before the slow part begins."""
        self.print_new(problems)
        if self._quiet:
            return
        outcome = "hashes match"
        if problems:
            outcome = f"hashes show {counted(len(problems), 'problem')}"
        say(f"{outcome}; now regenerating everything, which takes minutes")

    def print_new(self, problems: Sequence[str]) -> None:
        """Print the problems that were not printed yet; ``problems`` are all so far."""
        for problem in problems[self._printed :]:
            print(plain(problem), flush=True)  # noqa: T201
        self._printed = len(problems)
