"""Drawing the experiment of a release again, from its seed or, without it, from the rows."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scbench.base.errors import ScbenchError
from scbench.base.seeding import Stream
from scbench.freezing.draw import REPEATS
from scbench.freezing.experiment import Experiment, Planned, experiment_of, plan
from scbench.freezing.fresh import gather, prefix_of, run
from scbench.freezing.tables import read_table
from scbench.freezing.verify.remake import Redrawn, Rows, remake_rows
from scbench.release.manifest import MANIFEST, REFERENCES, Manifest


def redraw(
    root: Path,
    manifest: Manifest,
    seed: int | None = None,
    workers: int = 1,
    proofs: Path | None = None,
) -> Redrawn:
    """Draw the experiment of a release again.

    Args:
        root: folder of the release.
        manifest: its manifest, or that of a config.
        seed: private seed, if it is known.
        workers: number of processes; one is this process.
        proofs: see `scbench.freezing.proofs`.
    """
    record = manifest.experiment
    if record is None:
        raise ValueError("this release was not drawn by an experiment")
    redrawn = Redrawn(record)
    is_private = record.seed is None
    try:
        experiment = experiment_of(
            {
                "seed": record.seed,
                "private": is_private,
                "measures": record.measures,
                "task": record.tasks,
            }
        )
        planned = plan(experiment)
    except ScbenchError as error:
        for line in str(error).splitlines():
            redrawn.problems.append(f"{MANIFEST}: experiment: {line}")
        return redrawn
    # A published seed is enough, and proves more than the rows.
    if not is_private:
        if seed not in {None, record.seed}:
            redrawn.problems.append(
                f"{MANIFEST}: experiment.seed is {record.seed}, but another seed was given"
            )
        draw_from_seed(redrawn, experiment, manifest, workers, proofs)
        return redrawn
    rows: dict[str, Sequence[dict[str, Any]]] = {}
    for task_id in experiment.task_ids:
        if task_id not in manifest.tasks:
            continue
        file = manifest.rows_file(task_id)
        try:
            rows[task_id] = stored_origins(root, file)
        except Exception as error:  # noqa: BLE001  (damaged bytes fail in many ways)
            first_line = (str(error).splitlines() or [""])[0]
            redrawn.problems.append(
                f"{file}: cannot be read: {type(error).__name__}: {first_line}"
            )
    if seed is not None and not fits_seed(planned, rows, seed):
        redrawn.problems.append(
            f"{MANIFEST}: the given seed does not produce these rows"
        )
        seed = None
    if seed is None:
        remake_rows(redrawn, manifest, planned, rows, workers, proofs)
    else:
        with_seed = experiment.model_copy(update={"seed": seed})
        draw_from_seed(redrawn, with_seed, manifest, workers, proofs)
    return redrawn


def stored_origins(root: Path, file: str) -> list[dict[str, Any]]:
    """Return id, point, seed and unprinted values of the rows of a task.

    The unprinted values, which no row may contain, are in the references.
    """
    table = read_table((root / file).read_bytes())
    references = read_table((root / REFERENCES).read_bytes())
    unprinted = {}
    for row in references.select(["id", "unprinted"]).to_pylist():
        if row["unprinted"]:
            unprinted[row["id"]] = row["unprinted"]
    rows: list[dict[str, Any]] = table.select(["id", "point", "seed"]).to_pylist()
    for row in rows:
        row["unprinted"] = unprinted.get(row["id"])
        row["seed"] = seed_of(row["seed"])
    return rows


def seed_of(stored: str | int | None) -> int | None:
    """Return the seed in a row: text, or a number in files of releases before 4.0.0."""
    if stored is None:
        return None
    try:
        return int(stored)
    # The file may be damaged; a row without a seed is reported.
    except ValueError:
        return None


def fits_seed(planned: Sequence[Planned], rows: Rows, seed: int) -> bool:
    """Return whether the seeds of the first rows can come from a base seed."""
    for first in planned:
        stored = rows.get(first.task.id)
        if stored:
            break
    else:
        return True
    count = first.point.count
    stream = Stream("generate", seed, first.task.id, first.parameters)
    # Some seeds are skipped, because they fail or repeat what was drawn.
    possible = {stream.getrandbits(63) for _ in range(count + REPEATS)}
    return any(row.get("seed") in possible for row in stored[:count])


def draw_from_seed(
    redrawn: Redrawn,
    experiment: Experiment,
    manifest: Manifest,
    workers: int,
    proofs: Path | None,
) -> None:
    """Draw an experiment with its seed, and add the results."""
    prefix = ""
    if manifest.is_generated:
        prefix = prefix_of(plan(experiment), experiment.seed or 0)
    points = run(experiment, workers=workers, prefix=prefix, proofs=proofs)
    try:
        gathered = gather(points)
    except ScbenchError as error:
        redrawn.problems.append(
            f"{MANIFEST}: the experiment cannot be drawn again: {error}"
        )
        return
    redrawn.record = experiment.record(gathered.shortfalls, prefix)
    for part in gathered.frozen:
        if part.task.id in manifest.tasks:
            redrawn.frozen.append(part)
        else:
            redrawn.problems.append(
                f"{MANIFEST}: does not list task {part.task.id}, which the experiment draws"
            )
