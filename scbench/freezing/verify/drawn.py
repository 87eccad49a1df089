"""Verification of the experiments of a release against the experiments of this package.

Other versions of the package may have other experiments, so experiments are checked
only for releases of this version.
"""

from collections.abc import Iterator

from scbench.base import __version__
from scbench.freezing.experiment import manifolds
from scbench.freezing.ladder import ladder
from scbench.release.manifest import (
    MANIFEST,
    ExperimentRecord,
    LadderRecord,
    Manifest,
)


def check_experiment(manifest: Manifest, record: ExperimentRecord) -> Iterator[str]:
    """Compare the experiment of a frozen release with this package's experiment."""
    if manifest.is_generated or manifest.package_version != __version__:
        return
    ours = manifolds().only(record.task_ids)
    # Shortfalls follow from drawing.
    planned = record.model_copy(update={"shortfalls": []})
    if ours is None or ours.record([]) != planned:
        yield (
            f"{MANIFEST}: experiment differs from this package's experiment for "
            "manifolds"
        )


def check_own_ladder(manifest: Manifest, record: LadderRecord) -> Iterator[str]:
    """Compare the experiment of the config ``ladder`` with this package's ladder."""
    if manifest.package_version != __version__:
        return
    experiment = record.experiment
    names = [name for name in experiment.measures if name in ladder().tasks]
    # A ladder with only tasks of other packages is not ours either.
    if names:
        ours = ladder().experiment(tasks=names).record(experiment.shortfalls)
        if ours == experiment:
            return
    yield f"{MANIFEST}: ladder differs from the one that this package generates"
