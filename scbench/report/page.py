"""The report: what came of a grading run as HTML that opens from disk and needs nothing else.

All pages appear at once, or none does.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from scbench.analysis.failure_modes.labels import COLUMNS as FAILURE_COLUMNS
from scbench.analysis.results import read_results
from scbench.analysis.usage import SWEEP_COLUMNS as BUDGET_COLUMNS
from scbench.base.errors import ReleaseError, ResultsError
from scbench.base.model import Status
from scbench.base.progress import no_progress
from scbench.grading.output import SUMMARY
from scbench.machine.files import scratch_beside
from scbench.release.load import Release, find_release, installed_releases
from scbench.release.manifest import own_name
from scbench.report.items import COLUMNS, items_of, selected
from scbench.report.overview import overview
from scbench.report.paging import (
    MOST_BYTES,
    MOST_ITEMS,
    Values,
    find_responses,
    remove_stale,
    spool_items,
    write_pages,
)

_NAMES_SHOWN = 5


def warnings_of(
    results: pl.DataFrame,
    release: Release | None,
    summaries: Sequence[Mapping[str, Any]],
) -> Iterator[str]:
    """Yield sentences without which scores could be misread; summaries are of ``summary.json``."""
    yield from _gaps(results)
    if release is None:
        name, rows_hash = results.select("release", "release_hash").row(0)
        yield (
            f"Release {name} (rows {rows_hash[:12]}) is not at hand: prompts and pictures are left "
            "out. Name it with --release to have them."
        )
    else:
        yield from _release(results, release)
    yield from (warning for summary in summaries for warning in _run_warnings(summary))


def _gaps(results: pl.DataFrame) -> Iterator[str]:
    missing = results.filter(results["score"].is_null())
    if not missing.is_empty():
        counts = dict(missing["status"].value_counts().iter_rows())
        statuses = ", ".join(
            f"{counts[s.value]} {s}" for s in Status if s.value in counts
        )
        yield (
            f"{missing.height} of {results.height} scores are missing ({statuses}). Means are over "
            "the others."
        )
    errors = results.filter(results["status"] == Status.GRADER_ERROR.value).height
    if errors:
        yield f"{errors} of these are faults of a grader, not of a model: grade them anew."


def _release(results: pl.DataFrame, release: Release) -> Iterator[str]:
    tasks, default = release.manifest.tasks, release.manifest.default_tasks
    graded_tasks = set(results["task"])
    # The text tasks are graded by themselves, so a run is whole without them.
    kinds = {
        "spatial": [*default],
        "text": [name for name in tasks if name not in default],
    }
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


def _run_warnings(summary: Mapping[str, Any]) -> Iterator[str]:
    problems = sum(summary.get("problem_counts", {}).values())
    if problems:
        kinds = ", ".join(
            f"{count} {code}" for code, count in summary["problem_counts"].items()
        )
        yield f"{problems} problems in the predictions ({kinds}); summary.json names them."
    outside = summary.get("not_in_release", ())
    if outside:
        tasks = _first_names([f"{row['task']} ({row['rows']})" for row in outside])
        yield f"Not graded, because the release does not hold the task: {tasks}."
    withdrawn = summary.get("withdrawn", {})
    if withdrawn.get("excluded") and withdrawn.get("instances"):
        yield f"Left out as withdrawn: {_first_names(withdrawn['instances'])}."


def _first_names(names: Sequence[str]) -> str:
    remainder = (
        f" and {len(names) - _NAMES_SHOWN} more" if len(names) > _NAMES_SHOWN else ""
    )
    return ", ".join(names[:_NAMES_SHOWN]) + remainder


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report that was written."""

    pages: tuple[Path, ...]  #: its files, the first with the tables.
    items: int  #: how many items they show.
    #: why there is none, by item: picture modules that failed.
    without_picture: tuple[tuple[str, str], ...]
    bytes: int  #: size of all files.


def write_report(
    results: Sequence[str | Path],
    out: Path,
    *,
    release: Release | None = None,
    predictions: str | None = None,
    items: str = "all",
    workers: int = 1,
    most_items: int = MOST_ITEMS,
    most_bytes: int = MOST_BYTES,
    on_item: Callable[[int, int], object] = no_progress,
) -> WrittenReport:
    """Write the report of one or more results files, whole or not at all.

    Args:
        results: ``results.parquet`` files, or the folders that hold them.
        out: the HTML file. What does not fit goes into further files beside it: ``report.html``
            goes on in ``report-2.html``.
        release: what was graded against; by default the installed release of that name and rows.
        predictions: file of the predictions, to show the models' texts as well.
        items: which are shown: ``all``, ``failed`` (short of full marks) or ``none``.
        workers: processes that draw pictures.
        most_items: items of one page.
        most_bytes: of one page, unless it has only one item, or tables alone take more.
        on_item: called with the number of items done, and of all.

    Raises:
        ResultsError: the results cannot be read, or do not belong to the release; or a file
            cannot be written.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    rows = read_results(
        results,
        tuple(dict.fromkeys((*COLUMNS, *BUDGET_COLUMNS, *FAILURE_COLUMNS))),
        partial=True,
        both_prompts=True,
    )
    matching = _release_of(rows, release)
    all_items = items_of(rows)
    shown_items = list(selected(all_items, items))
    values = _head(rows, matching, results) | {
        "which": items,
        "item_total": len(all_items),
    }
    responses = find_responses(predictions, shown_items) if predictions else {}
    try:
        with scratch_beside(out) as scratch:
            with (scratch / "items").open("w+b") as spool:
                entries = spool_items(
                    spool, shown_items, matching, responses, workers, on_item
                )
                parts = write_pages(
                    scratch, out, spool, entries, values, most_items, most_bytes
                )
            size = sum(part.stat().st_size for part, _ in parts)
            for part, path in parts:
                part.replace(path)
            remove_stale(out, len(parts))
    except OSError as error:
        raise ResultsError(f"cannot write {out}: {error.strerror or error}") from None
    return WrittenReport(
        tuple(path for _, path in parts),
        len(shown_items),
        tuple((entry.item.id, entry.problem) for entry in entries if entry.problem),
        size,
    )


def _release_of(rows: pl.DataFrame, release: Release | None) -> Release | None:
    """Return the release that results are of; ResultsError if another is named."""
    version, rows_hash = rows.select("release", "release_hash").row(0)
    if release is not None:
        release = release.fitting(version)
        if release.manifest.rows_hash != rows_hash:
            raise ResultsError(
                f"the results are of release {version} ({rows_hash[:12]}), not of "
                f"{release.version} ({release.manifest.rows_hash[:12]}) at {release.root}"
            )
        return release
    if own_name(version) not in installed_releases():
        return None
    try:
        installed = find_release(version)
    except ReleaseError:
        return None
    return installed if installed.manifest.rows_hash == rows_hash else None


def _head(
    rows: pl.DataFrame, release: Release | None, results: Sequence[str | Path]
) -> Values:
    summaries = list(_summaries(results))
    version, rows_hash = rows.select("release", "release_hash").row(0)
    tables = overview(rows)
    models = list(dict.fromkeys(rows["model"].sort()))
    heading = " and ".join(filter(None, (", ".join(models[:-1]), models[-1])))
    heading = heading if len(models) <= 3 else f"{len(models)} models"
    scored = rows["score"].count()
    facts = [
        ("Release", f"{version}, rows {rows_hash}"),
        (
            "Scores",
            f"{scored:,} of {rows.height:,} ({scored / rows.height:.1%} coverage)",
        ),
        ("Setting", _column_words(rows["setting"])),
        ("Budget", _column_words(rows["budget"])),
        *(
            ("Predictions", f"{source.get('file')}, SHA-256 {source.get('sha256')}")
            for source in (summary.get("predictions") for summary in summaries)
            if isinstance(source, dict)
        ),
        ("Graded by", _graded_by(rows, summaries)),
    ]
    return {
        "title": f"{heading} · scbench",
        "heading": heading,
        "facts": [(name, words) for name, words in facts if words],
        "warnings": list(warnings_of(rows, release, summaries)),
        **tables,
    }


def _column_words(values: pl.Series) -> str:
    """Return the values of a column in words, in order; none for nulls alone."""
    distinct = values.unique().drop_nulls().sort().to_list()
    return ", ".join(
        f"{v:,}" if isinstance(v, int) else str(v).replace("_", " ") for v in distinct
    )


def _graded_by(rows: pl.DataFrame, summaries: Sequence[Mapping[str, Any]]) -> str:
    """Return the versions of package and graders; the rule first, then what departs from it."""
    packages = sorted({str(summary.get("scbench", "")) for summary in summaries} - {""})
    versions = dict(sorted(set(rows.select("task", "grader_version").iter_rows())))
    in_use = list(versions.values())
    usual = max(set(in_use), key=lambda version: (in_use.count(version), version or 0))
    exceptions = [
        f"{task} v{version}" for task, version in versions.items() if version != usual
    ]
    graders = f"graders v{usual}" + (
        f", but {', '.join(exceptions)}" if exceptions else ""
    )
    return "; ".join([*(f"scbench {version}" for version in packages), graders])


def _summaries(results: Iterable[str | Path]) -> Iterator[Mapping[str, Any]]:
    """Yield what lies beside results files and describes the run, as far as it can be read."""
    for name in results:
        path = Path(name)
        beside = (path if path.is_dir() else path.parent) / SUMMARY
        try:
            value = json.loads(beside.read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(value, dict):
            yield value
