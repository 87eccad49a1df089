"""Samples of roles for legends."""

from collections.abc import Iterable

from scbench.report.draw.scene import Lines, Marks, Mesh, Scene
from scbench.report.draw.svg import Drawing
from scbench.report.draw.svg_text import short

_RECT = '<rect x="1" y="1" width="16" height="10"'
# Shapes of the marks that a legend may name, by mark.
_MARKS = {
    "ring": '<circle cx="9" cy="6" r="4.75" fill="none" class="s-{role}" stroke-width="2"/>',
    "cross": '<path d="M5 2l8 8M13 2l-8 8" fill="none" class="s-{role}" stroke-width="2.5"/>',
    "crossed ring": (
        '<circle cx="9" cy="6" r="4.75" fill="none" class="s-{role}" stroke-width="1.5"/>'
        '<path d="M7 4l4 4M11 4l-4 4" fill="none" class="s-{role}" stroke-width="1.5"/>'
    ),
    "arrow": (
        '<path d="M0 6h16M11 1.5l5 4.5l-5 4.5" fill="none" class="s-{role}" '
        'stroke-width="2"/>'
    ),
    "dashed": (
        '<path d="M0 6h18" fill="none" class="s-{role}" stroke-width="2.5" '
        'stroke-dasharray="4 3"/>'
    ),
}


def swatch(views: Iterable[object], entry: str) -> str:
    """Return a sample of a role as it looks in drawings: a mark, hatched, a line, or a fill.

    Args:
        views: drawings and scenes that show the role.
        entry: a role, or a role, a space and the mark that a legend names.
    """
    role, _, mark = entry.partition(" ")
    looks: list[str] = []
    is_solid = False
    for view in views:
        if isinstance(view, Drawing):
            looks += view.looks(role)
        elif isinstance(view, Scene):
            shapes = [part for part in view.parts if part.role == role]
            looks += filter(None, map(scene_look, shapes))
            if any(isinstance(shape, Mesh) for shape in shapes):
                is_solid = True
    fills = [look for look in looks if look not in {"line", "dashed"}]
    # Wrong things are thick, whatever their shape.
    if mark:
        shape = _MARKS[mark].format(role=role)
    elif role == "wrong":
        shape = f'{_RECT} fill="none" class="s-wrong" stroke-width="3"/>'
    elif "hatched" in fills or (role == "missing" and not is_solid):
        # Lines, not a pattern: patterns are found by id, and a page has many legends.
        shape = (
            f'{_RECT} fill="none" class="s-{role}" stroke-width="1.5" stroke-dasharray="3 2"/>'
            f'<path d="M4 11L10 1M10 11L16 1" class="s-{role}" stroke-width="1.5"/>'
        )
    elif "dashed" in looks and not fills:
        shape = _MARKS["dashed"].format(role=role)
    elif looks and not fills:
        shape = f'<path d="M0 6h18" fill="none" class="s-{role}" stroke-width="3"/>'
    else:
        shape = filled_sample(role, max(map(float, fills), default=1.0))
    return (
        '<svg class="sb swatch" width="18" height="12" viewBox="0 0 18 12" aria-hidden="true">'
        f"{shape}</svg>"
    )


def scene_look(shape: Mesh | Lines | Marks) -> str:
    """Return how a shape in three dimensions looks: its opacity, or the kind of line."""
    if isinstance(shape, Mesh):
        return short(shape.opacity)
    if isinstance(shape, Lines):
        return "dashed" if shape.dashed else "line"
    # Marks of no size are labels alone.
    return "1" if shape.size else ""


def filled_sample(role: str, opacity: float) -> str:
    """Return a filled rectangle; a pale one has an edge."""
    if opacity >= 1:
        return f'{_RECT} rx="2" class="f-{role}"/>'
    return (
        f'{_RECT} rx="2" class="f-{role} s-{role}" fill-opacity="{short(opacity)}" '
        'stroke-width="1.5"/>'
    )
