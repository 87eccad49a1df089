"""The report: results of a grading run as self-contained HTML files.

Either all pages are written, or none.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from scbench.analysis.failure_modes.labels import COLUMNS as FAILURE_COLUMNS
from scbench.analysis.human import human_sheet, human_table, read_people
from scbench.analysis.results import read_results
from scbench.analysis.usage import SWEEP_COLUMNS as BUDGET_COLUMNS
from scbench.base.canonical import parse_json
from scbench.base.errors import JsonError, ReleaseError, ResultsError
from scbench.base.progress import no_progress
from scbench.grading.output import SUMMARY
from scbench.machine.files import read_regular, scratch_beside
from scbench.release.load import Release, find_release, installed_releases
from scbench.release.manifest import own_name
from scbench.report.items import COLUMNS, items_of, select_items
from scbench.report.overview import overview
from scbench.report.paging import (
    MOST_BYTES,
    MOST_ITEMS,
    Values,
    remove_stale,
    spool_items,
    write_pages,
)
from scbench.report.run_warnings import warnings_of
from scbench.report.turns import find_responses

# Columns of the results that a report reads; budgets and failure modes share some with items.
_COLUMNS = tuple(dict.fromkeys((*COLUMNS, *BUDGET_COLUMNS, *FAILURE_COLUMNS)))
# Maximum number of models named in a heading.
_MOST_MODELS = 3


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report that was written.

    Attributes:
        pages: its files, the first with the tables.
        items: how many items they show.
        without_picture: item ids and reasons of picture modules that failed.
        bytes: size of all files.
    """

    pages: tuple[Path, ...]
    items: int
    without_picture: tuple[tuple[str, str], ...]
    bytes: int


def write_report(
    results: Sequence[str | Path],
    out: Path,
    *,
    release: Release | None = None,
    predictions: str | None = None,
    people: Sequence[Path] = (),
    items: str = "all",
    workers: int = 1,
    most_items: int = MOST_ITEMS,
    most_bytes: int = MOST_BYTES,
    on_item: Callable[[int, int], object] = no_progress,
) -> WrittenReport:
    """Write the report of one or more results files; on an error, nothing is written.

    Args:
        results: ``results.parquet`` files, or the folders that contain them.
        out: the HTML file. Further pages are written next to it, such as
            ``report-2.html``.
        release: the release graded against; by default the installed one with the same
            name and rows.
        predictions: file of the predictions, to show the models' texts as well.
        people: results of people on the ladder, for a separate table.
        items: the items to show: ``all``, ``failed`` (short of full marks) or ``none``.
        workers: processes that draw pictures.
        most_items: maximum number of items on one page.
        most_bytes: size limit of one page, unless it has only one item or its tables are larger.
        on_item: called with the number of finished items and the total.

    Raises:
        ResultsError: the results cannot be read, or do not belong to the release; or a file
            cannot be written.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    rows = read_results(results, _COLUMNS, partial=True, both_prompts=True)
    matching = release_of(rows, release)
    all_items = items_of(rows)
    shown_items = list(select_items(all_items, items))
    values = head_values(rows, matching, results)
    values |= {"which": items, "item_total": len(all_items), "people": None}
    if people:
        values["people"] = human_sheet(human_table(read_people(people)))
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
            # Files are moved into place only after all are written.
            for part, path in parts:
                part.replace(path)
            remove_stale(out, len(parts))
    except OSError as error:
        raise ResultsError(f"cannot write {out}: {error.strerror or error}") from None
    pages = tuple(path for _, path in parts)
    problems = [(entry.item.id, entry.problem) for entry in entries if entry.problem]
    return WrittenReport(pages, len(shown_items), tuple(problems), size)


def release_of(rows: pl.DataFrame, release: Release | None) -> Release | None:
    """Return the release of the results; None if it is not installed.

    Raises:
        ResultsError: the results are not for the named release.
    """
    version, rows_hash = rows.select("release", "release_hash").row(0)
    if release is not None:
        release = release.fitting(version)
        if release.manifest.rows_hash != rows_hash:
            raise ResultsError(
                f"the results are for release {version} ({rows_hash[:12]}), not for "
                f"{release.version} ({release.manifest.rows_hash[:12]}) at {release.root}"
            )
        return release
    # Other people's releases may have the same version.
    if own_name(version) not in installed_releases():
        return None
    try:
        installed = find_release(version)
    except ReleaseError:
        return None
    return installed if installed.manifest.rows_hash == rows_hash else None


def head_values(
    rows: pl.DataFrame, release: Release | None, results: Sequence[str | Path]
) -> Values:
    """Return the values of the first page: heading, facts, warnings and tables."""
    summaries = list(summaries_of(results))
    heading = heading_of(rows)
    facts = fact_rows(rows, summaries)
    return {
        "title": f"{heading} · scbench",
        "heading": heading,
        "facts": [(name, words) for name, words in facts if words],
        "warnings": list(warnings_of(rows, release, summaries)),
        **overview(rows),
    }


def heading_of(rows: pl.DataFrame) -> str:
    """Return the names of the models, or their number."""
    models = rows["model"].unique().sort().to_list()
    if len(models) > _MOST_MODELS:
        return f"{len(models)} models"
    if len(models) == 1:
        return str(models[0])
    return f"{', '.join(models[:-1])} and {models[-1]}"


def fact_rows(
    rows: pl.DataFrame, summaries: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, str]]:
    """Yield the facts on a grading run: names and texts; texts may be empty."""
    version, rows_hash = rows.select("release", "release_hash").row(0)
    scored = rows["score"].count()
    coverage = f"{scored / rows.height:.1%}"
    yield "Release", f"{version}, rows {rows_hash}"
    yield "Scores", f"{scored:,} of {rows.height:,} ({coverage} coverage)"
    yield "Setting", column_words(rows["setting"])
    yield "Budget", column_words(rows["budget"])
    for summary in summaries:
        source = summary.get("predictions")
        if isinstance(source, dict):
            yield (
                "Predictions",
                f"{source.get('file')}, SHA-256 {source.get('sha256')}",
            )
    yield "Graded with", graded_by(rows, summaries)


def column_words(values: pl.Series) -> str:
    """Return the distinct values of a column as sorted text, without nulls."""
    words = []
    for value in values.unique().drop_nulls().sort():
        if isinstance(value, int):
            words.append(f"{value:,}")
        else:
            words.append(str(value).replace("_", " "))
    return ", ".join(words)


def graded_by(rows: pl.DataFrame, summaries: Sequence[Mapping[str, Any]]) -> str:
    """Return the versions of package and graders: the usual one first, then the exceptions."""
    packages = sorted({str(summary.get("scbench", "")) for summary in summaries} - {""})
    versions = dict(sorted(set(rows.select("task", "grader_version").iter_rows())))
    in_use = list(versions.values())
    # If several are equally frequent, the newest is the usual one.
    usual = max(set(in_use), key=lambda version: (in_use.count(version), version or 0))
    exceptions = []
    for task, version in versions.items():
        if version != usual:
            exceptions.append(f"{task} v{version}")
    graders = f"graders v{usual}"
    if exceptions:
        graders += f", except {', '.join(exceptions)}"
    return "; ".join([*(f"scbench {version}" for version in packages), graders])


def summaries_of(results: Iterable[str | Path]) -> Iterator[Mapping[str, Any]]:
    """Yield the readable run summaries next to results files."""
    for name in results:
        path = Path(name)
        folder = path if path.is_dir() else path.parent
        try:
            value = parse_json(read_regular(folder / SUMMARY))
        # A report needs no summary, so missing or damaged summaries are skipped.
        except (OSError, JsonError):
            continue
        if isinstance(value, dict):
            yield value
