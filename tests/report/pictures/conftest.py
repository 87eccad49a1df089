"""Golden drawings, and functions that inspect them."""

import os
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from drawn_parts import read_back
from pydantic import ValidationError

from scbench.catalog import get_task
from scbench.report.draw.colours import style_sheet
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Picture, draw_of
from scbench.scoring.judge import judge

GOLDEN = Path(__file__).parent / "golden"
RENEW = "SCBENCH_RENEW_GOLDEN"


def unstyled(text: str) -> str:
    return re.sub(r"<style>.*?</style>", "", text)


@pytest.fixture
def drawn() -> Callable[..., Picture]:
    """Draw an answer, given as JSON values, with the verdicts as a report reads them back.

    Without an answer, draw the instance alone. The parameters are those of a subtask of the fixed
    list, unless others are given.
    """

    def draw(
        task_id: str, answer: Any = ..., *, subtask: int = 0, params: Any = None
    ) -> Picture:
        task = get_task(task_id)
        if params is None:
            params = task.builder().paper()[subtask].params
        if answer is ...:
            return draw_of(task)(params, None, ())
        try:
            valid = task.answer_model.model_validate(answer)
        except ValidationError:
            valid = None
        verdicts = read_back(judge(task, params, answer))
        return draw_of(task)(params, valid, verdicts)

    return draw


@pytest.fixture
def answers() -> Callable[..., dict[str, Any]]:
    """Return the reference of a subtask, named ``right``, and its counter-references."""

    def find(task_id: str, subtask: int = 0) -> dict[str, Any]:
        builder = get_task(task_id).builder()
        params = builder.paper()[subtask].params
        right = builder.reference(params).model_dump(mode="json")
        return {"right": right, **builder.counter_references(params)}

    return find


def standing_alone(drawing: Drawing, label: str) -> str:
    """A drawing with a style sheet and a background, viewable as a file."""
    style = f"<style>{style_sheet()}</style>"
    text = drawing.render(label).replace(
        "<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ', 1
    )
    size = " ".join(re.findall(r'(?:width|height)="[^"]*"', text)[:2])
    paper = f'<rect {size} class="f-paper"/>'
    head = re.match(r"<svg [^>]*><title>[^<]*</title>(?=(<defs>.*?</defs>)?)", text)
    hatches = head[1] or ""
    return head[0] + style + hatches + paper + text[head.end() + len(hatches) :]


@pytest.fixture
def golden() -> Callable[[str, Drawing, str], None]:
    """Compare a drawing with the file of this name; renew it on request.

    Style sheets are not compared: they are the same in all drawings.
    """

    def compare(name: str, drawing: Drawing, label: str) -> None:
        text = standing_alone(drawing, label)
        path = GOLDEN / f"{name}.svg"
        if os.environ.get(RENEW):
            GOLDEN.mkdir(exist_ok=True)
            path.write_text(text + "\n", "utf-8")
        how = f"look at the new drawing, and if it is right run the test with {RENEW}=1"
        assert path.is_file(), f"there is no {path}: {how}"
        same = unstyled(path.read_text("utf-8").rstrip("\n")) == unstyled(text)
        assert same, f"the drawing is not that of {path}: {how}"

    return compare


@pytest.fixture
def shapes() -> Callable[..., list[ET.Element]]:
    """Find the shapes of a drawing by tag and by the role of stroke, fill or hatching."""

    def find(
        drawing: Drawing, tag: str, role: str = "", *, hatched: bool = False
    ) -> list[ET.Element]:
        found = ET.fromstring(drawing.render("x")).iter(tag)  # noqa: S314  (our own text)
        if hatched:
            return [
                shape for shape in found if shape.get("fill", "").endswith(f"-{role})")
            ]
        expected = {f"s-{role}", f"f-{role}"}
        return [
            s for s in found if not role or expected & set(s.get("class", "").split())
        ]

    return find
