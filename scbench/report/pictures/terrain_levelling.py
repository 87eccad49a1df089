"""Pictures of rough ground before and after blasts: the plan, the change, and the flat region."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from scbench.base.wording import counted
from scbench.graders.terrain_levelling.blast_simulation import largest_flat
from scbench.report.draw.columns import columns
from scbench.report.draw.scene import Scene
from scbench.report.draw.svg import Drawing
from scbench.report.gauges import Gauge, gauge_panels
from scbench.report.picture import Legend, Panel, Picture, Verdicts
from scbench.schemas.terrain_levelling import Answer, Blast, Params

# Shades of one colour, from the lowest ground to the highest.
SHADES = 12
# Plans with more blasts are not numbered.
MOST_NUMBERS = 40
# Cells with blasts are drawn as dots up to this number, then hatched.
MOST_DOTS = 1_000
# Larger ground is not drawn as columns.
MOST_COLUMNS = 50 * 50
# Maximum number of characters in a line of text.
MOST_TEXT = 120
# Heights that differ by less count as the same.
SAME = 1e-9
FAULTS = {
    "count": "more than {most} blasts",
    "grid": "a blast outside the map",
    "positive": "a blast without depth",
    "depth": "a blast deeper than the height of its cell",
    "resource_limit": "too much work to simulate",
}
# Roles of cells that blasts changed. Their hues differ from those of blasts and errors.
LOWER = "c3"
HIGHER = "c4"
LEGEND_BEFORE = (
    ("rock", "height: darker is higher"),
    ("note", "largest flat region before the blasts"),
)
LEGEND_AFTER = (
    ("right", "largest flat region after the blasts"),
    (LOWER, "lower than before (−)"),
    (HIGHER, "higher than before (+)"),
)

# Indexed y, x; the first row is at the top of a map.
Heights = npt.NDArray[np.float64]
Region = npt.NDArray[np.bool_]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the map; with an answer, also its blasts and the map after the simulated ones."""
    metrics = verdicts.metrics
    caption = picture_caption(params, answer, verdicts)
    before = np.array(params.heights, dtype=np.float64)
    region = flat_region(metrics.get("region_before"), params)
    maps = [before]
    if "heights_after" in metrics:
        maps.append(np.array(metrics["heights_after"], dtype=np.float64))
    # Both maps use the same shades.
    span = float(np.min(maps)), float(np.max(maps))
    plan = height_map(before, span, numbers=answer is None)
    draw_border(plan, region, "note")
    legend = list(LEGEND_BEFORE)
    title = "the ground"
    if answer is not None:
        title = "the plan"
        legend += draw_blasts(plan, params, answer)
        legend += mark_void_blasts(plan, params, answer, verdicts)
    panels = [Panel(title, plan, f"The ground before. {caption}")]
    # The last map, its flat region, and the region's role.
    latest = before
    flat = region
    flat_role = "note"
    title = "as columns"
    if len(maps) > 1:
        latest = maps[1]
        flat_role = "right"
        flat = flat_region(metrics.get("region_after"), params)
        title = "after, as columns"
        result = result_map(latest, span, region, flat)
        panels.append(Panel("after the blasts", result, f"The ground after. {caption}"))
        panels += change_panels(latest - before, caption)
        legend += LEGEND_AFTER
    if before.size <= MOST_COLUMNS:
        scene = column_scene(latest, flat, flat_role)
        panels.append(Panel(title, scene, f"The ground, drawn as columns. {caption}"))
    if "flat_after" in metrics:
        target = metrics["flat_before"] + metrics["gain_wanted"]
        passed = verdicts.passed("level")
        label = "cells of the largest flat region"
        panels += gauge_panels([Gauge(label, metrics["flat_after"], target, passed)])
    return Picture(tuple(panels), caption, tuple(legend), text_view(latest, flat))


def flat_region(rows: Sequence[str] | None, params: Params) -> Region:
    """Return a region from a verdict's rows of # and dots; without rows, that of the ground."""
    n = len(params.heights)
    if rows is not None:
        signs = np.array([list(row) for row in rows])
        return np.asarray(signs == "#")
    heights = list(chain.from_iterable(params.heights))
    region = np.zeros(n * n, dtype=bool)
    region[largest_flat(heights, n, params.flat_tolerance)] = True
    return region.reshape(n, n)


def height_map(
    heights: Heights, span: tuple[float, float], *, numbers: bool = False
) -> Drawing:
    """Return a map of heights; `span` has the lowest and highest height of all maps."""
    n = len(heights)
    low, high = span
    drawing = Drawing((0, 0, n, n), size=460 if numbers else 340, up=False, margin=22)
    shade_cells(drawing, (heights - low) / max(high - low, 1e-9), "rock")
    # Numbers would be unreadable in smaller cells.
    if numbers and drawing.scale >= 19:
        size = min(8.5, drawing.scale / 2.5)
        for y, x in np.ndindex(n, n):
            drawing.text((x + 0.5, y + 0.5), f"{heights[y, x]:.1f}", size=size)
    drawing.outline((0, 0), (n, n), "quiet", width=1)
    drawing.text((0, 0), "x →", "quiet", size=10, anchor="start", shift=(0, -10))
    drawing.text((0, 0), "y ↓", "quiet", size=10, anchor="end", shift=(-3, 7))
    return drawing


def shade_cells(drawing: Drawing, shares: Heights, role: str) -> None:
    """Fill cells; values from 0 to 1 set the darkness."""
    levels = np.clip(np.ceil(shares * SHADES), 0, SHADES).astype(int)
    for level in range(1, SHADES + 1):
        opacity = 0.05 + 0.8 * level / SHADES
        drawing.tiles(cells_of(levels == level), role, opacity=opacity)


def cells_of(region: Region) -> list[tuple[int, int]]:
    """Return the cells of a region as x, y."""
    return [(x, y) for y, x in np.argwhere(region).tolist()]


def draw_border(
    drawing: Drawing, region: Region, role: str, *, width: float = 2.5
) -> None:
    """Draw the outline of a region along its cells."""
    around = np.pad(region, 1)
    level = cells_of(around[1:, 1:-1] != around[:-1, 1:-1])
    upright = cells_of(around[1:-1, 1:] != around[1:-1, :-1])
    lines = [[(x, y), (x + 1, y)] for x, y in level]
    lines += [[(x, y), (x, y + 1)] for x, y in upright]
    drawing.strokes(lines, role, width=width)


def draw_blasts(drawing: Drawing, params: Params, answer: Answer) -> Legend:
    """Draw the blasts on the map, numbered if they are few; return their line of the legend."""
    depths = depth_by_cell(params, answer)
    legend = []
    if len(depths) > MOST_DOTS:
        drawing.tiles(sorted(depths), "answer", hatched=True)
        legend.append(("answer", "hatched: cells with blasts"))
    elif depths:
        deepest = max(*depths.values(), 1e-9)
        largest = min(drawing.scale * 0.48, 12)
        for (x, y), depth in sorted(depths.items()):
            # The area of a dot shows the depth.
            radius = max(largest * min(depth / deepest, 1.0) ** 0.5, 1.5)
            tip = f"x = {x}, y = {y}: {depth:.6g} deep in total"
            drawing.dot((x + 0.5, y + 0.5), "answer", radius=radius, tip=tip)
        legend.append(("answer", "blasts: larger is deeper"))
    if len(answer.blasts) <= MOST_NUMBERS:
        for i, blast in enumerate(answer.blasts):
            if on_map(blast, params):
                place = (blast.x + 0.5, blast.y + 0.5)
                drawing.text(place, i, size=9, bold=True, shift=(6, -6))
    return legend


def on_map(blast: Blast, params: Params) -> bool:
    """Return whether a blast is in a cell of the ground."""
    n = len(params.heights)
    return 0 <= blast.x < n and 0 <= blast.y < n


def depth_by_cell(params: Params, answer: Answer) -> dict[tuple[int, int], float]:
    """Return the total depth of blasts for each cell (x, y) with a blast."""
    depths: dict[tuple[int, int], float] = {}
    for blast in answer.blasts:
        if on_map(blast, params):
            cell = (blast.x, blast.y)
            depth = min(max(blast.z, 0.0), 1e9)
            depths[cell] = depths.get(cell, 0.0) + depth
    return depths


def mark_void_blasts(
    drawing: Drawing, params: Params, answer: Answer, verdicts: Verdicts
) -> Legend:
    """Mark the blasts that break a rule; return their line of the legend."""
    void = [
        *verdicts.failures.get("grid", ()),
        *verdicts.failures.get("positive", ()),
    ]
    # The simulation stops at the first blast that is too deep.
    if verdicts.failed("depth"):
        too_deep = verdicts.details("depth").get("blast")
        if too_deep is not None:
            void.append(too_deep)
    # Each blast once, in order, because a blast may break several rules.
    for i in dict.fromkeys(void):
        mark_blast(drawing, params, i, answer.blasts[i])
    return [("wrong", "blast that breaks a rule")] if void else []


def mark_blast(drawing: Drawing, params: Params, i: int, blast: Blast) -> None:
    """Cross out a blast; point to it from the edge if it is outside the map."""
    n = len(params.heights)
    x = min(max(blast.x, -1), n) + 0.5
    y = min(max(blast.y, -1), n) + 0.5
    tip = f"blast {i}"
    if on_map(blast, params):
        radius = min(max(drawing.scale * 0.8, 9), 18)
        drawing.ring((x, y), "wrong", radius=radius, width=3, tip=tip)
        drawing.cross((x, y), "wrong", radius=radius * 0.45, width=2.5)
        return
    # Pulled to the edge, with an arrow that points out of the map.
    edge = (min(max(x, 0.0), n), min(max(y, 0.0), n))
    inner = tuple(a + (n / 2 - a) * 0.12 for a in edge)
    drawing.line([inner, edge], "wrong", width=3.5, arrow=True, tip=tip)
    drawing.text(inner, i, "wrong", bold=True, shift=(0, -9))


def result_map(
    after: Heights, span: tuple[float, float], region: Region, flat: Region
) -> Drawing:
    """Return the map after the blasts, with the flat regions before and after."""
    drawing = height_map(after, span)
    drawing.tiles(cells_of(flat), "right", opacity=0.35)
    draw_border(drawing, flat, "right", width=3)
    draw_border(drawing, region, "note", width=1.5)
    return drawing


def change_panels(change: Heights, caption: str) -> list[Panel]:
    """Return a map of the change of height; none if nothing changed."""
    largest = float(np.abs(change).max())
    if largest <= SAME:
        return []
    n = len(change)
    drawing = Drawing((0, 0, n, n), size=340, up=False, margin=22)
    # Square roots, so that small changes are visible next to deep holes.
    shade_cells(drawing, np.sqrt(np.maximum(-change, 0) / largest), LOWER)
    shade_cells(drawing, np.sqrt(np.maximum(change, 0) / largest), HIGHER)
    if drawing.scale >= 9:
        size = min(drawing.scale * 0.8, 12)
        for sign, cells in (("−", change < -SAME), ("+", change > SAME)):
            for x, y in cells_of(cells):
                drawing.text((x + 0.5, y + 0.5), sign, size=size)
    drawing.outline((0, 0), (n, n), "quiet", width=1)
    words = f"Cells lower (−) and higher (+) than before. {caption}"
    return [Panel("what changed", drawing, words)]


def column_scene(heights: Heights, region: Region, flat_role: str) -> Scene:
    """Return the ground as columns, those of the flat region in another colour."""
    # Indexed x, then y from the front.
    turned = heights[::-1].T
    flat = region[::-1].T
    # On large ground, cells are small, and heights would be hard to see.
    stretch = max(len(heights) / 40, 0.5)
    base = float(turned.min()) - 1
    stretched = (turned - base) * stretch
    masks = {"rock": ~flat, flat_role: flat}
    parts = [
        columns(stretched, role, only=mask)
        for role, mask in masks.items()
        if mask.any()
    ]
    return Scene(tuple(parts), azimuth=-65, elevation=40)


def picture_caption(params: Params, answer: Answer | None, verdicts: Verdicts) -> str:
    """Return the task in a sentence, or the result of an answer."""
    n = len(params.heights)
    if answer is None:
        start = "There are no blasts to draw. " if verdicts else ""
        return f"{start}Ground of {n} x {n} cells that blasts must level."
    metrics = verdicts.metrics
    count = len(answer.blasts)
    blasts = counted(count, "blast")
    if "flat_after" not in metrics:
        return f"{blasts} on ground of {n} x {n} cells."
    score = f"{verdicts.fraction.capitalize()}."
    faults = verdicts.faults(FAULTS, most=params.max_blasts)
    if faults:
        simulated = metrics["simulated"]
        return (
            f"{blasts}, simulated: {simulated}. The plan breaks a rule: "
            f"{' and '.join(faults)}. {score}"
        )
    cells = f"{metrics['flat_before']} to {metrics['flat_after']} cells"
    return f"{blasts}; the largest flat region changed from {cells}. {score}"


def text_view(heights: Heights, region: Region) -> str:
    """Return heights in whole units if they fit, those of the flat region in brackets."""
    if 4 * len(heights) > MOST_TEXT:
        lines = ["".join(row) for row in np.where(region, "#", ".").tolist()]
        key = "#: the largest flat region"
    else:
        lines = []
        for heights_of_row, flat_of_row in zip(heights, region, strict=True):
            line = ""
            for height, flat in zip(heights_of_row, flat_of_row, strict=True):
                words = f"{height:2.0f}"
                line += f"[{words}]" if flat else f" {words} "
            lines.append(line.rstrip())
        key = "heights rounded to whole units; in brackets: the largest flat region"
    return "\n".join([*lines, "", key])
