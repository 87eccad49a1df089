"""Items written into pages: HTML files that each open at once, whatever a report holds.

Items are drawn and rendered one after the other into a scratch file and then cut into pages, so a
report of many thousands needs little memory.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO

from scbench.base.model import Instance, Prediction
from scbench.catalog import all_tasks
from scbench.release.load import Release
from scbench.report.entries import render_entry
from scbench.report.figures import FigureJob, draw_all
from scbench.report.html import page_parts, render_page
from scbench.report.items import Item, Run, run_labels, same_instance
from scbench.report.turns import strip_of, transcript, turn_jobs

MOST_ITEMS = 600
"""Items of one page."""
MOST_BYTES = 5_000_000
"""Bytes of one page."""
_FRAME = 200_000
"""Bytes that a page of items may take beside them and the script for pictures in 3D."""
_SPOOL = "<!--items-->"
_MARK = b'<meta name="generator" content="scbench '

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """An item in the scratch file: where it begins and ends, and what came of its picture."""

    item: Item
    start: int
    end: int
    in_3d: bool
    problem: str

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return self.end - self.start


def spool_items(
    spool: BinaryIO,
    items: Sequence[Item],
    release: Release | None,
    predictions: Mapping[str, Prediction],
    workers: int,
    on_item: Callable[[int, int], object],
) -> list[Entry]:
    """Write every item's HTML to a file.

    Args:
        spool: the file.
        items: in the order in which they are to stand.
        release: that they were graded on, if it is at hand.
        predictions: the predictions, to show their texts and turns, by hash.
        workers: processes that draw.
        on_item: called with the number of items done, and of all.
    """
    names = {item.task for item in items}
    instances = release.instances(names) if release and names else {}
    runs = run_labels(item.run for item in items)
    instances_asked = [same_instance(item, instances) for item in items]
    answers = [predictions.get(item.prediction_hash or "") for item in items]
    counts: list[int] = []
    figures = draw_all(_jobs(items, instances_asked, answers, counts), workers)
    entries: list[Entry] = []
    for item, instance, prediction in zip(items, instances_asked, answers, strict=True):
        figure = next(figures)
        strip = strip_of(item, list(islice(figures, counts[len(entries)])))
        response = transcript(prediction) if prediction else None
        start = spool.tell()
        spool.write(render_entry(item, figure, instance, runs, response, strip).encode())
        in_3d = any(view.scene for view in figure.views)
        entries.append(Entry(item, start, spool.tell(), in_3d, figure.problem))
        on_item(len(entries), len(items))
    return entries


def _jobs(
    items: Sequence[Item],
    instances: Sequence[Instance | None],
    predictions: Sequence[Prediction | None],
    counts: list[int],
) -> Iterator[FigureJob | None]:
    """Yield what is to be drawn of each item, then of its turns; note how many turns those are."""
    for item, instance, prediction in zip(items, instances, predictions, strict=True):
        turns = turn_jobs(item, instance, prediction)
        counts.append(len(turns))
        params = instance.all_params if instance else ""
        yield FigureJob(item.task, params, item.answer, item.graded) if instance else None
        yield from turns


def page_path(out: Path, number: int) -> Path:
    """Return the file of a page, from 1."""
    return out if number == 1 else out.with_name(f"{out.stem}-{number}{out.suffix}")


def write_pages(
    folder: Path,
    out: Path,
    spool: BinaryIO,
    entries: Sequence[Entry],
    values: Values,
    most_items: int,
    most_bytes: int,
) -> list[tuple[Path, Path]]:
    """Write each page to a folder; return them with the places they are meant for.

    A report that fits is one page. Otherwise the first has the tables, and items follow in others.

    Args:
        folder: for the pages until all are there.
        out: where the first page is to stand.
        spool: see `spool_items`.
        entries: what is in it.
        values: what the template wants for the tables.
        most_items: items of one page.
        most_bytes: of one page, unless it has only one item, or tables alone take more.
    """
    runs = run_labels(entry.item.run for entry in entries)
    pages = [list(entries)]
    size = sum(map(len, _page_frame(pages, 0, out, runs, values))) + sum(e.size for e in entries)
    if len(entries) > most_items or size > most_bytes:
        pages = [[], *_share_out(entries, most_items, most_bytes)]
    moves = []
    for number, page in enumerate(pages):
        before, after = _page_frame(pages, number, out, runs, values)
        part = folder / f"page-{number}"
        with part.open("wb") as file:
            file.write(before)
            if page:
                spool.seek(page[0].start)
                _copy(spool, file, page[-1].end - page[0].start)
            file.write(after)
        moves.append((part, page_path(out, number + 1)))
    return moves


def _share_out(entries: Sequence[Entry], most_items: int, most_bytes: int) -> list[list[Entry]]:
    for_3d = len(page_parts(in_3d=True)["plotly"]) if any(e.in_3d for e in entries) else 0
    pages: list[list[Entry]] = []
    size, in_3d = 0, False
    for entry in entries:
        grown = size + entry.size + (for_3d if entry.in_3d or in_3d else 0)
        if not pages or len(pages[-1]) >= most_items or grown > most_bytes:
            pages.append([])
            size, in_3d = _FRAME, False
        pages[-1].append(entry)
        size, in_3d = size + entry.size, in_3d or entry.in_3d
    return pages


def _copy(source: BinaryIO, target: BinaryIO, size: int) -> None:
    while size > 0:
        data = source.read(min(size, 2**20))
        size -= len(data)
        target.write(data)


def _page_frame(
    pages: Sequence[Sequence[Entry]],
    number: int,
    out: Path,
    runs: Mapping[Run, str],
    values: Values,
) -> tuple[bytes, bytes]:
    """Return the HTML before and after the items of a page, from 0."""
    from markupsafe import Markup  # noqa: PLC0415  (comes with Jinja2, an extra)

    page = pages[number]
    titles = {task.id: task.title for task in all_tasks().values()}
    first: dict[str, str] = {}
    index = []
    for i, entries in enumerate(pages):
        href = page_path(out, i + 1).name
        tasks = [entry.item.task for entry in entries]
        for task in tasks:
            first.setdefault(task, href if len(pages) > 1 else "")
        counts = (
            f"{titles.get(task, task)} ({tasks.count(task)})" for task in dict.fromkeys(tasks)
        )
        index.append(
            {
                "href": href,
                "current": i == number,
                "count": len(entries),
                "tasks": ", ".join(counts),
            }
        )
    html = render_page(
        "report.html.j2",
        **page_parts(in_3d=any(entry.in_3d for entry in page)),
        **(values | ({"title": f"{values['title']}, page {number + 1}"} if number else {})),
        page_number=number + 1,
        pages=index,
        places=first,
        items_heading=f"Items, page {number + 1} of {len(pages)}" if number else "Items",
        item_count=len(page),
        shown_count=sum(map(len, pages)),
        filters=_filters([entry.item for entry in page], runs),
        spool=Markup(_SPOOL),  # noqa: S704  (where the items go)
    )
    before, _, after = html.encode().partition(_SPOOL.encode())
    return before, after


def _filters(items: Sequence[Item], runs: Mapping[Run, str]) -> Values:
    titles = {task.id: task.title for task in all_tasks().values()}
    tasks: dict[str, dict[str, int]] = {}
    statuses: dict[str, int] = {}
    for item in items:
        in_bucket = tasks.setdefault(item.bucket, {})
        in_bucket[item.task] = in_bucket.get(item.task, 0) + 1
        statuses[item.status] = statuses.get(item.status, 0) + 1
    present = {item.run for item in items}
    return {
        "buckets": list(tasks),
        "tasks": [
            (bucket, [(name, titles.get(name, name), count) for name, count in counts.items()])
            for bucket, counts in tasks.items()
        ],
        "statuses": list(statuses.items()),
        "runs": [
            (str(i), label) for i, (run, label) in enumerate(runs.items(), 1) if run in present
        ],
    }


def remove_stale(out: Path, pages: int) -> None:
    """Remove further pages that an earlier, longer report left; files of others stay.

    Args:
        out: the first page of the report.
        pages: how many it has now.
    """
    pattern = re.compile(rf"{re.escape(out.stem)}-(\d+){re.escape(out.suffix)}")
    for path in list(out.parent.iterdir()):
        match = pattern.fullmatch(path.name)
        if match and int(match[1]) > pages and path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                ours = _MARK in file.read(20_000)
            if ours:
                path.unlink()
