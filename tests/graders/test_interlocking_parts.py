"""Each of the nine criteria, on the paper's cage and on a small one."""

import math
import random
from functools import cache
from itertools import product

import numpy as np
import pytest
import shapely
from manifold3d import Manifold, Mesh64

from scbench.base.errors import CannotGrade
from scbench.base.model import Prediction, Status
from scbench.builders.interlocking_parts.cage import (
    layout,
    lifted,
    parts_of,
    plate,
    rim_of,
)
from scbench.builders.interlocking_parts.part_files import (
    to_ascii_stl,
    to_binary_stl,
    to_openscad,
    to_triangles,
)
from scbench.catalog import get_task
from scbench.graders.interlocking_parts.part_checks import VALIDITY_CHECKS
from scbench.machine import sandbox
from scbench.scoring.judge import judge
from scbench.scoring.outcomes import grade_prediction

TASK = get_task("interlocking_parts")
BUILDER = TASK.builder()
PAPER = BUILDER.paper()[0].params
# The corners of each side of a box; corners are numbered by x, then y, then z.
BOX_SIDES = [
    (0, 1, 3, 2),
    (4, 6, 7, 5),
    (0, 4, 5, 1),
    (2, 3, 7, 6),
    (0, 2, 6, 4),
    (1, 5, 7, 3),
]
RAISE = 11
"""The entry of a transform that moves a part in z."""


@cache
def small():
    """Return an item with a cage of six parts."""
    return TASK.params_model.model_validate(BUILDER.case(BUILDER.space(), 0).instance)


@cache
def right(params):
    """Return the parts of a right answer, as STL so that no child process is started."""
    plan = layout(params)
    return [
        {"fileContents": text, "fileType": "STL", "transform": list(matrix)}
        for text, matrix in parts_of(params, plan, to_binary_stl)
    ]


def verdicts_of(parts, params=None):
    return judge(TASK, params or small(), {"parts": parts})


def scores(parts, params=None) -> str:
    return "".join(f"{verdict.score:g}" for verdict in verdicts_of(parts, params))


def failed(parts, params=None) -> set[str]:
    """Return the ids of failed checks, except the gate."""
    verdicts = verdicts_of(parts, params)
    return {check.id for verdict in verdicts for check in verdict.failed} - {"gate"}


def with_part(i, **changes):
    parts = [dict(part) for part in right(small())]
    parts[i].update(changes)
    return parts


def check_of(check_id, parts, params=None):
    """Return the check with this id, from any of the verdicts."""
    for verdict in verdicts_of(parts, params):
        for check in verdict.checks:
            if check.id == check_id:
                return check
    raise AssertionError(check_id)


def message(check_id, parts, params=None) -> str:
    return check_of(check_id, parts, params).message


# ---- 0: valid parts ----


def test_wrong_number_of_parts_scores_0_but_is_checked():
    fewer = verdicts_of(right(small())[:-1])
    assert [verdict.score for verdict in fewer] == [0] * 9
    assert {check.id for verdict in fewer for check in verdict.failed} == {
        *("part_count", "gate", "cage", "slots"),
    }
    assert scores([*right(small()), right(small())[-1]]) == "000000000"


@pytest.mark.parametrize(
    ("entries", "why"),
    [
        ({0: 1.02}, "scales"), ({10: 0.98}, "perpendicular"), ({0: -1.0}, "mirrors"),
        ({1: 0.01}, "perpendicular"), ({12: 1e-9}, "last row"), ({15: 2.0}, "last row"),
        ({0: 0.0, 5: 0.0, 10: 0.0}, "perpendicular"),
    ],
)  # fmt: skip
def test_transforms_must_be_rigid(entries, why):
    matrix = list(lifted(0.0))
    for place, value in entries.items():
        matrix[place] = value
    parts = with_part(0, transform=matrix)
    assert scores(parts) == "000000000"
    assert why in message("rigid", parts)


def test_rotation_rounded_to_four_digits_is_rigid():
    turned = np.array(right(small())[2]["transform"]).reshape(4, 4)
    c, s = round(math.cos(0.3), 4), round(math.sin(0.3), 4)
    spin = np.array([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])
    parts = with_part(2, transform=(spin @ turned).ravel().tolist())
    assert "rigid" not in failed(parts)


@pytest.mark.parametrize("entry", [0, 3, 11])
@pytest.mark.parametrize("number", [-1e300, 10_001])
def test_distant_part_scores_0(number, entry):
    matrix = list(lifted(0.0))
    matrix[entry] = number
    assert scores(with_part(0, transform=matrix)) == "000000000"


def box(x0, y0, z0, x1, y1, z1):
    """Return the triangles of a box, two for each side."""
    corners = [(x, y, z) for x in (x0, x1) for y in (y0, y1) for z in (z0, z1)]
    triangles = []
    for a, b, c, d in BOX_SIDES:
        triangles.append([corners[a], corners[b], corners[c]])
        triangles.append([corners[a], corners[c], corners[d]])
    return triangles


def reversed_faces(triangles):
    return [triangle[::-1] for triangle in triangles]


# Of each mesh with a fault, the only check that fails.
@pytest.mark.parametrize(
    ("triangles", "check"),
    [
        (box(0, 0, 0, 40, 40, 10)[1:], "closed"),
        (box(0, 0, 0, 40, 40, 10) * 2, "closed"),
        (reversed_faces(box(0, 0, 0, 40, 40, 10)), "right_side_out"),
        # One reversed triangle.
        (
            reversed_faces(box(0, 0, 0, 40, 40, 10)[:1]) + box(0, 0, 0, 40, 40, 10)[1:],
            "closed",
        ),
        # Two boxes: apart, overlapping, meeting along an edge, and one as a void of the other.
        (box(0, 0, 0, 40, 40, 10) + box(50, 0, 0, 90, 40, 10), "one_body"),
        (box(0, 0, 0, 40, 40, 10) + box(20, 0, 0, 60, 40, 10), "one_body"),
        (box(0, 0, 0, 40, 40, 10) + box(40, 40, 0, 80, 80, 10), "closed"),
        (
            box(0, 0, 0, 40, 40, 10) + reversed_faces(box(10, 10, 3, 30, 30, 7)),
            "one_body",
        ),
    ],
)
def test_mesh_faults_fail_their_own_check(triangles, check):
    parts = with_part(0, fileContents=to_ascii_stl(triangles), fileType="STL")
    assert scores(parts) == "000000000"
    faults = failed(parts) & {"part_count", *VALIDITY_CHECKS}
    assert faults == {check}


def moved(part, by, entry):
    """Return a part with one entry of its transform changed."""
    matrix = list(part["transform"])
    matrix[entry] += by
    return {**part, "transform": matrix}


def with_second_part_raised(by):
    parts = list(right(small()))
    parts[1] = moved(parts[1], by, RAISE)
    return parts


# ---- 1: printing ----


def plate_boxes():
    return plate(small(), layout(small()))


def stl_part(piece, shift=0.0):
    return {
        "fileContents": to_binary_stl(piece, shift),
        "fileType": "STL",
        "transform": lifted(-shift),
    }


@pytest.mark.parametrize(
    ("shift", "fine"), [(0.1, True), (-0.1, True), (0.11, False), (-0.11, False)]
)
def test_lowest_point_must_be_on_the_bed(shift, fine):
    parts = with_part(0, **stl_part(plate_boxes(), shift))
    assert ("bed_level" not in failed(parts)) == fine
    assert scores(parts)[0] == "1"
    assert (scores(parts)[1] == "1") == fine


def test_part_too_large_for_the_bed_fails():
    params = small()
    bed = (max(params.inner) - 10, *params.printing.bed[1:])
    printing = params.printing.model_copy(update={"bed": bed})
    smaller_bed = params.model_copy(update={"printing": printing})
    assert failed(right(params), smaller_bed) == {"bed_size"}


@pytest.mark.parametrize(
    ("lug", "fine"),
    [
        ((0.0, 0.0, 20.0, 60.0, 40.0, 24.0), False),
        ((0.0, 0.0, 20.0, 60.0, 8.0, 24.0), True),  # a strip of 8 mm can be bridged
        ((0.0, 0.0, 20.0, 60.0, 8.01, 24.0), False),
    ],
)
def test_overhangs_are_measured_by_covering_strip(lug, fine):
    body = (-30, -30, 0, 0, 30, 22)
    leg = (0, 0, 0, 0.001, lug[4], 22)
    piece = plate_boxes()._replace(boxes=(body, lug, leg), holes=())
    found = failed(with_part(0, **stl_part(piece)))
    assert ("overhangs" not in found) == fine


def test_bed_contact_and_balance(monkeypatch):
    stub = plate_boxes()._replace(
        boxes=((0, 0, 0, 20, 20, 5), (0, 0, 5, 8, 100, 9)), holes=()
    )
    found = failed(with_part(0, **stl_part(stub)))
    assert {"bed_contact", "balance"} <= found  # 400 mm², and the arm pulls it over
    broad = stub._replace(boxes=((0, 0, 0, 25, 20, 5), (0, 0, 5, 8, 30, 9)))
    parts = with_part(0, **stl_part(broad))
    assert not {"bed_contact", "balance"} & failed(parts)  # 500 mm² are enough
    monkeypatch.setattr("scbench.graders.interlocking_parts.columns.MAX_OUTLINE", 3)
    parts = with_part(0, **stl_part(broad, 0.01))
    assert message("resource_limit", parts) == "The outline of part 0 is too long."


# ---- 2 to 8 ----


def test_gaps_are_checked_at_every_position():
    full = plate_boxes()
    solid = full._replace(boxes=((-100.0, -100.0, 0.0, 100.0, 100.0, 10.0),))
    assert "gap_wide_enough" in failed(with_part(0, **stl_part(solid)))
    # Two missing bars leave one hole, which a fixed set of positions could miss.
    rim = set(rim_of(full.boxes, layout(small()).reach))
    inner = [bar for bar in full.boxes if bar not in rim]
    for missing, is_too_wide in ((inner[:1], False), (inner[:2], True)):
        left = tuple(bar for bar in full.boxes if bar not in missing)
        found = failed(with_part(0, **stl_part(full._replace(boxes=left))))
        assert ("gap_narrow_enough" in found) == is_too_wide


def test_rods_need_holes_of_the_right_size():
    piece, rod = plate_boxes(), small().rods.free
    thin = piece._replace(radius=rod / 2 - 0.05)
    assert failed(with_part(0, **stl_part(thin))) == {"rod_passes"}
    exact = piece._replace(radius=rod / 2 + 0.01)
    assert failed(with_part(0, **stl_part(exact))) == set()
    # Moved by 40 mm in x, no part has a hole at the rods.
    away = [moved(part, 40, 3) for part in right(small())]
    assert {"nut_held", "rods_gripped"} <= failed(away)


def test_part_without_rods_is_not_held():
    # Holes wider than the bars leave nothing around the rods, but nuts still do not pass.
    wide = plate_boxes()._replace(radius=small().bar / 2 + 1)
    parts = with_part(0, **stl_part(wide))
    assert {"held", "rods_gripped"} <= failed(parts)
    assert "nut_held" not in failed(parts)
    assert scores(parts)[3:7] == "0000"
    assert scores(parts)[8] == "0"
    assert message("held", parts) == "Part 0 goes all the way around only 0 rods."


def with_inner_bars(width):
    """Return the right parts, with the inner bars of one plate this wide."""
    full = plate_boxes()
    rim = set(rim_of(full.boxes, layout(small()).reach))
    boxes = []
    for x0, y0, z0, x1, y1, z1 in full.boxes:
        if (x0, y0, z0, x1, y1, z1) in rim:
            boxes.append((x0, y0, z0, x1, y1, z1))
        elif x1 - x0 < y1 - y0:
            x = (x0 + x1) / 2
            boxes.append((x - width / 2, y0, z0, x + width / 2, y1, z1))
        else:
            y = (y0 + y1) / 2
            boxes.append((x0, y - width / 2, z0, x1, y + width / 2, z1))
    return with_part(0, **stl_part(full._replace(boxes=tuple(boxes))))


@pytest.mark.parametrize(
    ("width", "checks"),
    [(0.5, {"slots"}), (9.6, set()), (10.4, set()), (26, {"straps"})],
    ids=["0.5", "9.6", "10.4", "26"],
)
def test_bar_width_limits(width, checks):
    assert failed(with_inner_bars(width)) & {"slots", "straps"} == checks


def test_parts_may_touch_but_not_overlap():
    lower = with_second_part_raised(-0.001)
    assert "interference" not in failed(lower)  # 1 mm³ is tolerated
    parts = with_second_part_raised(-0.201)
    assert failed(parts) == {"interference"}
    offenders = check_of("interference", parts).details["offenders"]
    assert [item["parts"] for item in offenders] == [[1, i] for i in range(2, 6)]
    # Move part 2 so that the overlap ends just below x = 0.
    parts[2] = moved(parts[2], -0.0005 - offenders[0]["high"][0], 3)
    offenders = check_of("interference", parts).details["offenders"]
    assert str(offenders[0]["high"][0]) == "0.0", "and not -0.0"


# ---- The cage and its assembly ----


@pytest.mark.parametrize(
    ("gap", "expected"),
    [(2.0, "111111111"), (2.01, "111110111")],
    ids=["2.0", "2.01"],
)
def test_parts_within_2_mm_touch(gap, expected):
    assert scores(with_second_part_raised(gap)) == expected


def sheet_with_windows(params, piece, reach, windows):
    """Return the STL of a part, filled to a sheet with square windows."""
    triangles = to_triangles(piece).reshape(-1, 3)
    points, corners = np.unique(triangles, axis=0, return_inverse=True)
    body = Manifold(Mesh64(points, corners.reshape(-1, 3).astype(np.uint64)))
    boxes = np.array(piece.boxes)
    x = reach - params.bar / 2
    low = boxes[:, 1].min() + params.bar / 2
    high = boxes[:, 4].max() - params.bar / 2
    body += Manifold.cube((2 * x, high - low, params.bar)).translate((-x, low, 0))
    across, along = windows
    if piece.upright:
        along = across
    side = params.spacing.free + 20
    tool = Manifold.cube((side, side, 3 * params.bar), center=True)
    for i, j in product(range(across), range(along)):
        window_x = 2 * x * (i + 0.5) / across - x
        window_y = low + (high - low) * (j + 0.5) / along
        body -= tool.translate((window_x, window_y, 0))
    mesh = body.as_original().simplify(1e-5).to_mesh64()
    return to_ascii_stl(np.asarray(mesh.vert_properties)[:, :3][mesh.tri_verts])


def sheets(params, windows):
    """Return the right parts, filled to sheets with square windows."""
    plan = layout(params)

    def write(piece):
        return sheet_with_windows(params, piece, plan.reach, windows)

    return [
        {"fileContents": text, "fileType": "STL", "transform": list(matrix)}
        for text, matrix in parts_of(params, plan, write)
    ]


def test_sheets_with_small_windows_are_not_a_cage():
    parts = sheets(PAPER, (3, 3))
    assert "sweeps too little of the" in message("cage", parts, PAPER)


def test_pairs_of_parts_are_counted_once():
    parts = right(small())
    [pairs] = [
        one.metrics["pairs"] for one in verdicts_of(parts) if "pairs" in one.metrics
    ]
    assert pairs == math.comb(len(parts), 2)


def test_stop_rule_of_the_paper_is_a_metric():
    def stopped(parts):
        return verdicts_of(parts)[0].metrics["stop_rule"]

    assert stopped(right(small())) == 1
    assert stopped(right(small())[:-1]) == 0
    # The parts are 3 mm apart, so the sixth criterion fails.
    assert stopped(with_second_part_raised(3)) == round(5 / 9, 6)


def side_layers(params):
    """Return the layers of the cage's six sides, each as axis, lowest and highest value."""
    empty, outer = params.empty, params.outer
    layers = [(2, outer.z[0], empty.z[0]), (2, empty.z[1], outer.z[1])]
    for axis in (0, 1):
        near, far = empty.sides[axis] / 2, outer.sides[axis] / 2
        layers += [(axis, near, far), (axis, -far, -near)]
    return layers


def boxes_in_place(pieces, places):
    """Return the boxes of placed parts as lowest and highest corners."""
    placed = []
    for piece, matrix in zip(pieces, places, strict=True):
        corners = np.array(piece.boxes).reshape(-1, 2, 3)
        ends = corners @ np.array(matrix).reshape(4, 4)[:3, :3].T
        shift = np.array(matrix).reshape(4, 4)[:3, 3]
        placed.append((ends.min(axis=1) + shift, ends.max(axis=1) + shift))
    return placed


def is_grid(params, placed):
    """Return whether each side blocks the large block and lets the small one through all over."""
    x, y, z = params.inner
    ends = [(-x / 2, x / 2), (-y / 2, y / 2), (params.bar, params.bar + z)]
    low = np.concatenate([part_low for part_low, _ in placed])
    high = np.concatenate([part_high for _, part_high in placed])
    for axis, bottom, top in side_layers(params):
        in_layer = (low[:, axis] < top) & (high[:, axis] > bottom)
        plane = [k for k in range(3) if k != axis]
        bars = (low[in_layer][:, plane], high[in_layer][:, plane])
        whole = [ends[k] for k in plane]
        _, large_hits = hits(*bars, whole, params.spacing.blocked)
        if not large_hits.all() or not has_openings_all_over(params, bars, whole):
            return False
    return True


def hits(low, high, whole, side):
    """Return the cuts along two axes, and whether a square between cuts hits a rectangle.

    The edges of the rectangles say where the square starts and stops hitting one, so one
    position between each two neighbouring cuts represents all positions between them.
    """
    cuts = []
    for k in range(2):
        edges = np.concatenate([low[:, k] - side / 2, high[:, k] + side / 2, whole[k]])
        cuts.append(np.unique(np.clip(np.round(edges, 6), *whole[k])))
    middles = [(edges[1:] + edges[:-1]) / 2 for edges in cuts]
    a, b = np.meshgrid(*middles, indexing="ij")
    hit = np.zeros(a.shape, dtype=bool)
    for (x0, y0), (x1, y1) in zip(low, high, strict=True):
        hits_x = abs(a - (x0 + x1) / 2) < (x1 - x0 + side) / 2
        hits_y = abs(b - (y0 + y1) / 2) < (y1 - y0 + side) / 2
        hit |= hits_x & hits_y
    return cuts, hit


def has_openings_all_over(params, bars, whole):
    """Return whether the small block passes near every point, and sweeps half of the side."""
    side = params.spacing.free
    (cuts_x, cuts_y), hit = hits(*bars, whole, side)
    i, j = np.nonzero(~hit)
    spans = [(cuts_x[i], cuts_x[i + 1]), (cuts_y[j], cuts_y[j + 1])]
    if not covers(spans, whole, params.gap[1] + params.bar):
        return False
    swept = [(first - side / 2, last + side / 2) for first, last in spans]
    return covered_share(swept, whole) >= 0.5


def covers(spans, whole, by):
    """Return whether rectangles, grown by a margin on all sides, cover a rectangle."""
    grown = [(low - by, high + by) for low, high in spans]
    middles = []
    for (low, high), (start, end) in zip(grown, whole, strict=True):
        edges = np.concatenate([low, high, [start, end]])
        edges = np.unique(np.clip(edges, start, end))
        middles.append((edges[1:] + edges[:-1]) / 2)
    (left, right_end), (near, far) = grown
    for a, b in product(*middles):
        is_inside = (left < a) & (a < right_end) & (near < b) & (b < far)
        if not is_inside.any():
            return False
    return True


def covered_share(spans, whole):
    """Return how much of a rectangle some rectangles cover."""
    (x0, x1), (y0, y1) = whole
    (left, right_end), (near, far) = spans
    area = shapely.union_all(shapely.box(left, near, right_end, far))
    rectangle = shapely.box(x0, y0, x1, y1)
    return shapely.area(shapely.intersection(area, rectangle)) / rectangle.area


def distance(one, other):
    """Return the least distance between the boxes of two parts."""
    (low, high), (other_low, other_high) = one, other
    below = other_low[None] - high[:, None]
    above = low[:, None] - other_high[None]
    gaps = np.maximum(0, np.maximum(below, above))
    return np.linalg.norm(gaps, axis=2).min()


def is_one_assembly(params, placed):
    """Return whether all parts are reached in steps of at most the touching distance."""
    reached, waiting = {0}, [0]
    while waiting:
        here = placed[waiting.pop()]
        for i, part in enumerate(placed):
            if i not in reached and distance(here, part) <= params.touch:
                reached.add(i)
                waiting.append(i)
    return len(reached) == len(placed)


@pytest.mark.parametrize("seed", range(6))
def test_cage_and_assembly_match_second_grader(seed):
    rng = random.Random(seed)
    params = small()
    pieces, places = [], []
    for piece, matrix in parts_of(params, layout(params), lambda piece: piece):
        boxes, place = list(piece.boxes), list(matrix)
        if rng.random() < 0.3:
            del boxes[rng.randrange(len(boxes))]
        if rng.random() < 0.3:
            entry = rng.choice((3, 7, 11))
            place[entry] += rng.choice((-25, -3, -1, 1, 1.5, 3, 9, 25))
        pieces.append(piece._replace(boxes=tuple(boxes)))
        places.append(place)
    if seed % 4 == 3:
        missing = rng.randrange(len(pieces))
        del pieces[missing], places[missing]
    parts = []
    for piece, place in zip(pieces, places, strict=True):
        stl = to_binary_stl(piece)
        parts.append({"fileContents": stl, "fileType": "STL", "transform": place})
    placed, found = boxes_in_place(pieces, places), failed(parts)
    assert ("cage" not in found) == is_grid(params, placed)
    assert ("one_assembly" not in found) == is_one_assembly(params, placed)


@pytest.mark.parametrize(
    ("wider", "fine"), [(0.4, True), (0.6, False), (-0.4, True), (-0.6, False)]
)
def test_bars_must_have_required_thickness(wider, fine):
    by = wider / 2
    boxes = []
    for x0, y0, z0, x1, y1, z1 in plate_boxes().boxes:
        if x1 - x0 < y1 - y0:
            boxes.append((x0 - by, y0, z0, x1 + by, y1, z1))
        else:
            boxes.append((x0, y0 - by, z0, x1, y1 + by, z1))
    parts = with_part(0, **stl_part(plate_boxes()._replace(boxes=tuple(boxes))))
    assert ("thickness" not in failed(parts)) == fine


# ---- Formats of parts ----


def test_programs_are_not_run_unless_allowed():
    parts = with_part(
        0, fileContents="print('cube(1);')", fileType="Python Generating OpenSCAD"
    )
    with pytest.raises(CannotGrade, match="--allow-code"):
        verdicts_of(parts)
    prediction = Prediction(id="interlocking_parts/00", answer={"parts": parts})
    outcome = grade_prediction(prediction, TASK, small())
    assert outcome.status is Status.NOT_RUN
    assert "--allow-code" in outcome.reason


@pytest.mark.skipif(
    sandbox.strongest() == "rlimits",
    reason="no full sandbox on this machine (Debian: bubblewrap)",
)
def test_programs_make_parts_if_allowed(monkeypatch):
    monkeypatch.setattr(sandbox, "_allowed", True)
    text = to_openscad(plate_boxes())
    parts = with_part(
        0, fileContents=f"print({text!r})", fileType="Python Generating OpenSCAD"
    )
    assert scores(parts) == "111111111"
