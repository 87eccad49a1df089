"""``scbench release publish`` and ``diff``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from scbench.cli.console import NEEDS, PROBLEMS, USAGE, counted, reported_errors, require, say
from scbench.machine.processes import processors

if TYPE_CHECKING:
    from scbench.release.load import Release


def publish(
    folder: Annotated[str, typer.Argument(help="Folder or installed version of the release.")],
    repo: Annotated[
        str | None, typer.Option(help="ORG/NAME of a data set on the Hugging Face Hub.")
    ] = None,
    to: Annotated[
        str | None, typer.Option(help="Folder, or URL of any fsspec target, with its index.")
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run", help="Say what would happen, and change nothing; no token is needed."
        ),
    ] = False,
    workers: Annotated[
        int, typer.Option(min=0, help="Processes that verify; 0 takes one per usable processor.")
    ] = 0,
) -> None:
    """Publish a release that verifies.

    What comes back is compared byte by byte.

    On the Hub: one commit, and a tag such as v2.0.0, which is never moved. The token is that of
    `hf auth login` or HF_TOKEN. What was interrupted goes on when the same command is run again.
    """
    if (repo is None) == (to is None):
        say("error: name one target, --repo ORG/NAME or --to PATH_OR_URL")
        raise typer.Exit(USAGE)
    with reported_errors("build", required=True):
        if to is None or "://" in to:
            require(*NEEDS["hub"])
        from scbench.freezing.verify import verify_release
        from scbench.release.load import installed_releases, open_release

        root = installed_releases().get(folder, Path(folder))
        say(f"verifying {root}")
        problems = verify_release(root, workers=workers or processors())
        for problem in problems:
            print(problem)  # noqa: T201
        if problems:
            found = counted(len(problems), "problem")
            say(f"{root} does not verify ({found}), so it is not published")
            raise typer.Exit(PROBLEMS)
        release = open_release(root)
        if repo is not None:
            _to_hub(release, repo, dry_run=dry_run)
        elif to is not None:
            from scbench.freezing.copies import publish_to_target

            publish_to_target(release, to, _would if dry_run else say, dry_run=dry_run)
        if not dry_run:
            say(f"release {release.version} is published and verified")


def _to_hub(release: "Release", repo: str, *, dry_run: bool) -> None:
    from scbench.freezing.publish import plan_upload, publish_on_hub

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


def diff(
    old: Annotated[str, typer.Argument(help="Version, folder, .zip or ORG/NAME@REVISION.")],
    new: Annotated[str, typer.Argument(help="The same, of the newer release.")],
) -> None:
    """List what changed between two releases.

    Instances added, removed, changed and withdrawn: first how many of each task, on standard
    error, then each on a line.
    """
    with reported_errors():
        from scbench.release.diff import diff_releases
        from scbench.release.load import find_release

        before, after = find_release(old), find_release(new)
        found = diff_releases(before, after)
        for line in found.by_task():
            say(line)
        lines = list(found.lines())
        for line in lines:
            print(line)  # noqa: T201
        say(f"{before.version} to {after.version}: {len(lines)} differences")


def overlap(
    first: Annotated[str, typer.Argument(help="Version, folder, .zip or ORG/NAME@REVISION.")],
    second: Annotated[str, typer.Argument(help="The same, of the other.")],
) -> None:
    """Count the items that two releases or generated folders share. Exit 1 if there is one."""
    with reported_errors():
        from scbench.freezing.compare import overlap as measure
        from scbench.release.load import find_release

        total = 0
        for found in measure(find_release(first), find_release(second)):
            print(  # noqa: T201
                f"{found.task}: {len(found.prompts)} prompts and {len(found.params)} params of "
                f"{found.first} are among the {found.second}"
            )
            total += len({*found.prompts, *found.params})
            for row_id in found.prompts[:5]:
                print(f"  {row_id}")  # noqa: T201
        say(f"{total} shared")
        if total:
            raise typer.Exit(PROBLEMS)
