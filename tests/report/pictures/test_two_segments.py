"""A frame cut by two segments: regions as the grader counted them, and ends that were rejected."""

from collections import Counter

from scbench.catalog import get_task
from scbench.report.pictures.two_segments import KINDS, pieces
from scbench.scoring.judge import judge

TASK = "two_segments"


def test_regions_drawn_are_those_the_grader_counted():
    task = get_task(TASK)
    builder = task.builder()
    seen = 0
    for item in builder.paper():
        right = builder.reference(item.params).model_dump(mode="json")
        for answer in (right, *builder.counter_references(item.params).values()):
            (verdict,) = judge(task, item.params, answer)
            observed = verdict.metrics.get("observed")
            if observed:
                found = Counter(map(len, pieces(item.params, verdict.metrics["endpoints"])))
                assert found == Counter({KINDS[kind]: n for kind, n in observed.items() if n})
                seen += 1
    assert seen > 60


def test_each_region_carries_its_number_of_sides(drawn, shapes):
    # Both diagonals of the unit square make four triangles; asked for are 4 quadrilaterals.
    answer = {"segments": [[[0, 0], [1, 1]], [[1, 0], [0, 1]]]}
    picture = drawn(TASK, answer, subtask=4)
    cut, tally = (panel.view for panel in picture.panels)
    numbers = [t for t in shapes(cut, "text") if t.text == "3"]
    assert len(numbers) == 4
    centre = cut.at((0.5, 0.5))
    # Text stands a little below its place, so that it is centred.
    offsets = {
        (round(float(t.get("x")) - centre[0]), round(float(t.get("y")) - 6 - centre[1]))
        for t in numbers
    }
    third = round(cut.scale / 3)
    assert offsets == {(third, 0), (-third, 0), (0, third), (0, -third)}
    assert len(shapes(tally, "polygon", "missing")) == 4, "quadrilaterals that were not made"
    assert len(shapes(tally, "polygon", "wrong")) == 4, "triangles nobody wanted"
    assert "Made: 4 triangles; asked for: 4 quadrilaterals" in picture.caption
