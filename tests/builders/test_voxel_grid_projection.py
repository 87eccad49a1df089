"""Voxel grids: fresh ones satisfy their parameters and are solved."""

import pytest
from pydantic import ValidationError

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.voxel_grid_projection import Space, TaskBuilder
from scbench.graders.voxel_grid_projection import grade
from scbench.schemas.voxel_grid_projection import Residue

BUILDER = TaskBuilder()
PARAMETERS = [
    {"size": 4, "spare": 3, "forbidden": "cells", "forbidden_cells": 1},
    {"size": 6, "spare": 60, "forbidden": "cells", "forbidden_cells": 40},
    {"size": 9, "spare": 60, "forbidden": "digit"},
    {"size": 11, "spare": 80, "forbidden": "residue"},
    {"size": 16, "spare": 3, "forbidden": "none"},
    {"size": 6, "spare": 60, "forbidden": "none", "connected": True},
    {"size": 32, "spare": 300, "forbidden": "digit"},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_fresh_grids_satisfy_their_parameters_and_are_solved(parameters):
    point = Space(**parameters)
    for seed in range(3):
        params = BUILDER.draw(point, Stream("voxels", seed))
        assert (params.size, params.cells) == (point.size, point.size**2 + point.spare)
        assert (params.forbidden_digit is not None) == (point.forbidden == "digit")
        assert (params.forbidden_residue is not None) == (point.forbidden == "residue")
        single = point.forbidden_cells if point.forbidden == "cells" else 0
        assert len(set(params.forbidden_cells)) == min(single, point.size**3 // 3)
        assert grade(params, BUILDER.reference(params)).score == 1
        counters = BUILDER.counter_references(params)
        for name in {"mirrored_in_x_and_y", "one_forbidden"} & counters.keys():
            if isinstance(counters[name], dict):
                assert len(counters[name]["voxels"]) == params.cells, name


def test_impossible_parameters_are_reported():
    for parameters in (
        {"size": 4, "spare": 33, "forbidden": "none"},
        {"size": 8, "connected": True, "forbidden": "none"},
        {"size": 8, "connected": True, "spare": 120},
    ):
        with pytest.raises(ValidationError):
            Space(**parameters)
    with pytest.raises(GenerationError, match="more spare cells"):
        BUILDER.draw(Space(size=4, spare=32, forbidden_cells=21), Stream("crowded"))
    with pytest.raises(ValidationError, match="below the modulus"):
        Residue(modulus=5, remainder=5)
