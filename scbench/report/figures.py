"""Pictures made ready for a page: SVG text, and packed data for what can be turned in 3D.

Many pictures are drawn in processes of their own that can be killed: an answer that a picture
module chokes on costs its own picture and no other.
"""

import json
import logging
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain, islice, tee
from typing import NamedTuple

from scbench.catalog import get_task
from scbench.machine.processes import map_in_processes
from scbench.report.draw.scene import scene_json
from scbench.report.draw.svg import Drawing, swatch
from scbench.report.html import packed
from scbench.report.items import Graded, picture_of
from scbench.report.picture import Picture

_TILE = r"M-?[\d.]+ -?[\d.]+h[\d.]+v[\d.]+h-[\d.]+z"
_TILES = re.compile(rf'(?<= d=")(?:{_TILE})+(?=")')
_PARTS = re.compile(r"M(-?[\d.]+) (-?[\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z")
_PLACES = re.compile(r' (?:points|d|x|y|cx|cy|width|height|r)="[^"]*\.\d\d[^"]*"')
_LONG = re.compile(r"-?\d*\.\d\d+")


def compacted(svg: str) -> str:
    """Return an SVG text with places to a tenth of a pixel, and neighbouring tiles as one.

    Only attributes that say where something is are changed: quotes in texts are escaped, so none
    can be mistaken for one.
    """
    return _PLACES.sub(_rounded_places, _TILES.sub(_joined_tiles, svg))


def _rounded_places(attribute: re.Match[str]) -> str:
    return _LONG.sub(lambda number: _tenth(float(number[0])), attribute[0])


def _joined_tiles(path: re.Match[str]) -> str:
    """Join tiles that touch at the sides, and write each by its distance from the one before."""
    spans: list[list[float]] = []
    for x, y, tile_width, tile_height in (map(float, part) for part in _PARTS.findall(path[0])):
        # Ends are rounded, not sizes, so that tiles that touch still do.
        left_edge, top, right, bottom = (
            round(v, 1) for v in (x, y, x + tile_width, y + tile_height)
        )
        last = spans[-1] if spans else None
        if last and last[1] == top and last[3] == bottom and abs(last[2] - left_edge) < 0.11:
            last[2] = right
        else:
            spans.append([left_edge, top, right, bottom])
    words = []
    at_x = at_y = 0.0
    for i, (left_edge, top, right, bottom) in enumerate(spans):
        sign, x, y = ("m", left_edge - at_x, top - at_y) if i else ("M", left_edge, top)
        width, height = _tenth(right - left_edge), _tenth(bottom - top)
        words.append(f"{sign}{_tenth(x)} {_tenth(y)}h{width}v{height}h-{width}z")
        at_x, at_y = left_edge, top
    return "".join(words)


def _tenth(value: float) -> str:
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


SECONDS = 60.0
"""Time after which a picture is given up; they are made to take less than one second."""

_AT_ONCE = 12
"""So many are drawn in this process: to start others would take longer."""

_log = logging.getLogger(__name__)


class View(NamedTuple):
    """One panel: its title, its SVG, its data in 3D (packed JSON; empty if it is flat).

    A long drawing may stand as packed text, which a script unpacks once somebody looks.
    """

    title: str
    svg: str
    scene: str
    alt: str
    packed: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture ready for a page."""

    views: tuple[View, ...] = ()  #: its panels.
    caption: str = ""  #: what there is to see.
    legend: tuple[tuple[str, str], ...] = ()  #: a sample as SVG, and words.
    problem: str = ""  #: why there is no picture; empty if there is one.


class FigureJob(NamedTuple):
    """What is to be drawn: see `scbench.report.items.picture_of`."""

    task: str
    params: str
    answer: str | None
    graded: tuple[Graded, ...]


def figure_of(picture: Picture) -> Figure:
    """Return a picture as parts of a page."""
    views = []
    for panel in picture.panels:
        if isinstance(panel.view, Drawing):
            svg = compacted(panel.view.render(panel.alt))
            views.append(View(panel.title, svg, "", panel.alt))
            continue
        from scbench.report.draw.raster import scene_svg  # noqa: PLC0415  (flat pictures do without)

        data = json.dumps(scene_json(panel.view), separators=(",", ":"))
        views.append(View(panel.title, scene_svg(panel.view, panel.alt), packed(data), panel.alt))
    drawings = [panel.view for panel in picture.panels]
    legend = tuple((swatch(drawings, role), words) for role, words in picture.legend)
    return Figure(tuple(views), picture.caption, legend)


def draw(job: FigureJob | None) -> Figure:
    """Draw a job, if there is one. Never raises: a figure may say why it has no views."""
    if job is None:
        return Figure()
    try:
        verdicts = tuple(part.verdict() for part in job.graded)
        picture = picture_of(get_task(job.task), job.params, job.answer, verdicts)
        return Figure() if picture is None else figure_of(picture)
    except Exception as error:  # noqa: BLE001  (a picture that fails costs itself only)
        reason = f"{type(error).__name__}: {error}".splitlines()[0][:300]
        _log.warning("no picture of an answer to %s: %s", job.task, reason)
        return Figure(problem=reason)


def draw_all(jobs: Iterable[FigureJob | None], workers: int) -> Iterator[Figure]:
    """Yield the figure of each job, in order; jobs are taken only as fast as figures are.

    The same jobs on one instance are drawn once: right answers are often the same, and so is what
    there is to see where nobody answered. With one worker, and for a few pictures, all is drawn in
    this process, and nothing stops a picture module that hangs.
    """
    waiting = iter(jobs)
    first = list(islice(waiting, _AT_ONCE + 1))
    pairs, queue = tee(_with_novelty(chain(first, waiting)))
    distinct = (job for job, is_new in queue if is_new)
    if workers <= 1 or len(first) <= _AT_ONCE:
        figures = map(draw, distinct)
    else:
        figures = map(_figure, map_in_processes(draw, distinct, workers, seconds=SECONDS))
    of_instance: dict[FigureJob | None, Figure] = {}
    params = ""
    for job, is_new in pairs:
        if job is not None and job.params != params:
            of_instance.clear()
            params = job.params
        if is_new:
            of_instance[job] = next(figures)
        yield of_instance[job]


def _with_novelty(jobs: Iterable[FigureJob | None]) -> Iterator[tuple[FigureJob | None, bool]]:
    """Yield jobs, and whether each is the first of its kind on its instance."""
    earlier: set[FigureJob | None] = set()
    params = ""
    for job in jobs:
        if job is not None and job.params != params:
            earlier.clear()
            params = job.params
        yield job, job not in earlier
        earlier.add(job)


def _figure(call: Future[Figure]) -> Figure:
    try:
        return call.result()
    except Exception as error:  # noqa: BLE001  (a process was killed or died)
        reason = (
            f"it took more than {SECONDS:g} s"
            if isinstance(error, TimeoutError)
            else f"{type(error).__name__}: {error}"
        )
        _log.warning("no picture: %s", reason)
        return Figure(problem=reason[:300])
