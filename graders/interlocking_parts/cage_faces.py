"""Is it a cage, and in one piece? What a block can pass through on its six sides, and what touches.

A side's face is the part of it that bounds the free space inside. Of the material, what counts is
what lies between the space that no part may enter and the one that none may leave.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from manifold3d import CrossSection, Manifold

from scbench.graders.interlocking_parts.print_checks import MAX_OUTLINE, grown
from scbench.graders.interlocking_parts.triangle_meshes import components
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.meshes import Indices
from scbench.schemas.interlocking_parts import Params

_EXACT = 1e-6


class Faces(NamedTuple):
    """What is wrong with the six sides of a cage."""

    wrong: list[dict[str, Any]]
    too_long: list[str]
    """Sides whose outline is too long to be looked at."""


def find_faces(params: Params, bodies: Sequence[Manifold]) -> Faces:
    """Return the sides that let the large block in, or the small one nowhere.

    Args:
        params: the cage.
        bodies: its parts in their places.
    """
    rules, faces = params.spacing, Faces([], [])
    for name, axis, low, high in _sides(params):
        shadow = _shadow(bodies, axis, low, high)
        if shadow.num_vert() > MAX_OUTLINE:
            faces.too_long.append(name)
            continue
        face = _face(params, axis)
        unblocked = round((face - grown(shadow, rules.blocked / 2)).area(), 3)
        free = round((face - grown(shadow, rules.free / 2)).area(), 3)
        if unblocked > rules.ignored_area:
            faces.wrong.append({"face": name, "block": rules.blocked, "why": "gets in through"})
        elif free <= rules.ignored_area:
            faces.wrong.append({"face": name, "block": rules.free, "why": "passes nowhere through"})
    return faces


def check_faces(checks: Checklist, faces: Faces | None) -> None:
    """Record the check ``cage`` for a criterion on the assembly; None where there is no part."""
    if faces is None:
        checks.skip("cage", "No part has the geometry for this.")
        return
    if faces.too_long:
        checks.forbid(
            "resource_limit", faces.too_long, lambda name: f"The outline of the {name} is too long."
        )
    checks.forbid(
        "cage",
        faces.wrong,
        lambda item: (
            f"A block of {item['block']:g} x {item['block']:g} mm {item['why']} the {item['face']}."
        ),
    )


def _sides(params: Params) -> list[tuple[str, int, float, float]]:
    """Return name, axis, and ends along it of the layer in which a side's material lies."""
    empty, outer = params.empty, params.outer
    sides = [("floor", 2, outer.z[0], empty.z[0]), ("roof", 2, empty.z[1], outer.z[1])]
    for axis, letter in enumerate("xy"):
        near, far = empty.sides[axis] / 2, outer.sides[axis] / 2
        sides += [
            (f"wall at -{letter}", axis, -far, -near),
            (f"wall at +{letter}", axis, near, far),
        ]
    return sides


def _face(params: Params, axis: int) -> CrossSection:
    """Return where the centre of a block that comes in may be, in the axes after this one."""
    x, y, z = params.inner
    spans = ((-x / 2, x / 2), (-y / 2, y / 2), (params.bar, params.bar + z))
    (west, east), (low, high) = spans[(axis + 1) % 3], spans[(axis + 2) % 3]
    return CrossSection.square((east - west, high - low)).translate((west, low))


def _shadow(bodies: Sequence[Manifold], axis: int, low: float, high: float) -> CrossSection:
    """Return the shadow, along an axis, of what lies between two planes across it."""
    forward = np.zeros(3)
    forward[axis] = 1.0
    # The axes in turn, so that this one comes last and the shadow falls along it.
    turn = np.roll(np.eye(3, 4), -(axis + 1), axis=0)
    turn[:, 3] = 0.0
    shadow = CrossSection()
    for body in bodies:
        box = body.bounding_box()
        if box[axis] < high and box[axis + 3] > low:
            layer = body.trim_by_plane(forward, low).trim_by_plane(-forward, -high)
            shadow += layer.transform(np.ascontiguousarray(turn)).project()
    return shadow


def groups(
    bodies: Sequence[Manifold], joined: Sequence[tuple[int, int]], touch: float | None = None
) -> list[list[int]]:
    """Return the positions of bodies that hang together.

    Args:
        bodies: parts in their places.
        joined: positions of two that are known to touch.
        touch: distance up to which others do; None if they are not looked at.
    """
    pairs = list(joined)

    def labels() -> Indices:
        return components(len(bodies), np.array(pairs, dtype=np.int64).reshape(-1, 2))

    label = labels()
    if touch is not None:
        boxes = [np.array(body.bounding_box()) for body in bodies]
        for i, j in combinations(range(len(bodies)), 2):
            apart = np.maximum(boxes[i][:3] - boxes[j][3:], boxes[j][:3] - boxes[i][3:]).max()
            if label[i] == label[j] or apart > touch + _EXACT:
                continue
            if bodies[i].min_gap(bodies[j], touch + 1) <= touch + _EXACT:
                pairs.append((i, j))
                label = labels()
    return [np.flatnonzero(label == k).tolist() for k in range(int(label.max()) + 1)]
