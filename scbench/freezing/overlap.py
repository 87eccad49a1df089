"""What two sets of instances share: a held-out set that shares items is not held out."""

from collections.abc import Iterator
from dataclasses import dataclass

from scbench.base.canonical import content_hash, sha256
from scbench.base.model import Instance
from scbench.release.load import Release


@dataclass(frozen=True, slots=True)
class Overlap:
    """What two releases share of a task.

    Attributes:
        task: its id.
        first: number of its instances in the first release.
        second: number of them in the second.
        prompts: ids, of the first release, of instances that a model would see in both.
        params: the same for the parameters that graders use, however they are worded.
    """

    task: str
    first: int
    second: int
    prompts: tuple[str, ...]
    params: tuple[str, ...]


def overlap(first: Release, second: Release) -> Iterator[Overlap]:
    """Yield what two releases share, for each task that is in both.

    Raises:
        ReleaseError: a file of either is missing or is not what its manifest says.
    """
    shared = [task for task in first.manifest.tasks if task in second.manifest.tasks]
    for task in shared:
        ours, theirs = (list(side.instances([task]).values()) for side in (first, second))
        looks, used = {_looks(row) for row in theirs}, {sha256(row.params) for row in theirs}
        yield Overlap(
            task,
            len(ours),
            len(theirs),
            tuple(row.id for row in ours if _looks(row) in looks),
            tuple(row.id for row in ours if sha256(row.params) in used),
        )


def _looks(row: Instance) -> str:
    return content_hash([row.prompt, [sha256(image) for image in row.images]])
