"""Looks of shapes, read from their SVG text."""

import re

# A class of stroke or fill, or a hatching; the group is the role.
_ROLE = re.compile(r'(?:(?<=[" ])[sf]-|#HATCH-)(\w+)')
_OPACITY = re.compile(r'fill-opacity="([\d.]+)"')


def roles_of(shape: str) -> list[str]:
    """Return the roles of a shape's stroke, fill and hatching."""
    return _ROLE.findall(shape.partition(">")[0])


def look_of(shape: str, role: str) -> str:
    """Return how a shape shows a role: ``line``, ``hatched``, a fill's opacity, or nothing."""
    head = shape.partition(">")[0]
    if head.startswith("<text"):
        return ""
    if f"#HATCH-{role})" in head:
        return "hatched"
    if re.search(rf'["]f-{role}\b', head):
        opacity = _OPACITY.search(head)
        return opacity[1] if opacity else "1"
    return "line" if re.search(rf'[" ]s-{role}\b', head) else ""
