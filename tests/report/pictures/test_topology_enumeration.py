"""Corner patterns: what is listed, what is missing, and why a listed one does not belong."""

import pytest

from scbench.catalog import get_task

TASK = "topology_enumeration"


def test_the_key_numbers_the_corners_in_the_order_of_the_prompt(drawn, shapes):
    # Subtask 4 reads top left, bottom right, bottom left, top right.
    (panel,) = drawn(TASK, subtask=4).panels
    places = {t.text: (float(t.get("x")), float(t.get("y"))) for t in shapes(panel.view, "text")}
    (x1, y1), (x2, y2), (x3, y3), (x4, y4) = (places[str(i)] for i in (1, 2, 3, 4))
    assert x1 == x3 < x2 == x4
    assert y1 == y4 < y2 == y3
    assert len(shapes(panel.view, "polygon", "note")) == 3, "heads of three steps"


def test_a_pattern_that_does_not_force_is_drawn_with_its_classes_apart(drawn, shapes):
    picture = drawn(TASK, {"configs": [[0, 1, 0, 2]]}, subtask=2)
    listed, missing = (panel.view for panel in picture.panels[1:])
    assert not [c for c in shapes(listed, "circle", "ink") if c.get("r") == "5.5"]
    assert [t.text for t in shapes(listed, "text", "wrong")] == ["can stay apart"]
    assert len(shapes(listed, "rect", "wrong")) == 1
    assert len([r for r in shapes(missing, "rect", "missing") if r.get("stroke-dasharray")]) == 4
    assert dict(picture.legend).keys() == {"wrong", "missing"}


def test_polygons_have_as_many_corners_as_asked(drawn, shapes):
    task = get_task(TASK)
    for k in (5, 6):
        names = list("ABCDEF"[:k])
        params = task.params_model(n_classes=3, corner_order=names, known="x" + "?" * (k - 1))
        right = task.builder().reference(params).model_dump(mode="json")
        picture = drawn(TASK, {"configs": right["configs"][1:]}, params=params)
        assert "1 missing" in picture.caption
        tile = picture.panels[2].view
        assert len([c for c in shapes(tile, "circle", "paper") if c.get("r") == "7.5"]) == k
        assert "[" not in picture.text


@pytest.mark.parametrize(
    "configs",
    [
        [],
        [[10**5000, 0, 0, 0]],
        [[-1, -1, -1, -2], [0, 0, 0, 0, 1], [0, 1, 2, 3, 4, 5]],
        [[0, 1, 2, i] for i in range(1500)],
        [[0, 0, 1, 1]] * 100_000,
    ],
)
def test_hostile_answers(drawn, configs):
    picture = drawn(TASK, {"configs": configs})
    assert sum(len(panel.view.render("x")) for panel in picture.panels) < 300_000
    assert f"{len(configs)} pattern" in picture.caption
    assert ("first 60" in picture.caption) == (len(configs) > 60)
