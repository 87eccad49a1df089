"""Random walks through a box that go on until they are stuck; none of them looks for food."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.base.seeding import Stream
from scbench.builders.hyper_snake.paths import Box, Cell
from scbench.graders.hyper_snake import frame_of
from scbench.schemas.hyper_snake import Params

# Walks of each kind, of which the best one counts.
WALKS = 600
# Walks of each kind that are taken at the same time. A box that is easy for these few is
# discarded without the others.
BATCH = 200
# Fills up the rows of walks that are shorter than others.
_NONE = -1
# More than the exits of any free cell, less than those of any other.
_TAKEN = 5_000
# Out of 256 steps of a straying walk, those that lead to any free cell.
_STRAYS = 32


class Walk(NamedTuple):
    """A walk, and its score."""

    score: float
    cells: list[Cell]


class BestWalks(NamedTuple):
    """The best walk of each kind."""

    plain: Walk
    """Each step leads to a random free cell next to the last one."""
    narrow: Walk
    """Each step leads to a random one of the cells with the fewest ways out."""
    straying: Walk
    """Most steps are as in a narrow walk, the others as in a plain one."""


def best_walks(params: Params) -> BestWalks:
    """Return the best of many walks of each kind."""
    batches = [best_of_batch(params, batch) for batch in range(WALKS // BATCH)]
    return BestWalks(*[max(walks) for walks in zip(*batches, strict=True)])


def is_easy_for_walks(params: Params, limit: float) -> bool:
    """Return whether one of the walks scores more than a limit."""
    batches = range(WALKS // BATCH)
    return any(max(best_of_batch(params, batch)).score > limit for batch in batches)


# Drawing, the floor and the answers of an item ask for the same batches.
@lru_cache(maxsize=8)
def best_of_batch(params: Params, batch: int) -> BestWalks:
    """Return the best walk of each kind in one batch."""
    box = Box.make(params.size, params.walls)
    rng = Stream("walks", params.model_dump(mode="json"), batch)
    steps = walk(box, box.number[params.start], rng)
    lengths = (steps != _NONE).sum(axis=1)
    # The score, which gives no more for longer walks.
    scores = np.minimum(1.0, lengths / frame_of(params).needed)
    missed = np.zeros(len(steps))
    for cell in params.food:
        missed += ~(steps == box.number[cell]).any(axis=1)
    scores /= missed + 1

    def best_of(kind: int) -> Walk:
        """Return the best walk of a kind."""
        first = kind * BATCH
        k = first + int(scores[first : first + BATCH].argmax())
        return Walk(float(scores[k]), [box.cells[i] for i in steps[k, : lengths[k]]])

    return BestWalks(best_of(0), best_of(1), best_of(2))


def walk(box: Box, start: int, rng: Stream) -> NDArray[np.int64]:
    """Take the walks of a batch at the same time: plain, narrow and straying ones, in this order.

    Return the numbers of their cells, a row for each walk, filled up with -1.
    """
    # One more number stands for no cell, which fills up the lists of neighbours.
    nowhere = len(box.cells)
    width = nowhere + 1
    near = np.full((width, max(map(len, box.near))), nowhere)
    for i, cells in enumerate(box.near):
        near[i, : len(cells)] = cells
    # The free neighbours of each cell, in a row for each walk; far more if it is not free itself.
    count = 3 * BATCH
    exits = np.tile((near < nowhere).sum(axis=1, dtype=np.int16), (count, 1))
    exits[:, nowhere] = 2 * _TAKEN
    exits = exits.ravel()
    steps = np.full((count, nowhere), _NONE)
    walks = np.arange(count)
    heads = np.full(count, start)
    for k in range(nowhere):
        steps[walks, k] = heads
        offsets = walks * width
        exits[offsets + heads] += 2 * _TAKEN
        ways = near[heads]
        at = offsets[:, None] + ways
        exits[at] -= 1
        ranks = exits[at]
        is_plain = walks < BATCH
        is_plain |= (walks >= 2 * BATCH) & (random_bytes(len(walks), rng) < _STRAYS)
        limits = np.where(is_plain, _TAKEN, ranks.min(axis=1))
        is_way = ranks <= np.minimum(limits, _TAKEN)[:, None]
        choices = is_way.cumsum(axis=1)
        # Walks that are stuck end.
        goes_on = choices[:, -1] > 0
        walks, ways, choices = walks[goes_on], ways[goes_on], choices[goes_on]
        if not len(walks):
            break
        picks = (random_words(len(walks), rng) * choices[:, -1]) >> 16
        heads = ways[np.arange(len(walks)), (choices > picks[:, None]).argmax(axis=1)]
    return steps


def random_bytes(count: int, rng: Stream) -> NDArray[np.uint8]:
    """Return random integers below 256."""
    return np.frombuffer(rng.getrandbits(8 * count).to_bytes(count, "little"), np.uint8)


def random_words(count: int, rng: Stream) -> NDArray[np.int64]:
    """Return random integers below 2**16."""
    words = rng.getrandbits(16 * count).to_bytes(2 * count, "little")
    return np.frombuffer(words, "<u2").astype(np.int64)
