"""The rules of fluid_simulation, implemented cell by cell without any optimization."""

from collections import deque
from itertools import product

STEPS = ((1, 0), (-1, 0), (0, 1), (0, -1))
FACES = ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1))


def flat(width, height=8, layers=3):
    """Return the rock cells of a flat world."""
    return set(product(range(width), range(width), range(layers)))


def carve(rock, boxes, width, height=8):
    """Apply the boxes of an answer, whose coordinates are all numbers."""
    rock = set(rock)
    for box in boxes:
        low = [int(v) for v in box["xyzMin"]]
        high = [int(v) for v in box["xyzMax"]]
        sides = list(zip(low, high, (width, width, height), strict=True))
        if not all(0 <= a <= b < n for a, b, n in sides):
            continue
        cells = set(product(*(range(a, b + 1) for a, b, _ in sides)))
        if box["material"] == "Rock":
            rock |= cells
        elif box["material"] == "Air":
            rock -= cells
    return rock


def pieces(cells):
    """Return the connected pieces, in the order of their first cells."""
    left = set(cells)
    result = []
    for first in sorted(cells):
        if first not in left:
            continue
        left.discard(first)
        piece, queue = {first}, [first]
        while queue:
            x, y, z = queue.pop()
            for dx, dy, dz in FACES:
                near = (x + dx, y + dy, z + dz)
                if near in left:
                    left.discard(near)
                    piece.add(near)
                    queue.append(near)
        result.append(piece)
    return result


def settle(rock):
    """Let loose pieces fall, pass by pass."""
    rock = set(rock)
    moved = True
    while moved:
        moved = False
        for piece in pieces(rock):
            if any(z == 0 for _, _, z in piece):
                continue
            others = rock - piece
            depth = 0
            while all(
                z - depth - 1 >= 0 and (x, y, z - depth - 1) not in others
                for x, y, z in piece
            ):
                depth += 1
            if depth:
                rock = others | {(x, y, z - depth) for x, y, z in piece}
                moved = True
    return rock


def drop(rock, water, x, y, width, height):
    """Let one drop fall; return whether it stays."""
    z = height - 1
    while True:
        if z == 0:
            return False
        if (x, y, z - 1) not in rock and (x, y, z - 1) not in water:
            z -= 1
            continue
        # Search the layer for the nearest way down, up to the sides of the world.
        region = {(x, y): None}
        queue = deque([(x, y)])
        reaches_side, way_down = False, None
        while queue and way_down is None:
            a, b = queue.popleft()
            if a in {0, width - 1} or b in {0, width - 1}:
                reaches_side = True
                continue
            if (a, b, z - 1) not in rock and (a, b, z - 1) not in water:
                way_down = (a, b)
                continue
            for dx, dy in STEPS:
                near = (a + dx, b + dy)
                if near not in region and (*near, z) not in rock:
                    region[near] = None
                    queue.append(near)
        if way_down is not None:
            x, y = way_down
            z -= 1
            continue
        if reaches_side:
            return False
        # The drop stays in the farthest cell without water.
        for a, b in reversed(region):
            if (a, b, z) not in rock and (a, b, z) not in water:
                water.add((a, b, z))
                return True
        return False


def rain_on(rock, columns, width, height=8):
    """Rain everywhere once, then on the columns until no drop stays."""
    water = set()
    for x in range(width):
        for y in range(width):
            drop(rock, water, x, y, width, height)
    while any([drop(rock, water, x, y, width, height) for x, y in columns]):  # noqa: C419  (all)
        pass
    return water
