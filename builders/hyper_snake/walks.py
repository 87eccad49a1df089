"""Random walks through a box that go on until they are stuck; none of them looks for food."""

from collections.abc import Sequence

from scbench.base.seeding import Stream
from scbench.builders.hyper_snake.paths import Box, Cell
from scbench.graders.hyper_snake import frame_of
from scbench.schemas.hyper_snake import Params

# Walks of which the best one counts.
WALKS = 100
# Walks of either kind that are tried to find out whether a box is too easy for walks: the most, the
# fewest, and the cells that they may have together.
_MOST_TRIED = 400
_FEWEST_TRIED = 200
_CELLS_TRIED = 100_000


def best_walk(params: Params, *, is_narrow: bool) -> list[Cell]:
    """Return the best of many walks: each step leads to a random free cell next to the last one.

    If narrow, to a random one of those with the fewest ways out. The best walk is the longest,
    with its length divided by one more than the food that it misses, as the score is.
    """
    box = Box.make(params.size, params.walls)
    food = [box.number[cell] for cell in params.food]
    rng = Stream("walks", params.model_dump(mode="json"), is_narrow)
    # More cells than these score no more.
    needed = frame_of(params).needed
    best: list[int] = []
    best_worth = 0.0
    for _ in range(WALKS):
        path = walk(box, box.number[params.start], rng, is_narrow=is_narrow)
        missed = len(set(food).difference(path))
        worth = min(len(path), needed) / (missed + 1)
        if worth > best_worth:
            best = path
            best_worth = worth
    return [box.cells[i] for i in best]


def is_easy_for_walks(params: Params, limit: float) -> bool:
    """Return whether one of very many walks scores more than a limit."""
    box = Box.make(params.size, params.walls)
    food = {box.number[cell] for cell in params.food}
    frame = frame_of(params)
    count = max(_FEWEST_TRIED, min(_MOST_TRIED, _CELLS_TRIED // frame.free))
    rng = Stream("many walks", params.model_dump(mode="json"))
    start = box.number[params.start]
    for is_narrow in (False, True):
        for _ in range(count):
            path = walk(box, start, rng, is_narrow=is_narrow)
            missed = len(food.difference(path))
            if min(1.0, len(path) / frame.needed) / (missed + 1) > limit:
                return True
    return False


def walk(box: Box, start: int, rng: Stream, *, is_narrow: bool) -> list[int]:
    """Return the numbers of the cells of one walk."""
    is_free = [True] * len(box.cells)
    path = [start]
    while True:
        here = path[-1]
        is_free[here] = False
        ways: Sequence[int] = [i for i in box.near[here] if is_free[i]]
        if not ways:
            return path
        if is_narrow and len(ways) > 1:
            exits = [sum(is_free[j] for j in box.near[i]) for i in ways]
            fewest = min(exits)
            ways = [i for i, n in zip(ways, exits, strict=True) if n == fewest]
        path.append(rng.choice(ways))
