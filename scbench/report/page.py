"""The report: what came of a grading run as HTML that opens from disk and needs nothing else.

All pages appear at once, or none does.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scbench.analysis.budget import COLUMNS as BUDGET_COLUMNS
from scbench.analysis.failure_modes.candidates import COLUMNS as FAILURE_COLUMNS
from scbench.analysis.results import read_results
from scbench.base.errors import ReleaseError, ResultsError
from scbench.base.progress import no_progress
from scbench.grading.output import SUMMARY
from scbench.machine.files import scratch_beside
from scbench.release.load import Release, find_release, installed_releases
from scbench.release.manifest import PLUS_LADDER, PLUS_TERSE
from scbench.report.items import COLUMNS, chosen, items_of
from scbench.report.notes import warnings_of
from scbench.report.overview import overview
from scbench.report.paging import MOST_BYTES, MOST_ITEMS, remove_stale, spool_items, write_pages
from scbench.report.responses import find_responses

if TYPE_CHECKING:
    import polars as pl

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Written:
    """A report that was written.

    Attributes:
        pages: its files, the first with the tables.
        items: how many items they show.
        without_picture: why there is none, by item: picture modules that failed.
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
    items: str = "all",
    workers: int = 1,
    most_items: int = MOST_ITEMS,
    most_bytes: int = MOST_BYTES,
    on_item: Callable[[int, int], object] = no_progress,
) -> Written:
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
        results, tuple(dict.fromkeys((*COLUMNS, *BUDGET_COLUMNS, *FAILURE_COLUMNS))), partial=True
    )
    held = _release_of(rows, release)
    known = items_of(rows)
    shown = list(chosen(known, items))
    values = _head(rows, held, results) | {"which": items, "item_total": len(known)}
    said = find_responses(predictions, shown) if predictions else {}
    try:
        with scratch_beside(out) as scratch:
            with (scratch / "items").open("w+b") as spool:
                drawn = spool_items(spool, shown, held, said, workers, on_item)
                parts = write_pages(scratch, out, spool, drawn, values, most_items, most_bytes)
            size = sum(part.stat().st_size for part, _ in parts)
            for part, path in parts:
                part.replace(path)
            remove_stale(out, len(parts))
    except OSError as error:
        raise ResultsError(f"cannot write {out}: {error.strerror or error}") from None
    return Written(
        tuple(path for _, path in parts),
        len(shown),
        tuple((entry.item.id, entry.problem) for entry in drawn if entry.problem),
        size,
    )


def _release_of(rows: "pl.DataFrame", release: Release | None) -> Release | None:
    """Return the release that results are of.

    Raises:
        ResultsError: they are of another one than is named.
    """
    version, rows_hash = rows.select("release", "release_hash").row(0)
    if release is not None:
        release = release.fitting(version)
        if release.manifest.rows_hash != rows_hash:
            raise ResultsError(
                f"the results are of release {version} ({rows_hash[:12]}), not of "
                f"{release.version} ({release.manifest.rows_hash[:12]}) at {release.root}"
            )
        return release
    if version.removesuffix(PLUS_TERSE).removesuffix(PLUS_LADDER) not in installed_releases():
        return None
    try:
        found = find_release(version)
    except ReleaseError:
        return None
    return found if found.manifest.rows_hash == rows_hash else None


def _head(rows: "pl.DataFrame", release: Release | None, results: Sequence[str | Path]) -> Values:
    summaries = list(_summaries(results))
    version, rows_hash = rows.select("release", "release_hash").row(0)
    tables = overview(rows)
    models = list(dict.fromkeys(rows["model"].sort()))
    named = " and ".join(filter(None, (", ".join(models[:-1]), models[-1])))
    named = named if len(models) <= 3 else f"{len(models)} models"
    scored = rows["score"].count()
    facts = [
        ("Release", f"{version}, rows {rows_hash}"),
        ("Scores", f"{scored:,} of {rows.height:,} ({scored / rows.height:.1%} coverage)"),
        ("Setting", _words(rows["setting"])),
        ("Budget", _words(rows["budget"])),
        *(
            ("Predictions", f"{found.get('file')}, SHA-256 {found.get('sha256')}")
            for found in (summary.get("predictions") for summary in summaries)
            if isinstance(found, dict)
        ),
        ("Graded by", _graded_by(rows, summaries)),
    ]
    return {
        "title": f"{named} · scbench",
        "heading": named,
        "facts": [(name, words) for name, words in facts if words],
        "warnings": list(warnings_of(rows, release, summaries)),
        **tables,
    }


def _words(values: "pl.Series") -> str:
    """Return the values of a column in words, in order; none for nulls alone."""
    known = values.unique().drop_nulls().sort().to_list()
    return ", ".join(f"{v:,}" if isinstance(v, int) else str(v).replace("_", " ") for v in known)


def _graded_by(rows: "pl.DataFrame", summaries: Sequence[Mapping[str, Any]]) -> str:
    """Return the versions of package and graders; the rule first, then what departs from it."""
    packages = sorted({str(summary.get("scbench", "")) for summary in summaries} - {""})
    versions = dict(sorted(set(rows.select("task", "grader_version").iter_rows())))
    held = list(versions.values())
    usual = max(set(held), key=lambda version: (held.count(version), version or 0))
    others = [f"{task} v{version}" for task, version in versions.items() if version != usual]
    graders = f"graders v{usual}" + (f", but {', '.join(others)}" if others else "")
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
