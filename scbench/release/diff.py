"""Differences between two releases."""

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from scbench.base.data import packaged_toml
from scbench.base.model import Instance, task_of, terse_id
from scbench.release.load import Release
from scbench.release.manifest import own_name

# Fields that depend on other fields, or are equal in both rows.
_DERIVED = {"id", "content_hash"}
_KINDS = ("added", "removed", "changed", "withdrawn", "reinstated")
# Means all tasks without a separate reason in `changes.toml`.
_ALL_TASKS = "all"
_TERSE_PROMPT = "terse prompt"


@dataclass(frozen=True, slots=True)
class Diff:
    """Instances and graders that differ between an old and a new release, ladders included.

    Attributes:
        added: ids in the new release only.
        removed: ids in the old release only.
        changed: ids whose rows differ, with the columns; "terse prompt" means the prompt in the
            config ``terse``.
        withdrawn: ids withdrawn only in the new release, with the reasons.
        reinstated: ids withdrawn in the old release and valid in the new one.
        graders: tasks in both releases whose grader versions differ, with the two versions.
        reasons: why items were changed, by task, if the new release gives a reason.
    """

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: dict[str, tuple[str, ...]]
    withdrawn: dict[str, str]
    reinstated: tuple[str, ...]
    graders: dict[str, tuple[int, int]]
    reasons: dict[str, str]

    def by_task(self) -> Iterator[str]:
        """Yield a line for each task with differences: how many of each kind, and the reason."""
        counts: dict[str, Counter[str]] = defaultdict(Counter)
        # Changed graders are left out, because each has a separate line.
        for kind in _KINDS:
            for name in getattr(self, kind):
                counts[task_of(name)][kind] += 1
        for task, by_kind in sorted(counts.items()):
            parts = ", ".join(f"{count} {kind}" for kind, count in by_kind.items())
            reason = self.reasons.get(task) or self.reasons.get(_ALL_TASKS)
            yield f"{task}: {parts} ({reason})" if reason else f"{task}: {parts}"

    def lines(self) -> Iterator[str]:
        """Yield every difference as a line that begins with its kind."""
        for name in self.added:
            yield f"added {name}"
        for name in self.removed:
            yield f"removed {name}"
        for name, columns in self.changed.items():
            yield f"changed {name}: {', '.join(columns)}"
        for name, reason in self.withdrawn.items():
            yield f"withdrawn {name}: {reason}"
        for name in self.reinstated:
            yield f"reinstated {name}"
        for task, (old, new) in self.graders.items():
            yield f"grader {task}: v{old} to v{new}"


def diff_releases(old: Release, new: Release) -> Diff:
    """Compare two releases row by row.

    Raises:
        ReleaseError: a file of either is missing or differs from its manifest.
    """
    before = default_and_ladder(old)
    after = default_and_ladder(new)
    terse_before = terse_prompts(old)
    terse_after = terse_prompts(new)
    changed = {}
    for name, row in after.items():
        if name not in before:
            continue
        columns = changed_columns(before[name], row)
        if terse_before.get(terse_id(name)) != terse_after.get(terse_id(name)):
            columns += (_TERSE_PROMPT,)
        if columns:
            changed[name] = columns
    withdrawn_before = old.manifest.withdrawn
    withdrawn_after = new.manifest.withdrawn
    reinstated = [
        name
        for name in withdrawn_before
        if name in after and name not in withdrawn_after
    ]
    return Diff(
        added=tuple(name for name in after if name not in before),
        removed=tuple(name for name in before if name not in after),
        changed=changed,
        withdrawn={
            name: reason
            for name, reason in withdrawn_after.items()
            if name not in withdrawn_before
        },
        reinstated=tuple(reinstated),
        graders=changed_graders(old, new),
        reasons=reasons_of(new),
    )


def default_and_ladder(release: Release) -> dict[str, Instance]:
    """Return the instances of the config ``default`` and, if there is one, of the ladder, by id."""
    instances = release.instances()
    if release.manifest.ladder is not None:
        instances |= release.ladder().instances()
    return instances


def terse_prompts(release: Release) -> dict[str, str]:
    """Return the prompts of the config ``terse``, if there is one, by id."""
    if not release.manifest.terse:
        return {}
    rows = release.terse().instances()
    return {name: instance.prompt for name, instance in rows.items()}


def reasons_of(release: Release) -> dict[str, str]:
    """Return the reasons why items differ from those of the previous release, by task."""
    reasons = packaged_toml("scbench.release", "changes.toml")
    return dict(reasons.get(own_name(release.version), {}))


def changed_columns(old: Instance, new: Instance) -> tuple[str, ...]:
    """Return the columns in which two rows differ."""
    columns = [name for name in Instance.model_fields if name not in _DERIVED]
    return tuple(name for name in columns if getattr(old, name) != getattr(new, name))


def changed_graders(old: Release, new: Release) -> dict[str, tuple[int, int]]:
    """Return both grader versions of each task whose grader versions differ."""
    graders = {}
    for task, record in new.manifest.tasks.items():
        old_record = old.manifest.tasks.get(task)
        if old_record and old_record.grader_version != record.grader_version:
            graders[task] = (old_record.grader_version, record.grader_version)
    return graders
