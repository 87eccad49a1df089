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


def message(check_id, parts, params=None) -> str:
    return next(
        c.message
        for v in verdicts_of(parts, params)
        for c in v.checks
        if c.id == check_id
    )


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
    matrix = list(right(small())[2]["transform"])
    turned = np.array(matrix).reshape(4, 4)
    angle = np.round([np.cos(0.3), np.sin(0.3)], 4)
    spin = np.array(
        [
            [angle[0], -angle[1], 0, 0],
            [angle[1], angle[0], 0, 0],
            [0, 0, 1, 0],
            [0, 0, 0, 1],
        ]
    )
    assert "rigid" not in failed(
        with_part(2, transform=(spin @ turned).ravel().tolist())
    )


@pytest.mark.parametrize("entry", [0, 3, 11])
@pytest.mark.parametrize("number", [-1e300, 10_001])
def test_distant_part_scores_0(number, entry):
    matrix = list(lifted(0.0))
    matrix[entry] = number
    assert scores(with_part(0, transform=matrix)) == "000000000"


def box(x0, y0, z0, x1, y1, z1):
    corners = [(x, y, z) for x in (x0, x1) for y in (y0, y1) for z in (z0, z1)]
    sides = [
        (0, 1, 3, 2),
        (4, 6, 7, 5),
        (0, 4, 5, 1),
        (2, 3, 7, 6),
        (0, 2, 6, 4),
        (1, 5, 7, 3),
    ]
    three = [(a, b, c) for a, b, c, _ in sides] + [(a, c, d) for a, _, c, d in sides]
    return [[corners[i] for i in corner] for corner in three]


@pytest.mark.parametrize(
    ("triangles", "check"),
    [
        (box(0, 0, 0, 40, 40, 10)[1:], "closed"),
        (box(0, 0, 0, 40, 40, 10) * 2, "closed"),
        ([t[::-1] for t in box(0, 0, 0, 40, 40, 10)], "right_side_out"),
        ([box(0, 0, 0, 40, 40, 10)[0][::-1], *box(0, 0, 0, 40, 40, 10)[1:]], "closed"),
        (box(0, 0, 0, 40, 40, 10) + box(50, 0, 0, 90, 40, 10), "one_body"),
        (box(0, 0, 0, 40, 40, 10) + box(20, 0, 0, 60, 40, 10), "one_body"),
        (
            box(0, 0, 0, 40, 40, 10) + box(40, 40, 0, 80, 80, 10),
            "closed",
        ),  # along an edge
        (
            box(0, 0, 0, 40, 40, 10) + [t[::-1] for t in box(10, 10, 3, 30, 30, 7)],
            "one_body",
        ),  # a hollow
    ],
)
def test_mesh_faults_fail_their_own_check(triangles, check):
    parts = with_part(0, fileContents=to_ascii_stl(triangles), fileType="STL")
    assert scores(parts) == "000000000"
    faults = failed(parts) & {"part_count", *VALIDITY_CHECKS}
    assert faults == {check}


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
    assert failed(right(params), params.model_copy(update={"printing": printing})) == {
        "bed_size"
    }


@pytest.mark.parametrize(
    ("lug", "check"),
    [
        ((0, 0, 20, 60, 40, 24), "overhangs"),  # a wide overhang on one leg
        ((0, 0, 20, 60, 8, 24), None),  # a strip of 8 mm can be bridged
        ((0, 0, 20, 60, 8.01, 24), "overhangs"),
    ],
)
def test_overhangs_are_measured_by_covering_strip(lug, check):
    leg = (0, 0, 0, 0.001, lug[4], 22)
    piece = plate_boxes()._replace(
        boxes=((-30, -30, 0, 0, 30, 22), tuple(float(x) for x in lug), leg), holes=()
    )
    found = failed(with_part(0, **stl_part(piece)))
    assert ("overhangs" in found) == (check == "overhangs")


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
    inner = [b for b in full.boxes if b not in rim]
    for gone in ((inner[0],), (inner[0], inner[1])):
        left = tuple(b for b in full.boxes if b not in gone)
        found = failed(with_part(0, **stl_part(full._replace(boxes=left))))
        assert ("gap_narrow_enough" in found) == (len(gone) == 2)


def test_rods_need_holes_of_the_right_size():
    piece, rod = plate_boxes(), small().rods.free
    thin = piece._replace(radius=rod / 2 - 0.05)
    assert failed(with_part(0, **stl_part(thin))) == {"rod_passes"}
    exact = piece._replace(radius=rod / 2 + 0.01)
    assert failed(with_part(0, **stl_part(exact))) == set()
    away = [
        {
            **part,
            "transform": [
                v + (40 if k == 3 else 0) for k, v in enumerate(part["transform"])
            ],
        }
        for part in right(small())
    ]
    assert {"nut_held", "rods_gripped"} <= failed(away)


def test_part_without_rods_is_not_held():
    # Holes wider than the bars leave nothing around the rods, but nuts still do not pass.
    wide = plate_boxes()._replace(radius=small().bar / 2 + 1)
    parts = with_part(0, **stl_part(wide))
    assert {"held", "rods_gripped"} <= failed(parts)
    assert "nut_held" not in failed(parts)
    assert scores(parts)[3:7] == "0000"
    assert scores(parts)[8] == "0"
    assert message("held", parts) == "Part 0 goes all the way around 0 rods."


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
    ("width", "check"), [(0.5, "slots"), (9.6, ""), (10.4, ""), (26, "straps")]
)
def test_bar_width_limits(width, check):
    found = failed(with_inner_bars(width)) & {"slots", "straps"}
    assert found == ({check} if check else set())


def test_parts_may_touch_but_not_overlap():
    matrix = list(right(small())[1]["transform"])
    matrix[11] -= 0.001
    assert "interference" not in failed(
        with_part(1, transform=matrix)
    )  # 1 mm³ is tolerated
    matrix[11] -= 0.2
    parts = with_part(1, transform=matrix)
    assert failed(parts) == {"interference"}
    check = next(
        c for v in verdicts_of(parts) for c in v.checks if c.id == "interference"
    )
    assert [item["parts"] for item in check.details["offenders"]] == [
        [1, i] for i in range(2, 6)
    ]
    parts[2] = raised(parts[2], -0.0005 - check.details["offenders"][0]["high"][0], 3)
    check = next(
        c for v in verdicts_of(parts) for c in v.checks if c.id == "interference"
    )
    assert str(check.details["offenders"][0]["high"][0]) == "0.0", "and not -0.0"


# ---- The cage and its assembly ----


def raised(part, by, entry=11):
    matrix = list(part["transform"])
    matrix[entry] += by
    return {**part, "transform": matrix}


@pytest.mark.parametrize(("gap", "fine"), [(2.0, True), (2.01, False)])
def test_parts_within_2_mm_touch(gap, fine):
    parts = [
        part if i != 1 else raised(part, gap) for i, part in enumerate(right(small()))
    ]
    assert scores(parts) == ("111111111" if fine else "111110111")


def sheets(params, windows):
    """Return the right parts, filled to sheets with square windows."""
    plan = layout(params)

    def write(piece):
        triangles = to_triangles(piece).reshape(-1, 3)
        points, corners = np.unique(triangles, axis=0, return_inverse=True)
        boxes = np.array(piece.boxes)
        x, y = (plan.reach - params.bar / 2, boxes[:, 4].max() - params.bar / 2)
        low = boxes[:, 1].min() + params.bar / 2
        body = Manifold(Mesh64(points, corners.reshape(-1, 3).astype(np.uint64)))
        body += Manifold.cube((2 * x, y - low, params.bar)).translate((-x, low, 0))
        across, along = windows if not piece.upright else (windows[0], windows[0])
        side = params.spacing.free + 20
        tool = Manifold.cube((side, side, 3 * params.bar), center=True)
        for i, j in product(range(across), range(along)):
            at = (2 * x * (i + 0.5) / across - x, low + (y - low) * (j + 0.5) / along)
            body -= tool.translate((*at, 0))
        mesh = body.as_original().simplify(1e-5).to_mesh64()
        return to_ascii_stl(np.asarray(mesh.vert_properties)[:, :3][mesh.tri_verts])

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
    apart = [
        part if i != 1 else raised(part, 3) for i, part in enumerate(right(small()))
    ]
    assert stopped(apart) == round(5 / 9, 6)


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
    """Return whether each side blocks the large block and lets the small one through all over.

    Where a block starts or ceases to be stopped is known from the boxes' edges, so that one place
    between each two neighbouring ones stands for all.
    """
    window = params.gap[1] + params.bar
    (x, y, z), empty, outer = params.inner, params.empty, params.outer
    ends = [(-x / 2, x / 2), (-y / 2, y / 2), (params.bar, params.bar + z)]
    layers = [(2, outer.z[0], empty.z[0]), (2, empty.z[1], outer.z[1])]
    for axis in (0, 1):
        near, far = empty.sides[axis] / 2, outer.sides[axis] / 2
        layers += [(axis, near, far), (axis, -far, -near)]
    low, high = (np.concatenate([part[k] for part in placed]) for k in (0, 1))
    for axis, bottom, top in layers:
        u, v = (k for k in range(3) if k != axis)
        inside = (low[:, axis] < top) & (high[:, axis] > bottom)
        for side, stopped in (
            (params.spacing.blocked, True),
            (params.spacing.free, False),
        ):
            tries, cuts = [], []
            for k in (u, v):
                edges = [
                    *(low[inside, k] - side / 2),
                    *(high[inside, k] + side / 2),
                    *ends[k],
                ]
                edges = np.unique(np.clip(np.round(edges, 6), *ends[k]))
                tries.append((edges[1:] + edges[:-1]) / 2)
                cuts.append(edges)
            a, b = (grid.ravel() for grid in np.meshgrid(*tries))
            hit = np.zeros(len(a), dtype=bool)
            for p, q in zip(low[inside], high[inside], strict=True):
                hit |= (abs(a - (p[u] + q[u]) / 2) < (q[u] - p[u] + side) / 2) & (
                    abs(b - (p[v] + q[v]) / 2) < (q[v] - p[v] + side) / 2
                )
            if hit.all() != stopped:
                return False
            if not stopped:
                i, j = np.nonzero(~hit.reshape(len(tries[1]), len(tries[0])).T)
                spans = [(cuts[0][i], cuts[0][i + 1]), (cuts[1][j], cuts[1][j + 1])]
                if not covers(spans, [ends[u], ends[v]], window):
                    return False
                swept = [(first - side / 2, last + side / 2) for first, last in spans]
                if covered_share(swept, [ends[u], ends[v]]) < 0.5:
                    return False
    return True


def covers(spans, whole, by):
    """Return whether rectangles, grown by a margin on all sides, cover a rectangle."""
    grown = [(low - by, high + by) for low, high in spans]
    tries = []
    for (low, high), (start, end) in zip(grown, whole, strict=True):
        edges = np.unique(
            np.clip(np.concatenate([low, high, [start, end]]), start, end)
        )
        tries.append((edges[1:] + edges[:-1]) / 2)
    return all(
        (
            (grown[0][0] < a)
            & (a < grown[0][1])
            & (grown[1][0] < b)
            & (b < grown[1][1])
        ).any()
        for a in tries[0]
        for b in tries[1]
    )


def covered_share(spans, whole):
    """Return how much of a rectangle some rectangles cover."""
    (a, b), (c, d) = whole
    (low, high), (first, last) = spans
    area = shapely.union_all(shapely.box(low, first, high, last))
    return (
        shapely.area(shapely.intersection(area, shapely.box(a, c, b, d)))
        / (b - a)
        / (d - c)
    )


def is_one_assembly(params, placed):
    """Return whether all parts are reached in steps of at most the touching distance."""
    reached, waiting = {0}, [0]
    while waiting:
        low, high = placed[waiting.pop()]
        for other, (a, b) in enumerate(placed):
            apart = np.maximum(
                0, np.maximum(a[None] - high[:, None], low[:, None] - b[None])
            )
            if (
                other not in reached
                and np.sqrt((apart**2).sum(axis=2)).min() <= params.touch
            ):
                reached.add(other)
                waiting.append(other)
    return len(reached) == len(placed)


@pytest.mark.parametrize("seed", range(6))
def test_cage_and_assembly_match_second_grader(seed):
    rng = random.Random(seed)
    params = small()
    pieces, places = map(
        list, zip(*parts_of(params, layout(params), lambda p: p), strict=True)
    )
    for i in range(len(pieces)):
        if rng.random() < 0.3:
            boxes = list(pieces[i].boxes)
            del boxes[rng.randrange(len(boxes))]
            pieces[i] = pieces[i]._replace(boxes=tuple(boxes))
        if rng.random() < 0.3:
            entry, by = (
                rng.choice((3, 7, 11)),
                rng.choice((-25, -3, -1, 1, 1.5, 3, 9, 25)),
            )
            places[i] = [value + by * (k == entry) for k, value in enumerate(places[i])]
    if seed % 4 == 3:
        gone = rng.randrange(len(pieces))
        del pieces[gone], places[gone]
    parts = [
        {
            "fileContents": to_binary_stl(piece),
            "fileType": "STL",
            "transform": list(place),
        }
        for piece, place in zip(pieces, places, strict=True)
    ]
    placed, found = boxes_in_place(pieces, places), failed(parts)
    assert ("cage" not in found) == is_grid(params, placed)
    assert ("one_assembly" not in found) == is_one_assembly(params, placed)


@pytest.mark.parametrize(
    ("wider", "fine"), [(0.4, True), (0.6, False), (-0.4, True), (-0.6, False)]
)
def test_bars_must_have_required_thickness(wider, fine):
    by = wider / 2
    boxes = [
        (b[0] - by, b[1], b[2], b[3] + by, b[4], b[5])
        if b[3] - b[0] < b[4] - b[1]
        else (b[0], b[1] - by, b[2], b[3], b[4] + by, b[5])
        for b in plate_boxes().boxes
    ]
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
