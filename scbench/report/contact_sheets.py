"""Contact sheets: pictures of many tasks side by side in one SVG file.

One kind shows a right and a wrong answer to every task, the other a few rungs of the
ladder.
"""

import base64
from collections.abc import Sequence
from html import escape

from scbench.base.errors import ReleaseError
from scbench.base.model import rung_of
from scbench.catalog import MANIFOLDS, Task, get_task
from scbench.release.load import Reference, Release, right_answers
from scbench.report.draw.colours import ROLES
from scbench.report.figures import answer_of
from scbench.report.gallery import (
    FONT,
    Case,
    Look,
    cases,
    draw_case,
    draw_each,
    draw_thumbnail,
)
from scbench.report.picture import draw_of

# Rungs on a contact sheet of the ladder.
RUNGS = (1, 4, 8)
# Font size of all text.
_LETTERS = 15
# Tasks in a row.
_ACROSS = 2
# Pixels of a thumbnail.
_CELL_WIDTH = 270
_CELL_HEIGHT = 220
# Pixels of a right or a wrong answer.
_ANSWER_WIDTH = 2.4 * _CELL_WIDTH
_ANSWER_HEIGHT = 2.4 * _CELL_HEIGHT
# Pixels between pictures, and of the heading, the name of a task and the space below it.
_GAP = 14
_HEAD = 48
_NAME = 26
_FOOT = 30


class ContactSheet:
    """A contact sheet under construction, with a heading."""

    def __init__(self, heading: str, *, dark: bool) -> None:
        self._parts: list[str] = []
        self._ink = ROLES["ink"][dark]
        self._paper = ROLES["paper"][dark]
        self.write(_GAP, 30, heading)

    def write(self, x: float, y: float, words: str) -> None:
        """Write words on the baseline y, starting at x."""
        self._parts.append(
            f'<text x="{x:g}" y="{y:g}" font-family="{FONT}" font-size="{_LETTERS}" '
            f'font-weight="700" fill="{self._ink}">{escape(words)}</text>'
        )

    def place(
        self, x: float, y: float, width: float, height: float, png: bytes
    ) -> None:
        """Place a picture in a rectangle."""
        data = base64.b64encode(png).decode()
        self._parts.append(
            f'<image x="{x:g}" y="{y:g}" width="{width:g}" height="{height:g}" '
            f'href="data:image/png;base64,{data}"/>'
        )

    def render(self, width: float, height: float) -> str:
        """Return the SVG file."""
        size = f'width="{width:g}" height="{height:g}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} viewBox="0 0 {width:g} {height:g}">'
            f'<rect {size} fill="{self._paper}"/>{"".join(self._parts)}</svg>\n'
        )


def contact_sheet(
    release: Release,
    rungs: Sequence[int] = RUNGS,
    workers: int = 1,
    *,
    dark: bool = False,
) -> str:
    """Return the contact sheet of a release's ladder as an SVG file, rungs from left to right.

    The sheet shows the first item of each rung with its reference answer.

    Raises:
        ReleaseError: there is no ladder, or a picture cannot be drawn.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    ladder = release.ladder()
    experiment = ladder.manifest.experiment
    measures = experiment.measures if experiment else {}
    look = Look(None, dark)
    to_draw = [case._replace(look=look) for case in rung_cases(ladder, rungs)]
    pictures = draw_each(to_draw, draw_thumbnail, workers)
    column = len(rungs) * (_CELL_WIDTH + _GAP)
    row = _NAME + _CELL_HEIGHT + _FOOT
    # The corner of each task.
    corners: dict[str, tuple[int, int]] = {}
    for case in to_draw:
        if case.task not in corners:
            i = len(corners)
            x = _GAP + i % _ACROSS * column
            y = _HEAD + i // _ACROSS * row
            corners[case.task] = (x, y)
    sheet = ContactSheet(
        f"Ladder of release {release.version}: rungs {listing(rungs)}", dark=dark
    )
    for task, (x, y) in corners.items():
        title = get_task(task).title
        sheet.write(x, y + 17, f"{title}: {measures.get(task, '')}")
    for case, png in zip(to_draw, pictures, strict=True):
        rung = rung_of(case.instance_id) or 0
        x, y = corners[case.task]
        x += rungs.index(rung) * (_CELL_WIDTH + _GAP)
        y += _NAME
        sheet.place(x, y, _CELL_WIDTH, _CELL_HEIGHT, png)
        sheet.write(x + 4, y + _CELL_HEIGHT - 4, str(rung))
    height = _HEAD + row_count(len(corners)) * row
    return sheet.render(_ACROSS * column + _GAP, height)


def rung_cases(ladder: Release, rungs: Sequence[int]) -> list[Case]:
    """Return the first item of each of these rungs, for tasks that have pictures.

    Raises:
        ReleaseError: there are no such items.
    """
    answers = right_answers(ladder.references())
    by_rung: dict[tuple[str, int], Case] = {}
    for row in ladder.instances().values():
        rung = rung_of(row.id) or 0
        if rung not in rungs or row.id not in answers:
            continue
        if draw_of(get_task(row.task)) is not None:
            case = Case(row.id, row.task, row.all_params, answers[row.id])
            by_rung.setdefault((row.task, rung), case)
    if not by_rung:
        raise ReleaseError(
            f"{ladder.version} has none of the rungs {', '.join(map(str, rungs))}"
        )
    return list(by_rung.values())


def right_and_wrong(release: Release, workers: int = 1, *, dark: bool = False) -> str:
    """Return a contact sheet of all tasks as an SVG file: for each, a right and a wrong answer.

    The wrong answer is the counterexample to the same item with the highest score below 1.

    Raises:
        ReleaseError: a picture cannot be drawn.
        ModuleNotFoundError: the extra ``report`` is not installed.
    """
    references = release.references()
    tasks = [get_task(name) for name in release.manifest.tasks]
    right = cases(tasks, list(release.instances().values()), references)
    look = Look(1.5, dark)
    to_draw: list[Case] = []
    for case in right:
        wrong = nearest_wrong(case, references)
        if wrong is not None:
            to_draw.append(case._replace(look=look))
            to_draw.append(case._replace(answer=wrong.answer, look=look))
    pictures = draw_each(to_draw, draw_case, workers)
    sheet = ContactSheet(
        f"Right and wrong answers, release {release.version}", dark=dark
    )
    column = _ANSWER_WIDTH + _GAP
    row = _ANSWER_HEIGHT + _NAME + _GAP
    for k, (case, png) in enumerate(zip(to_draw, pictures, strict=True)):
        # Right and wrong answers alternate.
        i, is_wrong = divmod(k, 2)
        x = _GAP + (i % _ACROSS * 2 + is_wrong) * column
        y = _HEAD + i // _ACROSS * row
        words = "a wrong answer" if is_wrong else case.instance_id
        sheet.write(x, y + 17, f"{get_task(case.task).title}: {words}")
        sheet.place(x, y + _NAME, _ANSWER_WIDTH, _ANSWER_HEIGHT, png)
    height = _HEAD + row_count(len(to_draw) // 2) * row
    return sheet.render(2 * _ACROSS * column + _GAP, height)


def nearest_wrong(case: Case, references: Sequence[Reference]) -> Reference | None:
    """Return the counterexample with the highest score below 1; None if a case has none."""
    task = get_task(case.task)
    counterexamples = [
        ref
        for ref in references
        if ref.id == case.instance_id and ref.kind != "reference"
    ]
    # The first of several with equal scores.
    return max(counterexamples, key=lambda ref: nearness(task, ref), default=None)


def nearness(task: Task, ref: Reference) -> tuple[bool, float, int]:
    """Rank wrong answers: drawable ones first, then by score, then by length."""
    length = len(ref.answer) if task.bucket != MANIFOLDS else 0
    return answer_of(task, ref.answer) is not None, ref.score, length


def row_count(tasks: int) -> int:
    """Return how many rows these tasks need, including a partly filled last row."""
    return -(-tasks // _ACROSS)


def listing(rungs: Sequence[int]) -> str:
    """Return rungs in words: "1, 4 and 8"."""
    words = [str(rung) for rung in rungs]
    if len(words) == 1:
        return words[0]
    return f"{', '.join(words[:-1])} and {words[-1]}"
