"""Samples of colours for legends, which look like what they stand for."""

from collections.abc import Iterable

from scbench.report.draw.svg import Drawing
from scbench.report.draw.svg_text import known_role, short

_RECT = '<rect x="1" y="1" width="16" height="10"'


def swatch(views: Iterable[object], role: str) -> str:
    """Return a sample of what has a role in drawings: hatched, a line, or filled as strongly.

    Args:
        views: of a picture; scenes have no say.
        role: the colour.
    """
    looks = [look for v in views if isinstance(v, Drawing) for look in v.looks(known_role(role))]
    fills = [look for look in looks if look != "line"]
    if role == "wrong":  # whatever its shape, it is thick
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
        opacity = max(map(float, fills), default=1.0)
        pale = f' fill-opacity="{short(opacity)}" stroke-width="1.5"' if opacity < 1 else ""
        edge = f" s-{role}" if pale else ""
        shape = f'{_RECT} rx="2" class="f-{role}{edge}"{pale}/>'
    return (
        '<svg class="sb swatch" width="18" height="12" viewBox="0 0 18 12" aria-hidden="true">'
        f"{shape}</svg>"
    )
