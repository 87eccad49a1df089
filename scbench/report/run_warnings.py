"""Warnings at the top of a report that prevent misreading of the scores."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from scbench.base.model import Status
from scbench.base.wording import counted
from scbench.release.load import Release

# Maximum number of names in a sentence.
_NAMES_SHOWN = 5


def warnings_of(
    results: pl.DataFrame,
    release: Release | None,
    summaries: Sequence[Mapping[str, Any]],
) -> Iterator[str]:
    """Yield the warnings about results and the ``summary.json`` of their runs."""
    yield from missing_scores(results)
    if release is None:
        name, rows_hash = results.select("release", "release_hash").row(0)
        yield (
            f"Release {name} (rows {rows_hash[:12]}) is not installed, so prompts and pictures are "
            "not shown. Give its folder with --release."
        )
    else:
        yield from missing_tasks(results, release)
        yield from grader_mismatches(results, release)
        yield from withdrawn_items(results, release)
    for summary in summaries:
        yield from run_problems(summary)


def missing_scores(results: pl.DataFrame) -> Iterator[str]:
    """Yield warnings about rows without a score."""
    missing = results.filter(results["score"].is_null())
    if not missing.is_empty():
        counts = dict(missing["status"].value_counts().iter_rows())
        causes = ""
        if counts.keys() != {Status.MISSING.value}:
            statuses = [f"{counts[s.value]} {s}" for s in Status if s.value in counts]
            causes = f" ({', '.join(statuses)})"
        yield (
            f"{missing.height} of {results.height} scores are missing{causes}. "
            "Means cover only the scores that exist."
        )
    errors = results.filter(results["status"] == Status.GRADER_ERROR.value).height
    if errors:
        yield (
            f"The missing scores include {counted(errors, 'grader failure')}. "
            "Grade the predictions again."
        )


def missing_tasks(results: pl.DataFrame, release: Release) -> Iterator[str]:
    """Yield a warning for each part of the release of which only some tasks were graded."""
    default = release.manifest.default_tasks
    text_tasks = [name for name in release.manifest.tasks if name not in default]
    graded_tasks = set(results["task"])
    # Text tasks may be graded separately, so a run is complete without them.
    for part, names in (("spatial", default), ("text", text_tasks)):
        present = [name for name in names if name in graded_tasks]
        if 0 < len(present) < len(names):
            yield (
                f"Partial run: {len(present)} of {len(names)} {part} tasks were graded "
                f"({first_names(present)}). Means cover only these. "
                "The leaderboard needs all tasks."
            )


def grader_mismatches(results: pl.DataFrame, release: Release) -> Iterator[str]:
    """Yield a warning about graders whose versions differ from those of the release."""
    versions = dict(results.select("task", "grader_version").unique().iter_rows())
    mismatches = []
    for name, record in release.manifest.tasks.items():
        # Tasks that were not graded have no version.
        if versions.get(name) not in {None, record.grader_version}:
            mismatches.append(
                f"{name} v{versions[name]} (release: v{record.grader_version})"
            )
    if mismatches:
        yield (
            f"Grader versions differ from those of release {release.version}: "
            f"{', '.join(mismatches)}. Do not compare these scores with scores of the release."
        )


def withdrawn_items(results: pl.DataFrame, release: Release) -> Iterator[str]:
    """Yield a warning about graded items that the release withdraws."""
    graded = set(results["id"])
    withdrawn = [name for name in release.manifest.withdrawn if name in graded]
    if withdrawn:
        yield (
            f"Withdrawn by the release, but graded and counted here: {first_names(withdrawn)}."
        )


def run_problems(summary: Mapping[str, Any]) -> Iterator[str]:
    """Yield warnings from a run's summary."""
    # Summaries of earlier releases have fewer fields.
    counts = summary.get("problem_counts", {})
    problems = sum(counts.values())
    if problems:
        kinds = ", ".join(f"{count} {code}" for code, count in counts.items())
        yield f"{counted(problems, 'problem')} in the predictions ({kinds}); see summary.json."
    outside = summary.get("not_in_release", ())
    if outside:
        tasks = first_names([f"{row['task']} ({row['rows']})" for row in outside])
        yield f"Not graded because the release does not contain the task: {tasks}."
    withdrawn = summary.get("withdrawn", {})
    if withdrawn.get("excluded") and withdrawn.get("instances"):
        yield f"Withdrawn and therefore left out: {first_names(withdrawn['instances'])}."


def first_names(names: Sequence[str]) -> str:
    """Return the first of these names, and the number of the remaining ones."""
    text = ", ".join(names[:_NAMES_SHOWN])
    if len(names) > _NAMES_SHOWN:
        text += f" and {len(names) - _NAMES_SHOWN} more"
    return text
