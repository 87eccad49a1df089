"""A contact sheet of a ladder: a few rungs of every task in one picture."""

import base64
from collections.abc import Sequence
from html import escape

from scbench.catalog import get_task
from scbench.errors import ReleaseError
from scbench.model import rung_of
from scbench.release.load import Release
from scbench.report.gallery import FONT, Case, draw_each, draw_thumbnail
from scbench.report.picture import draw_of

RUNGS = (1, 4, 8)
"""Rungs that are shown."""
_WIDE, _HIGH, _GAP = 270, 220, 14
_HEAD, _NAME, _FOOT = 48, 26, 30
_ACROSS = 2
"""Tasks beside each other."""
_INK = "#1c1c1c"


def contact_sheet(release: Release, rungs: Sequence[int] = RUNGS, workers: int = 1) -> str:
    """Return the contact sheet of a release's ladder as an SVG file.

    Of each rung the first instance is shown, with its reference answer.

    Args:
        release: it has a ladder, or is one.
        rungs: which, from left to right.
        workers: processes to draw in.

    Raises:
        ReleaseError: there is no ladder, or a picture cannot be drawn.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    ladder = release.ladder()
    experiment = ladder.manifest.experiment
    measures = experiment.measures if experiment else {}
    found = _cases(ladder, rungs)
    pictures = draw_each(found, draw_thumbnail, workers)
    block = len(rungs) * (_WIDE + _GAP)
    row = _NAME + _HIGH + _FOOT
    tasks = list(dict.fromkeys(case.task for case in found))
    width = _ACROSS * block + _GAP
    height = _HEAD + -(-len(tasks) // _ACROSS) * row
    parts = [_text(_GAP, 30, f"Rungs {', '.join(map(str, rungs))} of {ladder.version}", 18)]
    for i, task in enumerate(tasks):
        x, y = _GAP + i % _ACROSS * block, _HEAD + i // _ACROSS * row
        parts.append(_text(x, y + 17, f"{get_task(task).title}: {measures.get(task, '')}", 14))
    for case, data in zip(found, pictures, strict=True):
        i, rung = tasks.index(case.task), rung_of(case.instance_id) or 0
        x = _GAP + i % _ACROSS * block + rungs.index(rung) * (_WIDE + _GAP)
        y = _HEAD + i // _ACROSS * row + _NAME
        coded = base64.b64encode(data).decode()
        parts.append(
            f'<image x="{x}" y="{y}" width="{_WIDE}" height="{_HIGH}" '
            f'href="data:image/png;base64,{coded}"/>'
        )
        parts.append(_text(x + 4, y + _HIGH - 4, str(rung), 15))
    size = f'width="{width}" height="{height}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width} {height}">'
        f'<rect {size} fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


def _cases(ladder: Release, rungs: Sequence[int]) -> list[Case]:
    """Return the first instance of each of these rungs, of tasks that have pictures."""
    right = {ref.id: ref.answer for ref in ladder.references() if ref.kind == "reference"}
    found: dict[tuple[str, int], Case] = {}
    for row in ladder.instances().values():
        rung = rung_of(row.id) or 0
        if rung in rungs and row.id in right and draw_of(get_task(row.task)) is not None:
            case = Case(row.id, row.task, row.all_params, right[row.id])
            found.setdefault((row.task, rung), case)
    if not found:
        raise ReleaseError(f"{ladder.version} has none of the rungs {', '.join(map(str, rungs))}")
    return list(found.values())


def _text(x: int, y: int, words: str, size: int) -> str:
    font = f'font-family="{FONT}" font-size="{size}" font-weight="700" fill="{_INK}"'
    return f'<text x="{x}" y="{y}" {font}>{escape(words)}</text>'
