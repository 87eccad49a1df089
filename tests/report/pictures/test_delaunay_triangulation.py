"""Points and triangles: missing ones are visible, however thin."""

import pytest

TASK = "delaunay_triangulation"


@pytest.mark.parametrize("subtask", [0, 3, 8])
def test_each_missing_triangle_is_outlined(drawn, answers, shapes, subtask):
    right = answers(TASK, subtask)["right"]["triangles"]
    for i in range(0, len(right), max(len(right) // 6, 1)):
        picture = drawn(
            TASK, {"triangles": right[:i] + right[i + 1 :]}, subtask=subtask
        )
        view = picture.panels[0].view
        (outline,) = shapes(view, "polygon", "missing")
        assert float(outline.get("stroke-width")) >= 2.5
        assert "1 missing" in picture.caption
        assert "missing" in dict(picture.legend)
