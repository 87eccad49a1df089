"""Corner patterns: what is listed, what is missing, and why a listed one does not belong."""

TASK = "topology_enumeration"


def test_the_key_numbers_the_corners_in_the_order_of_the_prompt(drawn, shapes):
    # Subtask 4 reads top left, bottom right, bottom left, top right.
    (panel,) = drawn(TASK, subtask=4).panels
    places = {t.text: (float(t.get("x")), float(t.get("y"))) for t in shapes(panel.view, "text")}
    (x1, y1), (x2, y2), (x3, y3), (x4, y4) = (places[str(i)] for i in (1, 2, 3, 4))
    assert x1 == x3 < x2 == x4
    assert y1 == y4 < y2 == y3
    assert len(shapes(panel.view, "polygon", "note")) == 3, "heads of three steps"
