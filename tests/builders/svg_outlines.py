"""A second parser of SVG paths, which samples the outline, finds corners and compares."""

import cmath
import math
import re
from itertools import pairwise

STEPS = 100
CORNER = math.radians(15)
STRAY = 0.04
"""The largest distance off a straight side that rounding to hundredths explains."""


def sample_outline(path):
    """Return the outline as points, dense on curves; straight pieces have only their ends."""
    numbers = {"M": 2, "L": 2, "C": 6, "A": 7, "Z": 0}
    words = re.findall(r"[A-Za-z]|-?\d+\.?\d*", path)
    points, here, first = [], 0j, 0j
    while words:
        word = words.pop(0)
        values = [float(words.pop(0)) for _ in range(numbers[word.upper()])]
        base = here if word.islower() else 0
        match word.upper():
            case "M":
                here = first = base + complex(*values)
                points.append(here)
            case "L":
                here = base + complex(*values)
                points.append(here)
            case "C":
                p, q, r = (base + complex(*values[i : i + 2]) for i in (0, 2, 4))
                for i in range(1, STEPS + 1):
                    t = i / STEPS
                    s = 1 - t
                    points.append(
                        s**3 * here + 3 * s * s * t * p + 3 * s * t * t * q + t**3 * r
                    )
                here = r
            case "A":
                end = base + complex(*values[5:])
                points += arc(here, end, *values[:5])
                here = end
            case "Z":
                here = first
    while abs(points[-1] - points[0]) < 0.02 and len(points) > 1:
        points.pop()
    return points


def arc(start, end, rx, ry, degrees, large, sweep):
    """Return points of an elliptical arc after its start, via the unit circle."""
    turn = cmath.rect(1, math.radians(degrees))

    def to_circle(z):
        z /= turn
        return complex(z.real / rx, z.imag / ry)

    def back(z):
        return complex(z.real * rx, z.imag * ry) * turn

    a, b = to_circle(start), to_circle(end)
    half = abs(b - a) / 2
    grown = max(1.0, half)  # radii that are too small are enlarged
    side = 1j * (b - a) / abs(b - a) * math.sqrt(max(0.0, grown**2 - half**2))
    centre = (a + b) / 2 + (side if bool(large) != bool(sweep) else -side)
    span = cmath.phase((b - centre) / (a - centre)) % (2 * math.pi)
    if not sweep:
        span -= 2 * math.pi
    steps = (cmath.rect(1, span * i / STEPS) for i in range(1, STEPS + 1))
    return [back(centre + (a - centre) * step) for step in steps]


def turns(points):
    """Return the signed turn at each point."""
    ways = [q - p for p, q in pairwise([points[-1], *points, points[0]])]
    return [cmath.phase(q / p) for p, q in pairwise(ways)]


def classify(path):
    """Return the kind of shape, and the sharpest turn that is not a corner."""
    points = sample_outline(path)
    turned = turns(points)
    corners = [p for p, turn in zip(points, turned, strict=True) if abs(turn) > CORNER]
    smooth = [abs(turn) for turn in turned if abs(turn) <= CORNER]
    inwards = {turn > 0 for turn in turned if abs(turn) > CORNER}
    if not corners or strays(points, corners):
        kind = {0: "ellipse", 2: "half_ellipse", 3: "sector"}.get(len(corners))
    elif len(inwards) == 2:
        kind = "star" if len(corners) == 10 else None
    elif len(corners) == 4:
        kind = quadrilateral_kind(corners)
    else:
        kind = {3: "triangle", 5: "pentagon", 6: "hexagon"}.get(len(corners))
    return kind, max(smooth, default=0)


def strays(points, corners):
    """Return whether any point is farther off the lines between corners than rounding explains."""
    sides = [(p, q) for p, q in pairwise([*corners, corners[0]]) if p != q]

    def off(point):
        return min(abs(((point - p) / (q - p)).imag) * abs(q - p) for p, q in sides)

    return max(map(off, points)) > STRAY


def mirrored(point, on_axis, way):
    """Return the mirror image of a point; the axis goes through a point in a unit direction."""
    return on_axis + way * ((point - on_axis) / way).conjugate()


def quadrilateral_kind(corners):
    """Name a quadrilateral by symmetry: two axes through sides, one, or one through corners."""
    a, b, c, d = corners
    gap = min(abs(p - q) for p in corners for q in corners if p != q)

    def off_sides(p, q, r, s):
        """Return the distance of q and s from the mirror images of p and r, in gaps."""
        foot, top = (p + q) / 2, (r + s) / 2
        way = (top - foot) / abs(top - foot)
        first = abs(mirrored(p, foot, way) - q)
        second = abs(mirrored(r, foot, way) - s)
        return max(first, second) / gap

    def off_diagonal(p, q, r, s):
        """Return the distance of s from the mirror image of q about p and r, in gaps."""
        way = (r - p) / abs(r - p)
        return abs(mirrored(q, p, way) - s) / gap

    through_sides = sorted([off_sides(a, b, c, d), off_sides(b, c, d, a)])
    through_corners = min(off_diagonal(a, b, c, d), off_diagonal(b, c, d, a))
    if through_sides[1] < 0.25:
        return "rectangle"
    return "trapezoid" if through_sides[0] < through_corners else "kite"
