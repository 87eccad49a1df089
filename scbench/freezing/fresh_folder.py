"""Writing what an experiment draws into a folder with the shape of a release."""

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from scbench.base.errors import ExperimentError
from scbench.base.progress import no_progress
from scbench.freezing.experiment import Experiment, plan
from scbench.freezing.freeze import fill_release, scratch_beside
from scbench.freezing.fresh import NO_SEED, prefix_of, run
from scbench.freezing.fresh_checkpoint import journal_of
from scbench.freezing.gather import Gathered, gather
from scbench.release.manifest import Manifest, is_version

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Generated:
    """A folder that was written.

    Attributes:
        manifest: of the folder.
        gathered: what it holds.
        resumed: number of points that an interrupted run had finished.
    """

    manifest: Manifest
    gathered: Gathered
    resumed: int


def generate_folder(
    experiment: Experiment,
    out: Path,
    *,
    name: str | None = None,
    workers: int = 1,
    restart: bool = False,
    on_cases: Callable[[int], object] = no_progress,
) -> Generated:
    """Draw the cases of an experiment into a folder, whole or not at all.

    A run that was killed goes on where it was when the same experiment is drawn into the same
    place; the bytes are those of a run that was not.

    Args:
        experiment: what to draw.
        out: the folder to make; it must not exist.
        name: what the folder calls itself; by default ``generated-`` and a hash of its rows.
        workers: processes; the bytes are the same with any number.
        restart: throw away what an interrupted run left.
        on_cases: called with the number of cases that are done, for progress.

    Raises:
        ExperimentError: the experiment asks for what cannot be drawn, the name will not do, or the
            folder exists or cannot be made.
        GenerationError: not one case could be drawn.
        ReleaseError: builder and grader disagree on a case.
    """
    if name is not None and (is_version(name) or not _NAME.fullmatch(name)):
        raise ExperimentError(
            f"{name[:100]!r} is no name for generated cases: use up to 64 letters, digits, dots, "
            "dashes and underscores, and no version, which only frozen releases have"
        )
    if os.path.lexists(out):
        raise ExperimentError(f"{out} exists; generated folders are never edited, name another")
    if experiment.seed is None:
        raise ExperimentError(NO_SEED)
    planned = plan(experiment)
    prefix = prefix_of(planned, experiment.seed)
    try:
        with journal_of(out, experiment, planned, restart=restart) as journal:
            parts = list(journal.finished)
            resumed = len(parts)
            points = run(
                experiment, workers=workers, prefix=prefix, finished=parts, on_cases=on_cases
            )
            for part in points:
                journal.add(part)
                parts.append(part)
            gathered = gather(parts)
            with scratch_beside(out) as scratch:
                record = experiment.record(gathered.shortfalls, prefix)
                root = scratch / "release"
                manifest = fill_release(root, name, gathered.frozen, experiment=record)
                root.rename(out)
    except OSError as error:
        raise ExperimentError(f"{out} cannot be made: {error}") from error
    return Generated(manifest, gathered, resumed)
