"""A cage and its parts: put together, taken apart, on the printer's bed, and cut along a rod.

Parts are read as the grader reads them; programs are not run for a picture.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np
import shapely
from manifold3d import Manifold
from shapely import Polygon, box
from shapely.geometry.base import BaseGeometry

from scbench.base.errors import CannotGrade
from scbench.graders.interlocking_parts.print_checks import Shell
from scbench.graders.interlocking_parts.printed_parts import read_parts
from scbench.graders.shared.meshes import to_body
from scbench.machine.sandbox import ChildError, Limits
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
from scbench.report.draw.solids import creases, fill, loose_edges, pulled_in
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.picture import Panel, Picture, Verdicts, texts, wrong_line
from scbench.schemas.interlocking_parts import Answer, Params

_MOST_PARTS = 40
_MOST_TRIANGLES = 20_000
_MOST_CHARACTERS = 1_000_000
_MOST_MARKS = 12
_LIMITS = Limits(seconds=8, memory=2**30, output=32 * 2**20)
_FARTHEST = 1e6
# How much wider than long a cut along a rod is drawn.
_WIDENED = 5
# Colours of the parts: none is that of what is wrong.
_ROLES = ("c0", "c5", "c2", "c3", "c4", "rock", "c6")

# What is wrong with a part that the offenders of a check name.
_OF_PART = texts("interlocking_parts.of_part")
_INVALID = tuple(_OF_PART)[:6]
_CRITERIA = (
    *(
        "valid parts",
        "printing",
        "gaps of parts",
        "size",
        "rods",
        "interference",
        "grip",
    ),
    *("thickness of bars", "gaps of the cage"),
)


Failures = Mapping[str, Sequence[Any]]


_TASK_LEGEND = tuple(texts("interlocking_parts.task_legend").items())


class _DrawnPart(NamedTuple):
    """A part that can be drawn."""

    number: int
    points: Points
    """As it lies on the bed."""
    in_cage: Points
    """In the cage, pulled in where it is far away."""
    faces: Faces
    body: Manifold | None
    """In the cage; None if it bounds no solid."""

    @property
    def role(self) -> str:
        """Its colour."""
        return _ROLES[self.number % len(_ROLES)]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw what is asked for; with an answer its parts, and where they break a rule."""
    if answer is None:
        caption = (
            f"A cage for {' x '.join(f'{side:g}' for side in params.inner)} mm, in {params.parts} "
            f"printed parts held by four {params.rod_name}."
        )
        return Picture(
            (Panel("what is asked for", _task(params), caption),), caption, _TASK_LEGEND
        )
    parts, missing = _drawn_parts(params, answer)
    caption = _caption(params, answer, missing, verdicts)
    if not parts:
        panel = Panel("what is asked for; no part can be drawn", _task(params), caption)
        return Picture((panel,), caption, _TASK_LEGEND)
    failed = verdicts.failures
    faults = _part_faults(failed)
    wrong = faults or {"rod_passes", "nut_held", "interference"} & set(failed)
    legend = (("ink", "rods"), *wrong_line({"what breaks a rule": wrong}))
    panels = (
        Panel("put together", _assembled_view(params, parts, failed), caption),
        Panel("taken apart", _exploded_view(params, parts, faults), caption),
        Panel("on the bed, as printed", _beds(params, parts, faults, failed), caption),
        Panel(*_section(params, parts, failed), caption),
    )
    return Picture(panels, caption, legend)


def solids(params: Params, answer: Answer | None) -> list[Mesh]:
    """Return the parts, put together, to be written as a file."""
    parts, _ = _drawn_parts(params, answer) if answer else ([], 0)
    return [_part_mesh(part, part.in_cage) for part in parts]


def _task(params: Params) -> Scene:
    x, y, z = params.inner
    bar = params.bar
    inside = wire(
        (-x / 2, -y / 2, bar), (x / 2, y / 2, bar + z), "target", width=2, name="inside"
    )
    a, b, c = params.printing.bed
    middle = -1.3 * x - a / 2
    bed = wire(
        (middle - a / 2, -b / 2, 0), (middle + a / 2, b / 2, c), "quiet", name="the bed"
    )
    return Scene((inside, bed, _rods(params)), elevation=20)


def _rods(params: Params) -> Lines:
    low, high = -30.0, params.outer.z[1] + 30
    paths = tuple(
        np.array([[x, y, low], [x, y, high]]) for x, y in _rod_corners(params)
    )
    return Lines(paths, "ink", 2, name="rods")


def _rod_corners(params: Params) -> list[tuple[float, float]]:
    at = params.rods.at
    return rectangle((-at, -at), (at, at))


def _drawn_parts(params: Params, answer: Answer) -> tuple[list[_DrawnPart], int]:
    """Return the parts that can be drawn, and how many of the answer's cannot."""
    files = [
        (i, (part.fileType, part.fileContents))
        for i, part in enumerate(answer.parts[:_MOST_PARTS])
        if not part.fileType.startswith("Python")
        and len(part.fileContents) <= _MOST_CHARACTERS
    ]
    try:
        read = read_parts([file for _, file in files], _LIMITS)
    except (CannotGrade, ChildError):
        return [], len(answer.parts)
    drawable: list[_DrawnPart] = []
    room = _MOST_TRIANGLES
    for (i, _), part in zip(files, read, strict=True):
        if part.shell is not None and len(part.shell.corners) <= room:
            room -= len(part.shell.corners)
            drawable.append(_part(params, i, part.shell, answer.parts[i].transform))
    return drawable, len(answer.parts) - len(drawable)


def _part(
    params: Params, number: int, shell: Shell, transform: Sequence[float]
) -> _DrawnPart:
    matrix = np.clip(np.array(transform).reshape(4, 4)[:3], -_FARTHEST, _FARTHEST)
    in_cage = shell.points @ matrix[:, :3].T + matrix[:, 3]
    width, depth, height = *params.outer.sides, params.outer.z[1]
    near, far = (-width, -depth, -height / 2), (width, depth, 1.5 * height)
    within_reach, _ = pulled_in(in_cage, near, far)
    body = None
    with suppress(ValueError):
        body = to_body(within_reach, shell.corners)
    return _DrawnPart(number, shell.points, within_reach, shell.corners, body)


def _part_faults(failed: Failures) -> dict[int, str]:
    first_faults: dict[int, str] = {}
    for check, words in _OF_PART.items():
        for entry in failed.get(check, ()):
            first_faults.setdefault(entry["part"], words)
    return first_faults


def _part_mesh(
    part: _DrawnPart, points: Points, *, opacity: float = 1.0, wrong: bool = False
) -> Mesh:
    outline = creases(points, part.faces)
    role = "wrong" if wrong else part.role
    return Mesh(points, part.faces, role, opacity, f"part {part.number}", outline)


def _assembled_view(
    params: Params, parts: Sequence[_DrawnPart], failed: Failures
) -> Scene:
    invalid = {e["part"] for check in _INVALID for e in failed.get(check, ())}
    clashes = failed.get("interference", ())[:_MOST_MARKS]
    # Where parts clash is seen through them.
    opacity = 0.35 if clashes else 1.0
    shapes: list[Shape] = [
        _part_mesh(part, part.in_cage, opacity=opacity, wrong=part.number in invalid)
        for part in parts
    ]
    if clashes:
        far = 2 * params.outer.z[1]
        ends = np.array([(c["low"], c["high"]) for c in clashes], dtype=np.float64)
        near = np.clip(ends, -far, far).tolist()
        shapes.append(boxes(near, "wrong", opacity=0.7, name="where parts overlap"))
        labels = tuple("{} and {}".format(*clash["parts"]) for clash in clashes)
        middles = np.array([np.add(low, high) / 2 for low, high in near])
        shapes.append(Marks(middles, "wrong", 9, labels))
    shapes.append(_rods(params))
    shapes += _rod_faults(params, failed)
    for check, space, words in (
        ("inside_free", params.empty, "space that must stay free"),
        ("outer_size", params.outer, "space that must not be left"),
    ):
        if check in failed:
            x, y = (side / 2 for side in space.sides)
            edges = boxes([((-x, -y, space.z[0]), (x, y, space.z[1]))], "wrong").outline
            shapes.append(Lines(edges, "wrong", 2.5, dashed=True, name=words))
    return Scene(tuple(shapes), azimuth=-60, elevation=20)


def _rod_faults(params: Params, failed: Failures) -> list[Lines | Marks]:
    top = params.outer.z[1] + 40
    shapes: list[Lines | Marks] = []
    for check, words in (("rod_passes", "blocked"), ("nut_held", "no hold")):
        for entry in failed.get(check, ()):
            x, y = entry["corner"]
            path = np.array([[x, y, -40.0], [x, y, top]])
            shapes.append(
                Lines((path,), "wrong", 4, dashed=check == "nut_held", name=words)
            )
            shapes.append(Marks(path[1:], "wrong", 8, (words,)))
    return shapes


def _exploded_view(
    params: Params, parts: Sequence[_DrawnPart], faults: Mapping[int, str]
) -> Scene:
    middle = np.array([0.0, 0.0, sum(params.outer.z) / 2])
    shapes: list[Shape] = []
    places = []
    for part in parts:
        centre = (part.in_cage.min(axis=0) + part.in_cage.max(axis=0)) / 2
        shifted = part.in_cage + (centre - middle) * (0.9, 0.9, 0.55)
        shapes.append(_part_mesh(part, shifted))
        places.append((shifted.min(axis=0) + shifted.max(axis=0)) / 2)
    for bad, role in ((False, "ink"), (True, "wrong")):
        members = [k for k, part in enumerate(parts) if (part.number in faults) == bad]
        if members:
            words = tuple(str(parts[k].number) for k in members)
            shapes.append(Marks(np.array([places[k] for k in members]), role, 0, words))
    return Scene(tuple(shapes), azimuth=-60, elevation=20)


def _beds(
    params: Params,
    parts: Sequence[_DrawnPart],
    faults: Mapping[int, str],
    failed: Failures,
) -> Scene:
    width, depth, _ = params.printing.bed
    columns = math.ceil(math.sqrt(1.2 * len(parts)))
    shapes: list[Shape] = []
    squares: dict[bool, list[Points]] = {False: [], True: []}
    names: dict[bool, list[tuple[Points, str]]] = {False: [], True: []}
    for k, part in enumerate(parts):
        shift = np.array(
            [k % columns * 1.25 * width, -(k // columns) * 1.35 * depth, 0.0]
        )
        lie = _lie(part, params)
        shapes.append(_part_mesh(part, lie + shift))
        bad = part.number in faults
        square = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1), (-1, -1)]) * (
            width / 2,
            depth / 2,
        )
        squares[bad].append(np.c_[square, np.zeros(5)] + shift)
        wordy = bad and len(parts) <= _MOST_MARKS
        label = f"{part.number}: {faults[part.number]}" if wordy else str(part.number)
        names[bad].append((shift + np.array([0, -0.62 * depth, 0]), label))
        shapes += _fault_marks(params, part, failed, shift, lie)
        if any(e["part"] == part.number for e in failed.get("closed", ())):
            loose = tuple(edge + shift for edge in loose_edges(lie, part.faces)[:200])
            shapes.append(Lines(loose, "wrong", 4, name="open edges"))
    for bad, role in ((False, "quiet"), (True, "wrong")):
        if squares[bad]:
            shapes.append(Lines(tuple(squares[bad]), role, 3 if bad else 1, name="bed"))
            places = np.array([place for place, _ in names[bad]])
            shapes.append(
                Marks(places, role, 0, tuple(label for _, label in names[bad]))
            )
    return Scene(tuple(shapes), azimuth=-80, elevation=50)


def _lie(part: _DrawnPart, params: Params) -> Points:
    """Return a part over the middle of its bed, which is where the grader looks at it."""
    width, depth, height = params.printing.bed
    middle = (part.points.min(axis=0) + part.points.max(axis=0)) / 2
    centred = part.points - (middle[0], middle[1], 0.0)
    return pulled_in(
        centred, (-width, -depth, -2 * height), (width, depth, 6 * height)
    )[0]


def _fault_marks(
    params: Params, part: _DrawnPart, failed: Failures, shift: Points, lie: Points
) -> Iterable[Mesh | Marks]:
    """Return what marks the failing spots of a part on its bed."""
    off = lie.mean(axis=0) - part.points.mean(axis=0)
    for entry in failed.get("overhangs", ()):
        if entry["part"] == part.number:
            patches = [
                ((np.add(p["low"], off) - 2), (np.add(p["high"], off) + 2))
                for p in entry["patches"]
            ]
            corners = [
                ((low + shift).tolist(), (high + shift).tolist())
                for low, high in patches
            ]
            yield boxes(corners, "wrong", opacity=0.8, name="overhang")
    for entry in failed.get("balance", ()):
        if entry["part"] == part.number:
            centre = np.array([*entry["centre"], 0.0]) + off * (1, 1, 0) + shift
            yield Marks(centre[None], "wrong", 10, ("centre of mass",))
    for entry in failed.get("gap_narrow_enough", ()):
        if entry["part"] == part.number and entry["place"]:
            half, (x, y) = params.spacing.blocked / 2, entry["place"]
            tall = 2 * params.spacing.height
            low, high = (x - half, y - half, 0.0), (x + half, y + half, tall)
            shifted = [(np.add(low, shift).tolist(), np.add(high, shift).tolist())]
            yield boxes(
                shifted,
                "wrong",
                opacity=0.5,
                name="a column that is too wide passes here",
            )


def _section(
    params: Params, parts: Sequence[_DrawnPart], failed: Failures
) -> tuple[str, Drawing]:
    """Draw a cut along one rod: z to the right, y up and widened; of rods that do not fit one."""
    entries = [*failed.get("rod_passes", ()), *failed.get("nut_held", ())]
    x, y = entries[0]["corner"] if entries else _rod_corners(params)[2]
    top, margin = params.outer.z[1], 40.0
    nut, rod = params.rods.gripped / 2, params.rods.free / 2
    reach = 1.6 * nut * _WIDENED
    frame = box(-margin, -reach, top + margin, reach)
    drawing = Drawing(frame.bounds, size=690, margin=16)
    for part in parts:
        if part.body is None:
            continue
        # z to the right, y up from the rod, and x towards the eye, 0 at the rod.
        turn = np.array([[0, 0, 1, 0], [0, _WIDENED, 0, -_WIDENED * y], [-1, 0, 0, x]])
        cut = _polygons(
            part.body.transform(turn).slice(0.0).to_polygons()
        ).intersection(frame)
        fill(drawing, cut, part.role, opacity=0.75)
        for piece in shapely.get_parts(cut):
            for line in (
                (piece.exterior, *piece.interiors) if isinstance(piece, Polygon) else ()
            ):
                drawing.line(line.coords, "ink", width=0.7, tip=f"part {part.number}")
    blocked, loose = (
        any(tuple(entry["corner"]) == (x, y) for entry in failed.get(check, ()))
        for check in ("rod_passes", "nut_held")
    )
    corner, opposite = (-margin, -rod * _WIDENED), (top + margin, rod * _WIDENED)
    if blocked:
        drawing.box(corner, opposite, "wrong", hatched=True, edge="wrong")
    else:
        drawing.box(corner, opposite, "given", opacity=0.5, edge="ink")
    for level in (-nut * _WIDENED, nut * _WIDENED):
        line = [(-margin, level), (top + margin, level)]
        drawing.line(
            line, "wrong" if loose else "quiet", width=2 if loose else 1, dashed=True
        )
    words = f"rod {2 * rod:g} mm{', blocked' * blocked}"
    role = "wrong" if blocked else "ink"
    drawing.text((-margin, 0), words, role, size=10, anchor="start", shift=(3, 0))
    words = f"nut {2 * nut:g} mm{', not held' * loose} (dashed)"
    role = "wrong" if loose else "quiet"
    drawing.text(
        (-margin, nut * _WIDENED), words, role, size=10, anchor="start", shift=(3, 7)
    )
    for z, words in ((0, "floor"), (top, "roof")):
        drawing.text((z, -reach), words, "quiet", size=10, shift=(0, 8))
    return (
        f"cut along the rod at x = {x:g}, y = {y:g}, {_WIDENED} times as wide",
        drawing,
    )


def _polygons(rings: Iterable[Points]) -> BaseGeometry:
    """Return what rings bound: outlines against the clock, holes with it."""
    shapes = [Polygon(ring) for ring in rings]
    solid = shapely.union_all([shape for shape in shapes if shape.exterior.is_ccw])
    return solid.difference(
        shapely.union_all([s for s in shapes if not s.exterior.is_ccw])
    )


def _caption(params: Params, answer: Answer, missing: int, verdicts: Verdicts) -> str:
    count = len(answer.parts)
    findings = [f"{count} part{'s' * (count != 1)}, {params.parts} asked for"]
    if missing:
        findings.append(f"{missing} cannot be drawn")
    if verdicts:
        failed = [
            name
            for name, verdict in zip(_CRITERIA, verdicts, strict=False)
            if any(
                check.passed is False and check.id != "gate" for check in verdict.checks
            )
        ]
        if failed:
            findings.append(f"not as asked: {', '.join(failed)}")
        findings.append(verdicts.fraction)
    return "; ".join(findings) + "."
