"""Pictures of bricks and their target: from outside, in a vertical cut, and by layer."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import shapely
from shapely import Polygon, box
from shapely.geometry.base import BaseGeometry

from scbench.base.wording import counted
from scbench.graders.lego_hemispherical_shell.bricks import HEIGHT, Bricks
from scbench.graders.lego_hemispherical_shell.target import Body, Surface, body
from scbench.report.draw.polygons import fill
from scbench.report.draw.scene import XYZ, Lines, Marks, Mesh, Points, Scene, Shape
from scbench.report.draw.solids import upright_prisms
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts, wrong_line
from scbench.schemas.lego_hemispherical_shell import Answer, Params

# Maximum number of bricks drawn.
MOST_BRICKS = 1500
# Bricks further out than this, in outer radii, are moved to the rim.
RIM = 1.35
# Maximum number of faulty bricks with a label in 3D.
MOST_LABELS = 8
# Maximum number of faulty bricks crossed out in the layers.
MOST_CROSSES = 300
# Maximum kinds of errors in a caption.
MOST_FAULTS = 4
# A verdict with this many pairs may be incomplete.
PAIRS_NAMED = 1000
# Angles around the axis, in radians.
TURN = np.linspace(0, 2 * np.pi, 73)
# The points of a circle of radius 1, shape (73, 2).
CIRCLE = np.stack([np.cos(TURN), np.sin(TURN)], axis=1)
FORMS = {
    "hemisphere": "half a hollow ball",
    "wall": "a round wall",
    "ring": "half a ring",
    "bowl": "a bowl",
}
# Faults of single bricks, by check.
BRICK_FAULTS = {
    "layers": "in no layer",
    "hollow": "in the hollow",
    "outside": "outside",
}
FAULTS = {
    "not_empty": "there are no bricks",
    "layers": "{n} in no layer",
    "hollow": "{n} completely in the hollow",
    "outside": "{n} completely outside",
    "duplicates": "{n} listed twice",
    "overlap": "{n} pairs overlap|{n} pair overlaps",
    "studs": "{n} pairs off the stud grid|{n} pair off the stud grid",
    "support": "{n} not joined to the lowest layer",
    "balance": "{n} groups fall over|{n} group falls over",
    "resource_limit": "too many or too crowded to be graded",
}
LEGEND = (
    ("answer", "bricks"),
    ("target", "target"),
    ("right", "cut: bricks in the target"),
    ("missing", "hatched: target without bricks"),
    ("surplus", "cut, hatched: bricks outside the target"),
)


class Wall(NamedTuple):
    """The bricks that are drawn, in the order of the answer; coordinates are relative to the axis.

    Attributes:
        bricks: bricks as the grader has them.
        plans: corners (n, 4, 2) in plan; far bricks are moved to the rim.
        low: bottom of each, shape (n,).
        faults: the error of each brick that a check names.
        far: the original places of bricks that were moved to the rim.
    """

    bricks: Bricks
    plans: Points
    low: Points
    faults: dict[int, str]
    far: dict[int, str]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the target; with an answer, also its bricks, with errors marked."""
    target = body(params)
    radius = params.outer_radius_mm
    if answer is None:
        return target_picture(params, target)
    wall = wall_of(answer, params, verdicts)
    caption = answer_caption(answer, wall, verdicts)
    wrong = {
        "crossed out: bricks that break a rule": wall.faults,
        "ring: centre of gravity outside the support": verdicts.failed("balance"),
    }
    legend = [*LEGEND, *wrong_line(wrong)]
    layers = layer_drawing(wall, params, target, verdicts)
    panels = (
        Panel("the bricks", wall_scene(wall, target, radius), caption),
        Panel("cut through the axis", axis_cut(target, radius, wall), caption),
        Panel("layer by layer, from the ground", layers, caption),
    )
    return Picture(panels, caption, tuple(legend))


def solids(params: Params, answer: Answer | None) -> list[Mesh]:
    """Return the bricks for a file."""
    if answer is None or not answer.bricks:
        return []
    wall = wall_of(answer, params, Verdicts())
    high = wall.low + HEIGHT
    return [upright_prisms(wall.plans, wall.low, high, "answer", name="bricks")]


def target_picture(params: Params, target: Body) -> Picture:
    """Return the picture of a target without bricks."""
    radius = params.outer_radius_mm
    caption = (
        f"Task: {FORMS[params.form]}, {params.inner_radius_mm:g} to {radius:g} mm from the axis, "
        "built from 2 x 4 bricks."
    )
    scene = Scene((target_wires(target),), grid=bounding_box(target, radius, None))
    panels = (
        Panel("the target", scene, caption),
        Panel("cut through the axis", axis_cut(target, radius, None), caption),
    )
    return Picture(panels, caption, (("target", "the target"),))


def bounding_box(target: Body, radius: float, wall: Wall | None) -> tuple[XYZ, XYZ]:
    """Return the lowest and highest corner of target and bricks, in whole millimetres."""
    ends = [[-radius, -radius, 0.0], [radius, radius, target.outer.top]]
    if wall is not None and len(wall.low):
        plans = wall.plans.reshape(-1, 2)
        ends.append([*plans.min(axis=0), float(wall.low.min())])
        ends.append([*plans.max(axis=0), float(wall.low.max()) + HEIGHT])
    low = np.floor(np.min(ends, axis=0))
    high = np.ceil(np.max(ends, axis=0))
    return low.tolist(), high.tolist()


def wall_of(answer: Answer, params: Params, verdicts: Verdicts) -> Wall:
    """Return the bricks of an answer as they are drawn."""
    poses = answer.bricks[:MOST_BRICKS]
    axis = (*params.centre_mm, 0.0)
    reach = RIM * params.outer_radius_mm
    top = 1.2 * body(params).outer.top + HEIGHT
    low = (-reach, -reach, -HEIGHT)
    high = (reach, reach, top)
    rows = []
    far = {}
    for i, brick in enumerate(poses):
        place = [brick.Centroid[k] - axis[k] for k in range(3)]
        near = [min(max(place[k], low[k]), high[k]) for k in range(3)]
        if near != place:
            far[i] = ", ".join(f"{value:.4g}" for value in brick.Centroid)
        # Angles are reduced to one turn.
        rows.append((*near, math.fmod(brick.RotationDegrees, 360)))
    bricks = Bricks.of(rows)
    faults = brick_faults(verdicts, len(poses), len(answer.bricks))
    return Wall(bricks, bricks.plans(), bricks.z - HEIGHT / 2, faults, far)


def brick_faults(verdicts: Verdicts, count: int, total: int) -> dict[int, str]:
    """Return the first fault of each brick that a verdict points at.

    Args:
        verdicts: verdicts on the answer.
        count: bricks that are drawn.
        total: bricks of the answer.
    """
    metrics = verdicts.metrics
    faults: dict[int, str] = {}

    def note(bricks: Iterable[int], words: str) -> None:
        for i in bricks:
            if i < count:
                faults.setdefault(i, words)

    for check_id, words in BRICK_FAULTS.items():
        # A check names only the first 50, but if all bricks are wrong, all are known.
        if last_count(verdicts, check_id) == total:
            note(range(count), words)
        else:
            note(verdicts.failures.get(check_id, ()), words)
    note([pair[0] for pair in verdicts.failures.get("duplicates", ())], "listed twice")
    for pair in metrics.get("overlapping") or ():
        note(pair, "overlaps")
    note(odd_bricks(metrics.get("misaligned") or ()), "off the grid")
    note(metrics.get("floating") or (), "floats")
    return faults


def last_count(verdicts: Verdicts, check_id: str) -> int | None:
    """Return how many offenders a check has, passed or not; None if unknown."""
    count = None
    for verdict in verdicts:
        for check in verdict.checks:
            if check.id == check_id:
                count = check.details.get("count")
    return count


def odd_bricks(pairs: Sequence[Sequence[int]]) -> list[int]:
    """Return a small set with a brick of each pair: one shifted brick is in many pairs."""
    if len(pairs) >= PAIRS_NAMED:
        return [second for _, second in pairs]
    unresolved = {(first, second) for first, second in pairs}
    odd = []
    # The brick in most pairs is taken first: it is likely the one that is shifted.
    while unresolved:
        counts: Counter[int] = Counter()
        for pair in unresolved:
            counts.update(sorted(pair, reverse=True))
        brick = counts.most_common(1)[0][0]
        odd.append(brick)
        unresolved = {pair for pair in unresolved if brick not in pair}
    return odd


def wall_scene(wall: Wall, target: Body, radius: float) -> Scene:
    """Return the bricks and the target in space, wrong bricks in a separate colour."""
    wrong = np.zeros(len(wall.low), dtype=bool)
    wrong[list(wall.faults)] = True
    # If only a few bricks are wrong, the others are translucent.
    opacity = 0.35 if wrong.any() and wrong.mean() <= 0.5 else 1.0
    parts: list[Shape] = []
    parts += brick_meshes(wall, ~wrong, "answer", opacity, "bricks")
    parts += brick_meshes(wall, wrong, "wrong", 1.0, "wrong bricks")
    parts.append(target_wires(target))
    parts += brick_labels(wall)
    return Scene(tuple(parts), elevation=30, grid=bounding_box(target, radius, wall))


def brick_meshes(
    wall: Wall, mask: npt.NDArray[np.bool_], role: str, opacity: float, name: str
) -> list[Mesh]:
    """Return some of the bricks as one mesh; none for an empty selection."""
    if not mask.any():
        return []
    low = wall.low[mask]
    plans = wall.plans[mask]
    return [upright_prisms(plans, low, low + HEIGHT, role, opacity=opacity, name=name)]


def brick_labels(wall: Wall) -> list[Marks]:
    """Return labels in faulty bricks: in all if they are few, else only in far ones."""
    numbers = [*wall.far, *(i for i in wall.faults if i not in wall.far)]
    if len(numbers) > MOST_LABELS:
        numbers = list(wall.far)[:MOST_LABELS]
    if not numbers:
        return []
    labels = []
    for i in numbers:
        if i in wall.far:
            labels.append(f"{i}: at {wall.far[i]}")
        else:
            labels.append(f"{i} {wall.faults[i]}")
    bricks = wall.bricks
    middles = np.stack(
        [bricks.x[numbers], bricks.y[numbers], bricks.z[numbers]], axis=1
    )
    return [Marks(middles, "wrong", 0, tuple(labels))]


def target_wires(target: Body) -> Lines:
    """Return circles and meridians of the target's two surfaces."""
    paths = [
        *surface_wires(target.outer, circles=(0, 8, 16), meridians=8),
        *surface_wires(target.inner, circles=(0,), meridians=4),
    ]
    return Lines(tuple(paths), "target", 1.5, name="the target")


def surface_wires(
    surface: Surface, *, circles: Sequence[int], meridians: int
) -> Iterator[Points]:
    """Yield circles at selected levels of a surface, then meridians."""
    z = levels_of(surface, 25)
    r = surface.radius(z)
    for level in circles:
        x = r[level] * np.cos(TURN)
        y = r[level] * np.sin(TURN)
        yield np.stack([x, y, np.full_like(TURN, z[level])], axis=1)
    for k in range(meridians):
        a = k * np.pi / (meridians / 2)
        yield np.stack([r * np.cos(a), r * np.sin(a), z], axis=1)


def levels_of(surface: Surface, count: int) -> Points:
    """Return heights from bottom to top of a surface, denser where it is flat."""
    rise = np.sin(np.linspace(0, np.pi / 2, count))
    return surface.bottom + (surface.top - surface.bottom) * rise


def axis_cut(target: Body, radius: float, wall: Wall | None) -> Drawing:
    """Return the cut of the plane y = 0 with the target and the bricks, if there are any."""
    (x, _, z), (u, _, w) = bounding_box(target, radius, wall)
    margin = 0.08 * (u - x)
    reach = max(u, -x) + margin / 2
    drawing = Drawing((-reach, min(z, 0.0) - margin, reach, w + margin))
    profile = target_profile(target)
    if wall is None:
        fill(drawing, profile, "target", opacity=0.3)
    else:
        draw_sections(drawing, wall, profile)
    for part in shapely.get_parts(profile):
        drawing.line(part.exterior.coords, "target", width=1.5)
    drawing.line([(-reach, 0), (reach, 0)], "ink", width=1.5)
    drawing.text((0, 0), "ground", "quiet", size=10, shift=(0, 9))
    return drawing


def target_profile(target: Body) -> BaseGeometry:
    """Return the cross-section of the target through its axis: distance from the axis, and z."""
    sides = []
    for surface in (target.outer, target.inner):
        z = levels_of(surface, 49)
        sides.append(np.stack([surface.radius(z), z], axis=1))
    half = np.concatenate([sides[0], sides[1][::-1]])
    return shapely.union_all([Polygon(half), Polygon(half * (-1, 1))])


def draw_sections(drawing: Drawing, wall: Wall, profile: BaseGeometry) -> None:
    """Draw the sections of bricks inside and outside the target, and the gaps in the target."""
    sections = dict(brick_sections(wall))
    covered = shapely.union_all(list(sections.values()))
    fill(drawing, profile.difference(covered), "missing", hatched=True)
    fill(drawing, profile.intersection(covered), "right", opacity=0.5)
    fill(drawing, covered.difference(profile), "surplus", hatched=True)
    outlines: list[Sequence[Sequence[float]]] = []
    for i, section in sections.items():
        ring = section.exterior.coords[:-1]
        if i not in wall.faults:
            outlines.append([*ring, ring[0]])
            continue
        tip = f"brick {i}: {wall.faults[i]}"
        drawing.line(ring, "wrong", closed=True, width=2.5, tip=tip)
        drawing.cross(section.centroid.coords[0], "wrong")
    drawing.strokes(outlines, "ink", width=0.7)


def brick_sections(wall: Wall) -> Iterator[tuple[int, Polygon]]:
    """Yield the rectangles that the plane y = 0 cuts out of bricks, with their numbers."""
    for i, plan in enumerate(wall.plans.tolist()):
        xs = []
        for k, (u, v) in enumerate(plan):
            x, y = plan[k - 1]
            # This side of the plan crosses the plane.
            if (y < 0) != (v < 0):
                xs.append(x + (u - x) * y / (y - v))
        if xs:
            low = float(wall.low[i])
            yield i, box(min(xs), low, max(xs), low + HEIGHT)


def layer_drawing(
    wall: Wall, params: Params, target: Body, verdicts: Verdicts
) -> Drawing:
    """Return plans of all layers of the target and of the bricks, in up to 6 columns."""
    radius = params.outer_radius_mm
    # Bricks below the ground are drawn in the lowest layer.
    layers = np.maximum(np.rint(wall.low / HEIGHT), 0).astype(int)
    count = max(math.ceil(target.outer.top / HEIGHT), int(layers.max(initial=-1)) + 1)
    rows = math.ceil(count / 6)
    columns = math.ceil(count / rows)
    pitch = 2.9 * radius
    size = max(columns, rows) * min(170.0, 690 / columns)
    drawing = Drawing((0, 0, columns * pitch, rows * pitch), size=size, margin=4)
    crosses = MOST_CROSSES
    for k in range(count):
        x = (k % columns + 0.5) * pitch
        y = (rows - k // columns - 0.5) * pitch
        middle = np.array([x, y])
        radii = radii_at(target, HEIGHT * (k + 0.5))
        numbers = np.flatnonzero(layers == k).tolist()
        covered = plan_union(wall.plans[numbers] + middle)
        if radii:
            draw_target_layer(drawing, radii, middle, covered)
        right = [i for i in numbers if i not in wall.faults]
        plans = wall.plans[right] + middle
        fill(drawing, plan_union(plans), "answer", opacity=0.5)
        drawing.strokes([[*plan, plan[0]] for plan in plans], "answer", width=0.8)
        for i in numbers:
            if i in wall.faults:
                draw_wrong_plan(drawing, wall, i, middle, crossed=crosses > 0)
                crosses -= 1
        for r in radii:
            drawing.line(middle + r * CIRCLE, "target", width=1.2)
        if k == 0:
            draw_balance(drawing, middle - np.array(params.centre_mm), verdicts)
        words = f"layer {k + 1}: {len(numbers)}"
        drawing.text((x, y + 1.35 * radius), words, "quiet", size=10)
    return drawing


def radii_at(target: Body, z: float) -> list[float]:
    """Return the radii of the target's two sides at a level; none above the target."""
    if z >= target.outer.top:
        return []
    level = np.array([z])
    outer = float(target.outer.radius(level)[0])
    inner = float(target.inner.radius(level)[0]) if z < target.inner.top else 0.0
    return [outer, inner]


def draw_target_layer(
    drawing: Drawing, radii: Sequence[float], middle: Points, covered: BaseGeometry
) -> None:
    """Fill the target between two radii, and hatch its uncovered parts."""
    outer, inner = radii
    holes = [middle + inner * CIRCLE] if inner else []
    area = Polygon(middle + outer * CIRCLE, holes)
    fill(drawing, area, "target", opacity=0.18)
    fill(drawing, area.difference(covered), "missing", hatched=True)


def plan_union(plans: Points) -> BaseGeometry:
    """Return the area that bricks cover, given their corners (n, 4, 2)."""
    return shapely.union_all(shapely.polygons(plans))


def draw_wrong_plan(
    drawing: Drawing, wall: Wall, i: int, middle: Points, *, crossed: bool
) -> None:
    """Draw a wrong brick of a layer, with a cross if it must be crossed out."""
    plan = wall.plans[i] + middle
    tip = f"brick {i}: {wall.faults[i]}"
    drawing.area(plan, "wrong", opacity=0.4, edge="wrong", width=2, tip=tip)
    if crossed:
        drawing.cross(plan.mean(axis=0), "wrong", radius=4)


def draw_balance(drawing: Drawing, origin: Points, verdicts: Verdicts) -> None:
    """Draw the support (dashed) and the centre of gravity of each group of bricks.

    `origin` is the origin of the answer's coordinates in the drawing.
    """
    tipping = {entry["brick"] for entry in verdicts.failures.get("balance", ())}
    for group in verdicts.metrics.get("groups") or ():
        centre = (np.array(group["centre"]) + origin).tolist()
        support = np.array(group["support"]).reshape(-1, 2) + origin
        tips_over = group["brick"] in tipping
        role = "wrong" if tips_over else "ink"
        drawing.line(support, role, closed=True, width=1.5, dashed=True)
        drawing.dot(centre, role, radius=3, tip="centre of gravity")
        if tips_over:
            drawing.ring(centre, "wrong", radius=8)


def answer_caption(answer: Answer, wall: Wall, verdicts: Verdicts) -> str:
    """Return the number of bricks, their errors, and the score."""
    count = len(answer.bricks)
    parts = [counted(count, "brick")]
    if count > len(wall.low):
        parts.append(f"only the first {len(wall.low):,} are drawn")
    parts += verdicts.faults(FAULTS)[:MOST_FAULTS]
    if verdicts:
        metrics = verdicts.metrics
        if "filled" in metrics:
            filled = metrics["filled"]
            spill = metrics["spill"]
            parts.append(f"{filled:.1%} of the target filled")
            parts.append(f"bricks outside amount to {spill:.1%} of its volume")
        parts.append(verdicts.fraction)
    return "; ".join(parts) + "."
