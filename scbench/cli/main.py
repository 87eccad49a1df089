"""``scbench``: releases, tasks and examples."""

import os
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from scbench.cli import (
    analysis,
    exporting,
    failure_modes,
    generating,
    grade,
    importing,
    ladder,
    leaderboard,
    listing,
    looking,
    manifolds,
    merge,
    paths,
    prompting,
    publishing,
    rungs,
    running,
    submission,
)
from scbench.cli.console import PROBLEMS, USAGE, counted, names_in, reported_errors, say
from scbench.cli.options import FromScratch, ReleaseName, Version, Workers
from scbench.cli.start import start
from scbench.machine.processes import processors

app = typer.Typer(
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    help="The Spatial Competence Benchmark. `scbench grade` is the same as scbench-grade.",
)
releases = typer.Typer(no_args_is_help=True, rich_markup_mode=None)
app.add_typer(releases, name="release", help="Build, verify, publish and compare releases.")
releases.command()(publishing.publish)
releases.command()(publishing.diff)
releases.command()(publishing.overlap)
releases.command()(rungs.rungs)
app.command()(listing.tasks)
app.command(epilog=grade.EPILOG)(grade.grade)
app.command(epilog=running.EPILOG)(running.run)
app.command()(prompting.prompts)
app.command("import")(importing.import_)
app.command()(paths.path)
app.command(context_settings=generating.PARAMETERS_FOLLOW)(generating.generate)
app.command()(merge.merge)
app.command()(analysis.tables)
app.command()(analysis.compare)
app.command()(analysis.samples)
app.command()(analysis.cost)
app.command()(analysis.budget)
app.command()(analysis.turns)
app.command()(analysis.items)
app.command()(analysis.runs)
app.command()(manifolds.manifolds)
app.command()(ladder.ladder)
app.command("next")(ladder.next_items)
app.command()(ladder.gap)
app.command("export-results")(exporting.export_results)
app.command()(looking.report)
app.command()(looking.show)
app.command()(looking.gallery)
app.add_typer(failure_modes.app, name="failure-modes")
app.add_typer(submission.app, name="submission")
app.add_typer(leaderboard.app, name="leaderboard")


@app.callback()
def _main(
    version: Version = False,
) -> None:
    pass


@app.command()
def example(
    release: ReleaseName = None,
    tasks: Annotated[
        str | None,
        typer.Option(
            help="Only these tasks or buckets, separated by commas; manifolds is one, and terse "
            "and ladder stand for these configs."
        ),
    ] = None,
) -> None:
    """Print predictions to try the grader on.

    Two invented models made them.
    """
    with reported_errors():
        from scbench.freezing.example import example_predictions
        from scbench.release.load import find_release

        found, names = find_release(release).choose(names_in(tasks))
        for line in example_predictions(found, names):
            sys.stdout.write(line + "\n")
        sys.stdout.flush()


@app.command()
def export(
    folder: Annotated[Path, typer.Argument(help="Folder to make.")], release: ReleaseName = None
) -> None:
    """Copy a release to a folder.

    `load_dataset("FOLDER")` reads it from there.
    """
    with reported_errors():
        from scbench.freezing.copies import export_release
        from scbench.release.load import find_release

        found = find_release(release)
        export_release(found, folder)
        say(f'release {found.version} is in {folder}; load it with load_dataset("{folder}")')


@releases.command()
def build(
    version: Annotated[str, typer.Argument(help="Name of the release, such as 2.0.0.")],
    out: Annotated[
        Path | None, typer.Option(help="Folder to make. [default: releases/VERSION]")
    ] = None,
    loader: Annotated[
        Path | None,
        typer.Option(help="Also write a card here that points at the release, for load_dataset."),
    ] = None,
    tasks: Annotated[
        str | None, typer.Option(help="Freeze only these tasks, separated by commas.")
    ] = None,
    withdrawn: Annotated[
        Path | None,
        typer.Option(help="TOML or JSON file of instances found to be wrong, with the reasons."),
    ] = None,
    with_ladder: Annotated[
        bool,
        typer.Option(
            "--ladder/--no-ladder",
            help="Also draw the rungs of the tasks that are frozen, for the config ladder.",
        ),
    ] = True,
    with_manifolds: Annotated[
        bool,
        typer.Option(
            "--manifolds/--no-manifolds", help="Also draw the text tasks, for the config manifolds."
        ),
    ] = True,
    from_scratch: FromScratch = False,
    workers: Workers = 0,
) -> None:
    """Freeze every task into a release folder. Building twice gives the same bytes."""
    with reported_errors("build", required=True):
        import os

        from scbench.catalog import MANIFOLDS, get_task
        from scbench.freezing.card import render_loader
        from scbench.freezing.experiment import manifolds as manifolds_experiment
        from scbench.freezing.freeze import build_release, read_withdrawn
        from scbench.freezing.ladder import own_ladder
        from scbench.freezing.proofs import proofs_file

        folder = out or Path("releases", version)
        names = names_in(tasks)
        chosen = None if names is None else [get_task(name) for name in names]
        experiment = manifolds_experiment() if with_manifolds else None
        if chosen is not None and experiment is not None:
            experiment = experiment.only([task.id for task in chosen])
            chosen = [task for task in chosen if task.bucket != MANIFOLDS]
        manifest = build_release(
            version,
            folder,
            chosen,
            experiment=experiment,
            ladder=own_ladder(chosen) if with_ladder else None,
            withdrawn=read_withdrawn(withdrawn) if withdrawn else {},
            workers=workers or processors(),
            on_task=lambda task: say(f"{task.id}: made"),
            proofs=None if from_scratch else proofs_file(),
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
                f"{short.task}: {short.got} of {short.asked} cases at {short.point}: {short.reason}"
            )
        say(
            f"{folder}: {manifest.instances} instances, {manifest.scores} scores, "
            f"rows {manifest.rows_hash}"
        )


@releases.command()
def verify(
    folder: Annotated[
        str | None,
        typer.Argument(
            help="Folder, installed version, .zip, or ORG/NAME@REVISION. [default: newest]",
            show_default=False,
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print problems only.")] = False,
    seed: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Base seed of generated cases, if it is private. Without it, each is made again "
            "from its own seed.",
        ),
    ] = None,
    from_scratch: FromScratch = False,
    workers: Workers = 0,
) -> None:
    """Print every mismatch in a release.

    First what hashes alone show, then what making it again does.

    The first takes seconds, the second minutes. Exit 1 if there is any.
    """
    with reported_errors("build", required=True):
        from scbench.freezing.proofs import proofs_file
        from scbench.freezing.verify import verify_anywhere, verify_release
        from scbench.release.hub import hub_name
        from scbench.release.load import find_release, installed_releases

        if folder is None:
            root = find_release().root
        else:
            root = installed_releases().get(folder, Path(folder))
        elsewhere = root.is_file() or (hub_name(str(root)) and not root.exists())

        def step(name: str) -> None:
            if not quiet:
                say(f"checking {name}")

        told = 0

        def tell(problems: Sequence[str]) -> None:
            nonlocal told
            for problem in problems[told:]:
                print(problem, flush=True)  # noqa: T201
            told = len(problems)

        def hashes(problems: Sequence[str]) -> None:
            tell(problems)
            if not quiet:
                n = len(problems)
                found = f"show {n} problem{'s' * (n > 1)}" if n else "agree"
                say(f"hashes {found}; now everything is made again, which takes minutes")

        verified = (
            partial(verify_anywhere, str(root)) if elsewhere else partial(verify_release, root)
        )
        problems = verified(
            step,
            workers=workers or processors(),
            seed=seed,
            on_hashes=hashes,
            proofs=None if from_scratch else proofs_file(),
        )
        tell(problems)
        if problems:
            say(f"{root}: {counted(len(problems), 'problem')}")
            raise typer.Exit(PROBLEMS)
        if not quiet:
            say(f"{root}: sound")


def run() -> None:
    """Entry point of ``scbench``."""
    first = sys.argv[1] if len(sys.argv) > 1 else ""
    if not {".", os.sep}.isdisjoint(first) and Path(first).is_file():  # no command has these
        say(f"error: {first} is a file; to grade it: scbench grade {first}")
        sys.exit(USAGE)
    start(app, "scbench")
