"""What a reader of scores must be told first."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from scbench.base.model import Status

if TYPE_CHECKING:
    import polars as pl

    from scbench.release.load import Release

_NAMES_SHOWN = 5


def warnings_of(
    results: "pl.DataFrame", release: "Release | None", summaries: Sequence[Mapping[str, Any]]
) -> Iterator[str]:
    """Yield sentences without which the scores could be misread.

    Args:
        results: as `scbench.analysis.results.read_results` gives them.
        release: that they were graded against; None if it is not at hand.
        summaries: what ``summary.json`` beside each results file holds, as far as there is one.
    """
    yield from _gaps(results)
    if release is None:
        name, rows_hash = results.select("release", "release_hash").row(0)
        yield (
            f"Release {name} (rows {rows_hash[:12]}) is not at hand: prompts and pictures are left "
            "out. Name it with --release to have them."
        )
    else:
        yield from _release(results, release)
    yield from (warning for summary in summaries for warning in _run(summary))


def _gaps(results: "pl.DataFrame") -> Iterator[str]:
    missing = results.filter(results["score"].is_null())
    if not missing.is_empty():
        counts = dict(missing["status"].value_counts().iter_rows())
        statuses = ", ".join(f"{counts[s.value]} {s}" for s in Status if s.value in counts)
        yield (
            f"{missing.height} of {results.height} scores are missing ({statuses}). They are no "
            "zeros: means are over the rest."
        )
    errors = results.filter(results["status"] == Status.GRADER_ERROR.value).height
    if errors:
        yield f"{errors} of these are faults of a grader, not of a model: grade them anew."


def _release(results: "pl.DataFrame", release: "Release") -> Iterator[str]:
    tasks, default = release.manifest.tasks, release.manifest.default_tasks
    graded_tasks = set(results["task"])
    # The text tasks are graded by themselves, so a run is whole without them.
    kinds = {"spatial": [*default], "text": [name for name in tasks if name not in default]}
    for kind, names in kinds.items():
        there = [name for name in names if name in graded_tasks]
        if 0 < len(there) < len(names):
            yield (
                f"Part of the release: {len(there)} of {len(names)} {kind} tasks were graded "
                f"({_first_names(there)}). Means are over these; a leaderboard entry needs all."
            )
    graders = dict(results.select("task", "grader_version").unique().iter_rows())
    mismatches = [
        f"{name} v{graders[name]} (release: v{record.grader_version})"
        for name, record in tasks.items()
        if graders.get(name) not in {None, record.grader_version}
    ]
    if mismatches:
        yield (
            f"Graded with other grader versions than those of release {release.version}: "
            f"{', '.join(mismatches)}. Do not compare with scores of the release's own graders."
        )
    graded = set(results["id"])
    withdrawn = [name for name in release.manifest.withdrawn if name in graded]
    if withdrawn:
        yield (
            f"The release withdraws {_first_names(withdrawn)}; they are graded and counted here "
            "like all others."
        )


def _run(summary: Mapping[str, Any]) -> Iterator[str]:
    problems = sum(summary.get("problem_counts", {}).values())
    if problems:
        kinds = ", ".join(f"{count} {code}" for code, count in summary["problem_counts"].items())
        yield f"{problems} problems in the predictions ({kinds}); summary.json names them."
    outside = summary.get("not_in_release", ())
    if outside:
        tasks = _first_names([f"{row['task']} ({row['rows']})" for row in outside])
        yield f"Not graded, because the release does not hold the task: {tasks}."
    withdrawn = summary.get("withdrawn", {})
    if withdrawn.get("excluded") and withdrawn.get("instances"):
        yield f"Left out as withdrawn: {_first_names(withdrawn['instances'])}."


def _first_names(names: Sequence[str]) -> str:
    remainder = f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    return ", ".join(names[:_NAMES_SHOWN]) + remainder
