"""A crowd behind a building: from above, with the shadow that hides it, and for the sniper."""

import math
from collections.abc import Mapping
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import shapely

from scbench.graders.hide_and_seek import Camera, boxes, fitted_view_pixels, true_camera
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Legend, Panel, Picture, Verdicts, texts, wrong_line
from scbench.schemas.hide_and_seek import Answer, Params

# People drawn of a larger crowd.
_MOST_PEOPLE = 1_000
# More faults of a kind are not ringed one by one.
_MOST_RINGS = 8
# How far shadows reach that have no end, in metres.
_FAR_AWAY = 1_000.0


Floats = npt.NDArray[np.float64]
XY = tuple[float, float]


class _Crowd(NamedTuple):
    """Where everybody is, and what the verdict says of them by their position in the answer."""

    xy: Floats
    near: list[int]
    far: set[int]
    inside: set[int]
    pairs: list[tuple[int, int]]
    pixels: dict[int, int]

    @property
    def faulty(self) -> set[int]:
        """Everybody who breaks a rule by where he stands, whoever sees him."""
        return self.far | self.inside | {i for pair in self.pairs for i in pair}


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the building and its shadow; with an answer the crowd and who of it can be seen."""
    crowd = None if answer is None else _crowd_view(params, answer, verdicts)
    plan = _plan(params, crowd, bool(verdicts))
    view = _view(params, crowd, verdicts.metrics)
    caption = _caption(params, answer, crowd, verdicts)
    panels = [
        Panel("from above, in metres", plan, f"The place from above. {caption}"),
        Panel("what the sniper sees", view, f"From the sniper's eye. {caption}"),
    ]
    if answer is not None and verdicts:
        panels += gauge_panels(_gauges(params, answer, verdicts))
    legend = (
        *texts("hide_and_seek.legend").items(),
        *_legend(crowd, bool(verdicts.metrics)),
    )
    return Picture(tuple(panels), caption, legend)


def _crowd_view(params: Params, answer: Answer, verdicts: Verdicts) -> _Crowd:
    people = answer.people[:_MOST_PEOPLE]
    xy = np.array([person.xy for person in people], dtype=np.float64).reshape(-1, 2)
    failed = verdicts.failures
    reach = params.max_distance + 1e-6
    near = [i for i, (x, y) in enumerate(xy.tolist()) if math.hypot(x, y) <= reach]
    return _Crowd(
        xy,
        near,
        {i for i in failed.get("distance", ()) if i < len(people)},
        {i for i in failed.get("clear_of_building", ()) if i < len(people)},
        [(a, b) for a, b in failed.get("people_apart", ()) if max(a, b) < len(people)],
        {
            i: pixels
            for i, pixels in verdicts.metrics.get("visible_people", ())
            if i < len(people)
        },
    )


def _legend(crowd: _Crowd | None, judged: bool) -> Legend:
    if crowd is None:
        return []
    if not judged:
        return [("answer", "people")]
    hidden = set(crowd.near) - crowd.faulty - set(crowd.pixels)
    wrong = {
        "filled: seen by the sniper": crowd.pixels,
        "hatched and ringed: people who overlap": crowd.pairs,
        "crossed out: in the building": crowd.inside,
        "arrows: too far away": crowd.far,
    }
    return [("right", "people who are hidden")] * bool(hidden) + wrong_line(wrong)


def _ground_shadow(params: Params) -> Any:  # noqa: ANN401  (a geometry of shapely)
    """Return the ground where the head of a person, and so all of him, is hidden."""
    half_x, half_y, roof = (
        params.building[0] / 2,
        params.building[1] / 2,
        params.building[2],
    )
    eye_x, eye_y, eye_z = params.sniper
    head = params.person[2]
    footprint = [(x, y) for x in (-half_x, half_x) for y in (-half_y, half_y)]
    if head >= roof:
        return shapely.Polygon()
    stretch = (eye_z - head) / (eye_z - roof) if eye_z > roof else math.inf
    stretch = min(stretch, _FAR_AWAY)
    thrown = [
        (eye_x + (x - eye_x) * stretch, eye_y + (y - eye_y) * stretch)
        for x, y in footprint
    ]
    hull = shapely.MultiPoint(footprint + thrown).convex_hull
    ground = shapely.Point(0, 0).buffer(params.max_distance, quad_segs=24)
    return hull.intersection(ground).difference(
        shapely.box(-half_x, -half_y, half_x, half_y)
    )


def _crowd_frame(
    params: Params, crowd: _Crowd | None
) -> tuple[float, float, float, float]:
    reach = params.max_distance * 1.06
    if crowd is None or not crowd.near:
        return (-reach, -reach, reach, reach)
    near = crowd.xy[crowd.near]
    half_x, half_y = params.building[0] / 2, params.building[1] / 2
    low = np.minimum(near.min(axis=0), (-half_x, -half_y))
    high = np.maximum(near.max(axis=0), (half_x, half_y))
    side = max(
        float((high - low).max()) * 1.28, 4 * max(half_x, half_y), 8 * params.person[0]
    )
    side = min(side, 2 * reach)
    x, y = ((low + high) / 2).tolist()
    return (x - side / 2, y - side / 2, x + side / 2, y + side / 2)


def _plan(params: Params, crowd: _Crowd | None, judged: bool) -> Drawing:
    frame = _crowd_frame(params, crowd)
    drawing = Drawing(frame, size=380, margin=20)
    shadow = _ground_shadow(params)
    for part in getattr(shadow, "geoms", [shadow]):
        if part.geom_type == "Polygon" and not part.is_empty:
            cut = part.intersection(shapely.box(*frame))
            shape = cut if cut.geom_type == "Polygon" else part
            drawing.area(
                shape.exterior.coords,
                "note",
                opacity=0.22,
                edge="note",
                width=1,
                dashed=True,
            )
    drawing.ring(
        (0, 0),
        "quiet",
        radius=params.max_distance,
        units="task",
        width=1.5,
        dashed=True,
    )
    half_x, half_y = params.building[0] / 2, params.building[1] / 2
    drawing.box((-half_x, -half_y), (half_x, half_y), "given", edge="ink", width=1.5)
    _sniper(drawing, params, frame)
    if crowd is not None:
        _people(drawing, params, crowd, frame, judged)
    lengths = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
    length = next((m for m in lengths if m * drawing.scale > 30), 1000)
    start = (frame[0], frame[1])
    drawing.line([start, (start[0] + length, start[1])], "ink", width=2)
    drawing.text(start, f"{length} m", size=10, anchor="start", shift=(0, 11))
    return drawing


def _sniper(
    drawing: Drawing, params: Params, frame: tuple[float, float, float, float]
) -> None:
    """Draw an arrow along the sniper's line of sight, from the edge of the frame inwards."""
    x, y, z = params.sniper
    middle = ((frame[0] + frame[2]) / 2, (frame[1] + frame[3]) / 2)
    dx, dy = x - middle[0], y - middle[1]
    reach = (frame[2] - frame[0]) / 2 / max(abs(dx), abs(dy), 1e-9)
    tail = (middle[0] + dx * reach, middle[1] + dy * reach)
    tip = (middle[0] + dx * reach * 0.88, middle[1] + dy * reach * 0.88)
    if reach >= 1:
        tail = (x, y)
    drawing.line([tail, tip], "ink", width=2.5, arrow=True)
    words = f"sniper, {math.hypot(x, y):.0f} m away, {z:g} m up"
    right = tail[0] > middle[0]
    drawing.text(
        tail, words, anchor="end" if right else "start", shift=(0, -9 if dy >= 0 else 9)
    )


def _people(
    drawing: Drawing,
    params: Params,
    crowd: _Crowd,
    frame: tuple[float, float, float, float],
    judged: bool,
) -> None:
    width, depth = params.person[:2]
    overlapping = {i for pair in crowd.pairs for i in pair}
    corners: dict[str, list[XY]] = {"right": [], "wrong": [], "hatched": []}
    for i in crowd.near:
        x, y = crowd.xy[i].tolist()
        faulty = i in overlapping or i in crowd.inside
        kind = "wrong" if i in crowd.pixels else "hatched" if faulty else "right"
        corners[kind].append((x - width / 2, y - depth / 2))
    size = (width, depth)
    drawing.tiles(
        corners["right"], "right" if judged else "answer", size=size, opacity=0.75
    )
    drawing.tiles(corners["hatched"], "wrong", size=size, hatched=True)
    drawing.tiles(corners["wrong"], "wrong", size=size)
    outlines = [
        [*rectangle(corner, (corner[0] + width, corner[1] + depth)), corner]
        for kind in corners.values()
        for corner in kind
    ]
    drawing.strokes(outlines, "ink", width=0.7)
    for i in sorted(crowd.pixels) if len(crowd.pixels) <= _MOST_RINGS else ():
        x, y = crowd.xy[i].tolist()
        radius = max(width * drawing.scale * 0.9, 7)
        drawing.ring(
            (x, y), "wrong", radius=radius, width=2.5, tip=f"person {i} is seen"
        )
    for i in sorted(crowd.inside):
        drawing.cross(
            crowd.xy[i].tolist(), "wrong", radius=max(width * drawing.scale / 2, 4)
        )
    for a, b in crowd.pairs[:_MOST_RINGS]:
        middle = ((crowd.xy[a] + crowd.xy[b]) / 2).tolist()
        if math.hypot(*middle) <= params.max_distance * 1.1:
            tip = f"persons {a} and {b} overlap"
            radius = max(width * drawing.scale * 0.9, 7)
            drawing.ring(middle, "wrong", radius=radius, width=2.5, tip=tip)
    _strays(drawing, crowd, frame)


def _strays(
    drawing: Drawing, crowd: _Crowd, frame: tuple[float, float, float, float]
) -> None:
    """Point from the edge of the frame at people who are outside it."""
    middle = np.array([frame[0] + frame[2], frame[1] + frame[3]]) / 2
    half = (frame[2] - frame[0]) / 2
    for i in sorted(crowd.far)[:_MOST_RINGS]:
        away = np.clip(crowd.xy[i], -1e6, 1e6) - middle
        longest = max(float(np.abs(away).max()), 1e-9)
        if longest <= half:
            drawing.cross(crowd.xy[i].tolist(), "wrong", radius=5)
            continue
        tip = middle + away * (half / longest)
        tail = middle + away * (half / longest) * 0.9
        drawing.line([tail.tolist(), tip.tolist()], "wrong", width=3.5, arrow=True)
        side: Literal["start", "end"] = "start" if tail[0] < middle[0] else "end"
        drawing.text(
            tail.tolist(), "too far", "wrong", anchor=side, bold=True, shift=(0, -10)
        )


def _view(params: Params, crowd: _Crowd | None, metrics: Mapping[str, Any]) -> Drawing:
    """Return the sniper's picture around the building and the people near it, in its pixels."""
    camera = true_camera(params)
    near = crowd.near if crowd is not None else []
    xy = crowd.xy[near] if crowd is not None else np.zeros((0, 2))
    low, high = boxes(params, xy)
    outlines = [_silhouette(camera, a, b) for a, b in zip(low, high, strict=True)]
    columns, rows = camera.image
    every = np.concatenate(outlines)
    first = np.maximum(every.min(axis=0) - 12, 0)
    last = np.minimum(every.max(axis=0) + 12, (columns, rows))
    if (last - first).min() <= 0:  # nobody and nothing can be seen from there
        first, last = np.zeros(2), np.array((columns, rows))
    drawing = Drawing((*first.tolist(), *last.tolist()), size=380, up=False, margin=18)
    eye = np.array(camera.eye)
    away = np.linalg.norm((low + high) / 2 - eye, axis=1)
    visible = set(crowd.pixels) if crowd is not None else set()
    behind = []
    for k in np.argsort(-away, kind="stable").tolist():
        if k == 0:
            drawing.area(outlines[0].tolist(), "given", edge="ink")
            _draw_nearest_edges(drawing, camera, low[0], high[0])
            continue
        if near[k - 1] in visible or not metrics:
            role = "wrong" if metrics else "answer"
            drawing.area(
                outlines[k].tolist(), role, opacity=0.6, edge="paper", width=0.4
            )
        if away[k] > away[0]:
            behind.append([*outlines[k].tolist(), outlines[k][0].tolist()])
    drawing.strokes(behind, "quiet", width=0.5, opacity=0.5)
    places = metrics.get("visible_places", ())
    drawing.tiles(
        [(u, v) for u, v, _ in places], "wrong", tip="pixels that show people"
    )
    for k, i in enumerate(near, start=1):
        if i in visible and len(visible) <= _MOST_RINGS and crowd is not None:
            outline = outlines[k]
            centre = outline.mean(axis=0)
            radius = float(np.ptp(outline, axis=0).max()) / 2 * drawing.scale + 6
            tip = f"person {i}: {crowd.pixels[i]} pixels"
            drawing.ring(centre.tolist(), "wrong", radius=radius, width=2.5, tip=tip)
            words = f"{crowd.pixels[i]} px"
            drawing.text(
                centre.tolist(), words, "wrong", bold=True, shift=(0, -radius - 7)
            )
    drawing.line(
        rectangle(first.tolist(), last.tolist()), "quiet", closed=True, width=1
    )
    return drawing


def _project(camera: Camera, points: Floats) -> Floats:
    rays = points - np.array(camera.eye)
    ahead = np.maximum(rays @ np.array(camera.forward), 1e-6)
    columns, rows = camera.image
    u = rays @ np.array(camera.right) / ahead / (camera.tangent * (columns / rows))
    v = rays @ np.array(camera.up) / ahead / camera.tangent
    flat = np.stack([(u + 1) * columns / 2, (1 - v) * rows / 2], axis=-1)
    within_reach: Floats = np.clip(flat, -1e6, 1e6)
    return within_reach


def _box_corners(low: Floats, high: Floats) -> Floats:
    ends = (low, high)
    corners = [
        (ends[a][0], ends[b][1], ends[c][2])
        for a in (0, 1)
        for b in (0, 1)
        for c in (0, 1)
    ]
    return np.array(corners, dtype=np.float64)


def _silhouette(camera: Camera, low: Floats, high: Floats) -> Floats:
    flat = _project(camera, _box_corners(low, high))
    hull = shapely.MultiPoint(flat).convex_hull
    if not isinstance(hull, shapely.Polygon):
        return flat
    outline: Floats = np.array(hull.exterior.coords[:-1], dtype=np.float64)
    return outline


def _draw_nearest_edges(
    drawing: Drawing, camera: Camera, low: Floats, high: Floats
) -> None:
    """Draw the three edges of a box that meet in its corner nearest to the eye."""
    corners = _box_corners(low, high)
    nearest = int(((corners - np.array(camera.eye)) ** 2).sum(axis=1).argmin())
    flat = _project(camera, corners).tolist()
    lines = [[flat[nearest], flat[nearest ^ bit]] for bit in (1, 2, 4)]
    drawing.strokes(lines, "ink", width=1)


def _gauges(params: Params, answer: Answer, verdicts: Verdicts) -> list[Gauge]:
    count = verdicts.passed("count")
    gauges = [
        Gauge("people placed", len(answer.people), params.people, count, "exactly")
    ]
    hidden = verdicts.check("hidden")
    if hidden is not None:
        pixels = hidden.details.get("pixels", 0)
        gauges.append(
            Gauge("pixels that show people", pixels, 0, hidden.passed, "at most")
        )
    return gauges


def _crowd_words(count: int) -> str:
    return "1 person is" if count == 1 else f"{count} people are"


def _caption(
    params: Params, answer: Answer | None, crowd: _Crowd | None, verdicts: Verdicts
) -> str:
    if answer is None or crowd is None:
        start = "Nobody is placed. " if verdicts else ""
        return (
            f"{start}{_crowd_words(params.people)} to hide behind a building from a sniper, within "
            f"{params.max_distance:g} m of its middle."
        )
    count = len(answer.people)
    parts = []
    if count > _MOST_PEOPLE:
        parts.append(f"{_crowd_words(count)} placed, of whom {_MOST_PEOPLE} are drawn")
    elif verdicts.passed("count") is False:
        parts.append(f"{_crowd_words(count)} placed instead of {params.people}")
    parts += verdicts.faults(texts("hide_and_seek.faults"))
    if crowd.pixels:
        visible = len(crowd.pixels)
        pixels = sum(crowd.pixels.values())
        parts.append(f"{visible} of {count} can be seen, on {pixels} pixels")
    if not verdicts:
        return f"{_crowd_words(count)} placed."
    summary = "; ".join(parts) or (
        f"{_crowd_words(count)} hidden"
        if count == 1
        else f"All {count} people are hidden"
    )
    published = "" if count > _MOST_PEOPLE else _published(params, crowd)
    return f"{summary}. {verdicts.fraction.capitalize()}.{published}"


def _published(params: Params, crowd: _Crowd) -> str:
    """Say what the paper's picture shows, if that is not what the sniper sees."""
    if len(crowd.xy) > len(crowd.near):
        return ""
    pixels = fitted_view_pixels(params, crowd.xy)
    if pixels == sum(crowd.pixels.values()):
        return ""
    return f" The paper's picture, from a camera moved closer, shows people on {pixels} pixels."
