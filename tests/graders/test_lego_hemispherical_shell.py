"""Brick shells: each rule at its limit, the score, hostile answers."""

import pytest
from bounds import a_minute_of_work, peak

from scbench.catalog import get_task
from scbench.graders.lego_hemispherical_shell import MAX_BRICKS
from scbench.schemas.lego_hemispherical_shell import Params
from scbench.scoring.judge import judge

TASK = get_task("lego_hemispherical_shell")
BUILDER = TASK.builder()
PAPER = [item.params for item in BUILDER.paper()]
# A target without strays: no hollow, and large enough for every brick here.
ROOM = Params(inner_radius_mm=0, outer_radius_mm=400, full_marks=0.65)
FIRST, SECOND, THIRD = (0, 0, 4.8, 90), (0, 0, 14.4, 180), (24, 0, 24, 0)
CROWDS = {
    "ten thousand almost in one place": lambda: [
        (50 + i % 100 / 9, i // 100 / 9, 4.8, i / 100) for i in range(10_000)
    ],
    "a hundred thousand": lambda: [(i % 70, i % 60, 4.8, i % 180) for i in range(100_000)],
    "a solid block": lambda: [
        (32 * (i % 20) - 320, 16 * (i // 20 % 40) - 320, 4.8 + 9.6 * (i // 800), 0)
        for i in range(20_000)
    ],
    "twenty thousand askew": lambda: [
        (30 * (i % 100) - 1500, 14 * (i // 100) - 1400, 4.8 + 9.6 * (i % 2), 7 * i)
        for i in range(20_000)
    ],
}  # fmt: skip
TOO_CROWDED = {"ten thousand almost in one place", "a hundred thousand"}


def answer(rows):
    bricks = []
    for x, y, z, turn in rows:
        bricks.append({"Centroid": [x, y, z], "RotationDegrees": turn})
    return {"bricks": bricks}


def verdict(rows, params=ROOM):
    (only,) = judge(TASK, params, answer(rows))
    return only


def failed(rows, params=ROOM):
    """Return the ids of failed checks, except the share of the volume."""
    checks = verdict(rows, params).checks
    return {check.id for check in checks if check.passed is False} - {"volume"}


def details(rows, check_id, params=ROOM):
    checks = {check.id: check for check in verdict(rows, params).checks}
    return checks[check_id].details


def built(params):
    bricks = BUILDER.reference(params).bricks
    return [(*brick.Centroid, brick.RotationDegrees) for brick in bricks]


def expected(is_fine, check):
    return set() if is_fine else {check}


@pytest.mark.parametrize(
    ("z", "good"),
    [(4.7, True), (4.69, False), (5.76, True), (5.77, False), (4.8, True), (0, False)],
)
def test_layers_have_a_tolerance(z, good):
    assert failed([(0, 0, z, 0)]) == expected(good, "layers")


@pytest.mark.parametrize("z", [13.44, 13.9, 14.4, 14.9, 15.36])
def test_bricks_snap_to_their_layers(z):
    assert failed([FIRST, (0, 0, z, 90)]) == set()
    assert failed([FIRST, (0, 0, 14.4, 90), (0, 0, z + 9.6, 90)]) == set()
    exact, off = verdict([FIRST, (0, 0, 14.4, 90)]), verdict([FIRST, (0, 0, z, 90)])
    assert off.score == exact.score
    assert off.metrics == exact.metrics


@pytest.mark.parametrize("layers", [2, 12])
def test_rounding_z_to_millimetres_changes_nothing(layers):
    tower = [(0, 0, 9.6 * layer + 4.8, 0) for layer in range(layers)]
    rounded = [(x, y, round(z), turn) for x, y, z, turn in tower]
    assert failed(rounded) == failed(tower)
    assert verdict(rounded).score == verdict(tower).score


@pytest.mark.parametrize(
    ("shift", "good"), [(0.0, True), (0.5, True), (0.51, False), (-0.5, True)]
)
def test_studs_may_be_off_by_half_a_millimetre(shift, good):
    assert failed([FIRST, (8 + shift, 8, 14.4, 90)]) == expected(good, "studs")
    assert failed([FIRST, (8, 8 + shift, 14.4, 90)]) == expected(good, "studs")


@pytest.mark.parametrize(
    ("turn", "good"), [(1, True), (1.01, False), (-1, True), (89, True), (271.5, False)]
)
def test_studs_may_be_off_by_one_degree(turn, good):
    assert failed([FIRST, (0, 0, 14.4, 90 + turn)]) == expected(good, "studs")


@pytest.mark.parametrize(("gap", "good"), [(15.97, True), (15.96, False), (16, True)])
def test_bricks_may_overlap_by_one_square_millimetre(gap, good):
    # Two bricks side by side along 32 mm: 0.03 mm of overlap are 0.96 square millimetres.
    rows = [(0, 0, 4.8, 0), (0, gap, 4.8, 0)]
    assert failed(rows) == expected(good, "overlap")


def test_contact_of_half_a_stud_square_joins():
    # Bricks square to each other share a strip along 32 mm, those end to end one along 16 mm.
    for shift, joined in ((15.6, False), (15.01, False), (15, True), (14.9, True)):
        assert ("support" in failed([FIRST, (shift, 0, 14.4, 90)])) is not joined
    for shift, joined in ((30.1, False), (30, True)):
        assert ("support" in failed([FIRST, (0, shift, 14.4, 90)])) is not joined
    assert failed([FIRST, (8, 24, 14.4, 90), (16, 24, 4.8, 90)]) == set()
    assert failed([(0, 0, 4.8, 0), (24, 8, 14.4, 0), (40, 8, 4.8, 0)]) == set()


def test_support_passes_up_and_down():
    column = [(0, 0, z, 0) for z in (4.8, 14.4, 24.0)]
    arm = (24, 0, 33.6, 0)
    hanging = (40, 0, 24.0, 0)
    on_top_of_it = (56, 0, 33.6, 0)
    counterweights = [(-24, 0, 33.6, 0), (-40, 0, 24.0, 0), (-56, 0, 33.6, 0)]
    structure = [*column, arm, hanging, on_top_of_it, *counterweights]
    assert failed(structure) == set()
    without_arm = [row for row in structure if row != arm]
    assert failed(without_arm) == {"support", "balance"}
    # Without the arm, the two bricks after it have no support.
    assert details(without_arm, "support")["offenders"] == [3, 4]


def test_unjoined_groups_fall():
    # Two stairs meet at the top, but no stud joins them.
    left = [(0, 0, 4.8, 0), (24, 0, 14.4, 0), (48, 0, 24.0, 0)]
    right = [(128 - x, 0, z, 0) for x, _, z, _ in left]
    assert failed([*left, *right]) == {"balance"}
    fallen = details([*left, *right], "balance")["offenders"]
    assert [(item["brick"], item["bricks"]) for item in fallen] == [(0, 3), (3, 3)]
    assert fallen[0]["outside_mm"] == 8
    # A brick across the top makes them an arch.
    assert failed([*left, *right, (64, 0, 33.6, 0)]) == set()


@pytest.mark.parametrize(
    ("shift", "good"), [(0.0, True), (0.003, True), (0.004, False)]
)
def test_centre_of_mass_may_be_a_micrometre_outside(shift, good):
    rows = [FIRST, SECOND, (24 + shift, 0, 24, 0)]
    assert failed(rows) == expected(good, "balance")


def test_strays_depend_on_rotation():
    params = Params(inner_radius_mm=40, outer_radius_mm=70, full_marks=0.65)
    assert failed([(0, 0, 4.8, 0)], params) == {"hollow"}
    assert failed([(20.2, 0, 4.8, 0)], params) == {"hollow"}
    assert failed([(20.2, 0, 4.8, 90)], params) == {"hollow"}
    assert failed([(24, 0, 4.8, 0)], params) == set()
    assert failed([(24, 0, 4.8, 90)], params) == {"hollow"}
    assert failed([(77.9, 0, 4.8, 90)], params) == set()
    assert failed([(78.1, 0, 4.8, 90)], params) == {"outside"}
    assert failed([(78.1, 0, 4.8, 0)], params) == set()
    # Straight above the shell.
    assert failed([(0, 0, 4.8 + 9.6 * 8, 0)], params) == {"outside", "support"}


def test_score_follows_volume_agreement():
    params = PAPER[0]
    rows = built(params)
    for part in (rows, rows[: len(rows) // 2], rows[: len(rows) // 2 + 20]):
        given = verdict(part, params)
        figures = given.metrics
        formula = figures["filled"] - (1 - figures["filled"] + figures["spill"]) / 2
        assert figures["agreement"] == pytest.approx(formula, abs=1e-8)
    strict = params.model_copy(update={"full_marks": 1.0})
    given = verdict(rows, strict)
    assert given.score == pytest.approx(given.metrics["agreement"], abs=1e-8)
    assert {check.id for check in given.failed} == {"volume"}
    assert verdict(rows, params).score == 1


@pytest.mark.parametrize("value", [-1e300, 1.7e308, 1e5, 10**300], ids=repr)
@pytest.mark.parametrize("place", range(4))
def test_huge_numbers_are_graded(value, place):
    row = [0, 0, 4.8, 0]
    row[place] = value
    given = verdict([row, FIRST, (99, 0, 4.8, 0)])
    if place < 3:
        assert given.score == 0
        wrong = "layers" if place == 2 and value < 0 else "outside"
        assert wrong in {check.id for check in given.failed}


@pytest.mark.parametrize("name", CROWDS)
def test_crowds_are_graded_or_rejected_with_little_time_and_memory(name):
    rows = CROWDS[name]()
    before = peak()
    with a_minute_of_work():
        given = verdict(rows, PAPER[7])
    assert given.score == 0
    assert peak() - before < 1_000_000  # KiB
    is_rejected = any(check.id == "resource_limit" for check in given.checks)
    assert is_rejected == (name in TOO_CROWDED)


def test_brick_limit_matches_prompt():
    assert f"scores 0:\n\n- {MAX_BRICKS:,} bricks;" in BUILDER.prompt(PAPER[0])
    rows = [FIRST] * (MAX_BRICKS + 1)
    assert failed(rows) == {"resource_limit"}
    assert failed(rows[1:]) == {"duplicates"}
