"""One picture of every task: a typical instance with its reference answer.

The bytes are the same on every machine with the same versions of the libraries: separate processes
draw the pictures, with only the fonts bundled with the drawing library.
"""

import json
import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from html import escape
from pathlib import Path
from typing import NamedTuple

from scbench.base.canonical import canonical_json
from scbench.base.errors import ReleaseError
from scbench.base.model import Instance, Verdict
from scbench.base.progress import beat
from scbench.catalog import MANIFOLDS, Task, all_tasks, get_task
from scbench.machine.files import scratch_beside
from scbench.machine.processes import map_in_processes
from scbench.release.load import Reference, Release, right_answers
from scbench.report.draw.png import with_palette
from scbench.report.figures import picture_of
from scbench.report.html import asset, render_page
from scbench.report.items import Graded
from scbench.report.picture import Picture, draw_of, drawing_error
from scbench.report.sheet import sheet_png, sheet_svg
from scbench.scoring.judge import judge

# The font bundled with the drawing library, and replacements for signs that it does not contain.
FONT = "Liberation Sans"
_NOT_IN_FONT = {"✗": "×"}
# Pixels of a sheet in a row of panels.
_SHEET_WIDTH = 800
# File pixels per sheet pixel, and the maximum number of pixels in a file.
_SCALE = 1.4
_MOST_PIXELS = 560_000
_WIDEST = 1250
# Width and height of a sheet.
_SIZE = re.compile(r'^<svg [^>]*width="([\d.]+)" height="([\d.]+)"')


class Look(NamedTuple):
    """The look of a picture.

    Attributes:
        scale: file pixels per picture pixel; None for a small file.
        dark: whether it is for a dark page.
    """

    scale: float | None = None
    dark: bool = False


class Case(NamedTuple):
    """The subject of one picture of the gallery: an instance and an answer to it."""

    instance_id: str
    task: str
    params: str
    answer: str | None
    look: Look = Look()


def write_gallery(release: Release, folder: Path, workers: int, look: Look) -> int:
    """Write the gallery of a release: a PNG file for each task, index.html and gallery.md.

    The folder must not exist. It shows instances with reference answers.

    Returns:
        The number of pictures.

    Raises:
        ReleaseError: the folder exists or cannot be made.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    if os.path.lexists(folder):
        raise ReleaseError(f"{folder} already exists; choose a new folder")
    catalog = all_tasks()
    tasks = [catalog[name] for name in release.manifest.tasks if name in catalog]
    plain_cases = cases(tasks, list(release.instances().values()), release.references())
    to_draw = [case._replace(look=look) for case in plain_cases]
    try:
        with scratch_beside(folder) as scratch:
            root = scratch / "gallery"
            root.mkdir()
            for task, data in draw_cases(to_draw, workers).items():
                (root / f"{task}.png").write_bytes(data)
            (root / "index.html").write_text(gallery_page(release, to_draw), "utf-8")
            (root / "gallery.md").write_text(markdown(to_draw), "utf-8")
            root.rename(folder)
    except OSError as error:
        raise ReleaseError(f"cannot create {folder}: {error}") from None
    return len(to_draw)


def cases(
    tasks: Iterable[Task],
    instances: Sequence[Instance],
    references: Sequence[Reference],
) -> Iterator[Case]:
    """Yield one case of each task that has pictures, with a reference answer."""
    # Subtasks that show their task better than the first.
    show_pieces: dict[str, int] = json.loads(asset("show_pieces.json"))
    right = right_answers(references)
    wrong = {ref.id for ref in references if ref.kind != "reference"}
    for task in tasks:
        rows: dict[int, Instance] = {}
        for row in instances:
            if row.task == task.id and row.id in right:
                rows[row.subtask] = row
        if draw_of(task) is None or not rows:
            continue
        row = rows.get(show_pieces.get(task.id, 0)) or next(iter(rows.values()))
        if task.bucket == MANIFOLDS:
            # Text tasks have hundreds of items, from easy to hard; some have wrong
            # answers, too.
            candidates = [row for row in rows.values() if row.id in wrong] or [row]
            candidates.sort(key=lambda row: len(row.all_params))
            row = candidates[len(candidates) // 2]
        yield Case(row.id, task.id, row.all_params, right[row.id])


def draw_cases(to_draw: Sequence[Case], workers: int = 1) -> dict[str, bytes]:
    """Return PNG files by task.

    Raises:
        ReleaseError: a picture cannot be drawn.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    pictures = draw_each(to_draw, draw_case, workers)
    return {case.task: png for case, png in zip(to_draw, pictures, strict=True)}


def draw_each(
    to_draw: Sequence[Case], draw: Callable[[Case], bytes], workers: int = 1
) -> list[bytes]:
    """Return PNG files of cases in order, drawn in processes that see no system fonts.

    Raises:
        ReleaseError: a picture cannot be drawn.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    if not to_draw:
        return []
    # If the drawing library is missing, fail before starting processes.
    import vl_convert  # noqa: F401, PLC0415  (an extra)

    # The slowest pictures start first, so that they do not run last.
    order = sorted(
        range(len(to_draw)), key=lambda i: -get_task(to_draw[i].task).seconds
    )
    pictures: dict[int, bytes] = {}
    with tempfile.TemporaryDirectory(prefix="scbench-fonts-") as folder:
        calls = map_in_processes(
            draw,
            [to_draw[i] for i in order],
            max(workers, 1),
            initializer=forget_fonts,
            initargs=(folder,),
        )
        for i, call in zip(order, calls, strict=True):
            pictures[i] = call.result()
            beat(len(pictures), len(order))
    return [pictures[i] for i in range(len(to_draw))]


def forget_fonts(folder: str) -> None:
    """Hide the machine's fonts from this process, because they differ between machines."""
    fonts = Path(folder, "none")
    fonts.mkdir(exist_ok=True)
    config = Path(folder, f"fonts-{os.getpid()}.conf")
    config.write_text(
        f"<fontconfig><dir>{escape(str(fonts))}</dir></fontconfig>", "utf-8"
    )
    os.environ["FONTCONFIG_FILE"] = str(config)


def draw_case(case: Case) -> bytes:
    """Return the picture of a case as a PNG file.

    Raises:
        ReleaseError: the picture cannot be drawn.
    """
    return png_of(case_picture(case), case.look)


def draw_thumbnail(case: Case) -> bytes:
    """Return the first panel of the picture of a case as a PNG file.

    Raises:
        ReleaseError: the picture cannot be drawn.
    """
    return png_of(Picture(case_picture(case).panels[:1], ""), case.look)


def case_picture(case: Case) -> Picture:
    """Return the picture of a case.

    Raises:
        ReleaseError: the picture cannot be drawn.
    """
    task = get_task(case.task)
    try:
        params = task.params_model.model_validate_json(case.params)
        answer = json.loads(case.answer or "null")
        verdicts = [read_back(verdict) for verdict in judge(task, params, answer)]
        picture = picture_of(task, case.params, case.answer, tuple(verdicts))
    except Exception as error:
        raise ReleaseError(
            f"no picture of {case.instance_id}: {drawing_error(error)}"
        ) from error
    if picture is None:
        raise ReleaseError(f"{case.task} has no pictures")
    return picture


def read_back(verdict: Verdict) -> Verdict:
    """Return a verdict as picture modules get it: read back from JSON."""
    checks = [
        {
            "id": check.id,
            "passed": check.passed,
            "message": check.message,
            "details": dict(check.details),
        }
        for check in verdict.checks
    ]
    metrics = canonical_json(dict(verdict.metrics))
    return Graded(verdict.score, canonical_json(checks), metrics, ()).verdict()


def png_of(picture: Picture, look: Look) -> bytes:
    """Return a picture as a PNG file."""
    svg = sheet_svg(picture, dark=look.dark, most_width=_SHEET_WIDTH, font=FONT)
    for sign, replacement in _NOT_IN_FONT.items():
        svg = svg.replace(sign, replacement)
    if look.scale is not None:
        return sheet_png(svg, look.scale)
    # Large pictures get fewer file pixels per unit.
    width, height = map(float, _SIZE.findall(svg)[0])
    scale = min(_SCALE, _WIDEST / width, (_MOST_PIXELS / (width * height)) ** 0.5)
    return with_palette(sheet_png(svg, scale))


def alt_text(case: Case) -> str:
    """Return the alternative text of a picture for people who cannot see it."""
    return f"{get_task(case.task).title}: item {case.instance_id} with a right answer"


def markdown(to_draw: Iterable[Case]) -> str:
    """Return the gallery in Markdown, for a page in the same folder as the pictures."""
    return "\n".join(
        f"### {get_task(case.task).title}\n\n![{alt_text(case)}]({case.task}.png)\n"
        for case in to_draw
    )


def gallery_page(release: Release, to_draw: Sequence[Case]) -> str:
    """Return the gallery as an HTML page for the same folder as the pictures."""
    pictures = [
        {
            "file": f"{case.task}.png",
            "title": get_task(case.task).title,
            "id": case.instance_id,
            "alt": alt_text(case),
        }
        for case in to_draw
    ]
    return render_page(
        "gallery.html.j2",
        title=f"Gallery of release {release.version} · scbench",
        styles=[asset("gallery.css")],
        # The pictures are next to the page: "self" allows them on a server, "file:" on a disk.
        images="data: file: 'self'",
        heading=f"Gallery of release {release.version}",
        pictures=pictures,
    )
