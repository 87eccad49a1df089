"""One picture of every task: an instance that shows it well, and its reference answer.

The bytes are the same on every machine with the same versions of the libraries: processes of their
own draw them, which see no font but those that the drawing library brings.
"""

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

from scbench.analysis.results import read_results
from scbench.base.canonical import canonical_json
from scbench.base.errors import ReleaseError, ResultsError
from scbench.base.model import Check, Instance, Verdict
from scbench.catalog import MANIFOLDS, Task, all_tasks, get_task
from scbench.machine.files import scratch_beside
from scbench.machine.processes import clean_context
from scbench.release.load import Reference, Release
from scbench.report.draw.png import with_palette
from scbench.report.html import asset, render_page
from scbench.report.items import COLUMNS, Graded, Item, items_of, picture_of, same_instance
from scbench.report.picture import Picture, draw_of
from scbench.report.sheet import sheet_png, sheet_svg
from scbench.report.single import Wanted
from scbench.scoring.judge import judge

FONT = "Liberation Sans"
"""The family that the drawing library brings."""
_NOT_IN_FONT = {"✓": "√", "✗": "×"}
_SCALE = 1.4
_MOST_PIXELS = 560_000
_WIDEST = 1250
_SIZE = re.compile(r'^<svg [^>]*width="([\d.]+)" height="([\d.]+)"')
_WIDTH = 800

_CHOSEN: Mapping[str, int] = {
    "topology_enumeration": 3,
    "enumerate_edges": 2,
    "classify_behaviour": 3,
    "half_subdivision_neighbours": 6,
    "two_segments": 12,
    "lego_hemispherical_shell": 1,
    "csg_union": 8,
    "tetrahedra_shadow_projection": 3,
    "voxel_grid_projection": 2,
    "polynomial_curve_fitting": 3,
    "delaunay_triangulation": 8,
    "hamiltonian_loop": 5,
    "pipe_loop_fitting": 12,
    "hide_and_seek": 2,
    "pack_rectangular_prisms": 4,
    "shikaku_rectangles": 3,
    "maze_3d": 3,
    "hyper_snake": 4,
    "fluid_simulation": 5,
    "terrain_levelling": 1,
}
"""Instances that show their task better than the first."""


class Look(NamedTuple):
    """How a picture is made."""

    scale: float | None = None
    """Pixels of the file for one of the picture; None for a file of few bytes."""
    dark: bool = False


PLAIN = Look()


class Case(NamedTuple):
    """What one picture of the gallery shows: an instance and an answer to it."""

    instance_id: str
    task: str
    params: str
    answer: str | None
    whose: str = "a right answer"
    graded: tuple[Graded, ...] | None = None
    """What was found; None to judge the answer now."""
    look: Look = PLAIN


def cases(
    tasks: Iterable[Task], instances: Sequence[Instance], references: Sequence[Reference]
) -> Iterator[Case]:
    """Yield the cases of tasks that have pictures, one each.

    Args:
        tasks: of a release.
        instances: of these tasks.
        references: to these instances.
    """
    right = {ref.id: ref.answer for ref in references if ref.kind == "reference"}
    wrong = {ref.id for ref in references if ref.kind != "reference"}
    for task in tasks:
        held = {row.subtask: row for row in instances if row.task == task.id and row.id in right}
        if draw_of(task) is None or not held:
            continue
        row = held.get(_CHOSEN.get(task.id, 0)) or next(iter(held.values()))
        # Text tasks have hundreds, from plain to hard; some of them have wrong answers, too.
        known = [row for row in held.values() if row.id in wrong] or [row]
        if task.bucket == MANIFOLDS:
            row = sorted(known, key=lambda row: len(row.all_params))[len(known) // 2]
        yield Case(row.id, task.id, row.all_params, right[row.id])


def draw_case(case: Case) -> bytes:
    """Return the picture of a case as a PNG file.

    Raises:
        ReleaseError: it cannot be drawn.
    """
    return _png(_picture(case), case.look)


def draw_thumbnail(case: Case) -> bytes:
    """Return the first panel of the picture of a case as a PNG file.

    Raises:
        ReleaseError: it cannot be drawn.
    """
    return _png(Picture(_picture(case).panels[:1], ""), case.look)


def _picture(case: Case) -> Picture:
    task = get_task(case.task)
    params = task.params_model.model_validate_json(case.params)
    try:
        if case.graded is not None:
            verdicts = tuple(part.verdict() for part in case.graded)
        else:
            answer = json.loads(case.answer or "null")
            verdicts = tuple(map(_read_back, judge(task, params, answer)))
        picture = picture_of(task, case.params, case.answer, verdicts)
    except Exception as error:
        raise ReleaseError(
            f"no picture of {case.instance_id}: {type(error).__name__}: {error}"
        ) from error
    if picture is None:
        raise ReleaseError(f"{case.task} has no pictures")
    return picture


def _png(picture: Picture, look: Look) -> bytes:
    svg = sheet_svg(picture, dark=look.dark, most_width=_WIDTH, font=FONT)
    for sign, like_it in _NOT_IN_FONT.items():
        svg = svg.replace(sign, like_it)
    if look.scale is not None:
        return sheet_png(svg, look.scale)
    return with_palette(sheet_png(svg, _scale(svg)))


def _scale(svg: str) -> float:
    """Return pixels of the file for a pixel of a picture: fewer for large ones."""
    width, height = map(float, _SIZE.findall(svg)[0])
    return float(min(_SCALE, _WIDEST / width, (_MOST_PIXELS / (width * height)) ** 0.5))


def _read_back(verdict: Verdict) -> Verdict:
    """Return a verdict as pictures know them: read from JSON."""
    checks = tuple(
        Check(check.id, check.passed, check.message, _plain(check.details))
        for check in verdict.checks
    )
    return Verdict(verdict.score, checks, _plain(verdict.metrics))


def _plain(value: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(canonical_json(dict(value)))
    return found


def draw_cases(found: Sequence[Case], workers: int = 1) -> dict[str, bytes]:
    """Return PNG files by task.

    Args:
        found: what to draw.
        workers: processes to draw in.

    Raises:
        ReleaseError: one cannot be drawn.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    return {
        case.task: data
        for case, data in zip(found, draw_each(found, draw_case, workers), strict=True)
    }


def draw_each(
    found: Sequence[Case], draw: Callable[[Case], bytes], workers: int = 1
) -> list[bytes]:
    """Return PNG files of cases, in their order, drawn in processes that see no fonts.

    Args:
        found: what to draw.
        draw: `draw_case` or `draw_thumbnail`.
        workers: processes to draw in.

    Raises:
        ReleaseError: one cannot be drawn.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    if not found:
        return []
    import vl_convert  # noqa: F401, PLC0415  (is it there at all?)

    # What takes long begins first: it must not be what is left over at the end.
    order = sorted(range(len(found)), key=lambda i: -get_task(found[i].task).seconds)
    with (
        tempfile.TemporaryDirectory(prefix="scbench-fonts-") as folder,
        ProcessPoolExecutor(
            max(workers, 1),
            mp_context=clean_context(),
            initializer=_forget_fonts,
            initargs=(folder,),
        ) as pool,
    ):
        drawn = dict(zip(order, pool.map(draw, [found[i] for i in order]), strict=True))
    return [drawn[i] for i in range(len(found))]


def _forget_fonts(folder: str) -> None:
    """Let this process see no fonts of the machine, which differ from one to the next."""
    fonts = Path(folder, "none")
    fonts.mkdir(exist_ok=True)
    config = Path(folder, f"fonts-{os.getpid()}.conf")
    config.write_text(f"<fontconfig><dir>{escape(str(fonts))}</dir></fontconfig>", "utf-8")
    os.environ["FONTCONFIG_FILE"] = str(config)


def run_cases(release: Release, results: Path, wanted: Wanted) -> list[Case]:
    """Return a case of each task from stored results: the first answer short of full marks, or any.

    Raises:
        ResultsError: the results cannot be read, or nothing in them is meant.
    """
    instances = release.instances()
    rows = read_results([results], COLUMNS, partial=True)
    chosen: dict[str, Item] = {}
    for item in items_of(rows):
        instance = same_instance(item, instances)
        if instance is None or not wanted.fits(item.run) or draw_of(get_task(item.task)) is None:
            continue
        if item.task not in chosen or (item.failed and not chosen[item.task].failed):
            chosen[item.task] = item
    if not chosen:
        raise ResultsError(f"{results} holds no answer on release {release.version} that fits")
    return [
        Case(
            item.id,
            item.task,
            instances[item.id].all_params,
            item.answer,
            f"what {item.run[0]} answered",
            item.graded,
        )
        for item in chosen.values()
    ]


def write_gallery(
    release: Release,
    folder: Path,
    workers: int = 1,
    look: Look = PLAIN,
    found: Sequence[Case] | None = None,
) -> int:
    """Write the gallery of a release: a PNG file for each task, index.html and gallery.md.

    Args:
        release: whose instances and reference answers are drawn.
        folder: to make; it must not exist.
        workers: processes to draw in.
        look: how pictures are made.
        found: what is drawn instead, such as `run_cases`.

    Returns:
        How many pictures there are.

    Raises:
        ReleaseError: the folder exists or cannot be made.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    if os.path.lexists(folder):
        raise ReleaseError(f"{folder} exists; name a folder that does not")
    known = all_tasks()
    tasks = [known[name] for name in release.manifest.tasks if name in known]
    if found is None:
        found = list(cases(tasks, list(release.instances().values()), release.references()))
    found = [case._replace(look=look) for case in found]
    try:
        with scratch_beside(folder) as scratch:
            root = scratch / "gallery"
            root.mkdir()
            for task, data in draw_cases(found, workers).items():
                (root / f"{task}.png").write_bytes(data)
            (root / "index.html").write_text(_page(release, found), "utf-8")
            (root / "gallery.md").write_text(markdown(found), "utf-8")
            root.rename(folder)
    except OSError as error:
        raise ReleaseError(f"{folder} cannot be made: {error}") from None
    return len(found)


def alt_text(case: Case) -> str:
    """Return the alternative text of a picture, for people who cannot see it."""
    return f"{get_task(case.task).title}: instance {case.instance_id} with {case.whose}"


def markdown(found: Iterable[Case]) -> str:
    """Return the gallery for a page in Markdown that lies beside the pictures."""
    return "\n".join(
        f"### {get_task(case.task).title}\n\n![{alt_text(case)}]({case.task}.png)\n"
        for case in found
    )


def _page(release: Release, found: Sequence[Case]) -> str:
    return render_page(
        "gallery.html.j2",
        title=f"Gallery of release {release.version} · scbench",
        styles=[asset("gallery.css")],
        # The pictures lie beside it; "self" is what a server calls that, and "file:" a disk.
        images="data: file: 'self'",
        heading=f"Gallery of release {release.version}",
        pictures=[
            {
                "file": f"{case.task}.png",
                "title": get_task(case.task).title,
                "id": case.instance_id,
                "alt": alt_text(case),
            }
            for case in found
        ],
    )
