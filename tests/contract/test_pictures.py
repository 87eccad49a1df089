"""Pictures of every task: items alone, right answers, and wrong answers."""

import html
import random
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from itertools import combinations, cycle
from typing import NamedTuple

import pytest
from contract import JUNK, items, lengthy, mutate
from drawn_parts import read_back
from pydantic import ValidationError

from scbench.catalog import SECONDS, available_tasks, get_task
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Picture, draw_of, is_marked, roles_in
from scbench.report.reasons import with_reasons
from scbench.scoring.judge import judge

TASKS = [task.id for task in available_tasks() if task.has("report.pictures")]
MOST_BYTES = 600_000
"""The limit for one flat panel; a report has hundreds."""
WRONG = 20
# The number of wrong answers for a task whose verdicts take seconds.
FEW_WRONG = 8
TEXT = re.compile(
    r'<text x="([-\d.]+)" y="([-\d.]+)" font-size="([\d.]+)" text-anchor="(\w+)" '
    r'class="halo [^"]*"(?: font-weight="700")?>([^<]*)<'
)


class PlacedText(NamedTuple):
    """The bounding box of a text in a flat drawing."""

    left: float
    top: float
    right: float
    bottom: float
    words: str

    def overlaps(self, other: "PlacedText") -> bool:
        """Return whether two texts overlap by more than one unit in both directions."""
        return (
            self.left < other.right - 1
            and other.left < self.right - 1
            and self.top < other.bottom - 1
            and other.top < self.bottom - 1
        )


def examine(picture: Picture) -> None:
    assert picture.panels
    assert picture.caption.strip()
    for panel in picture.panels:
        assert panel.title
        assert panel.alt
        if isinstance(panel.view, Drawing):
            text = panel.view.render(panel.alt)
            ET.fromstring(text)  # noqa: S314  (our own text; malformed XML raises)
            assert len(text) < MOST_BYTES
            assert not re.search(r"\b(?:nan|inf)\b", text)


@pytest.mark.parametrize("task_id", TASKS)
def test_every_item_has_a_picture(task_id):
    task = get_task(task_id)
    for item in task.builder().paper():
        examine(draw_of(task)(item.params, None, ()))


@pytest.mark.parametrize("task_id", TASKS)
def test_right_answers_have_pictures(task_id):
    task = get_task(task_id)
    builder = task.builder()
    items = builder.paper()
    if task.seconds > SECONDS:
        items = []  # its own tests draw short answers
    elif task.heavy:
        items = items[:3]
    else:
        items = items[:: len(items) // 3 or 1]
    for item in items:
        right = builder.reference(item.params).model_dump(mode="json")
        verdicts = read_back(judge(task, item.params, right))
        valid = task.answer_model.model_validate(right)
        picture = draw_of(task)(item.params, valid, verdicts)
        examine(picture)
        assert with_reasons(picture, valid, verdicts).panels == picture.panels


def wrong_answers(task) -> Iterator[tuple[object, object]]:
    """Yield counter-references, baselines, odd shapes, and mutated references."""
    every = items(task.id)
    known = every[:4] if task.heavy else every[:: max(1, len(every) // 4)]
    rng = random.Random(26)
    for params, _, counters in known[: 1 if lengthy(task) else 4]:
        for answer in rng.sample(list(counters.values()), k=min(len(counters), 3)):
            yield params, answer
    params, right, counters = known[0]
    for answer in task.builder().baselines(params).values():
        yield params, answer
    if lengthy(task):  # counter-references are short
        right = min(counters.values(), key=lambda answer: len(str(answer)))
    yield params, {key: [] for key in right}
    for junk in JUNK[:2]:
        yield params, junk
    for params, reference, _ in cycle(known):
        start = right if lengthy(task) else reference
        yield params, mutate({"it": start}, rng).get("it")


def draw_wrong(task, params, answer):
    """Draw a wrong answer; return pictures without and with reasons, and the validated answer.

    Assert that the picture marks a failure; return None if the answer is right.
    """
    verdicts = read_back(judge(task, params, answer))
    if all(verdict.score == 1 for verdict in verdicts):
        return None
    try:
        valid = task.answer_model.model_validate(answer)
    except ValidationError:
        valid = None
    bare = draw_of(task)(params, valid, verdicts)
    picture = with_reasons(bare, valid, verdicts)
    examine(picture)
    assert is_marked(picture), (answer, picture.caption)
    return bare, picture, valid


@pytest.mark.parametrize("task_id", TASKS)
def test_wrong_answers_show_where_they_fail(task_id):
    """Mark failures in colour where they have a place, otherwise in words."""
    task = get_task(task_id)
    most = FEW_WRONG if lengthy(task) else WRONG
    count = placed = fitting = 0
    for params, answer in wrong_answers(task):
        drawn = draw_wrong(task, params, answer)
        if drawn is None:
            continue
        bare, picture, valid = drawn
        if valid is None:
            assert (
                "Score 0" in picture.panels[0].alt
                or "criteria" in picture.panels[0].alt
            )
        else:
            fitting += 1
            placed += is_marked(bare)
        for panel in picture.panels:
            assert not overlaps(panel.view), panel.title
        roles = {entry.partition(" ")[0] for entry, _ in picture.legend}
        assert roles <= roles_in(picture)
        count += 1
        if count == most:
            break
    assert 4 * placed >= fitting, "many of them have a place"


def test_real_wrong_answers_show_where_they_fail(real_rows):
    builders = {}
    for prediction, expected in real_rows:
        task_id, _, number = prediction["id"].partition("/")
        task = get_task(task_id)
        if task.heavy or not task.has("report.pictures"):
            continue
        if expected["expected_score"] == 1:
            continue
        paper = builders.setdefault(task.id, task.builder().paper())
        draw_wrong(task, paper[int(number)].params, prediction.get("answer"))


def overlaps(view: object) -> list[tuple[str, str]]:
    """Return pairs of texts that overlap in a flat drawing."""
    if not isinstance(view, Drawing):
        return []
    placed = []
    for x, y, font_size, anchor, text in TEXT.findall(view.render("x")):
        words, size, bottom = html.unescape(text), float(font_size), float(y)
        width = 0.5 * size * len(words)
        left = float(x) - width * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        if words.strip():
            top = bottom - 0.72 * size
            placed.append(PlacedText(left, top, left + width, bottom, words))
    return [
        (one.words, other.words)
        for one, other in combinations(placed, 2)
        if one.overlaps(other)
    ]
