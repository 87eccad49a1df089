"""Rough ground before and after blasts: the plan, the change, and the flat region that grew."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from scbench.graders.terrain_levelling.blast_simulation import largest_flat
from scbench.report.draw.scene import Scene
from scbench.report.draw.svg import Drawing, rectangle
from scbench.report.draw.voxels import columns
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Legend, Panel, Picture, Verdicts, texts
from scbench.schemas.terrain_levelling import Answer, Blast, Params

_SHADES = 12
# Blasts of a longer plan are not numbered.
_NUMBERED = 40
# Cells with blasts that are drawn as dots; more are hatched.
_DOTS = 1_000
_MOST_COLUMNS = 50 * 50
_MOST_TEXT = 120
# Heights so near to each other are the same.
_SAME = 1e-9

Heights = npt.NDArray[np.float64]
Region = npt.NDArray[np.bool_]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the map; with an answer its blasts and the map after as many as were simulated."""
    before = np.array(params.heights, dtype=np.float64)
    metrics = verdicts.metrics
    caption = _caption(params, answer, verdicts)
    region = _verdict_region(metrics.get("region_before"), params)
    after = None
    if "heights_after" in metrics:
        after = np.array(metrics["heights_after"], dtype=np.float64)
    maps = [before] if after is None else [before, after]
    low, high = float(np.min(maps)), float(np.max(maps))
    first = _map(before, low, high, figures=answer is None)
    _draw_border(first, region, "note")
    legend = [*texts("terrain_levelling.legend").items()]
    if answer is not None:
        legend += _blasts(first, params, answer, verdicts)
    title = "the ground" if answer is None else "the plan"
    panels = [Panel(title, first, f"The ground before. {caption}")]
    if after is not None:
        flat = _verdict_region(metrics.get("region_after"), params)
        panels += _after(before, after, region, flat, (low, high), caption)
        legend += texts("terrain_levelling.legend_after").items()
    terrain = (before, region) if after is None else (after, flat)
    if before.size <= _MOST_COLUMNS:
        title, role = (
            ("as columns", "note") if after is None else ("after, as columns", "right")
        )
        panels.append(
            Panel(title, _scene(*terrain, role), f"The ground as columns. {caption}")
        )
    if "flat_after" in metrics:
        target, level = (
            metrics["flat_before"] + metrics["gain_wanted"],
            verdicts.passed("level"),
        )
        label = "cells of the largest flat region"
        panels += gauge_panels([Gauge(label, metrics["flat_after"], target, level)])
    return Picture(tuple(panels), caption, tuple(legend), _text(*terrain))


def _verdict_region(rows: Sequence[str] | None, params: Params) -> Region:
    """Return a region from a verdict's rows of # and dots; that of the ground if there is none."""
    n = len(params.heights)
    if rows is not None:
        return np.array([[mark == "#" for mark in row] for row in rows], dtype=bool)
    heights = [height for row in params.heights for height in row]
    region = np.zeros(n * n, dtype=bool)
    region[largest_flat(heights, n, params.flat_tolerance)] = True
    return region.reshape(n, n)


def _map(
    heights: Heights, low: float, high: float, *, figures: bool = False
) -> Drawing:
    """Return a map of heights, indexed y, x; the first row is at the top."""
    n = len(heights)
    drawing = Drawing((0, 0, n, n), size=460 if figures else 340, up=False, margin=22)
    shades = (heights - low) / max(high - low, 1e-9)
    _shade_shares(drawing, shades, "rock")
    if figures and drawing.scale >= 19:
        for y, x in np.ndindex(n, n):
            words, size = f"{heights[y, x]:.1f}", min(8.5, drawing.scale / 2.5)
            drawing.text((x + 0.5, y + 0.5), words, size=size)
    drawing.line(rectangle((0, 0), (n, n)), "quiet", closed=True, width=1)
    drawing.text((0, 0), "x →", "quiet", size=10, anchor="start", shift=(0, -10))
    drawing.text((0, 0), "y ↓", "quiet", size=10, anchor="end", shift=(-3, 7))
    return drawing


def _shade_shares(drawing: Drawing, shares: Heights, role: str) -> None:
    """Fill cells, the larger their share of 1 the darker."""
    levels = np.clip(np.ceil(shares * _SHADES), 0, _SHADES).astype(int)
    for level in range(1, _SHADES + 1):
        cells = [(x, y) for y, x in np.argwhere(levels == level).tolist()]
        drawing.tiles(cells, role, opacity=0.05 + 0.8 * level / _SHADES)


def _draw_border(
    drawing: Drawing, region: Region, role: str, *, width: float = 2.5
) -> None:
    around = np.pad(region, 1)
    flat = np.argwhere(around[1:, 1:-1] != around[:-1, 1:-1]).tolist()
    upright = np.argwhere(around[1:-1, 1:] != around[1:-1, :-1]).tolist()
    lines = [[(x, y), (x + 1, y)] for y, x in flat] + [
        [(x, y), (x, y + 1)] for y, x in upright
    ]
    drawing.strokes(lines, role, width=width)


def _blasts(
    drawing: Drawing, params: Params, answer: Answer, verdicts: Verdicts
) -> Legend:
    """Mark the blasts in order and those that break a rule; return what the legend needs."""
    n = len(params.heights)
    failed = verdicts.failures
    too_deep = (
        verdicts.details("depth").get("blast") if verdicts.failed("depth") else None
    )
    depths: dict[tuple[int, int], float] = {}
    for blast in answer.blasts:
        if 0 <= blast.x < n and 0 <= blast.y < n:
            cell = (blast.x, blast.y)
            depths[cell] = depths.get(cell, 0.0) + min(max(blast.z, 0.0), 1e9)
    legend = []
    if len(depths) > _DOTS:
        drawing.tiles(sorted(depths), "answer", hatched=True)
        legend.append(("answer", "hatched: cells with blasts"))
    elif depths:
        deepest = max([*depths.values(), 1e-9])
        largest = min(drawing.scale * 0.48, 12)
        for (x, y), depth in sorted(depths.items()):
            radius = max(largest * min(depth / deepest, 1.0) ** 0.5, 1.5)
            tip = f"x = {x}, y = {y}: {depth:.6g} deep in all"
            drawing.dot((x + 0.5, y + 0.5), "answer", radius=radius, tip=tip)
        legend.append(("answer", "blasts: the larger, the deeper"))
    if len(answer.blasts) <= _NUMBERED:
        for i, blast in enumerate(answer.blasts):
            if 0 <= blast.x < n and 0 <= blast.y < n:
                place = (blast.x + 0.5, blast.y + 0.5)
                drawing.text(place, i, size=9, bold=True, shift=(6, -6))
    faults = [*failed.get("positive", ()), *([] if too_deep is None else [too_deep])]
    for i in dict.fromkeys([*failed.get("grid", ()), *faults]):
        _mark(drawing, n, i, answer.blasts[i])
    if faults or failed.get("grid"):
        legend.append(("wrong", "a blast that voids the plan"))
    return legend


def _mark(drawing: Drawing, n: int, i: int, blast: Blast) -> None:
    x, y = (min(max(value, -1), n) + 0.5 for value in (blast.x, blast.y))
    tip = f"blast {i}"
    radius = min(max(drawing.scale * 0.8, 9), 18)
    if 0 <= blast.x < n and 0 <= blast.y < n:
        drawing.ring((x, y), "wrong", radius=radius, width=3, tip=tip)
        drawing.cross((x, y), "wrong", radius=radius * 0.45, width=2.5)
        return
    # Pulled to the edge, with an arrow that points out of the map.
    edge = (min(max(x, 0.0), n), min(max(y, 0.0), n))
    inner = tuple(a + (n / 2 - a) * 0.12 for a in edge)
    drawing.line([inner, edge], "wrong", width=3.5, arrow=True, tip=tip)
    drawing.text(inner, i, "wrong", bold=True, shift=(0, -9))


def _after(
    before: Heights,
    after: Heights,
    region: Region,
    flat: Region,
    span: tuple[float, float],
    caption: str,
) -> list[Panel]:
    then = _map(after, *span)
    level_cells = [(x, y) for y, x in np.argwhere(flat).tolist()]
    then.tiles(level_cells, "right", opacity=0.35)
    _draw_border(then, flat, "right", width=3)
    _draw_border(then, region, "note", width=1.5)
    panels = [Panel("after the blasts", then, f"The ground after. {caption}")]
    change = after - before
    largest = float(np.abs(change).max())
    if largest <= _SAME:  # nothing was blasted, or everything was void
        return panels
    n = len(before)
    delta = Drawing((0, 0, n, n), size=340, up=False, margin=22)
    # Roots, so that what a few balls added can be seen beside deep holes.
    for way, role in ((-1, "missing"), (1, "surplus")):
        _shade_shares(delta, np.sqrt(np.maximum(way * change, 0) / largest), role)
    if delta.scale >= 9:
        for sign, mask in (("−", change < -_SAME), ("+", change > _SAME)):
            for y, x in np.argwhere(mask).tolist():
                delta.text((x + 0.5, y + 0.5), sign, size=min(delta.scale * 0.8, 12))
    delta.line(rectangle((0, 0), (n, n)), "quiet", closed=True, width=1)
    words = f"Cells lower (−) and higher (+) than before. {caption}"
    return [*panels, Panel("what changed", delta, words)]


def _scene(heights: Heights, region: Region, flat_role: str) -> Scene:
    turned, flat = heights[::-1].T, region[::-1].T
    stretch = max(len(heights) / 40, 0.5)
    base = float(turned.min()) - 1
    raised = (turned - base) * stretch
    masks = {"rock": ~flat, flat_role: flat}
    parts = (
        columns(raised, role, only=mask) for role, mask in masks.items() if mask.any()
    )
    return Scene(tuple(parts), azimuth=-65, elevation=40)


def _caption(params: Params, answer: Answer | None, verdicts: Verdicts) -> str:
    n = len(params.heights)
    if answer is None:
        start = "There are no blasts to draw. " if verdicts else ""
        return f"{start}Ground of {n} x {n} cells, to be blasted flat."
    metrics = verdicts.metrics
    count = len(answer.blasts)
    blasts = f"{count} blast{'s' * (count != 1)}"
    if "flat_after" not in metrics:
        return f"{blasts} on ground of {n} x {n} cells."
    cells = f"{metrics['flat_before']} to {metrics['flat_after']} cells"
    score = f"{verdicts.fraction.capitalize()}."
    faults = verdicts.faults(texts("terrain_levelling.faults"), most=params.max_blasts)
    if faults:
        simulated = metrics["simulated"]
        return f"{blasts}, void for {' and '.join(faults)}; {simulated} were simulated. {score}"
    return f"{blasts}; the largest flat region went from {cells}. {score}"


def _text(heights: Heights, region: Region) -> str:
    """Return heights in whole units if they fit, those of the flat region in brackets."""
    n = len(heights)
    if 4 * n > _MOST_TEXT:
        rows = [
            "".join("#" if flat else "." for flat in row) for row in region.tolist()
        ]
        return "\n".join([*rows, "", "# the largest flat region"])
    lines = []
    for row in np.dstack([heights, region]).tolist():
        cells = [
            f"[{height:2.0f}]" if flat else f" {height:2.0f} " for height, flat in row
        ]
        lines.append("".join(cells).rstrip())
    return "\n".join(
        [*lines, "", "heights in whole units; in brackets: the largest flat region"]
    )
