"""Samples of roles for legends."""

from collections.abc import Iterable

from scbench.report.draw.svg import Drawing
from scbench.report.draw.svg_text import short

_RECT = '<rect x="1" y="1" width="16" height="10"'


def swatch(views: Iterable[object], role: str) -> str:
    """Return a sample of a role as it looks in drawings: hatched, a line, or a fill."""
    looks: list[str] = []
    for view in views:
        if isinstance(view, Drawing):
            looks += view.looks(role)
    fills = [look for look in looks if look != "line"]
    # Wrong things are thick, whatever their shape.
    if role == "wrong":
        shape = f'{_RECT} fill="none" class="s-wrong" stroke-width="3"/>'
    elif "hatched" in fills or role == "missing":
        # Lines, not a pattern: patterns are found by id, and a page has many legends.
        shape = (
            f'{_RECT} fill="none" class="s-{role}" stroke-width="1.5" stroke-dasharray="3 2"/>'
            f'<path d="M4 11L10 1M10 11L16 1" class="s-{role}" stroke-width="1.5"/>'
        )
    elif looks and not fills:
        shape = f'<path d="M0 6h18" fill="none" class="s-{role}" stroke-width="3"/>'
    else:
        shape = filled_sample(role, max(map(float, fills), default=1.0))
    return (
        '<svg class="sb swatch" width="18" height="12" viewBox="0 0 18 12" aria-hidden="true">'
        f"{shape}</svg>"
    )


def filled_sample(role: str, opacity: float) -> str:
    """Return a filled rectangle; a pale one has an edge."""
    if opacity >= 1:
        return f'{_RECT} rx="2" class="f-{role}"/>'
    return (
        f'{_RECT} rx="2" class="f-{role} s-{role}" fill-opacity="{short(opacity)}" '
        'stroke-width="1.5"/>'
    )
