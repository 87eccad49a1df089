"""Packings: overlaps, wrong sizes, missing boxes and empty space are marked."""

import numpy as np
from drawn_parts import boxes_of, of

from scbench.report.draw.scene import Lines, Mesh
from scbench.schemas.pack_rectangular_prisms import Params, Prisms

TASK = "pack_rectangular_prisms"

CUBES = [((0, 0, 0), (2, 2, 2)), ((2, 0, 0), (4, 2, 2))]
LID = ((0, 0, 2), (4, 2, 3))


def two_kinds():
    """Two cubes of 2 and one box of 4 x 2 x 1."""
    lines = (Prisms(count=2, size=(2, 2, 2)), Prisms(count=1, size=(4, 2, 1)))
    return Params(prisms=lines, full_marks_percent=100)


def packing(*boxes):
    return {
        "boxes": [{"XyzMin": list(low), "XyzMax": list(high)} for low, high in boxes]
    }


def test_every_box_is_drawn_in_the_colour_of_its_size(drawn):
    picture = drawn(TASK, packing(*CUBES, LID), params=two_kinds())
    scene = picture.panels[0].view
    kinds = [part for part in scene.parts if isinstance(part, Mesh)]
    # The longest side stands upright: x of the answer is z of the picture.
    assert boxes_of(kinds[0]) == [([0, 0, 0], [2, 2, 2]), ([0, 0, 2], [2, 2, 4])]
    assert boxes_of(kinds[1]) == [([0, 2, 0], [2, 3, 4])]
    assert len({part.role for part in kinds} | {"wrong"}) == 3
    (frame,) = of(scene, Lines, "ink")
    assert np.concatenate(frame.paths).max(axis=0).tolist() == [2, 3, 4]
    assert (
        picture.caption
        == "3 boxes; they fill 100.00% of their box of 4 x 2 x 3; score 1."
    )
