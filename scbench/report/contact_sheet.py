"""Contact sheets: of every task a right and a wrong answer, or a few rungs of the ladder."""

import base64
from collections.abc import Sequence
from html import escape

from scbench.base.errors import ReleaseError
from scbench.base.model import rung_of
from scbench.catalog import MANIFOLDS, Task, get_task
from scbench.release.load import Reference, Release
from scbench.report.draw.colours import ROLES
from scbench.report.gallery import (
    FONT,
    Case,
    Look,
    cases,
    draw_case,
    draw_each,
    draw_thumbnail,
)
from scbench.report.items import answer_of
from scbench.report.picture import draw_of

RUNGS = (1, 4, 8)
"""Rungs that are shown."""
_WIDTH, _HEIGHT, _GAP = 270, 220, 14
_HEAD, _NAME, _FOOT = 48, 26, 30
_ACROSS = 2
"""Tasks beside each other."""


def contact_sheet(
    release: Release, rungs: Sequence[int] = RUNGS, workers: int = 1, *, dark: bool = False
) -> str:
    """Return the contact sheet of a release's ladder as an SVG file.

    Of each rung the first instance is shown, with its reference answer.

    Args:
        release: it has a ladder, or is one.
        rungs: which, from left to right.
        workers: processes to draw in.
        dark: whether it is made for a dark page.

    Raises:
        ReleaseError: there is no ladder, or a picture cannot be drawn.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    ladder = release.ladder()
    experiment = ladder.manifest.experiment
    measures = experiment.measures if experiment else {}
    rung_cases = [case._replace(look=Look(None, dark)) for case in _cases(ladder, rungs)]
    paper, ink = ROLES["paper"][dark], ROLES["ink"][dark]
    pictures = draw_each(rung_cases, draw_thumbnail, workers)
    block = len(rungs) * (_WIDTH + _GAP)
    row = _NAME + _HEIGHT + _FOOT
    tasks = list(dict.fromkeys(case.task for case in rung_cases))
    width = _ACROSS * block + _GAP
    height = _HEAD + -(-len(tasks) // _ACROSS) * row
    parts = [_text(_GAP, 30, f"Rungs {', '.join(map(str, rungs))} of {ladder.version}", 18, ink)]
    for i, task in enumerate(tasks):
        x, y = _GAP + i % _ACROSS * block, _HEAD + i // _ACROSS * row
        parts.append(_text(x, y + 17, f"{get_task(task).title}: {measures.get(task, '')}", 14, ink))
    for case, data in zip(rung_cases, pictures, strict=True):
        i, rung = tasks.index(case.task), rung_of(case.instance_id) or 0
        x = _GAP + i % _ACROSS * block + rungs.index(rung) * (_WIDTH + _GAP)
        y = _HEAD + i // _ACROSS * row + _NAME
        parts.append(_image(x, y, _WIDTH, _HEIGHT, data))
        parts.append(_text(x + 4, y + _HEIGHT - 4, str(rung), 15, ink))
    return _file(parts, width, height, paper)


def right_and_wrong(release: Release, workers: int = 1, *, dark: bool = False) -> str:
    """Return a contact sheet of every task as an SVG file: a right answer, and a wrong one.

    The wrong one is the counterexample to the same instance that comes nearest to full marks.

    Args:
        release: whose reference answers and counterexamples are drawn.
        workers: processes to draw in.
        dark: whether it is made for a dark page.

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
        if best is None or _near(task, ref) > _near(task, best):
            wrong[ref.id] = ref
    right = [case for case in right if case.instance_id in wrong]
    pairs = [
        case._replace(answer=answer, look=Look(1.5, dark))
        for case in right
        for answer in (case.answer, wrong[case.instance_id].answer)
    ]
    pictures = draw_each(pairs, draw_case, workers)
    width_each, height_each = 2.4 * _WIDTH, 2.4 * _HEIGHT
    paper, ink = ROLES["paper"][dark], ROLES["ink"][dark]
    parts = [_text(_GAP, 30, f"Right and wrong answers, release {release.version}", 18, ink)]
    for k, (case, data) in enumerate(zip(pairs, pictures, strict=True)):
        i = k // 2
        x = _GAP + (i % _ACROSS * 2 + k % 2) * (width_each + _GAP)
        y = _HEAD + i // _ACROSS * (height_each + _NAME + _GAP)
        title = get_task(case.task).title
        says = f"{title}: {case.instance_id}" if k % 2 == 0 else f"{title}: a wrong answer"
        parts.append(_text(x, y + 17, says, 14, ink))
        parts.append(_image(x, y + _NAME, width_each, height_each, data))
    count = -(-len(right) // _ACROSS)
    width = 2 * _ACROSS * (width_each + _GAP) + _GAP
    return _file(parts, width, _HEAD + count * (height_each + _NAME + _GAP), paper)


def _near(task: Task, ref: Reference) -> tuple[bool, float, int]:
    """Rank wrong answers: those that can be drawn, of these the best, of these the longest."""
    length = len(ref.answer) if task.bucket != MANIFOLDS else 0
    return answer_of(task, ref.answer) is not None, ref.score, length


def _image(x: float, y: float, width: float, height: float, data: bytes) -> str:
    coded = base64.b64encode(data).decode()
    at = f'x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}"'
    return f'<image {at} href="data:image/png;base64,{coded}"/>'


def _file(parts: Sequence[str], width: float, height: float, paper: str) -> str:
    size = f'width="{width:g}" height="{height:g}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:g} {height:g}">'
        f'<rect {size} fill="{paper}"/>{"".join(parts)}</svg>\n'
    )


def _cases(ladder: Release, rungs: Sequence[int]) -> list[Case]:
    """Return the first instance of each of these rungs, of tasks that have pictures."""
    right = {ref.id: ref.answer for ref in ladder.references() if ref.kind == "reference"}
    by_rung: dict[tuple[str, int], Case] = {}
    for row in ladder.instances().values():
        rung = rung_of(row.id) or 0
        if rung in rungs and row.id in right and draw_of(get_task(row.task)) is not None:
            case = Case(row.id, row.task, row.all_params, right[row.id])
            by_rung.setdefault((row.task, rung), case)
    if not by_rung:
        raise ReleaseError(f"{ladder.version} has none of the rungs {', '.join(map(str, rungs))}")
    return list(by_rung.values())


def _text(x: float, y: float, words: str, size: int, ink: str) -> str:
    font = f'font-family="{FONT}" font-size="{size}" font-weight="700" fill="{ink}"'
    return f'<text x="{x:g}" y="{y:g}" {font}>{escape(words)}</text>'
