"""Plans that are the same whatever the goal."""

from pydantic import JsonValue

from scbench.builders.fluid_simulation.plans import Box, as_answer
from scbench.schemas.fluid_simulation import Params


def baselines(params: Params) -> dict[str, JsonValue]:
    """Return a pit in each quarter of the world, and one walled basin in its middle."""
    n, ground, top = params.width, params.rock_layers, params.height - 1
    middle, side = n // 2, max(1, n // 2 - 4)
    pits = [
        Box((x, y, 1), (x + side - 1, y + side - 1, ground - 1), "Air")
        for x in (2, middle + 1)
        for y in (2, middle + 1)
    ]
    half = min(5, middle)
    basin = [
        Box((middle - half,) * 2 + (ground,), (middle + half - 1,) * 2 + (top,), "Rock"),
        Box((middle - half + 1,) * 2 + (1,), (middle + half - 2,) * 2 + (top,), "Air"),
    ]
    plans = {"four pits": pits, "block with a basin": basin}
    return {name: as_answer(plan).model_dump(mode="json") for name, plan in plans.items()}
