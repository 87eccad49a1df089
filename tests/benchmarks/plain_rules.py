"""The rules of the paper's research code, written again in plain Python, to be timed beside ours.

Each function takes parameters and an answer as plain JSON and returns a score. They check what that
code checked, in its order, and stop at the first fault; what they leave out (shapes, hostile
numbers, reasons) is left out on purpose, since so did it.
"""

import math
from itertools import pairwise


def hamiltonian_loop(params, answer):
    size, blocked = params["size"], {tuple(cell) for cell in params["blocked"]}
    steps = answer["steps"]
    if len(steps) != size * size - len(blocked):
        return 0.0
    visited = set()
    px, py = steps[-1]["xy"]
    for step in steps:
        x, y = step["xy"]
        if not (1 <= x <= size and 1 <= y <= size) or (x, y) in blocked:
            return 0.0
        if abs(x - px) + abs(y - py) != 1 or (x, y) in visited:
            return 0.0
        visited.add((x, y))
        px, py = x, y
    return 1.0


def enumerate_edges(right, answer):
    edges = answer["edges"]
    if not isinstance(edges, list) or len(edges) != len(right):
        return 0.0
    for given, wanted in zip(edges, right, strict=True):
        if not isinstance(given, list):
            return 0.0
        for pair in given:
            if not isinstance(pair, list) or len(pair) != 2:
                return 0.0
            if not all(isinstance(side, int) for side in pair) or pair[0] >= pair[1]:
                return 0.0
        if sorted(map(tuple, given)) != sorted(map(tuple, wanted)):
            return 0.0
    return 1.0


_NAMES = {"known behaviour", "three domains meeting", "ambiguous"}


def classify_behaviour(right, answer):
    labels = answer["labels"]
    if not isinstance(labels, list) or len(labels) != len(right):
        return 0.0
    for label in labels:
        if not isinstance(label, str) or label not in _NAMES:
            return 0.0
    return float(all(label == wanted for label, wanted in zip(labels, right, strict=True)))


def polynomial_curve_fitting(rows, answer):
    names = {}
    exec(answer["function"], names)  # noqa: S102  (as that code did; only our references are run)
    f = names["f"]
    n, same, positive = len(rows), 0, 0
    for y in range(n):
        for x in range(n):
            above = f(x, y) > 0
            positive += above
            same += above == (rows[y][x] == "#")
    if positive in {0, n * n} or 4 * same < 3 * n * n:
        return 0.0
    return (same / (n * n)) ** 4


def _cross(a, b, c, d):
    def side(p, q, r):
        return (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])

    if any(abs(p[0] - q[0]) < 1e-9 and abs(p[1] - q[1]) < 1e-9 for p in (a, b) for q in (c, d)):
        return False
    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0


def pipe_loop_fitting(params, answer):
    """Without the constraints of single instances."""
    n, size = params["pipes"], params["side"]
    points = [(float(p["x"]), float(p["y"])) for p in answer["points"]]
    good = len(points) == n
    good &= all(0 <= x <= size and 0 <= y <= size for x, y in points)
    edges = list(pairwise([*points, points[0]]))
    lengths = [math.hypot(b[0] - a[0], b[1] - a[1]) for a, b in edges]
    good &= all(abs(length - 1) <= 0.05 for length in lengths)
    good &= len({(round(x, 6), round(y, 6)) for x, y in points}) == len(points)
    for i in range(len(edges)):
        for j in range(i + 2, len(edges)):
            if (i, j) != (0, len(edges) - 1) and _cross(*edges[i], *edges[j]):
                good = False
    units = [
        ((b[0] - a[0]) / length, (b[1] - a[1]) / length)
        for (a, b), length in zip(edges, lengths, strict=True)
    ]
    for (ux, uy), (vx, vy) in pairwise([*units, units[0]]):
        good &= ux * vx + uy * vy >= -0.99
    return float(good)


def pack_rectangular_prisms(params, answer):
    boxes = [(box["XyzMin"], box["XyzMax"]) for box in answer["boxes"]]
    wanted = {}
    for item in params["prisms"]:
        key = tuple(sorted(item["size"]))
        wanted[key] = wanted.get(key, 0) + item["count"]
    volume = 0
    top = [0, 0, 0]
    for low, high in boxes:
        size = [b - a for a, b in zip(low, high, strict=True)]
        key = tuple(sorted(size))
        if wanted.get(key, 0) == 0:
            return 0.0
        wanted[key] -= 1
        volume += size[0] * size[1] * size[2]
        top = [max(t, b) for t, b in zip(top, high, strict=True)]
    if any(wanted.values()):
        return 0.0
    for i, (a, b) in enumerate(boxes):
        for c, d in boxes[:i]:
            if all(a[k] < d[k] and c[k] < b[k] for k in range(3)):
                return 0.0
    return volume / (top[0] * top[1] * top[2])


def hyper_snake(params, answer):
    size, walls = params["size"], {tuple(cell) for cell in params["walls"]}
    food = {tuple(cell) for cell in params["food"]}
    path = [tuple(step["pos"]) for step in answer["path"]]
    if path[0] != tuple(params["start"]):
        return 0.0
    visited = {path[0]}
    for before, cell in pairwise(path):
        if len(cell) != len(size):
            return 0.0
        changed = [k for k in range(len(size)) if cell[k] != before[k]]
        if len(changed) != 1 or abs(cell[changed[0]] - before[changed[0]]) != 1:
            return 0.0
        if any(not 0 <= c < n for c, n in zip(cell, size, strict=True)):
            return 0.0
        if cell in visited or cell in walls:
            return 0.0
        visited.add(cell)
        food.discard(cell)
    score = len(path) / (math.prod(size) - len(walls))
    if walls:
        score = min(1.0, score / 0.98)
    return score / (len(food) + 1)
