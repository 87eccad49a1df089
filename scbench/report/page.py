"""The report: what came of a grading run as HTML that opens from disk and needs nothing else.

Items are drawn and rendered one after the other into a scratch file and then cut into pages, so a
report of many thousands needs little memory. All pages appear at once, or none does.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from scbench.analysis.budget import COLUMNS as BUDGET_COLUMNS
from scbench.analysis.failure_modes.candidates import COLUMNS as FAILURE_COLUMNS
from scbench.analysis.results import read_results
from scbench.catalog import all_tasks
from scbench.errors import ReleaseError, ResultsError
from scbench.grading.output import SUMMARY
from scbench.model import Instance, Prediction
from scbench.progress import no_progress
from scbench.release.load import Release, find_release, installed_releases
from scbench.release.manifest import PLUS_LADDER, PLUS_TERSE
from scbench.report.entries import render_entry
from scbench.report.figures import FigureJob, draw_all
from scbench.report.html import page_parts, render_page
from scbench.report.items import COLUMNS, Item, Run, chosen, items_of, run_labels, same_instance
from scbench.report.notes import warnings_of
from scbench.report.overview import overview
from scbench.report.responses import find_responses
from scbench.report.turns import strip_of, transcript, turn_jobs

if TYPE_CHECKING:
    import polars as pl

MOST_ITEMS = 600
"""Items of one page."""
MOST_BYTES = 12_800_000
"""Bytes of the items of one page, unless it has only one: with all else, a file is below 15 MB."""
_SPOOL = "<!--items-->"
_MARK = b'<meta name="generator" content="scbench '

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
    shown = list(chosen(items_of(rows), items))
    values = _head(rows, held, results)
    said = find_responses(predictions, shown) if predictions else {}
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{out.name}-", dir=out.parent) as scratch:
            with Path(scratch, "items").open("w+b") as spool:
                drawn = _spool(spool, shown, held, said, workers, on_item)
                parts = _write_pages(Path(scratch), out, spool, drawn, values, most_items)
            size = sum(part.stat().st_size for part, _ in parts)
            for part, path in parts:
                part.replace(path)
            _remove_stale(out, len(parts))
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


@dataclass(frozen=True, slots=True)
class _Entry:
    """An item in the scratch file: where it begins and ends, and what came of its picture."""

    item: Item
    start: int
    end: int
    in_3d: bool
    problem: str


def _spool(
    spool: BinaryIO,
    items: Sequence[Item],
    release: Release | None,
    said: Mapping[str, Prediction],
    workers: int,
    on_item: Callable[[int, int], object],
) -> list[_Entry]:
    """Write every item's HTML to a file."""
    names = {item.task for item in items}
    instances = release.instances(names) if release and names else {}
    runs = run_labels(item.run for item in items)
    asked = [same_instance(item, instances) for item in items]
    given = [said.get(item.prediction_hash or "") for item in items]
    counts: list[int] = []
    figures = draw_all(_jobs(items, asked, given, counts), workers)
    entries: list[_Entry] = []
    for item, instance, prediction in zip(items, asked, given, strict=True):
        figure = next(figures)
        strip = strip_of(item, list(islice(figures, counts[len(entries)])))
        response = transcript(prediction) if prediction else None
        start = spool.tell()
        spool.write(render_entry(item, figure, instance, runs, response, strip).encode())
        in_3d = any(view.scene for view in figure.views)
        entries.append(_Entry(item, start, spool.tell(), in_3d, figure.problem))
        on_item(len(entries), len(items))
    return entries


def _jobs(
    items: Sequence[Item],
    asked: Sequence[Instance | None],
    given: Sequence[Prediction | None],
    counts: list[int],
) -> Iterator[FigureJob | None]:
    """Yield what is to be drawn of each item, then of its turns; note how many turns those are."""
    for item, instance, prediction in zip(items, asked, given, strict=True):
        turns = turn_jobs(item, instance, prediction)
        counts.append(len(turns))
        params = instance.all_params if instance else ""
        yield FigureJob(item.task, params, item.answer, item.graded) if instance else None
        yield from turns


def _pages(entries: Sequence[_Entry], most_items: int) -> list[list[_Entry]]:
    """Share items out over pages; the first page is there even if there are none."""
    pages: list[list[_Entry]] = [[]]
    size = 0
    for entry in entries:
        size += entry.end - entry.start
        if pages[-1] and (len(pages[-1]) >= most_items or size > MOST_BYTES):
            pages.append([])
            size = entry.end - entry.start
        pages[-1].append(entry)
    return pages


def page_path(out: Path, number: int) -> Path:
    """Return the file of a page, from 1."""
    return out if number == 1 else out.with_name(f"{out.stem}-{number}{out.suffix}")


def _write_pages(
    folder: Path,
    out: Path,
    spool: BinaryIO,
    entries: Sequence[_Entry],
    values: Values,
    most_items: int,
) -> list[tuple[Path, Path]]:
    """Write each page to the folder; return them with the places they are meant for."""
    pages = _pages(entries, most_items)
    runs = run_labels(entry.item.run for entry in entries)
    written = []
    for number, page in enumerate(pages, 1):
        index = [
            {
                "href": page_path(out, i).name,
                "current": i == number,
                "count": len(other),
                "tasks": _task_counts(other),
            }
            for i, other in enumerate(pages, 1)
        ]
        before, after = _frame(page, number, index, runs, values, len(entries))
        part = folder / f"page-{number}"
        with part.open("wb") as file:
            file.write(before.encode())
            if page:
                spool.seek(page[0].start)
                _copy(spool, file, page[-1].end - page[0].start)
            file.write(after.encode())
        written.append((part, page_path(out, number)))
    return written


def _copy(source: BinaryIO, target: BinaryIO, size: int) -> None:
    while size > 0:
        data = source.read(min(size, 2**20))
        size -= len(data)
        target.write(data)


def _task_counts(entries: Iterable[_Entry]) -> str:
    titles = {task.id: task.title for task in all_tasks().values()}
    found = [entry.item.task for entry in entries]
    return ", ".join(
        f"{titles.get(task, task)} ({found.count(task)})" for task in dict.fromkeys(found)
    )


def _frame(
    page: Sequence[_Entry],
    number: int,
    index: Sequence[Values],
    runs: Mapping[Run, str],
    values: Values,
    count: int,
) -> tuple[str, str]:
    """Return a page's HTML before and after its items."""
    from markupsafe import Markup  # noqa: PLC0415  (comes with Jinja2, an extra)

    in_3d = any(entry.in_3d for entry in page)
    several = len(index) > 1
    html = render_page(
        "report.html.j2",
        **page_parts(in_3d=in_3d),
        **(values | ({"title": f"{values['title']}, page {number}"} if number > 1 else {})),
        page_number=number,
        pages=index,
        items_heading=f"Items, page {number} of {len(index)}" if several else "Items",
        item_count=len(page),
        item_total=count,
        filters=_filters([entry.item for entry in page], runs),
        spool=Markup(_SPOOL),  # noqa: S704  (where the items go)
    )
    before, _, after = html.partition(_SPOOL)
    return before, after


def _filters(items: Sequence[Item], runs: Mapping[Run, str]) -> Values:
    titles = {task.id: task.title for task in all_tasks().values()}
    tasks: dict[str, dict[str, int]] = {}
    statuses: dict[str, int] = {}
    for item in items:
        in_bucket = tasks.setdefault(item.bucket, {})
        in_bucket[item.task] = in_bucket.get(item.task, 0) + 1
        statuses[item.status] = statuses.get(item.status, 0) + 1
    seen = {item.run for item in items}
    return {
        "buckets": list(tasks),
        "tasks": [
            (bucket, [(name, titles.get(name, name), count) for name, count in found.items()])
            for bucket, found in tasks.items()
        ],
        "statuses": list(statuses.items()),
        "runs": [(str(i), label) for i, (run, label) in enumerate(runs.items(), 1) if run in seen],
    }


def _remove_stale(out: Path, pages: int) -> None:
    """Remove further pages that an earlier, longer report left; files of others stay."""
    pattern = re.compile(rf"{re.escape(out.stem)}-(\d+){re.escape(out.suffix)}")
    for path in list(out.parent.iterdir()):
        match = pattern.fullmatch(path.name)
        if match and int(match[1]) > pages and path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                ours = _MARK in file.read(20_000)
            if ours:
                path.unlink()
