"""A cage and its parts: assembled, exploded, on the printer's bed, and cut along a rod.

Parts are read as the grader reads them; programs are not run for a picture.
"""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import shapely
from manifold3d import Manifold
from shapely import Polygon, box
from shapely.geometry.base import BaseGeometry

from scbench.base.errors import CannotGrade
from scbench.base.wording import counted
from scbench.graders.interlocking_parts.part_meshes import Shell
from scbench.graders.interlocking_parts.printed_parts import read_parts
from scbench.graders.shared.mesh_bodies import to_body
from scbench.machine.sandbox import ChildError, Limits
from scbench.report.draw.creases import creases, loose_edges
from scbench.report.draw.polygons import fill
from scbench.report.draw.scene import (
    Faces,
    Lines,
    Marks,
    Mesh,
    Points,
    Scene,
    Shape,
    boxes,
    wire,
)
from scbench.report.draw.solids import pulled_in
from scbench.report.draw.svg import XY, Drawing, rectangle
from scbench.report.picture import Panel, Picture, Verdicts, wrong_line
from scbench.schemas.interlocking_parts import Answer, Params

# Files larger than these limits are not drawn.
MOST_PARTS = 40
MOST_TRIANGLES = 20_000
MOST_CHARACTERS = 1_000_000
# Wall-clock seconds for the OpenSCAD sources of an answer.
PATIENCE = 120.0
# The limit is CPU time, because a busy machine may take long to draw a small part.
LIMITS = Limits(seconds=8, memory=2**30, output=32 * 2**20, wall=PATIENCE)
# Maximum number of marked clashes, and of parts whose faults are written below their
# beds.
MOST_MARKS = 12
MOST_LOOSE_EDGES = 200
# Entries of transforms, in millimetres, are clipped to this.
FARTHEST = 1e6
# Factor by which a cut along a rod is widened.
WIDENED = 10
# Colours of the parts, none of which marks errors.
ROLES = ("c0", "c5", "c2", "c3", "c4", "rock", "c6")

# Faults of parts by check: those that make a part invalid ...
INVALID = {
    "readable": "cannot be read",
    "closed": "not closed",
    "one_body": "in pieces",
    "right_side_out": "inside out",
    "self_intersection": "cuts itself",
    "rigid": "not moved rigidly",
}
# ... and faults of valid parts.
FAULTS = INVALID | {
    "bed_size": "too large",
    "bed_level": "not on the bed",
    "bed_contact": "too little bed contact",
    "balance": "falls over",
    "overhangs": "overhang",
    "gap_wide_enough": "gaps too narrow",
    "gap_narrow_enough": "a gap too wide",
    "rods_gripped": "held by too few rods",
    "thickness_faces": "no bars",
    "thickness": "bars of wrong thickness",
}
# Names of the verdicts, in order.
CRITERIA = (
    "valid parts",
    "printing",
    "gaps of parts",
    "size",
    "rods",
    "interference",
    "grip",
    "thickness of bars",
    "gaps of the cage",
)
TASK_LEGEND = (
    ("ink", "rods"),
    ("target", "the space inside"),
    ("quiet", "the printer's bed and the height of a part"),
)

# Offenders of each failed check.
Failures = Mapping[str, Sequence[Any]]


class DrawnPart(NamedTuple):
    """A part that can be drawn.

    Attributes:
        number: its position in the answer.
        points: corners (n, 3) as it lies on the bed.
        in_cage: the same in the cage; far corners are moved closer.
        faces: triangles as indices of corners, shape (m, 3).
        body: the solid in the cage; None if the triangles bound no solid.
    """

    number: int
    points: Points
    in_cage: Points
    faces: Faces
    body: Manifold | None

    @property
    def role(self) -> str:
        """Its colour."""
        return ROLES[self.number % len(ROLES)]

    @property
    def middle(self) -> Points:
        """Middle of its bounding box in the cage, shape (3,)."""
        return middle_of(self.in_cage)


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the task; with an answer, its parts and the places where they break a rule."""
    if answer is None:
        sides = " x ".join(f"{side:g}" for side in params.inner)
        caption = (
            f"A cage around {sides} mm: {params.parts} printed parts, held together by four "
            f"{params.rod_name}."
        )
        panel = Panel("the task", task_scene(params), caption)
        return Picture((panel,), caption, TASK_LEGEND)
    parts = drawn_parts(params, answer)
    caption = answer_caption(params, answer, len(parts), verdicts)
    if not parts:
        title = "the task; no part can be drawn"
        panel = Panel(title, task_scene(params), caption)
        return Picture((panel,), caption, TASK_LEGEND)
    failed = verdicts.failures
    faults = part_faults(failed)
    wrong = faults or {"rod_passes", "nut_held", "interference"} & set(failed)
    legend = [("ink", "rods"), *wrong_line({"breaks a rule": wrong})]
    panels = (
        Panel("put together", assembled_scene(params, parts, failed), caption),
        Panel("taken apart", exploded_scene(params, parts, faults), caption),
        Panel("on the bed, as printed", beds(params, parts, faults, failed), caption),
        Panel(*rod_section(params, parts, failed), caption),
    )
    return Picture(panels, caption, tuple(legend))


def solids(params: Params, answer: Answer | None) -> list[Mesh]:
    """Return the assembled parts for a file."""
    if answer is None:
        return []
    return [part_mesh(part, part.in_cage) for part in drawn_parts(params, answer)]


def task_scene(params: Params) -> Scene:
    """Return the space inside the cage, the rods, and the printer's bed next to them."""
    x, y, z = params.inner
    low = (-x / 2, -y / 2, params.bar)
    high = (x / 2, y / 2, params.bar + z)
    inside = wire(low, high, "target", width=2, name="inside")
    a, b, c = params.printing.bed
    middle = -1.3 * x - a / 2
    low = (middle - a / 2, -b / 2, 0)
    high = (middle + a / 2, b / 2, c)
    bed = wire(low, high, "quiet", name="the bed")
    return Scene((inside, bed, rods(params)), elevation=20)


def rods(params: Params) -> Lines:
    """Return the four rods, which are longer than the cage is high."""
    low = -30.0
    high = params.outer.z[1] + 30
    paths = [np.array([[x, y, low], [x, y, high]]) for x, y in rod_places(params)]
    return Lines(tuple(paths), "ink", 2, name="rods")


def rod_places(params: Params) -> list[tuple[float, float]]:
    """Return the x and y of the rods."""
    at = params.rods.at
    return rectangle((-at, -at), (at, at))


def drawn_parts(params: Params, answer: Answer) -> list[DrawnPart]:
    """Return the parts of an answer that can be drawn."""
    numbers = []
    files = []
    for i, part in enumerate(answer.parts[:MOST_PARTS]):
        is_program = part.fileType.startswith("Python")
        if not is_program and len(part.fileContents) <= MOST_CHARACTERS:
            numbers.append(i)
            files.append((part.fileType, part.fileContents))
    try:
        readings = read_parts(files, LIMITS)
    except (CannotGrade, ChildError):
        return []
    parts: list[DrawnPart] = []
    room = MOST_TRIANGLES
    for i, reading in zip(numbers, readings, strict=True):
        shell = reading.shell
        if shell is not None and len(shell.corners) <= room:
            room -= len(shell.corners)
            parts.append(part_in_cage(params, i, shell, answer.parts[i].transform))
    return parts


def part_in_cage(
    params: Params, number: int, shell: Shell, transform: Sequence[float]
) -> DrawnPart:
    """Return a part moved into the cage by its transform: 16 entries, row by row."""
    matrix = np.clip(np.array(transform).reshape(4, 4)[:3], -FARTHEST, FARTHEST)
    points = shell.points @ matrix[:, :3].T + matrix[:, 3]
    width, depth, height = *params.outer.sides, params.outer.z[1]
    near = (-width, -depth, -height / 2)
    far = (width, depth, 1.5 * height)
    in_cage, _ = pulled_in(points, near, far)
    body = None
    with suppress(ValueError):
        body = to_body(in_cage, shell.corners)
    return DrawnPart(number, shell.points, in_cage, shell.corners, body)


def part_faults(failed: Failures) -> dict[int, str]:
    """Return the first fault of each part that a check names."""
    first_faults: dict[int, str] = {}
    for check_id, words in FAULTS.items():
        for entry in failed.get(check_id, ()):
            first_faults.setdefault(entry["part"], words)
    return first_faults


def part_mesh(
    part: DrawnPart, points: Points, *, opacity: float = 1.0, wrong: bool = False
) -> Mesh:
    """Return a part with its corners at these points."""
    role = "wrong" if wrong else part.role
    outline = creases(points, part.faces)
    return Mesh(points, part.faces, role, opacity, f"part {part.number}", outline)


def middle_of(points: Points) -> Points:
    """Return the middle of the bounding box of points."""
    middle: Points = (points.min(axis=0) + points.max(axis=0)) / 2
    return middle


def assembled_scene(
    params: Params, parts: Sequence[DrawnPart], failed: Failures
) -> Scene:
    """Return the cage put together, with the places that do not fit."""
    invalid = {e["part"] for check_id in INVALID for e in failed.get(check_id, ())}
    clashes = failed.get("interference", ())[:MOST_MARKS]
    # Clashes are visible through the parts.
    opacity = 0.35 if clashes else 1.0
    shapes: list[Shape] = [
        part_mesh(part, part.in_cage, opacity=opacity, wrong=part.number in invalid)
        for part in parts
    ]
    if clashes:
        shapes += clash_marks(params, clashes)
    shapes.append(rods(params))
    shapes += rod_faults(params, failed)
    shapes += space_faults(params, failed)
    return Scene(tuple(shapes), azimuth=-60, elevation=20)


def clash_marks(params: Params, clashes: Sequence[Mapping[str, Any]]) -> list[Shape]:
    """Return boxes where parts overlap, with the numbers of the parts."""
    far = 2 * params.outer.z[1]
    ends = np.array([(clash["low"], clash["high"]) for clash in clashes], np.float64)
    near = np.clip(ends, -far, far).tolist()
    labels = ["{} and {}".format(*clash["parts"]) for clash in clashes]
    middles = np.array([np.add(low, high) / 2 for low, high in near])
    return [
        boxes(near, "wrong", opacity=0.7, name="where parts overlap"),
        Marks(middles, "wrong", 9, tuple(labels)),
    ]


def rod_faults(params: Params, failed: Failures) -> list[Lines | Marks]:
    """Return the rods that do not pass, and the rods whose nuts have no support (dashed)."""
    top = params.outer.z[1] + 40
    shapes: list[Lines | Marks] = []
    for check_id, words in (("rod_passes", "blocked"), ("nut_held", "no hold")):
        dashed = check_id == "nut_held"
        for entry in failed.get(check_id, ()):
            x, y = entry["corner"]
            path = np.array([[x, y, -40.0], [x, y, top]])
            shapes.append(Lines((path,), "wrong", 4, dashed=dashed, name=words))
            shapes.append(Marks(path[1:], "wrong", 8, (words,)))
    return shapes


def space_faults(params: Params, failed: Failures) -> Iterator[Lines]:
    """Yield the outlines of spaces that must stay free or must contain all parts."""
    for check_id, space, words in (
        ("inside_free", params.empty, "space that must stay free"),
        ("outer_size", params.outer, "outer size of the cage"),
    ):
        if check_id in failed:
            x, y = (side / 2 for side in space.sides)
            low = (-x, -y, space.z[0])
            high = (x, y, space.z[1])
            edges = boxes([(low, high)], "wrong").outline
            yield Lines(edges, "wrong", 2.5, dashed=True, name=words)


def exploded_scene(
    params: Params, parts: Sequence[DrawnPart], faults: Mapping[int, str]
) -> Scene:
    """Return the parts pulled away from the middle of the cage, with their numbers."""
    middle = np.array([0.0, 0.0, sum(params.outer.z) / 2])
    shapes: list[Shape] = []
    places: dict[str, list[Points]] = {"ink": [], "wrong": []}
    labels: dict[str, list[str]] = {"ink": [], "wrong": []}
    for part in parts:
        shifted = part.in_cage + (part.middle - middle) * (0.9, 0.9, 0.55)
        shapes.append(part_mesh(part, shifted))
        role = "wrong" if part.number in faults else "ink"
        places[role].append(middle_of(shifted))
        labels[role].append(str(part.number))
    for role, points in places.items():
        if points:
            shapes.append(Marks(np.array(points), role, 0, tuple(labels[role])))
    return Scene(tuple(shapes), azimuth=-60, elevation=20)


def beds(
    params: Params,
    parts: Sequence[DrawnPart],
    faults: Mapping[int, str],
    failed: Failures,
) -> Scene:
    """Return each part on a separate bed, in rows, with faults below."""
    width, depth, _ = params.printing.bed
    columns = math.ceil(math.sqrt(1.2 * len(parts)))
    # Once around, from corner to corner.
    rim = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)])
    bed_rim = np.c_[rim * (width / 2, depth / 2), np.zeros(5)]
    shapes: list[Shape] = []
    rims: dict[str, list[Points]] = {"quiet": [], "wrong": []}
    places: dict[str, list[Points]] = {"quiet": [], "wrong": []}
    labels: dict[str, list[str]] = {"quiet": [], "wrong": []}
    for k, part in enumerate(parts):
        x = k % columns * 1.25 * width
        y = -(k // columns) * 1.35 * depth
        shift = np.array([x, y, 0.0])
        lying = lying_points(part, params)
        shapes.append(part_mesh(part, lying + shift))
        fault = faults.get(part.number)
        role = "quiet" if fault is None else "wrong"
        rims[role].append(bed_rim + shift)
        places[role].append(shift + np.array([0, -0.62 * depth, 0]))
        label = str(part.number)
        if fault is not None and len(parts) <= MOST_MARKS:
            label = f"{label}: {fault}"
        labels[role].append(label)
        shapes += fault_marks(params, part, failed, shift, lying)
    for role, width_of_rim in (("quiet", 1), ("wrong", 3)):
        if rims[role]:
            shapes.append(Lines(tuple(rims[role]), role, width_of_rim, name="bed"))
            points = np.array(places[role])
            shapes.append(Marks(points, role, 0, tuple(labels[role])))
    return Scene(tuple(shapes), azimuth=-80, elevation=50)


def lying_points(part: DrawnPart, params: Params) -> Points:
    """Return a part over the middle of its bed, where the grader checks it."""
    width, depth, height = params.printing.bed
    middle = middle_of(part.points)
    centred = part.points - (middle[0], middle[1], 0.0)
    low = (-width, -depth, -2 * height)
    high = (width, depth, 6 * height)
    return pulled_in(centred, low, high)[0]


def fault_marks(
    params: Params, part: DrawnPart, failed: Failures, shift: Points, lying: Points
) -> Iterator[Shape]:
    """Yield marks at the failing spots of a part on its bed.

    Args:
        params: the instance.
        part: the part.
        failed: offenders of the failed checks.
        shift: position of the middle of its bed.
        lying: corners of the part before that shift.
    """
    # Offenders have the coordinates of the part's file.
    centring = lying.mean(axis=0) - part.points.mean(axis=0)
    for entry in entries_of(part, failed, "overhangs"):
        corners = []
        for patch in entry["patches"]:
            # Slightly larger than the patch, which would otherwise lie in the part's
            # surface.
            low = np.add(patch["low"], centring) - 2
            high = np.add(patch["high"], centring) + 2
            corners.append(((low + shift).tolist(), (high + shift).tolist()))
        yield boxes(corners, "wrong", opacity=0.8, name="overhang")
    for entry in entries_of(part, failed, "balance"):
        centre = np.array([*entry["centre"], 0.0]) + centring * (1, 1, 0) + shift
        yield Marks(centre[None], "wrong", 10, ("centre of mass",))
    for entry in entries_of(part, failed, "gap_narrow_enough"):
        if entry["place"]:
            half = params.spacing.blocked / 2
            x, y = entry["place"]
            low = np.add((x - half, y - half, 0.0), shift)
            high = np.add((x + half, y + half, 2 * params.spacing.height), shift)
            column = [(low.tolist(), high.tolist())]
            name = "a column that is too wide passes here"
            yield boxes(column, "wrong", opacity=0.5, name=name)
    if entries_of(part, failed, "closed"):
        edges = loose_edges(lying, part.faces)[:MOST_LOOSE_EDGES]
        loose = tuple(edge + shift for edge in edges)
        yield Lines(loose, "wrong", 4, name="open edges")


def entries_of(
    part: DrawnPart, failed: Failures, check_id: str
) -> list[Mapping[str, Any]]:
    """Return the offenders of a check that are about a part."""
    return [e for e in failed.get(check_id, ()) if e["part"] == part.number]


def rod_section(
    params: Params, parts: Sequence[DrawnPart], failed: Failures
) -> tuple[str, Drawing]:
    """Return a title, and a cut along one rod: z to the right, y up and widened.

    If rods do not fit, the cut shows one of them.
    """
    entries = [*failed.get("rod_passes", ()), *failed.get("nut_held", ())]
    place = entries[0]["corner"] if entries else rod_places(params)[2]
    start = -40.0
    end = params.outer.z[1] + 40.0
    reach = 1.6 * (params.rods.gripped / 2) * WIDENED
    frame = box(start, -reach, end, reach)
    # As wide as a scene, so that it fits next to one.
    drawing = Drawing(frame.bounds, size=328, margin=16)
    for part in parts:
        if part.body is not None:
            draw_cut(drawing, part, part.body, place, frame)
    blocked = is_among(place, failed, "rod_passes")
    loose = is_among(place, failed, "nut_held")
    draw_fit(drawing, params, (start, end), blocked=blocked, loose=loose)
    for z, words in ((0, "floor"), (params.outer.z[1], "roof")):
        drawing.text((z, -reach), words, "quiet", size=10, shift=(0, 8))
    x, y = place
    return (
        f"cut along the rod at ({x:g}, {y:g}), drawn {WIDENED} times as wide",
        drawing,
    )


def is_among(place: XY, failed: Failures, check_id: str) -> bool:
    """Return whether a check points at the rod at this place."""
    return any(tuple(e["corner"]) == tuple(place) for e in failed.get(check_id, ()))


def draw_cut(
    drawing: Drawing, part: DrawnPart, body: Manifold, place: XY, frame: BaseGeometry
) -> None:
    """Draw the cut of the plane through a rod with the body of a part."""
    x, y = place
    # z to the right, y up from the rod, and x towards the eye, 0 at the rod.
    turn = np.array([[0, 0, 1, 0], [0, WIDENED, 0, -WIDENED * y], [-1, 0, 0, x]])
    rings = body.transform(turn).slice(0.0).to_polygons()
    cut = bounded_area(rings).intersection(frame)
    fill(drawing, cut, part.role, opacity=0.75)
    for piece in shapely.get_parts(cut):
        # Where the cut only touches the frame, there are also points and lines.
        if isinstance(piece, Polygon):
            for ring in (piece.exterior, *piece.interiors):
                drawing.line(ring.coords, "ink", width=0.7, tip=f"part {part.number}")


def bounded_area(rings: Iterable[Points]) -> BaseGeometry:
    """Return the area that rings bound: outlines counter-clockwise, holes clockwise."""
    outlines = []
    holes = []
    for ring in rings:
        shape = Polygon(ring)
        if shape.exterior.is_ccw:
            outlines.append(shape)
        else:
            holes.append(shape)
    return shapely.union_all(outlines).difference(shapely.union_all(holes))


def draw_fit(
    drawing: Drawing,
    params: Params,
    ends: tuple[float, float],
    *,
    blocked: bool,
    loose: bool,
) -> None:
    """Draw a rod and the width of its nut (dashed), and write whether they fit."""
    start, end = ends
    nut = params.rods.gripped / 2
    rod = params.rods.free / 2
    low = (start, -rod * WIDENED)
    high = (end, rod * WIDENED)
    rod_words = f"rod {2 * rod:g} mm"
    rod_role = "ink"
    if blocked:
        rod_words = f"{rod_words}, blocked"
        rod_role = "wrong"
        drawing.box(low, high, "wrong", hatched=True, edge="wrong")
    else:
        drawing.box(low, high, "given", opacity=0.5, edge="ink")
    nut_words = f"nut {2 * nut:g} mm"
    nut_role = "quiet"
    width = 1
    if loose:
        nut_words = f"{nut_words}, not held"
        nut_role = "wrong"
        width = 2
    for y in (-nut * WIDENED, nut * WIDENED):
        drawing.line([(start, y), (end, y)], nut_role, width=width, dashed=True)
    place: tuple[float, float] = (start, 0)
    drawing.text(place, rod_words, rod_role, size=10, anchor="start", shift=(3, 0))
    place = (start, nut * WIDENED)
    nut_words = f"{nut_words} (dashed)"
    drawing.text(place, nut_words, nut_role, size=10, anchor="start", shift=(3, 7))


def answer_caption(
    params: Params, answer: Answer, drawable: int, verdicts: Verdicts
) -> str:
    """Return the figures of an answer and the criteria that it fails."""
    count = len(answer.parts)
    parts = [f"{counted(count, 'part')}, {params.parts} required"]
    if drawable < count:
        parts.append(f"{count - drawable} cannot be drawn")
    failed = []
    for name, verdict in zip(CRITERIA, verdicts, strict=False):
        # A failed gate repeats what failed before.
        if any(c.passed is False and c.id != "gate" for c in verdict.checks):
            failed.append(name)
    if failed:
        parts.append(f"criteria not met: {', '.join(failed)}")
    if verdicts:
        parts.append(verdicts.fraction)
    return "; ".join(parts) + "."
