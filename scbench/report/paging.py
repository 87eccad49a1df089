"""Writing the items of a report into pages that are small enough to open quickly.

Items are drawn and rendered one by one into a scratch file, which is then cut into pages. A report
of many thousands of items therefore needs little memory.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from scbench.analysis.sheets import task_titles
from scbench.base.model import Instance, Prediction
from scbench.release.load import Release
from scbench.report.entries import render_entry
from scbench.report.figures import FigureJob, draw_all
from scbench.report.html import page_parts, render_page
from scbench.report.items import Item, Run, instances_of, run_labels
from scbench.report.turns import strip_of, transcript, turn_jobs

# Maximum number of items on one page.
MOST_ITEMS = 600
# Maximum size of one page in bytes.
MOST_BYTES = 5_000_000
# Bytes of a page of items, not counting the items and the script for 3D views.
_FRAME = 200_000
# Bytes copied at a time.
_BLOCK = 2**20
# Marks the place of the items in a page.
_SPOOL = "<!--items-->"
# Identifies a page that scbench has written; it is near the beginning.
_MARK = b'<meta name="generator" content="scbench '
_HEAD_BYTES = 20_000

Values = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Entry:
    """An item in the scratch file.

    Attributes:
        item: the item.
        start: first byte.
        end: byte after the last.
        in_3d: whether its picture has a view in 3D.
        problem: why it has no picture; empty if it has one.
    """

    item: Item
    start: int
    end: int
    in_3d: bool
    problem: str

    @property
    def size(self) -> int:
        """Its size in bytes."""
        return self.end - self.start


class Frame(NamedTuple):
    """The HTML of a page before and after its items."""

    before: bytes
    after: bytes


def spool_items(
    spool: BinaryIO,
    items: Sequence[Item],
    release: Release | None,
    predictions: Mapping[str, Prediction],
    workers: int,
    on_item: Callable[[int, int], object],
) -> list[Entry]:
    """Write the HTML of every item to a file.

    The texts and turns come from ``predictions``, whose keys are prediction hashes.
    """
    runs = run_labels(item.run for item in items)
    instances = instances_of(items, release)
    answers = [predictions.get(item.prediction_hash or "") for item in items]
    turn_counts: list[int] = []
    jobs = jobs_of(items, instances, answers, turn_counts)
    figures = draw_all(jobs, workers)
    entries: list[Entry] = []
    for item, instance, prediction in zip(items, instances, answers, strict=True):
        # Jobs run ahead of figures, so the count of this item is known by now.
        figure = next(figures)
        turn_figures = list(islice(figures, turn_counts[len(entries)]))
        strip = strip_of(item, turn_figures)
        response = transcript(prediction) if prediction else None
        html = render_entry(item, figure, instance, runs, response, strip)
        start = spool.tell()
        spool.write(html.encode())
        in_3d = any(view.scene for view in figure.views)
        entries.append(Entry(item, start, spool.tell(), in_3d, figure.problem))
        on_item(len(entries), len(items))
    return entries


def jobs_of(
    items: Sequence[Item],
    instances: Sequence[Instance | None],
    predictions: Sequence[Prediction | None],
    turn_counts: list[int],
) -> Iterator[FigureJob | None]:
    """Yield the picture job of each item and of its turns; record the number of turns.

    Items without an answer have no picture: drawing the tasks of a run that answered few
    of them would take most of the time.
    """
    for item, instance, prediction in zip(items, instances, predictions, strict=True):
        turns = turn_jobs(item, instance, prediction)
        turn_counts.append(len(turns))
        if instance is None or item.unanswered:
            yield None
        else:
            yield FigureJob(item.task, instance.all_params, item.answer, item.graded)
        yield from turns


def write_pages(
    folder: Path,
    out: Path,
    spool: BinaryIO,
    entries: Sequence[Entry],
    values: Values,
    most_items: int,
    most_bytes: int,
) -> list[tuple[Path, Path]]:
    """Write each page to a folder; return the files with their final paths.

    A report that fits is one page. Otherwise the first page has the tables and the
    others have the items. A page is at most ``most_bytes`` long, unless it has only one
    item or its tables are larger.
    """
    runs = run_labels(entry.item.run for entry in entries)
    pages = [list(entries)]
    only_frame = page_frame(pages, 0, out, runs, values)
    size = len(only_frame.before) + len(only_frame.after)
    size += sum(entry.size for entry in entries)
    if len(entries) > most_items or size > most_bytes:
        pages = [[], *share_out(entries, most_items, most_bytes)]
    moves = []
    for number, page in enumerate(pages):
        frame = page_frame(pages, number, out, runs, values)
        part = folder / f"page-{number}"
        with part.open("wb") as file:
            file.write(frame.before)
            if page:
                copy_bytes(spool, page[0].start, page[-1].end, file)
            file.write(frame.after)
        moves.append((part, page_path(out, number + 1)))
    return moves


def share_out(
    entries: Sequence[Entry], most_items: int, most_bytes: int
) -> list[list[Entry]]:
    """Return the entries of each page."""
    script_size = 0
    if any(entry.in_3d for entry in entries):
        script_size = len(page_parts(in_3d=True)["plotly"])
    pages: list[list[Entry]] = []
    size = 0
    in_3d = False
    for entry in entries:
        grown_size = size + entry.size
        if entry.in_3d or in_3d:
            grown_size += script_size
        if not pages or len(pages[-1]) >= most_items or grown_size > most_bytes:
            pages.append([])
            size = _FRAME
            in_3d = False
        pages[-1].append(entry)
        size += entry.size
        in_3d = in_3d or entry.in_3d
    return pages


def copy_bytes(source: BinaryIO, start: int, end: int, target: BinaryIO) -> None:
    """Copy a part of a file into another."""
    source.seek(start)
    size = end - start
    while size > 0:
        size -= target.write(source.read(min(size, _BLOCK)))


def page_path(out: Path, number: int) -> Path:
    """Return the file of a page, from 1."""
    return out if number == 1 else out.with_name(f"{out.stem}-{number}{out.suffix}")


def page_frame(
    pages: Sequence[Sequence[Entry]],
    number: int,
    out: Path,
    runs: Mapping[Run, str],
    values: Values,
) -> Frame:
    """Return the HTML before and after the items of a page; pages are numbered from 0."""
    from markupsafe import Markup  # noqa: PLC0415  (comes with Jinja2, an extra)

    page = pages[number]
    page_values = dict(values)
    items_heading = "Items"
    if number:
        page_values["title"] = f"{values['title']}, page {number + 1}"
        items_heading = f"Items, page {number + 1} of {len(pages)}"
    html = render_page(
        "report.html.j2",
        **page_parts(in_3d=any(entry.in_3d for entry in page)),
        **page_values,
        page_number=number + 1,
        pages=page_index(pages, number, out),
        places=first_places(pages, out),
        items_heading=items_heading,
        item_count=len(page),
        shown_count=sum(map(len, pages)),
        filters=filter_values([entry.item for entry in page], runs),
        spool=Markup(_SPOOL),  # noqa: S704  (the place of the items)
    )
    before, _, after = html.encode().partition(_SPOOL.encode())
    return Frame(before, after)


def page_index(
    pages: Sequence[Sequence[Entry]], number: int, out: Path
) -> list[Values]:
    """Return the links from one page to all pages, with the tasks on each."""
    titles = task_titles()
    index = []
    for i, entries in enumerate(pages):
        counts = Counter(entry.item.task for entry in entries)
        tasks = [f"{titles.get(task, task)} ({n})" for task, n in counts.items()]
        index.append(
            {
                "href": page_path(out, i + 1).name,
                "current": i == number,
                "count": len(entries),
                "tasks": ", ".join(tasks),
            }
        )
    return index


def first_places(pages: Sequence[Sequence[Entry]], out: Path) -> dict[str, str]:
    """Return the page on which each task begins; empty texts if there is only one page."""
    places: dict[str, str] = {}
    for i, entries in enumerate(pages):
        href = page_path(out, i + 1).name if len(pages) > 1 else ""
        for entry in entries:
            places.setdefault(entry.item.task, href)
    return places


def filter_values(items: Sequence[Item], runs: Mapping[Run, str]) -> Values:
    """Return the choices by which a page filters its items."""
    titles = task_titles()
    counts_by_bucket: dict[str, Counter[str]] = {}
    for item in items:
        counts_by_bucket.setdefault(item.bucket, Counter())[item.task] += 1
    tasks = []
    for bucket, counts in counts_by_bucket.items():
        choices = [(name, titles.get(name, name), n) for name, n in counts.items()]
        tasks.append((bucket, choices))
    present = {item.run for item in items}
    return {
        "buckets": list(counts_by_bucket),
        "tasks": tasks,
        "statuses": list(Counter(item.status for item in items).items()),
        "runs": [
            (str(i), label)
            for i, (run, label) in enumerate(runs.items(), 1)
            if run in present
        ],
    }


def remove_stale(out: Path, pages: int) -> None:
    """Remove extra pages left by an earlier, longer report; keep other files."""
    pattern = re.compile(rf"{re.escape(out.stem)}-(\d+){re.escape(out.suffix)}")
    for path in list(out.parent.iterdir()):
        match = pattern.fullmatch(path.name)
        if not match or int(match[1]) <= pages:
            continue
        if not path.is_file() or path.is_symlink():
            continue
        with path.open("rb") as file:
            is_ours = _MARK in file.read(_HEAD_BYTES)
        if is_ours:
            path.unlink()
