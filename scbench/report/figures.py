"""Pictures of items for a page: SVG text, and packed data for 3D views.

Many pictures are drawn in separate processes that can be killed, so a crash in a
picture module only loses one picture.
"""

import json
import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain, islice, tee
from typing import TYPE_CHECKING, NamedTuple

from scbench.base.model import Check, Verdict
from scbench.catalog import Task, get_task
from scbench.machine.processes import map_in_processes
from scbench.report.compact_svg import compact_svg
from scbench.report.draw.svg import Drawing
from scbench.report.draw.swatch import swatch
from scbench.report.draw.viewer_data import scene_json
from scbench.report.html import packed
from scbench.report.items import Graded
from scbench.report.picture import Panel, Picture, draw_of
from scbench.report.reasons import with_reasons
from scbench.scoring.judge import validate

if TYPE_CHECKING:
    from pydantic import BaseModel

# Wall-clock time limit of a picture. Most take less than one second, but a busy machine may
# take a hundred times as long.
SECONDS = 180.0
# Up to this many pictures, drawing in this process is faster than starting workers.
_WITHOUT_PROCESSES = 12
# Maximum number of characters of a reason.
_LONGEST_REASON = 300

_log = logging.getLogger(__name__)


class View(NamedTuple):
    """One panel.

    Attributes:
        title: a few words above it.
        svg: its drawing; if `packed`, as packed text that a script unpacks when it is shown.
        scene: its 3D data as packed JSON; empty if it is flat.
        alt: a description for people who cannot see it.
        packed: whether `svg` is packed.
    """

    title: str
    svg: str
    scene: str
    alt: str
    packed: bool = False


@dataclass(frozen=True, slots=True)
class Figure:
    """A picture ready for a page.

    Attributes:
        views: its panels.
        caption: below the picture.
        legend: samples as SVG, with their words.
        problem: why there is no picture; empty if there is one.
    """

    views: tuple[View, ...] = ()
    caption: str = ""
    legend: tuple[tuple[str, str], ...] = ()
    problem: str = ""


class FigureJob(NamedTuple):
    """The arguments of `picture_of`, with a task's id and verdicts as text."""

    task: str
    params: str
    answer: str | None
    graded: tuple[Graded, ...]


def draw_all(jobs: Iterable[FigureJob | None], workers: int) -> Iterator[Figure]:
    """Yield the figure of each job in order, taking jobs only as figures are used.

    The figure for None is empty. Equal jobs on one instance are drawn once, because correct
    answers are often equal. With one worker, or few jobs, everything is drawn in this process,
    without a time limit.
    """
    waiting = iter(jobs)
    first = list(islice(waiting, _WITHOUT_PROCESSES + 1))
    # One copy of the jobs feeds the workers; the other sets the order of the figures.
    pairs, queue = tee(with_novelty(chain(first, waiting)))
    # Workers start with the first job, so without pictures none are started.
    distinct = (job for job, is_new in queue if is_new and job is not None)
    if workers <= 1 or len(first) <= _WITHOUT_PROCESSES:
        figures = map(draw, distinct)
    else:
        calls = map_in_processes(draw, distinct, workers, seconds=SECONDS)
        figures = map(result_of, calls)
    of_instance: dict[FigureJob, Figure] = {}
    params = ""
    for job, is_new in pairs:
        if job is None:
            yield Figure()
            continue
        if job.params != params:
            # Jobs are grouped by instance, so these figures are not needed again.
            of_instance.clear()
            params = job.params
        if is_new:
            of_instance[job] = next(figures)
        yield of_instance[job]


def with_novelty(
    jobs: Iterable[FigureJob | None],
) -> Iterator[tuple[FigureJob | None, bool]]:
    """Yield each job, and whether it is the first of its kind on its instance."""
    earlier: set[FigureJob | None] = set()
    params = ""
    for job in jobs:
        if job is not None and job.params != params:
            earlier.clear()
            params = job.params
        yield job, job not in earlier
        earlier.add(job)


def result_of(call: Future[Figure]) -> Figure:
    """Return a worker's figure; it has no views if the worker was killed or died."""
    try:
        return call.result()
    except TimeoutError:
        reason = f"drawing took more than {SECONDS:g} s"
    except Exception as error:  # noqa: BLE001  (a process died)
        reason = f"{type(error).__name__}: {error}"
    _log.warning("no picture drawn: %s", reason)
    return Figure(problem=reason[:_LONGEST_REASON])


def draw(job: FigureJob) -> Figure:
    """Draw a job. Errors are not raised: the figure says what went wrong."""
    try:
        verdicts = tuple(part.verdict() for part in job.graded)
        picture = picture_of(get_task(job.task), job.params, job.answer, verdicts)
        return Figure() if picture is None else figure_of(picture)
    except Exception as error:  # noqa: BLE001  (a faulty picture must not stop the others)
        first_line = f"{type(error).__name__}: {error}".splitlines()[0]
        reason = first_line[:_LONGEST_REASON]
        _log.warning("could not draw an answer to %s: %s", job.task, reason)
        return Figure(problem=reason)


def picture_of(
    task: Task, params: str, answer: str | None, verdicts: Sequence[Verdict]
) -> Picture | None:
    """Draw an instance, with an answer and its verdicts if there are any; params are JSON.

    An answer that does not fit the task's schema is not drawn.

    Returns:
        The picture; None if the task has no pictures.

    Raises:
        Exception: whatever a faulty picture module raises.
    """
    draw_picture = draw_of(task)
    if draw_picture is None:
        return None
    checked_params = task.params_model.model_validate_json(params)
    valid = answer_of(task, answer)
    return with_reasons(draw_picture(checked_params, valid, verdicts), valid, verdicts)


def answer_of(task: Task, answer: str | None) -> "BaseModel | None":
    """Return an answer as its task's model; None if it does not fit the schema."""
    if answer is None:
        return None
    checked = validate(task.answer_model, json.loads(answer), len(answer))
    return None if isinstance(checked, Check) else checked


def figure_of(picture: Picture) -> Figure:
    """Return a picture as parts of a page."""
    drawings = [panel.view for panel in picture.panels]
    legend = [(swatch(drawings, role), words) for role, words in picture.legend]
    views = tuple(view_of(panel) for panel in picture.panels)
    return Figure(views, picture.caption, tuple(legend))


def view_of(panel: Panel) -> View:
    """Return a panel as part of a page."""
    if isinstance(panel.view, Drawing):
        svg = compact_svg(panel.view.render(panel.alt))
        return View(panel.title, svg, "", panel.alt)
    from scbench.report.draw.raster import scene_svg  # noqa: PLC0415  (flat pictures do without)

    # Pages show a still image until somebody turns it.
    data = json.dumps(scene_json(panel.view), separators=(",", ":"))
    still = scene_svg(panel.view, panel.alt)
    return View(panel.title, still, packed(data), panel.alt)
