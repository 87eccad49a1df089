"""Worlds after rain: lakes, leaks, visible water, fallen rock."""

import numpy as np
import pytest

from scbench.graders.fluid_simulation import columns_as_text
from scbench.report.draw.scene import Mesh, Scene
from scbench.report.pictures.fluid_simulation import cells_from_text
from scbench.schemas.fluid_simulation import Params

TASK = "fluid_simulation"

PIT = ((5, 5, 2), (7, 7, 2), "Air")


def world(goal, width=12):
    return Params.model_validate(
        {
            "width": width, "height": 6, "rock_layers": 3, "ground": (), "protected": (),
            "rain": ((width // 2, width // 2),), "max_boxes": None, "goal": goal,
        }
    )  # fmt: skip


def works(*boxes):
    return {
        "earthworks": [
            {"xyzMin": list(low), "xyzMax": list(high), "material": material}
            for low, high, material in boxes
        ]
    }


SURFACE = world({"kind": "lake_surface", "min_columns": 9})
HIDDEN = world({"kind": "hidden_water", "min_voxels": 4})


def view(picture, title):
    (found,) = (panel.view for panel in picture.panels if panel.title.startswith(title))
    return found


def meshes(picture, role):
    parts = view(picture, "after the rain").parts
    return [part for part in parts if isinstance(part, Mesh) and part.role == role]


def test_lake_is_drawn_where_the_water_is(drawn, golden, shapes):
    picture = drawn(TASK, works(PIT), params=SURFACE)
    maps = view(picture, "level by level")
    golden(f"{TASK}-right", maps, "A lake.")
    (water,) = shapes(maps, "path", "water")
    wide = 3 * maps.scale
    assert f"h{wide:g}v{wide:g}" in water.get("d")
    (mesh,) = meshes(picture, "water")
    # Only its surface can be seen.
    assert np.array_equal(mesh.points.min(axis=0), (5, 5, 3))
    assert np.array_equal(mesh.points.max(axis=0), (8, 8, 3))
    assert "columns of the widest lake: 9; at least 9" in picture.panels[-1].alt
    assert "111" in picture.text
    assert not any(isinstance(panel.view, Scene) for panel in picture.panels[1:])


def test_visible_water_is_hatched_and_pointed_at(drawn, golden, shapes):
    picture = drawn(TASK, works(((6, 6, 2), (6, 6, 2), "Air")), params=HIDDEN)
    maps = view(picture, "level by level")
    golden(f"{TASK}-wrong", maps, "Water can be seen.")
    (hatched,) = shapes(maps, "path", "wrong", hatched=True)
    assert hatched.get("d").count("M") == 1
    (ring,) = shapes(maps, "circle", "wrong")
    # The path begins with "Mx yh": the corner of the hatched cell.
    corner, _, _ = hatched.get("d").removeprefix("M").partition("h")
    x, y = map(float, corner.split())
    half = maps.scale / 2
    assert float(ring.get("cx")) == pytest.approx(x + half, abs=0.02)
    assert float(ring.get("cy")) == pytest.approx(y + half, abs=0.02)
    (mesh,) = meshes(picture, "wrong")
    assert np.array_equal(mesh.points.mean(axis=0), (6.5, 6.5, 3))
    assert "visible from above in 1 column." in picture.caption


def test_cells_are_restored_from_their_text():
    # Runs of 1, 2 and 13 equal columns.
    cells = np.zeros((4, 4, 5), dtype=bool)
    cells[0, 0, :3] = True
    cells[0, 1:3, 4] = True
    text = columns_as_text(cells)
    assert text == "07 10x2 00x13"
    assert np.array_equal(cells_from_text(text, 4, 5), cells)
