"""Items written into pages: HTML files that each open at once, whatever a report holds.

Items are drawn and rendered one after the other into a scratch file and then cut into pages, so a
report of many thousands needs little memory.
"""

import base64
import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from scbench.base.canonical import sha256
from scbench.base.errors import ResultsError
from scbench.base.model import Instance, Prediction
from scbench.catalog import SECONDS, all_tasks, get_task
from scbench.formats.predictions import Problem, open_predictions, read_predictions
from scbench.grading.rows.wire import to_wire
from scbench.release.load import Release
from scbench.report.draw.png import squeezed
from scbench.report.html import environment, packed, page_parts, render_page
from scbench.report.items import (
    Figure,
    FigureJob,
    Graded,
    Item,
    Run,
    draw_all,
    instances_of,
    run_labels,
)
from scbench.scoring.outcomes import grade_prediction

# Turns that have a picture: no trial of setting retry has more.
MOST_TURNS = 10
# Characters of an answer that are shown.
MOST_ANSWER = 2_000
_MOST_METRICS = 1_200
_MOST_RESPONSE = 4_000
# Checks shown of one verdict; no grader makes nearly as many.
_MOST_CHECKS = 200
_WHY = 160
# Signs of a drawing that stands in a page as it is; longer ones are packed.
_MOST_DRAWN = 12_000
_ENTRY = "entry.html.j2"
# What of an item is shown as it is.
_AS_IS = (
    "id",
    "task",
    "bucket",
    "status",
    "score",
    "reason",
    "source",
    "finish_reason",
)
# Where drawings name their patterns, by hash.
_HATCH = re.compile(r'(id="|url\(#)(h[0-9a-f]{12}-)')
# Items of one page.
MOST_ITEMS = 600
# Bytes of one page.
MOST_BYTES = 5_000_000
# Bytes that a page of items may take beside them and the script for pictures in 3D.
_FRAME = 200_000
_SPOOL = "<!--items-->"
_MARK = b'<meta name="generator" content="scbench '


def find_responses(path: str, items: Iterable[Item]) -> dict[str, Prediction]:
    """Return the prediction of each item that has a text, by the hash of its line.

    Raises:
        PredictionsError: the file cannot be read.
        ResultsError: it holds none of the lines.
    """
    hashes = {item.prediction_hash for item in items if item.prediction_hash}
    predictions: dict[str, Prediction] = {}
    matched = False
    with open_predictions(path) as stream:
        for line in read_predictions(stream, hashlib.sha256()):
            if isinstance(line, Problem):
                continue
            digest = sha256(line.data)
            if digest in hashes:
                matched = True
                prediction = line.prediction
                if prediction.response is not None or prediction.turns is not None:
                    predictions[digest] = prediction
    if hashes and not matched:
        raise ResultsError(
            f"{path} is not what was graded: it holds none of the results' lines"
        )
    return predictions


class TurnView(NamedTuple):
    """One turn in a strip: its number, the score of its answer, and a picture if there is one."""

    number: int
    score: float | None
    svg: str


def transcript(prediction: Prediction) -> str | None:
    """Return what the model said: its response, or all turns of a trial with what it was shown."""
    if prediction.turns is None:
        return prediction.response
    return "\n\n".join(
        f"— Turn {i}, the model:\n{turn.action}\n— Turn {i}, shown:\n{turn.observation}"
        for i, turn in enumerate(prediction.turns, 1)
    )


def turn_jobs(
    item: Item, instance: Instance | None, prediction: Prediction | None
) -> list[FigureJob | None]:
    """Return what is to be drawn of each turn, judged anew.

    Nothing of settings whose turns are no answers, and of tasks that are simulated for long.
    """
    turns = prediction.turns if prediction is not None else None
    task = get_task(item.task)
    if (
        instance is None
        or not turns
        or item.run[1] != "retry"
        or task.seconds > SECONDS
    ):
        return []
    params = task.params_model.model_validate_json(instance.all_params)
    jobs: list[FigureJob | None] = []
    for turn in turns[:MOST_TURNS]:
        reply = Prediction.model_construct(id="", response=turn.action)
        came = to_wire(grade_prediction(reply, task, params))
        graded = tuple(
            Graded(part.score, part.checks, part.metrics, tuple(part.notes))
            for part in came.scores
        )
        jobs.append(
            FigureJob(item.task, instance.all_params, came.answer, graded)
            if came.answer is not None
            else None
        )
    return jobs


def strip_of(item: Item, figures: Sequence[Figure]) -> list[TurnView]:
    """Return the strip of an item: a score for each turn, and pictures as far as there are any."""
    svgs = [figure.views[0].svg if figure.views else "" for figure in figures]
    svgs += [""] * MOST_TURNS
    pairs = zip(item.turn_scores[:MOST_TURNS], svgs, strict=False)
    return [
        TurnView(number, score, svg) for number, (score, svg) in enumerate(pairs, 1)
    ]


@dataclass(frozen=True, slots=True)
class Clipped:
    """A text, or its beginning and maybe its end."""

    beginning: str  #: the start, or all.
    left_out: int  #: how many characters follow it that are not there.
    end: str  #: what comes after those.
    length: int  #: characters in all.


def scoped(figure: Figure, name: str) -> Figure:
    """Return a figure whose patterns have names that no other item's have.

    Two items may hold the same drawing, and browsers do not find a pattern in what is hidden.
    """
    views = tuple(
        view._replace(svg=_HATCH.sub(rf"\g<1>{name}-\g<2>", view.svg))
        for view in figure.views
    )
    return replace(figure, views=views)


def packed_figure(figure: Figure) -> Figure:
    """Return a figure with its long drawings as packed text, where that is much shorter."""
    views = []
    for view in figure.views:
        text = packed(view.svg) if len(view.svg) > _MOST_DRAWN else view.svg
        shorter = len(text) < len(view.svg) / 2
        views.append(view._replace(svg=text, packed=True) if shorter else view)
    return replace(figure, views=tuple(views))


def clipped(text: str, limit: int, end: int = 0) -> Clipped:
    """Return a text cut to so many characters, the last ``end`` of them from its end."""
    if len(text) <= limit:
        return Clipped(text, 0, "", len(text))
    tail = text[len(text) - end :] if end else ""
    return Clipped(text[: limit - end], len(text) - limit, tail, len(text))


def anchor(item: Item, runs: Mapping[Run, str]) -> str:
    """Return the item's id in the page, by which addresses point at it."""
    name = re.sub(r"[^A-Za-z0-9_]+", "-", item.id)
    return name if len(runs) == 1 else f"{name}-run{list(runs).index(item.run) + 1}"


def render_entry(
    item: Item,
    figure: Figure,
    instance: Instance | None,
    runs: Mapping[Run, str],
    response: str | None = None,
    strip: Sequence[TurnView] = (),
    *,
    template: str = _ENTRY,
) -> str:
    """Return an item as HTML: ``entry.html.j2`` is a line that opens, ``body.html.j2`` it alone.

    The instance is None if the release is not at hand; the strip is of the turns of a loop.
    """
    shown_figure = scoped(figure, anchor(item, runs))
    if template == _ENTRY:
        shown_figure = packed_figure(shown_figure)
    return (
        environment()
        .get_template(template)
        .render(item=_context(item, shown_figure, instance, runs, response, strip))
    )


def _context(
    item: Item,
    figure: Figure,
    instance: Instance | None,
    runs: Mapping[Run, str],
    response: str | None,
    strip: Sequence[TurnView],
) -> dict[str, Any]:
    verdicts = item.verdicts
    answer = _answer(item)
    return {
        **{name: getattr(item, name) for name in _AS_IS},
        "anchor": anchor(item, runs),
        "run": str(list(runs).index(item.run) + 1),
        "run_label": runs[item.run],
        "score_text": score_text(item.score),
        "kind": kind(item.score),
        "why": _one_line_reason(item),
        "figure": figure,
        "verdicts": [
            {"score": verdict.score, "checks": verdict.checks[:_MOST_CHECKS]}
            for verdict in verdicts
        ],
        "turns": [
            {
                "number": turn.number,
                "score": score_text(turn.score)
                if turn.score is not None
                else "no answer",
                "kind": kind(turn.score),
                "svg": _HATCH.sub(
                    rf"\g<1>{anchor(item, runs)}-t{turn.number}-\g<2>", turn.svg
                ),
            }
            for turn in strip
        ],
        "notes": list(
            dict.fromkeys(note for verdict in verdicts for note in verdict.notes)
        ),
        "metrics": _metrics(item),
        "answer": clipped(answer, MOST_ANSWER) if answer is not None else None,
        "no_answer": (
            "It is too long for the results to hold."
            if item.status == "answered"
            else f"None: {item.status}."
        ),
        "response": None
        if response is None
        else clipped(response, _MOST_RESPONSE, _MOST_RESPONSE // 2),
        "prompt": instance.prompt if instance else None,
        "images": [_base64(image) for image in instance.images] if instance else [],
    }


@lru_cache(maxsize=64)
def _base64(image: bytes) -> str:
    """Return an image of a prompt for a page; all runs have the same ones."""
    return base64.b64encode(squeezed(image)).decode()


def score_text(score: float | None) -> str:
    """Return a score in few characters; it says 1 only if it is."""
    if score is None:
        return "none"
    text = f"{score:.3f}".rstrip("0").rstrip(".")
    if text in {"0", "1"} and score not in {0, 1}:
        return "<0.001" if score < 0.5 else ">0.999"
    return text


def kind(score: float | None) -> str:
    """Return the class of a score: full, part, zero or none."""
    if score is None:
        return "none"
    return "full" if score == 1 else "zero" if score == 0 else "part"


def _one_line_reason(item: Item) -> str:
    """Return what to say in one line: the first check that failed, or why there is no score."""
    failed = (check.message for part in item.verdicts for check in part.failed)
    message = item.reason or next(failed, "")
    if item.status != "answered":
        message = f"{item.status}: {message}" if message else item.status
    return message if len(message) <= _WHY else f"{message[:_WHY]}…"


def _answer(item: Item) -> str | None:
    if item.answer is None:
        return None
    value = json.loads(item.answer)
    return value if isinstance(value, str) else item.answer


def _metrics(item: Item) -> Clipped | None:
    texts = list(
        dict.fromkeys(part.metrics for part in item.graded if part.metrics != "{}")
    )
    return clipped("\n".join(texts), _MOST_METRICS) if texts else None


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
    """Write the HTML of every item to a file, with texts and turns of predictions by hash."""
    runs = run_labels(item.run for item in items)
    instances_asked = instances_of(items, release)
    answers = [predictions.get(item.prediction_hash or "") for item in items]
    counts: list[int] = []
    figures = draw_all(_jobs(items, instances_asked, answers, counts), workers)
    entries: list[Entry] = []
    for item, instance, prediction in zip(items, instances_asked, answers, strict=True):
        figure = next(figures)
        strip = strip_of(item, list(islice(figures, counts[len(entries)])))
        response = transcript(prediction) if prediction else None
        start = spool.tell()
        spool.write(
            render_entry(item, figure, instance, runs, response, strip).encode()
        )
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
        yield (
            FigureJob(item.task, params, item.answer, item.graded) if instance else None
        )
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

    A report that fits is one page. Otherwise the first has the tables, and items follow in others,
    each of ``most_bytes`` at most, unless it has only one item, or tables alone take more.
    """
    runs = run_labels(entry.item.run for entry in entries)
    pages = [list(entries)]
    size = sum(map(len, _page_frame(pages, 0, out, runs, values))) + sum(
        e.size for e in entries
    )
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
                size = page[-1].end - page[0].start
                while size > 0:
                    size -= file.write(spool.read(min(size, 2**20)))
            file.write(after)
        moves.append((part, page_path(out, number + 1)))
    return moves


def _share_out(
    entries: Sequence[Entry], most_items: int, most_bytes: int
) -> list[list[Entry]]:
    for_3d = (
        len(page_parts(in_3d=True)["plotly"]) if any(e.in_3d for e in entries) else 0
    )
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
            f"{titles.get(task, task)} ({tasks.count(task)})"
            for task in dict.fromkeys(tasks)
        )
        page_facts = {"href": href, "current": i == number, "count": len(entries)}
        index.append(page_facts | {"tasks": ", ".join(counts)})
    html = render_page(
        "report.html.j2",
        **page_parts(in_3d=any(entry.in_3d for entry in page)),
        **(
            values
            | ({"title": f"{values['title']}, page {number + 1}"} if number else {})
        ),
        page_number=number + 1,
        pages=index,
        places=first,
        items_heading=f"Items, page {number + 1} of {len(pages)}"
        if number
        else "Items",
        item_count=len(page),
        shown_count=sum(map(len, pages)),
        filters=_filters([entry.item for entry in page], runs),
        spool=Markup(_SPOOL),  # noqa: S704  (where the items go)
    )
    before, _, after = html.encode().partition(_SPOOL.encode())
    return before, after


def _filters(items: Sequence[Item], runs: Mapping[Run, str]) -> Values:
    titles = {task.id: task.title for task in all_tasks().values()}
    tasks: dict[str, Counter[str]] = {}
    for item in items:
        tasks.setdefault(item.bucket, Counter())[item.task] += 1
    present = {item.run for item in items}
    return {
        "buckets": list(tasks),
        "tasks": [
            (
                bucket,
                [
                    (name, titles.get(name, name), count)
                    for name, count in counts.items()
                ],
            )
            for bucket, counts in tasks.items()
        ],
        "statuses": list(Counter(item.status for item in items).items()),
        "runs": [
            (str(i), label)
            for i, (run, label) in enumerate(runs.items(), 1)
            if run in present
        ],
    }


def remove_stale(out: Path, pages: int) -> None:
    """Remove pages beyond so many that an earlier, longer report left; files of others stay."""
    pattern = re.compile(rf"{re.escape(out.stem)}-(\d+){re.escape(out.suffix)}")
    for path in list(out.parent.iterdir()):
        match = pattern.fullmatch(path.name)
        if match and int(match[1]) > pages and path.is_file() and not path.is_symlink():
            with path.open("rb") as file:
                ours = _MARK in file.read(20_000)
            if ours:
                path.unlink()


if TYPE_CHECKING:
    pass
