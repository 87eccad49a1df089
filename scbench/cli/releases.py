"""``scbench release``: building, verifying, publishing and comparing releases and ladders."""

import os
import sys
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from pathlib import Path

import typer

from scbench.analysis.layout import Sheet, terminal
from scbench.catalog import MANIFOLDS, get_task
from scbench.cli.console import (
    NEEDS,
    PROBLEMS,
    counted,
    misused,
    names_in,
    reported_errors,
    require,
    say,
)
from scbench.cli.options import Commands
from scbench.freezing.compare import overlap as measure
from scbench.freezing.experiment import Experiment
from scbench.freezing.experiment import manifolds as manifolds_experiment
from scbench.freezing.ladder import Ladder, TaskLadder, ladder, own_ladder, read_ladder
from scbench.freezing.ladder_check import DRAWS, RungReport, check_ladder
from scbench.freezing.proofs import proofs_file
from scbench.machine.processes import processors
from scbench.release.diff import diff_releases
from scbench.release.load import Release, find_release, installed_releases, open_release
from scbench.release.sources import hub_name

app = Commands("releases", no_args_is_help=True)


@app.command()
def publish(
    folder: str,
    repo: str | None = None,
    to: str | None = None,
    dry_run: bool = False,
    workers: int = 0,
) -> None:
    """Publish a release that verifies.

    What comes back is compared byte by byte.

    On the Hub: one commit, and a tag such as v2.0.0, which is never moved. The token is that of
    `hf auth login` or HF_TOKEN. What was interrupted goes on when the same command is run again.
    """
    if (repo is None) == (to is None):
        misused("name one target, --repo ORG/NAME or --to PATH_OR_URL")
    with reported_errors("build", required=True):
        if to is None or "://" in to:
            require(*NEEDS["hub"])
        from scbench.freezing.verify import verify_release

        root = installed_releases().get(folder, Path(folder))
        say(f"verifying {root}")
        problems = verify_release(root, workers=workers or processors())
        for problem in problems:
            print(problem)  # noqa: T201
        if problems:
            count = counted(len(problems), "problem")
            say(f"{root} does not verify ({count}), so it is not published")
            raise typer.Exit(PROBLEMS)
        release = open_release(root)
        if repo is not None:
            _to_hub(release, repo, dry_run=dry_run)
        elif to is not None:
            from scbench.freezing.target import publish_to_target

            publish_to_target(release, to, _would if dry_run else say, dry_run=dry_run)
        if not dry_run:
            say(f"release {release.version} is published and verified")


def _to_hub(release: Release, repo: str, *, dry_run: bool) -> None:
    from scbench.freezing.hub import plan_upload, publish_on_hub

    plan = plan_upload(release, repo, dry_run=dry_run)
    if dry_run:
        for line in plan.lines(release):
            _would(line)
        return
    publish_on_hub(release, plan, say)
    if plan.tagged:
        say(f"{repo} held {plan.tag} already, byte for byte; nothing was uploaded")
    say(f'load it with load_dataset("{repo}", revision="{plan.tag}")')


def _would(step: str) -> None:
    print(f"would: {step}")  # noqa: T201


@app.command()
def diff(old: str, new: str) -> None:
    """List what changed between two releases.

    Items added, removed, changed and withdrawn: first how many of each task, on standard
    error, then each on a line.
    """
    with reported_errors():
        before, after = find_release(old), find_release(new)
        changes = diff_releases(before, after)
        for line in changes.by_task():
            say(line)
        lines = list(changes.lines())
        for line in lines:
            print(line)  # noqa: T201
        say(f"{before.version} to {after.version}: {len(lines)} differences")


@app.command()
def overlap(first: str, second: str) -> None:
    """Count the items that two releases or generated folders share. Exit 1 if there is one."""
    with reported_errors():
        total = 0
        for shared in measure(find_release(first), find_release(second)):
            print(  # noqa: T201
                f"{shared.task}: {len(shared.prompts)} prompts and {len(shared.params)} params of "
                f"{shared.first} are among the {shared.second}"
            )
            total += len({*shared.prompts, *shared.params})
            for row_id in shared.prompts[:5]:
                print(f"  {row_id}")  # noqa: T201
        say(f"{total} shared")
        if total:
            raise typer.Exit(PROBLEMS)


def _ladder_table(target: str | None) -> tuple[Ladder, list[str] | None]:
    """Return the table that a file or names of tasks are about, and the tasks."""
    if target is not None and target.endswith(".toml"):
        return read_ladder(Path(target)), None
    return ladder(), names_in(target)


def rungs_of(
    target: str | None,
    rung: int | None,
    count: int | None,
    seed: int | None,
    *,
    private: bool,
) -> Experiment:
    """Return what draws a ladder: of a table of one's own, of some tasks, or of all."""
    table, tasks = _ladder_table(target)
    return table.experiment(
        seed=seed, private=private, tasks=tasks, rung=rung, count=count
    )


@app.command()
def rungs(
    target: str | None = None,
    rung: int | None = None,
    count: int | None = None,
    draws: int = DRAWS,
) -> None:
    """Make every rung of a ladder, and check it.

    Those beyond its top are among them.

    Each item is solved and judged: a right answer must score 1 within the limit, prompts and
    answers be short enough, the measure rise from rung to rung, and the floors leave room. No
    answer may be right on most of a rung, and different items must be many. Exit code 1: something
    is wrong.
    """
    with reported_errors():
        table, tasks = _ladder_table(target)
        checks = check_ladder(table, tasks, rung=rung, count=count, draws=draws)
        wrong = 0
        for task, of_task in groupby(checks, lambda check: check.task):
            reports = list(of_task)
            sys.stdout.write(
                terminal(_rungs_sheet(table.tasks[task], reports)) + "\n\n"
            )
            sys.stdout.flush()
            wrong += sum(len(report.problems) for report in reports)
        if wrong:
            say(counted(wrong, "problem"))
            raise typer.Exit(PROBLEMS)


def _rungs_sheet(table: TaskLadder, reports: Sequence[RungReport]) -> Sheet:
    ends, sizes, times = (
        ("mean", "least", "most"),
        ("prompt", "answer"),
        ("draw", "judge"),
    )
    heads = ["rung", *ends, "floor", "transfer", "items", *sizes, *times, "point"]
    rows = [_rung_cells(table, report) for report in reports]
    notes = [
        f"WRONG, rung {r.rung}: {problem}." for r in reports for problem in r.problems
    ]
    notes += [f"Small: {table.small}"] * bool(table.small)
    notes += [f"Room: {table.room}"] * bool(table.room)
    return Sheet(
        f"{reports[0].task}: {table.measure}",
        heads,
        rows,
        words=frozenset({"point"}),
        notes=notes,
        drops=("point", "draw", "judge", "least", "most"),
    )


def _rung_cells(table: TaskLadder, report: RungReport) -> list[str]:
    number = f"{report.rung}{'+' * (report.rung > len(table.rungs))}"
    point = ", ".join(f"{key} {value}" for key, value in report.point.items())
    if not report.measures:
        return [number, *[""] * 10, point]
    ends = (report.mean, min(report.measures), max(report.measures))
    return [
        number,
        *(f"{value:.6g}" for value in ends),
        f"{report.floor:.2f}",
        "" if report.transfer is None else f"{report.transfer:.2f}",
        str(report.capacity or ""),
        *(str(report.prompt), str(report.answer)),
        *(f"{report.drawing:.1f}", f"{report.judging:.1f}"),
        point,
    ]


@app.command()
def build(
    version: str,
    out: Path | None = None,
    loader: Path | None = None,
    tasks: str | None = None,
    withdrawn: Path | None = None,
    with_ladder: bool = True,
    with_manifolds: bool = True,
    from_scratch: bool = False,
    workers: int = 0,
) -> None:
    """Freeze every task into a release folder. Building twice gives the same bytes."""
    with reported_errors("build", required=True):
        from scbench.freezing.card import render_loader
        from scbench.freezing.freeze import build_release, own_tasks, read_withdrawn

        folder = out or Path("releases", version)
        names = names_in(tasks)
        selection = None if names is None else [get_task(name) for name in names]
        experiment = manifolds_experiment() if with_manifolds else None
        if selection is not None and experiment is not None:
            experiment = experiment.only([task.id for task in selection])
            selection = [task for task in selection if task.bucket != MANIFOLDS]
        drawn = experiment.task_ids if experiment else ()
        on_rungs = [
            *(own_tasks() if selection is None else selection),
            *map(get_task, drawn),
        ]
        manifest = build_release(
            version,
            folder,
            selection,
            experiment=experiment,
            ladder=own_ladder(on_rungs) if with_ladder else None,
            withdrawn=read_withdrawn(withdrawn) if withdrawn else {},
            workers=workers or processors(),
            on_task=lambda task: say(f"{task.id}: made"),
            proofs=proofs_file(from_scratch=from_scratch),
        )
        if loader is not None:
            loader.parent.mkdir(parents=True, exist_ok=True)
            linked = loader.parent / folder
            is_linked = linked.is_dir() and linked.samefile(folder)
            path = folder if is_linked else Path(os.path.relpath(folder, loader.parent))
            prefix = f"{path.as_posix()}/"
            loader.write_text(render_loader(manifest, prefix), "utf-8")
        for short in manifest.experiment.shortfalls if manifest.experiment else ():
            say(
                f"{short.task}: {short.got} of {short.asked} items at {short.point}: {short.reason}"
            )
        say(
            f"{folder}: {manifest.instances} items, {manifest.scores} scores, "
            f"rows {manifest.rows_hash}"
        )


@app.command()
def verify(
    folder: str | None = None,
    quiet: bool = False,
    seed: int | None = None,
    from_scratch: bool = False,
    workers: int = 0,
) -> None:
    """Print every mismatch in a release.

    First what hashes alone show, then what making it again does.

    The first takes seconds, the second minutes. Exit 1 if there is any.
    """
    with reported_errors("build", required=True):
        from scbench.freezing.verify import verify_anywhere, verify_release

        if folder is None:
            root = find_release().root
        else:
            root = installed_releases().get(folder, Path(folder))
        elsewhere = root.is_file() or (hub_name(str(root)) and not root.exists())

        def step(name: str) -> None:
            if not quiet:
                say(f"checking {name}")

        printed = 0

        def tell(problems: Sequence[str]) -> None:
            nonlocal printed
            for problem in problems[printed:]:
                print(problem, flush=True)  # noqa: T201
            printed = len(problems)

        def hashes(problems: Sequence[str]) -> None:
            tell(problems)
            if not quiet:
                n = len(problems)
                outcome = f"show {n} problem{'s' * (n > 1)}" if n else "agree"
                say(
                    f"hashes {outcome}; now everything is made again, which takes minutes"
                )

        verified = (
            partial(verify_anywhere, str(root))
            if elsewhere
            else partial(verify_release, root)
        )
        problems = verified(
            step,
            workers=workers or processors(),
            seed=seed,
            on_hashes=hashes,
            proofs=proofs_file(from_scratch=from_scratch),
        )
        tell(problems)
        if problems:
            say(f"{root}: {counted(len(problems), 'problem')}")
            raise typer.Exit(PROBLEMS)
        if not quiet:
            say(f"{root}: sound")
