"""Fresh cages over the whole parameter space, and the construction of the reference."""

import json

import numpy as np
import pytest

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.interlocking_parts import Space
from scbench.builders.interlocking_parts.cage import layout, parts_of
from scbench.builders.interlocking_parts.part_files import to_binary_stl
from scbench.catalog import get_task
from scbench.graders.interlocking_parts import cage_checks, core, side_bars
from scbench.scoring.judge import judge

TASK = get_task("interlocking_parts")
BUILDER = TASK.builder()


def fresh(seed, **parameters):
    case = BUILDER.case(Space(**parameters), seed)
    return TASK.params_model.model_validate(case.instance)


def as_stl(params):
    """Return the reference as STL."""
    return [
        {"fileContents": text, "fileType": "STL", "transform": matrix}
        for text, matrix in parts_of(params, layout(params), to_binary_stl)
    ]


@pytest.mark.parametrize(
    "parameters",
    [
        {"storeys": 2},
        {"side": 150, "gap": 25, "bar": 8, "rod": 3},
        {"bar": 16, "rod": 8, "side": 260, "storey": 300, "gap": 40},
        {"side": 350, "storey": 350, "storeys": 3, "gap": 60},
        {"rod": 3},
        {"side": 230, "vary": 40},
    ],
    ids=str,
)
def test_reference_solves_cages_of_all_sizes(parameters):
    for seed in range(2):
        params = fresh(seed, **parameters)
        parts = as_stl(params)
        verdicts = judge(TASK, params, {"parts": parts})
        assert [verdict.score for verdict in verdicts] == [1] * 9, params
        assert len(parts) == params.parts == 2 + 4 * parameters.get("storeys", 1)


@pytest.mark.parametrize(
    ("difference", "check"), [(-0.5, "rod_passes"), (1, "rods_gripped")]
)
def test_holes_for_other_rods_fail_if_cages_vary(difference, check):
    params = fresh(1, side=230, vary=40)
    rods = params.rods.model_copy(update={"free": params.rods.free + difference})
    parts = as_stl(params.model_copy(update={"rods": rods}))
    verdicts = judge(TASK, params, {"parts": parts})
    assert check in {c.id for verdict in verdicts for c in verdict.failed}


def test_impossible_parameters_are_reported():
    with pytest.raises(GenerationError, match="thinner rods"):
        fresh(0, bar=8, rod=8)


@pytest.mark.parametrize("bar", [8, 10, 11, 12, 16])
def test_high_and_floating_roofs_fail_different_checks(bar):
    params = BUILDER.draw(Space(bar=bar, side=250, rod=3), Stream("test", bar))
    counters = BUILDER.counter_references(params)
    for name, check in (
        ("roof_too_high", "outer_size"),
        ("roof_in_the_air", "one_assembly"),
    ):
        verdicts = judge(TASK, params, counters[name])
        assert check in {c.id for verdict in verdicts for c in verdict.failed}


def test_shown_parts_belong_to_the_reference():
    params = fresh(3, shown=4)
    right = BUILDER.reference(params).model_dump(mode="json")["parts"]
    before, _, after = BUILDER.prompt(params).partition("the 4 below")
    parts, _ = json.JSONDecoder().raw_decode(after[after.index("[") :])
    assert parts == right[:4]
    plain = params.model_copy(update={"shown": 0})
    assert before.split("SOME OF THE PARTS")[0].strip() in BUILDER.prompt(plain)
    assert BUILDER.measure(params) < BUILDER.measure(plain)


def test_prompt_states_limits_on_triangles_and_normals():
    words = " ".join(BUILDER.prompt(fresh(0)).split())
    assert f"triangles (total: {cage_checks._MAX_TRIANGLES:,})" in words
    assert f"(cosine > {side_bars._LEVEL:g})" in words


def test_parts_within_stated_limits_on_heights_have_a_core():
    heights, pairs = core.MOST_SLABS, 7_000
    words = " ".join(BUILDER.prompt(fresh(0)).split())
    assert f"{pairs:,} pairs of heights < {core.CUBE:g} apart" in words
    cube = round(1000 * core.CUBE)
    for step in (20, 50, 58, 100, 200, 401):
        # As many heights as the limits allow, evenly spaced.
        close = (cube - 1) // step
        count = min(heights, pairs // close if close else heights)
        spans = core.spans_between(step * np.arange(count))
        crossings = sum(span.last - span.first + 1 for span in spans)
        assert crossings <= core._MOST_CROSSINGS, step
