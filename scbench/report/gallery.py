"""One picture of every task: an instance that shows it well, and its reference answer.

Contact sheets show them side by side: a right and a wrong answer of every task, or a few rungs of
the ladder. The bytes are the same on every machine with the same versions of the libraries:
processes of their own draw them, which see no font but those that the drawing library brings.
"""

import base64
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
from scbench.base.model import Instance, Verdict, rung_of
from scbench.base.progress import beat
from scbench.catalog import MANIFOLDS, Task, all_tasks, get_task
from scbench.machine.files import scratch_beside
from scbench.machine.processes import map_in_processes
from scbench.release.load import Reference, Release
from scbench.report.draw.colours import ROLES
from scbench.report.draw.png import with_palette
from scbench.report.html import asset, render_page
from scbench.report.items import (
    Graded,
    answer_of,
    picture_of,
)
from scbench.report.picture import Picture, draw_of, sheet_png, sheet_svg
from scbench.scoring.judge import judge

# The family that the drawing library brings.
FONT = "Liberation Sans"
_NOT_IN_FONT = {"✓": "√", "✗": "×"}
_SCALE = 1.4
_MOST_PIXELS = 560_000
_WIDEST = 1250
_SIZE = re.compile(r'^<svg [^>]*width="([\d.]+)" height="([\d.]+)"')
_WIDTH = 800


# Rungs that are shown.
RUNGS = (1, 4, 8)
# Of all words on a contact sheet.
_LETTERS = 15
# Tasks beside each other.
_ACROSS = 2


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
    look: Look = PLAIN


def cases(
    tasks: Iterable[Task],
    instances: Sequence[Instance],
    references: Sequence[Reference],
) -> Iterator[Case]:
    """Yield one case of each task that has pictures, with a reference answer."""
    # Instances that show their task better than the first.
    show_pieces: dict[str, int] = json.loads(asset("show_pieces.json"))
    right = {ref.id: ref.answer for ref in references if ref.kind == "reference"}
    wrong = {ref.id for ref in references if ref.kind != "reference"}
    for task in tasks:
        rows = {
            row.subtask: row
            for row in instances
            if row.task == task.id and row.id in right
        }
        if draw_of(task) is None or not rows:
            continue
        row = rows.get(show_pieces.get(task.id, 0)) or next(iter(rows.values()))
        # Text tasks have hundreds, from plain to hard; some of them have wrong answers, too.
        candidates = [row for row in rows.values() if row.id in wrong] or [row]
        if task.bucket == MANIFOLDS:
            row = sorted(candidates, key=lambda row: len(row.all_params))[
                len(candidates) // 2
            ]
        yield Case(row.id, task.id, row.all_params, right[row.id])


def draw_case(case: Case) -> bytes:
    """Return the picture of a case as a PNG file.

    Raises:
        ReleaseError: it cannot be drawn.
    """
    return _png(_case_picture(case), case.look)


def draw_thumbnail(case: Case) -> bytes:
    """Return the first panel of the picture of a case as a PNG file.

    Raises:
        ReleaseError: it cannot be drawn.
    """
    return _png(Picture(_case_picture(case).panels[:1], ""), case.look)


def _case_picture(case: Case) -> Picture:
    task = get_task(case.task)
    params = task.params_model.model_validate_json(case.params)
    try:
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
    # Fewer pixels of the file for a pixel of a large picture.
    width, height = map(float, _SIZE.findall(svg)[0])
    scale = min(_SCALE, _WIDEST / width, (_MOST_PIXELS / (width * height)) ** 0.5)
    return with_palette(sheet_png(svg, scale))


def _read_back(verdict: Verdict) -> Verdict:
    """Return a verdict as pictures know them: read from JSON."""
    checks = [
        {"id": check.id, "passed": check.passed, "message": check.message}
        | {"details": dict(check.details)}
        for check in verdict.checks
    ]
    metrics = canonical_json(dict(verdict.metrics))
    return Graded(verdict.score, canonical_json(checks), metrics, ()).verdict()


def draw_cases(to_draw: Sequence[Case], workers: int = 1) -> dict[str, bytes]:
    """Return PNG files by task.

    Raises:
        ReleaseError: one cannot be drawn.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    return {
        case.task: data
        for case, data in zip(
            to_draw, draw_each(to_draw, draw_case, workers), strict=True
        )
    }


def draw_each(
    to_draw: Sequence[Case], draw: Callable[[Case], bytes], workers: int = 1
) -> list[bytes]:
    """Return PNG files of cases, in their order, drawn in processes that see no fonts.

    Raises:
        ReleaseError: one cannot be drawn.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    if not to_draw:
        return []
    import vl_convert  # noqa: F401, PLC0415  (is it there at all?)

    # What takes long begins first: it must not be what is left over at the end.
    order = sorted(
        range(len(to_draw)), key=lambda i: -get_task(to_draw[i].task).seconds
    )
    with tempfile.TemporaryDirectory(prefix="scbench-fonts-") as folder:
        calls = map_in_processes(
            draw,
            [to_draw[i] for i in order],
            max(workers, 1),
            initializer=_forget_fonts,
            initargs=(folder,),
        )
        pictures = {}
        for i, call in zip(order, calls, strict=True):
            pictures[i] = call.result()
            beat(len(pictures), len(order))
    return [pictures[i] for i in range(len(to_draw))]


def _forget_fonts(folder: str) -> None:
    """Let this process see no fonts of the machine, which differ from one to the next."""
    fonts = Path(folder, "none")
    fonts.mkdir(exist_ok=True)
    config = Path(folder, f"fonts-{os.getpid()}.conf")
    config.write_text(
        f"<fontconfig><dir>{escape(str(fonts))}</dir></fontconfig>", "utf-8"
    )
    os.environ["FONTCONFIG_FILE"] = str(config)


def write_gallery(
    release: Release,
    folder: Path,
    workers: int = 1,
    look: Look = PLAIN,
) -> int:
    """Write the gallery of a release: a PNG file for each task, index.html and gallery.md.

    The folder must not exist. It shows instances with reference answers.

    Returns:
        How many pictures there are.

    Raises:
        ReleaseError: the folder exists or cannot be made.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    if os.path.lexists(folder):
        raise ReleaseError(f"{folder} exists; name a folder that does not")
    catalog = all_tasks()
    tasks = [catalog[name] for name in release.manifest.tasks if name in catalog]
    shown = cases(tasks, list(release.instances().values()), release.references())
    to_draw = [case._replace(look=look) for case in shown]
    try:
        with scratch_beside(folder) as scratch:
            root = scratch / "gallery"
            root.mkdir()
            for task, data in draw_cases(to_draw, workers).items():
                (root / f"{task}.png").write_bytes(data)
            (root / "index.html").write_text(_page(release, to_draw), "utf-8")
            (root / "gallery.md").write_text(markdown(to_draw), "utf-8")
            root.rename(folder)
    except OSError as error:
        raise ReleaseError(f"{folder} cannot be made: {error}") from None
    return len(to_draw)


def alt_text(case: Case) -> str:
    """Return the alternative text of a picture, for people who cannot see it."""
    return f"{get_task(case.task).title}: item {case.instance_id} with a right answer"


def markdown(to_draw: Iterable[Case]) -> str:
    """Return the gallery for a page in Markdown that lies beside the pictures."""
    return "\n".join(
        f"### {get_task(case.task).title}\n\n![{alt_text(case)}]({case.task}.png)\n"
        for case in to_draw
    )


def _page(release: Release, to_draw: Sequence[Case]) -> str:
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
            for case in to_draw
        ],
    )


_CELL_WIDTH, _CELL_HEIGHT, _GAP = 270, 220, 14
_HEAD, _NAME, _FOOT = 48, 26, 30


def _listed(rungs: Sequence[int]) -> str:
    *first, last = map(str, rungs)
    return f"{', '.join(first)} and {last}" if first else last


def contact_sheet(
    release: Release,
    rungs: Sequence[int] = RUNGS,
    workers: int = 1,
    *,
    dark: bool = False,
) -> str:
    """Return the contact sheet of a release's ladder as an SVG file, rungs from left to right.

    Of each rung the first instance is shown, with its reference answer.

    Raises:
        ReleaseError: there is no ladder, or a picture cannot be drawn.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    ladder = release.ladder()
    experiment = ladder.manifest.experiment
    measures = experiment.measures if experiment else {}
    rung_cases = [
        case._replace(look=Look(None, dark)) for case in _cases(ladder, rungs)
    ]
    ink = ROLES["ink"][dark]
    pictures = draw_each(rung_cases, draw_thumbnail, workers)
    block = len(rungs) * (_CELL_WIDTH + _GAP)
    row = _NAME + _CELL_HEIGHT + _FOOT
    tasks = list(dict.fromkeys(case.task for case in rung_cases))
    width = _ACROSS * block + _GAP
    height = _HEAD + -(-len(tasks) // _ACROSS) * row
    parts = [
        _sheet_label(
            _GAP,
            30,
            f"Ladder of release {release.version}: rungs {_listed(rungs)}",
            _LETTERS,
            ink,
        )
    ]
    for i, task in enumerate(tasks):
        x, y = _GAP + i % _ACROSS * block, _HEAD + i // _ACROSS * row
        parts.append(
            _sheet_label(
                x,
                y + 17,
                f"{get_task(task).title}: {measures.get(task, '')}",
                _LETTERS,
                ink,
            )
        )
    for case, data in zip(rung_cases, pictures, strict=True):
        i, rung = tasks.index(case.task), rung_of(case.instance_id) or 0
        x = _GAP + i % _ACROSS * block + rungs.index(rung) * (_CELL_WIDTH + _GAP)
        y = _HEAD + i // _ACROSS * row + _NAME
        parts.append(_image_element(x, y, _CELL_WIDTH, _CELL_HEIGHT, data))
        parts.append(
            _sheet_label(x + 4, y + _CELL_HEIGHT - 4, str(rung), _LETTERS, ink)
        )
    return _contact_sheet_file(parts, width, height, dark=dark)


def right_and_wrong(release: Release, workers: int = 1, *, dark: bool = False) -> str:
    """Return a contact sheet of every task as an SVG file: a right answer, and a wrong one.

    The wrong one is the counterexample to the same instance that comes nearest to full marks.

    Raises:
        ReleaseError: a picture cannot be drawn.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    references = release.references()
    tasks = [get_task(name) for name in release.manifest.tasks]
    right = list(cases(tasks, list(release.instances().values()), references))
    wrong: dict[str, Reference] = {}
    tasks_by_id = {case.instance_id: get_task(case.task) for case in right}
    for ref in references:
        if ref.kind == "reference" or ref.id not in tasks_by_id:
            continue
        best, task = wrong.get(ref.id), tasks_by_id[ref.id]
        if best is None or _nearness(task, ref) > _nearness(task, best):
            wrong[ref.id] = ref
    right = [case for case in right if case.instance_id in wrong]
    pairs = [
        case._replace(answer=answer, look=Look(1.5, dark))
        for case in right
        for answer in (case.answer, wrong[case.instance_id].answer)
    ]
    pictures = draw_each(pairs, draw_case, workers)
    width_each, height_each = 2.4 * _CELL_WIDTH, 2.4 * _CELL_HEIGHT
    ink = ROLES["ink"][dark]
    parts = [
        _sheet_label(
            _GAP,
            30,
            f"Right and wrong answers, release {release.version}",
            _LETTERS,
            ink,
        )
    ]
    for k, (case, data) in enumerate(zip(pairs, pictures, strict=True)):
        i = k // 2
        x = _GAP + (i % _ACROSS * 2 + k % 2) * (width_each + _GAP)
        y = _HEAD + i // _ACROSS * (height_each + _NAME + _GAP)
        title = get_task(case.task).title
        says = (
            f"{title}: {case.instance_id}" if k % 2 == 0 else f"{title}: a wrong answer"
        )
        parts.append(_sheet_label(x, y + 17, says, _LETTERS, ink))
        parts.append(_image_element(x, y + _NAME, width_each, height_each, data))
    height = _HEAD + -(-len(right) // _ACROSS) * (height_each + _NAME + _GAP)
    return _contact_sheet_file(
        parts, 2 * _ACROSS * (width_each + _GAP) + _GAP, height, dark=dark
    )


def _nearness(task: Task, ref: Reference) -> tuple[bool, float, int]:
    """Rank wrong answers: those that can be drawn, of these the best, of these the longest."""
    length = len(ref.answer) if task.bucket != MANIFOLDS else 0
    return answer_of(task, ref.answer) is not None, ref.score, length


def _image_element(x: float, y: float, width: float, height: float, data: bytes) -> str:
    coded = base64.b64encode(data).decode()
    at = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<image {at} href="data:image/png;base64,{coded}"/>'


def _contact_sheet_file(
    parts: Sequence[str], width: float, height: float, *, dark: bool
) -> str:
    size, paper = f'width="{width:g}" height="{height:g}"', ROLES["paper"][dark]
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:g} {height:g}">'
        f'<rect {size} fill="{paper}"/>{"".join(parts)}</svg>\n'
    )


def _cases(ladder: Release, rungs: Sequence[int]) -> list[Case]:
    """Return the first instance of each of these rungs, of tasks that have pictures."""
    right = {
        ref.id: ref.answer for ref in ladder.references() if ref.kind == "reference"
    }
    by_rung: dict[tuple[str, int], Case] = {}
    for row in ladder.instances().values():
        rung = rung_of(row.id) or 0
        if (
            rung in rungs
            and row.id in right
            and draw_of(get_task(row.task)) is not None
        ):
            case = Case(row.id, row.task, row.all_params, right[row.id])
            by_rung.setdefault((row.task, rung), case)
    if not by_rung:
        raise ReleaseError(
            f"{ladder.version} has none of the rungs {', '.join(map(str, rungs))}"
        )
    return list(by_rung.values())


def _sheet_label(x: float, y: float, words: str, size: int, ink: str) -> str:
    font = f'font-family="{FONT}" font-size="{size}" font-weight="700" fill="{ink}"'
    return f'<text x="{x:g}" y="{y:g}" {font}>{escape(words)}</text>'
