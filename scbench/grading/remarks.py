"""Sentences without which score tables could be misread; they stand below each table."""

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from scbench.base.trace import LOOP_SETTINGS
from scbench.catalog import Task
from scbench.release.load import Release


def grader_differences(release: Release, tasks: Sequence[Task]) -> dict[str, dict[str, int]]:
    """Return tasks whose grader is not of the version that the release was frozen with."""
    frozen = {task: record.grader_version for task, record in release.manifest.tasks.items()}
    return {
        task.id: {"release": frozen[task.id], "installed": task.grader_version}
        for task in tasks
        if frozen[task.id] != task.grader_version
    }


def remarks(
    release: Release,
    tasks: Sequence[Task],
    withdrawn: Mapping[str, Any] | None = None,
    fingerprints: Mapping[str, Sequence[str]] = MappingProxyType({}),
    runs: Sequence[Mapping[str, Any]] = (),
) -> Iterator[str]:
    """Yield what must be said of scores.

    Args:
        release: what was graded against.
        tasks: those that were graded.
        withdrawn: ``withdrawn`` of a run's summary.
        fingerprints: likewise; of the machines that judged, by task.
        runs: likewise.
    """
    differences = grader_differences(release, tasks)
    if differences:
        versions = ", ".join(
            f"{task} v{versions['installed']} (release: v{versions['release']})"
            for task, versions in differences.items()
        )
        yield (
            f"Graded with other grader versions than those of release {release.version}: "
            f"{versions}. "
            "Do not compare with scores of the release's own graders."
        )
    yield from _machines(release, fingerprints)
    yield from _split(runs)
    looped = sorted({run["setting"] for run in runs if run["setting"] in LOOP_SETTINGS})
    if looped:
        yield (
            f"Setting {', '.join(looped)}: answers given in a loop, which compare with no answers "
            "given at once. `scbench turns` has their scores by turn."
        )
    if withdrawn and withdrawn["excluded"] and withdrawn["instances"]:
        counts = {
            "withdrawn instance": len(withdrawn["instances"]),
            "score": withdrawn["scores"],
            "line": withdrawn["lines"],
        }
        items, *details = (f"{count} {word}{'s' * (count != 1)}" for word, count in counts.items())
        yield f"Left out: {items} ({', '.join(details)})."


def _machines(release: Release, fingerprints: Mapping[str, Sequence[str]]) -> Iterator[str]:
    for task, prints in fingerprints.items():
        record = release.manifest.tasks.get(task)
        own_print = record.fingerprint if record else None
        foreign = [name for name in prints if name != own_print]
        if own_print is not None and foreign:
            yield (
                f"{task} was simulated on a machine that does not compute like the release's "
                f"(fingerprint {', '.join(foreign)}, release: {own_print}): its scores may differ "
                "a little. Compare with scores from one kind of machine."
            )


def _split(runs: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield a sentence for each model of which some lines alone name a setting."""
    settings: dict[str, set[str | None]] = {}
    for run in runs:
        settings.setdefault(run["model"], set()).add(run["setting"])
    for model, values in settings.items():
        names = sorted(filter(None, values))
        if names and None in values:
            yield (
                f"Lines of {model!r} without a setting are counted as another run than those with "
                f"{' and '.join(names)}; give all lines of a run the same setting."
            )
