"""A crowd behind a building: from above, with the hidden area, and as the sniper sees it."""

import math
from collections.abc import Mapping
from itertools import chain, product
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import shapely

from scbench.base.wording import counted
from scbench.graders.hide_and_seek import Camera, boxes, fitted_view_pixels, true_camera
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Legend, Panel, Picture, Verdicts, wrong_line
from scbench.schemas.hide_and_seek import Answer, Params

# Maximum number of people drawn.
_MOST_PEOPLE = 1_000
# Maximum number of faults of one kind that are ringed.
_MOST_RINGS = 8
# Length in metres at which endless shadows are cut.
_FAR_AWAY = 1_000.0
# Distance from the middle, in metres or pixels of the view, within which people are
# drawn.
_FARTHEST = 1e6
# Possible lengths of the scale bar below the plan, in metres.
_SCALES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
# Faults in words, by check id: for many offenders and for one.
_FAULTS = {
    "people_apart": "{n} pairs of people overlap|{n} pair of people overlaps",
    "clear_of_building": "{n} people overlap the building"
    "|{n} person overlaps the building",
    "distance": "{n} people are too far away|{n} person is too far away",
}
_LEGEND = [
    ("given", "the building"),
    ("note", "ground where a person is completely hidden"),
]

Floats = npt.NDArray[np.float64]
XY = tuple[float, float]


class Frame(NamedTuple):
    """The square part of the ground that the plan shows, in metres."""

    x_min: float
    y_min: float
    x_max: float
    y_max: float

    @property
    def middle(self) -> XY:
        """The middle of the square."""
        return (self.x_min + self.x_max) / 2, (self.y_min + self.y_max) / 2

    @property
    def half(self) -> float:
        """Half the side of the square."""
        return (self.x_max - self.x_min) / 2


class Crowd(NamedTuple):
    """Places of people, and the verdict on them by their position in the answer.

    Attributes:
        xy: places in metres, shape (n, 2).
        near: people within the allowed distance.
        far: people beyond it, according to the verdict.
        inside: people who overlap the building.
        pairs: people who overlap each other.
        pixels: number of pixels that show each visible person.
    """

    xy: Floats
    near: list[int]
    far: set[int]
    inside: set[int]
    pairs: list[tuple[int, int]]
    pixels: dict[int, int]

    @property
    def overlapping(self) -> set[int]:
        """People who overlap another person."""
        return set(chain.from_iterable(self.pairs))


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the building and its shadow; with an answer, also the crowd and who is visible."""
    crowd = read_crowd(params, answer, verdicts)
    metrics = verdicts.metrics
    caption = question(params, verdicts)
    if answer is not None:
        caption = answer_caption(params, answer, crowd, verdicts)
    ground = plan(params, crowd, bool(verdicts))
    view = sniper_view(params, crowd, metrics)
    panels = [
        Panel("from above, in metres", ground, f"The scene from above. {caption}"),
        Panel(
            "what the sniper sees", view, f"The scene as the sniper sees it. {caption}"
        ),
    ]
    if answer is not None and verdicts:
        panels += gauge_panels(answer_gauges(params, answer, verdicts))
    legend = _LEGEND + crowd_legend(crowd, bool(metrics))
    return Picture(tuple(panels), caption, tuple(legend))


def read_crowd(params: Params, answer: Answer | None, verdicts: Verdicts) -> Crowd:
    """Return the people of an answer that are drawn; nobody without an answer."""
    people = answer.people[:_MOST_PEOPLE] if answer else ()
    n = len(people)
    xy = np.array([person.xy for person in people], dtype=np.float64).reshape(-1, 2)
    failed = verdicts.failures
    reach = params.max_distance + 1e-6
    distances = [math.hypot(x, y) for x, y in xy.tolist()]
    pixels = verdicts.metrics.get("visible_people", ())
    return Crowd(
        xy,
        near=[i for i, distance in enumerate(distances) if distance <= reach],
        far={i for i in failed.get("distance", ()) if i < n},
        inside={i for i in failed.get("clear_of_building", ()) if i < n},
        pairs=[(a, b) for a, b in failed.get("people_apart", ()) if max(a, b) < n],
        pixels={i: count for i, count in pixels if i < n},
    )


def crowd_legend(crowd: Crowd, judged: bool) -> Legend:
    """Return the lines of the legend for people."""
    if not judged:
        return [("answer", "people")]
    faulty = crowd.far | crowd.inside | crowd.overlapping
    legend: Legend = []
    if set(crowd.near) - faulty - set(crowd.pixels):
        legend.append(("right", "hidden people"))
    clauses = {
        "filled: seen by the sniper": crowd.pixels,
        "hatched and ringed: overlapping people": crowd.pairs,
        "crossed out: overlaps the building": crowd.inside,
        "arrows: too far away": crowd.far,
    }
    return legend + wrong_line(clauses)


def plan(params: Params, crowd: Crowd, judged: bool) -> Drawing:
    """Return the place from above, with the building, its shadow, the sniper and the crowd."""
    frame = crowd_frame(params, crowd)
    drawing = Drawing(frame, size=380, margin=20)
    shadow = ground_shadow(params)
    for part in getattr(shadow, "geoms", [shadow]):
        if part.geom_type != "Polygon" or part.is_empty:
            continue
        cut = part.intersection(shapely.box(*frame))
        shape = cut if cut.geom_type == "Polygon" else part
        outline = shape.exterior.coords
        drawing.area(outline, "note", opacity=0.22, edge="note", width=1, dashed=True)
    reach = params.max_distance
    drawing.ring((0, 0), "quiet", radius=reach, units="task", width=1.5, dashed=True)
    drawing.box(*footprint(params), "given", edge="ink", width=1.5)
    draw_sniper(drawing, params, frame)
    draw_people(drawing, params, crowd, judged)
    point_at_strays(drawing, crowd, frame)
    # The shortest scale that is longer than 30 pixels.
    for length in _SCALES:
        if length * drawing.scale > 30:
            break
    start = (frame.x_min, frame.y_min)
    drawing.line([start, (start[0] + length, start[1])], "ink", width=2)
    drawing.text(start, f"{length} m", size=10, anchor="start", shift=(0, 11))
    return drawing


def crowd_frame(params: Params, crowd: Crowd) -> Frame:
    """Return a square around the building and people near it; without people, all the ground."""
    reach = params.max_distance * 1.06
    if not crowd.near:
        return Frame(-reach, -reach, reach, reach)
    near = crowd.xy[crowd.near]
    corner, opposite = footprint(params)
    low = np.minimum(near.min(axis=0), corner)
    high = np.maximum(near.max(axis=0), opposite)
    # At least twice as wide as the building, and at least eight people wide.
    least = max(4 * max(opposite), 8 * params.person[0])
    side = max(float((high - low).max()) * 1.28, least)
    side = min(side, 2 * reach)
    x, y = ((low + high) / 2).tolist()
    return Frame(x - side / 2, y - side / 2, x + side / 2, y + side / 2)


def ground_shadow(params: Params) -> Any:  # noqa: ANN401  (a geometry of shapely)
    """Return the ground where a person's head, and so the whole person, is hidden."""
    eye_x, eye_y, eye_z = params.sniper
    roof = params.building[2]
    head = params.person[2]
    if head >= roof:
        return shapely.Polygon()
    # At the height of a head, shadows of the roof's corners are this many times as far from the
    # eye.
    stretch = (eye_z - head) / (eye_z - roof) if eye_z > roof else math.inf
    stretch = min(stretch, _FAR_AWAY)
    corner, opposite = footprint(params)
    corners = list(product(*zip(corner, opposite, strict=True)))
    thrown: list[tuple[float, ...]] = [
        (eye_x + (x - eye_x) * stretch, eye_y + (y - eye_y) * stretch)
        for x, y in corners
    ]
    hull = shapely.MultiPoint(corners + thrown).convex_hull
    ground = shapely.Point(0, 0).buffer(params.max_distance, quad_segs=24)
    return hull.intersection(ground).difference(shapely.box(*corner, *opposite))


def footprint(params: Params) -> tuple[XY, XY]:
    """Return two opposite corners of the building on the ground, the lowest first."""
    half_x = params.building[0] / 2
    half_y = params.building[1] / 2
    return (-half_x, -half_y), (half_x, half_y)


def draw_sniper(drawing: Drawing, params: Params, frame: Frame) -> None:
    """Draw an arrow along the sniper's line of sight, from the edge of the frame inwards."""
    x, y, z = params.sniper
    middle_x, middle_y = frame.middle
    dx = x - middle_x
    dy = y - middle_y
    reach = frame.half / max(abs(dx), abs(dy), 1e-9)
    tail = (middle_x + dx * reach, middle_y + dy * reach)
    tip = (middle_x + dx * reach * 0.88, middle_y + dy * reach * 0.88)
    # The sniper is inside the frame.
    if reach >= 1:
        tail = (x, y)
    drawing.line([tail, tip], "ink", width=2.5, arrow=True)
    words = f"sniper, {math.hypot(x, y):.0f} m away, {z:g} m up"
    # Words extend towards the middle of the drawing.
    anchor: Literal["start", "end"] = "end" if tail[0] > middle_x else "start"
    lift = -9 if dy >= 0 else 9
    drawing.text(tail, words, anchor=anchor, shift=(0, lift))


def draw_people(drawing: Drawing, params: Params, crowd: Crowd, judged: bool) -> None:
    """Draw people as boxes; mark those who are visible, in the building, or overlapping."""
    width, depth, _ = params.person
    faulty = crowd.overlapping | crowd.inside
    corners: dict[str, list[XY]] = {"hidden": [], "visible": [], "faulty": []}
    for i in crowd.near:
        kind = "hidden"
        if i in crowd.pixels:
            kind = "visible"
        elif i in faulty:
            kind = "faulty"
        x, y = crowd.xy[i].tolist()
        corners[kind].append((x - width / 2, y - depth / 2))
    size = (width, depth)
    role = "right" if judged else "answer"
    drawing.tiles(corners["hidden"], role, size=size, opacity=0.75)
    drawing.tiles(corners["faulty"], "wrong", size=size, hatched=True)
    drawing.tiles(corners["visible"], "wrong", size=size)
    outlines = []
    for x, y in chain.from_iterable(corners.values()):
        outlines.append([*rectangle((x, y), (x + width, y + depth)), (x, y)])
    drawing.strokes(outlines, "ink", width=0.7)
    radius = max(width * drawing.scale * 0.9, 7)
    if len(crowd.pixels) <= _MOST_RINGS:
        for i in sorted(crowd.pixels):
            place = crowd.xy[i].tolist()
            tip = f"person {i} is seen"
            drawing.ring(place, "wrong", radius=radius, width=2.5, tip=tip)
    for i in sorted(crowd.inside):
        place = crowd.xy[i].tolist()
        drawing.cross(place, "wrong", radius=max(width * drawing.scale / 2, 4))
    for a, b in crowd.pairs[:_MOST_RINGS]:
        middle = ((crowd.xy[a] + crowd.xy[b]) / 2).tolist()
        if math.hypot(*middle) <= params.max_distance * 1.1:
            tip = f"people {a} and {b} overlap"
            drawing.ring(middle, "wrong", radius=radius, width=2.5, tip=tip)


def point_at_strays(drawing: Drawing, crowd: Crowd, frame: Frame) -> None:
    """Point from the edge of the frame at people who are outside it."""
    middle = np.array(frame.middle)
    half = frame.half
    for i in sorted(crowd.far)[:_MOST_RINGS]:
        away = np.clip(crowd.xy[i], -_FARTHEST, _FARTHEST) - middle
        longest = max(float(np.abs(away).max()), 1e-9)
        if longest <= half:
            drawing.cross(crowd.xy[i].tolist(), "wrong", radius=5)
            continue
        tip = (middle + away * (half / longest)).tolist()
        tail = (middle + away * (half / longest) * 0.9).tolist()
        drawing.line([tail, tip], "wrong", width=3.5, arrow=True)
        anchor: Literal["start", "end"] = "start" if tail[0] < middle[0] else "end"
        drawing.text(tail, "too far", "wrong", anchor=anchor, bold=True, shift=(0, -10))


def sniper_view(params: Params, crowd: Crowd, metrics: Mapping[str, Any]) -> Drawing:
    """Return the part of the sniper's picture around the building and people near it."""
    camera = true_camera(params)
    low, high = boxes(params, crowd.xy[crowd.near])
    outlines = [silhouette(camera, a, b) for a, b in zip(low, high, strict=True)]
    corners = np.concatenate(outlines)
    first = np.maximum(corners.min(axis=0) - 12, 0)
    last = np.minimum(corners.max(axis=0) + 12, camera.image)
    # No people and no building can be seen from there.
    if (last - first).min() <= 0:
        first = np.zeros(2)
        last = np.array(camera.image)
    drawing = Drawing((*first.tolist(), *last.tolist()), size=380, up=False, margin=18)
    away = np.linalg.norm((low + high) / 2 - np.array(camera.eye), axis=1)
    role = "wrong" if metrics else "answer"
    behind = []
    # Far boxes are drawn first, so that near ones cover them. The first box is the building.
    for k in np.argsort(-away, kind="stable").tolist():
        outline = outlines[k].tolist()
        if k == 0:
            drawing.area(outline, "given", edge="ink")
            draw_nearest_edges(drawing, camera, low[0], high[0])
            continue
        # In a judged crowd, only visible people are filled.
        if not metrics or crowd.near[k - 1] in crowd.pixels:
            drawing.area(outline, role, opacity=0.6, edge="paper", width=0.4)
        if away[k] > away[0]:
            behind.append([*outline, outline[0]])
    drawing.strokes(behind, "quiet", width=0.5, opacity=0.5)
    places = [(u, v) for u, v, _ in metrics.get("visible_places", ())]
    drawing.tiles(places, "wrong", tip="pixels that show people")
    if len(crowd.pixels) <= _MOST_RINGS:
        for k, i in enumerate(crowd.near, start=1):
            if i in crowd.pixels:
                ring_person(drawing, outlines[k], i, crowd.pixels[i])
    drawing.outline(first.tolist(), last.tolist(), "quiet", width=1)
    return drawing


def ring_person(drawing: Drawing, outline: Floats, i: int, pixels: int) -> None:
    """Draw a ring around a visible person, with the number of pixels."""
    centre = outline.mean(axis=0).tolist()
    radius = float(np.ptp(outline, axis=0).max()) / 2 * drawing.scale + 6
    tip = f"person {i}: {pixels} pixels"
    drawing.ring(centre, "wrong", radius=radius, width=2.5, tip=tip)
    shift = (0, -radius - 7)
    drawing.text(centre, f"{pixels} px", "wrong", bold=True, shift=shift)


def project(camera: Camera, points: Floats) -> Floats:
    """Return the pixels (n, 2) of points (n, 3) in a camera; points behind it are far off."""
    rays = points - np.array(camera.eye)
    ahead = np.maximum(rays @ np.array(camera.forward), 1e-6)
    columns, rows = camera.image
    # From -1 to 1 inside the picture, to the right and upwards.
    u = rays @ np.array(camera.right) / ahead / (camera.tangent * (columns / rows))
    v = rays @ np.array(camera.up) / ahead / camera.tangent
    column = (u + 1) * columns / 2
    row = (1 - v) * rows / 2
    flat = np.stack([column, row], axis=-1)
    within_reach: Floats = np.clip(flat, -_FARTHEST, _FARTHEST)
    return within_reach


def box_corners(low: Floats, high: Floats) -> Floats:
    """Return the corners (8, 3) of a box; those whose indices differ in one bit share an edge."""
    corners = product(*zip(low, high, strict=True))
    return np.array(list(corners), dtype=np.float64)


def silhouette(camera: Camera, low: Floats, high: Floats) -> Floats:
    """Return the outline (k, 2) of a box as a camera sees it, in pixels."""
    flat = project(camera, box_corners(low, high))
    hull = shapely.MultiPoint(flat).convex_hull
    if not isinstance(hull, shapely.Polygon):
        return flat
    outline: Floats = np.array(hull.exterior.coords[:-1], dtype=np.float64)
    return outline


def draw_nearest_edges(
    drawing: Drawing, camera: Camera, low: Floats, high: Floats
) -> None:
    """Draw the three edges of a box that meet at the corner nearest to the eye."""
    corners = box_corners(low, high)
    rays = corners - np.array(camera.eye)
    nearest = int((rays**2).sum(axis=1).argmin())
    flat = project(camera, corners).tolist()
    lines = [[flat[nearest], flat[nearest ^ bit]] for bit in (1, 2, 4)]
    drawing.strokes(lines, "ink", width=1)


def answer_gauges(params: Params, answer: Answer, verdicts: Verdicts) -> list[Gauge]:
    """Return the gauges of people and, if counted, of the pixels that show them."""
    count = verdicts.passed("count")
    gauges = [
        Gauge("people placed", len(answer.people), params.people, count, "exactly")
    ]
    hidden = verdicts.check("hidden")
    if hidden is not None:
        pixels = hidden.details.get("pixels", 0)
        label = "pixels that show people"
        gauges.append(Gauge(label, pixels, 0, hidden.passed, "at most"))
    return gauges


def people_are(count: int) -> str:
    """Return the start of a sentence about a number of people."""
    return "1 person is" if count == 1 else f"{count} people are"


def question(params: Params, verdicts: Verdicts) -> str:
    """Return the caption of an instance, or of an answer that could not be read."""
    start = "Nobody is placed. " if verdicts else ""
    return (
        f"{start}Hide {counted(params.people, 'person', 'people')} behind a building, so "
        f"that a sniper cannot see them, within {params.max_distance:g} m of the building's centre."
    )


def answer_caption(
    params: Params, answer: Answer, crowd: Crowd, verdicts: Verdicts
) -> str:
    """Return a sentence about people who break a rule or are visible."""
    count = len(answer.people)
    if not verdicts:
        return f"{people_are(count)} placed."
    parts = []
    if count > _MOST_PEOPLE:
        parts.append(f"{people_are(count)} placed, of whom {_MOST_PEOPLE} are drawn")
    elif verdicts.failed("count"):
        parts.append(f"{people_are(count)} placed instead of {params.people}")
    parts += verdicts.faults(_FAULTS)
    if crowd.pixels:
        visible = len(crowd.pixels)
        pixels = sum(crowd.pixels.values())
        visible_share = f"{visible} of {counted(count, 'person', 'people')} can be seen"
        parts.append(f"{visible_share} on {counted(pixels, 'pixel')}")
    if not parts:
        parts.append(
            "1 person is hidden" if count == 1 else f"All {count} people are hidden"
        )
    caption = f"{'; '.join(parts)}. {verdicts.fraction.capitalize()}."
    if count <= _MOST_PEOPLE:
        caption += published_note(params, crowd)
    return caption


def published_note(params: Params, crowd: Crowd) -> str:
    """Return the number of pixels in the paper's picture, if it differs from the sniper's."""
    if len(crowd.xy) > len(crowd.near):
        return ""
    pixels = fitted_view_pixels(params, crowd.xy)
    if pixels == sum(crowd.pixels.values()):
        return ""
    shown = counted(pixels, "pixel")
    return f" The paper's picture, from a camera moved closer, shows people on {shown}."
