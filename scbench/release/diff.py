"""What changed between two releases."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from scbench.base.model import Instance, task_of
from scbench.release.load import Release

_DERIVED = {"id", "content_hash"}


@dataclass(frozen=True, slots=True)
class Diff:
    """Instances and graders that differ between an old and a new release.

    Attributes:
        added: ids that only the new one holds.
        removed: ids that only the old one holds.
        changed: ids whose rows differ, with the columns.
        withdrawn: ids that the new one withdraws and the old one does not, with the reasons.
        reinstated: ids that the old one withdraws and the new one holds without.
        graders: tasks of both whose grader version differs, with the two versions.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: dict[str, tuple[str, ...]]
    withdrawn: dict[str, str]
    reinstated: tuple[str, ...]
    graders: dict[str, tuple[int, int]]

    def by_task(self) -> Iterator[str]:
        """Yield for each task with differences of instances how many there are of which kind."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        for kind in ("added", "removed", "changed", "withdrawn", "reinstated"):
            for name in getattr(self, kind):
                counts[task_of(name)][kind] += 1
        for task, by_kind in sorted(counts.items()):
            yield f"{task}: {', '.join(f'{count} {kind}' for kind, count in by_kind.items())}"

    def lines(self) -> Iterator[str]:
        """Yield every difference as a line that begins with its kind."""
        yield from (f"added {name}" for name in self.added)
        yield from (f"removed {name}" for name in self.removed)
        yield from (
            f"changed {name}: {', '.join(at)}" for name, at in self.changed.items()
        )
        yield from (f"withdrawn {name}: {why}" for name, why in self.withdrawn.items())
        yield from (f"reinstated {name}" for name in self.reinstated)
        yield from (
            f"grader {task}: v{old} to v{new}"
            for task, (old, new) in self.graders.items()
        )


def diff_releases(old: Release, new: Release) -> Diff:
    """Compare two releases row by row.

    Raises:
        ReleaseError: a file of either is missing or is not what its manifest says.
    """
    before, after = old.instances(), new.instances()
    tasks, earlier = new.manifest.tasks, old.manifest.tasks
    gone, withdrawn = old.manifest.withdrawn, new.manifest.withdrawn
    return Diff(
        added=tuple(name for name in after if name not in before),
        removed=tuple(name for name in before if name not in after),
        changed={
            name: columns
            for name, row in after.items()
            if name in before and (columns := _changed_columns(before[name], row))
        },
        withdrawn={name: why for name, why in withdrawn.items() if name not in gone},
        reinstated=tuple(
            name for name in gone if name in after and name not in withdrawn
        ),
        graders={
            task: (earlier[task].grader_version, record.grader_version)
            for task, record in tasks.items()
            if task in earlier and earlier[task].grader_version != record.grader_version
        },
    )


def _changed_columns(old: Instance, new: Instance) -> tuple[str, ...]:
    names = (name for name in Instance.model_fields if name not in _DERIVED)
    return tuple(name for name in names if getattr(old, name) != getattr(new, name))
