"""From rows of the results to items: what a run made of an instance, ready to be shown.

One item stands for one answer, so it has as many verdicts as its task gives an answer scores.

Its picture is made ready for a page: SVG text, and packed data for what can be turned in 3D. Many
pictures are drawn in processes of their own that can be killed: an answer that a picture module
chokes on costs its own picture and no other.
"""

import json
import logging
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain, groupby, islice, tee
from typing import TYPE_CHECKING, Any, NamedTuple

from scbench.base.errors import ResultsError
from scbench.base.model import Check, Instance, Status, Verdict
from scbench.catalog import Task, all_tasks, get_task
from scbench.machine.processes import map_in_processes
from scbench.release.load import Release
from scbench.report.draw.scene import scene_json
from scbench.report.draw.svg import Drawing, swatch
from scbench.report.html import packed
from scbench.report.picture import Picture, draw_of, with_reasons
from scbench.scoring.judge import validate

if TYPE_CHECKING:
    import polars as pl
    from pydantic import BaseModel

# Columns of the results that items need in addition to
# `scbench.analysis.results.NEEDED`.
COLUMNS = (
    *("line", "failed_checks", "checks", "metrics", "notes", "reason", "answer"),
    *("answer_source", "repairs", "finish_reason", "prediction_hash", "turn_scores"),
)

# Columns that an item has as they are.
_COPIED = (
    *("id", "task", "bucket", "instance_hash", "status", "answer"),
    *("finish_reason", "prediction_hash"),
)

# Model, setting, budget and sample.
Run = tuple[str, str | None, int | None, int]


_TILE = r"M-?[\d.]+ -?[\d.]+h[\d.]+v[\d.]+h-[\d.]+z"
_TILES = re.compile(rf'(?<= d=")(?:{_TILE})+(?=")')
_PARTS = re.compile(r"M(-?[\d.]+) (-?[\d.]+)h([\d.]+)v([\d.]+)h-[\d.]+z")
_PLACES = re.compile(r' (?:points|d|x|y|cx|cy|width|height|r)="[^"]*\.\d\d[^"]*"')
_LONG = re.compile(r"-?\d*\.\d\d+")
# Time after which a picture is given up; they are made to take less than one second.
SECONDS = 60.0

# So many are drawn in this process: to start others would take longer.
_AT_ONCE = 12


class Graded(NamedTuple):
    """A score and what was found, still as the text that results hold: reports have many."""

    score: float
    checks: str
    metrics: str
    notes: tuple[str, ...]

    def verdict(self) -> Verdict:
        """Return the verdict, as read back from JSON."""
        checks = tuple(
            Check(check["id"], check["passed"], check["message"], check["details"])
            for check in json.loads(self.checks)
        )
        return Verdict(self.score, checks, json.loads(self.metrics), self.notes)


@dataclass(frozen=True, slots=True)
class Item:
    """What one run made of one instance."""

    id: str  #: of the instance.
    task: str  #: id of the task.
    bucket: str  #: its bucket.
    instance_hash: str | None  #: content hash of the instance that was graded.
    run: Run = ("", None, None, 0)  #: model, setting, budget and sample.
    status: str = ""  #: what happened.
    #: one for each score of the task, or none if there is no score.
    graded: tuple["Graded", ...] = ()
    reason: str = ""  #: why there is no answer or no score; empty if there is one.
    #: what was graded, as canonical JSON; None if there is none, or it is too large.
    answer: str | None = None
    source: str = (
        ""  #: where in the prediction it was found, and what was done to read it.
    )
    finish_reason: str | None = None  #: as the provider gave it.
    prediction_hash: str | None = None  #: SHA-256 of the prediction's line.
    #: of each turn of a loop, None for turns without an answer; empty of others.
    turn_scores: tuple[float | None, ...] = ()

    @property
    def score(self) -> float | None:
        """Mean of the scores; None if no score exists."""
        return (
            sum(part.score for part in self.graded) / len(self.graded)
            if self.graded
            else None
        )

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """One for each score."""
        return tuple(part.verdict() for part in self.graded)

    @property
    def failed(self) -> bool:
        """Whether anything short of full marks came out of an answer that was asked for."""
        return (
            self.score < 1 if self.score is not None else self.status != Status.MISSING
        )


def items_of(results: "pl.DataFrame") -> list[Item]:
    """Return the items of results with `NEEDED` and `COLUMNS`, by tasks, instances and runs."""
    place = {name: i for i, name in enumerate(all_tasks())}

    def key(row: Mapping[str, Any]) -> tuple[Any, ...]:
        model, setting, budget, sample = run_of(row)
        run = (model, setting or "", budget or 0, sample)
        # Numbers of instances have two digits, or more where there are more than a hundred.
        return (place.get(row["task"], len(place)), len(row["id"]), row["id"], run)

    rows = sorted(results.to_dicts(), key=lambda row: (*key(row), row["subtask"]))
    return [_item_of_rows(list(group)) for _, group in groupby(rows, key)]


def run_of(row: Mapping[str, Any]) -> Run:
    """Return the run that a row of the results belongs to."""
    return row["model"], row["setting"], row["budget"], row["sample"]


def _item_of_rows(rows: Sequence[Mapping[str, Any]]) -> Item:
    first = rows[0]
    scored = [row for row in rows if row["score"] is not None]
    source = first["answer_source"] or ""
    if first["repairs"]:
        source += f" ({', '.join(first['repairs'])})"
    return Item(
        **{name: first[name] for name in _COPIED},
        run=run_of(first),
        graded=tuple(
            Graded(
                row["score"], row["checks"], row["metrics"], tuple(row["notes"] or ())
            )
            for row in scored
        ),
        reason=first["reason"] or "",
        source=source,
        turn_scores=_turn_scores([row["turn_scores"] or () for row in rows]),
    )


def _turn_scores(parts: Sequence[Sequence[float | None]]) -> tuple[float | None, ...]:
    turns = zip(*parts, strict=True)
    means = ([score for score in turn if score is not None] for turn in turns)
    return tuple(sum(scores) / len(scores) if scores else None for scores in means)


def run_labels(runs: Iterable[Run]) -> dict[Run, str]:
    """Return a name for each run: its model, and whatever else tells it from the others."""
    distinct = sorted(
        dict.fromkeys(runs), key=lambda run: (run[0], run[1] or "", run[2] or 0, run[3])
    )
    settings, budgets, samples = (
        len({run[i] for run in distinct}) > 1 for i in (1, 2, 3)
    )
    labels = {}
    for run in distinct:
        model, setting, budget, sample = run
        parts = [model]
        parts += [setting.replace("_", " ")] if settings and setting else []
        parts += [f"budget {budget:,}"] if budgets and budget is not None else []
        parts += [f"sample {sample}"] if samples else []
        labels[run] = ", ".join(parts)
    return labels


def picture_of(
    task: Task, params: str, answer: str | None, verdicts: Sequence[Verdict]
) -> Picture | None:
    """Draw an instance, with an answer and what was found if there are any; params are JSON.

    What does not fit the task's schema is not drawn.

    Returns:
        The picture; None if the task has no pictures.

    Raises:
        Exception: whatever a faulty picture module raises.
    """
    draw = draw_of(task)
    if draw is None:
        return None
    checked_params = task.params_model.model_validate_json(params)
    valid = answer_of(task, answer)
    return with_reasons(draw(checked_params, valid, verdicts), valid, verdicts)


def answer_of(task: Task, answer: str | None) -> "BaseModel | None":
    """Return an answer as its task's model; None if there is none that fits its schema."""
    if answer is None:
        return None
    checked = validate(task.answer_model, json.loads(answer), len(answer))
    return None if isinstance(checked, Check) else checked


def selected(items: Iterable[Item], which: str) -> Iterator[Item]:
    """Yield the items to be shown: ``all``, ``failed`` (short of full marks) or ``none``.

    Raises:
        ResultsError: there is no such choice.
    """
    if which not in {"all", "failed", "none"}:
        raise ResultsError(
            f"a report shows all items, failed ones or none, not {which!r}"
        )
    for item in items:
        if which == "all" or (which == "failed" and item.failed):
            yield item


def instances_of(
    items: Sequence[Item], release: Release | None
) -> list[Instance | None]:
    """Return the instance that each item was graded on; None if the release holds another or none.

    Answers to terse prompts and to pictures stand beside those to text, under the name of the item,
    so that other configs are looked at for what the release's own does not hold.
    """
    if release is None:
        return [None] * len(items)
    task_by_hash = {item.instance_hash: item.task for item in items}
    instances: dict[str | None, Instance] = {}
    sources = [release]
    sources += [release.terse()] if release.manifest.terse else []
    sources += [release.pictures()] if release.manifest.pictures else []
    for source in sources:
        tasks = {task for name, task in task_by_hash.items() if name not in instances}
        rows = source.instances(tasks).values() if tasks else ()
        instances |= {
            row.content_hash: row for row in rows if row.content_hash in task_by_hash
        }
    return [instances.get(item.instance_hash) for item in items]


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
    for x, y, tile_width, tile_height in (
        map(float, part) for part in _PARTS.findall(path[0])
    ):
        # Ends are rounded, not sizes, so that tiles that touch still do.
        left_edge, top, right, bottom = (
            round(v, 1) for v in (x, y, x + tile_width, y + tile_height)
        )
        last = spans[-1] if spans else None
        if (
            last
            and last[1] == top
            and last[3] == bottom
            and abs(last[2] - left_edge) < 0.11
        ):
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
        views.append(
            View(panel.title, scene_svg(panel.view, panel.alt), packed(data), panel.alt)
        )
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
        figures = map(
            _figure, map_in_processes(draw, distinct, workers, seconds=SECONDS)
        )
    of_instance: dict[FigureJob | None, Figure] = {}
    params = ""
    for job, is_new in pairs:
        if job is not None and job.params != params:
            of_instance.clear()
            params = job.params
        if is_new:
            of_instance[job] = next(figures)
        yield of_instance[job]


def _with_novelty(
    jobs: Iterable[FigureJob | None],
) -> Iterator[tuple[FigureJob | None, bool]]:
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
