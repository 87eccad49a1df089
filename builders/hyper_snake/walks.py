"""Random walks through a box that go on until they are stuck; none of them looks for food."""

import hashlib
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.base.seeding import BitSource, Stream
from scbench.builders.hyper_snake.paths import Box, Cell
from scbench.graders.hyper_snake import frame_of
from scbench.schemas.hyper_snake import Params

# Walks of each kind, of which the best one counts.
WALKS = 600
# Walks of each kind that are taken at the same time. A box that is easy for these few is
# discarded without the others.
BATCH = 200
# Batches that test whether a box is easy, times its free cells: luck decides more often in a small
# box, so more walks are needed to find out.
_TEST_CELLS = 2_000
# Fills up the rows of walks that are shorter than others.
_NONE = -1
# More than the exits of any free cell, less than those of any other.
_TAKEN = 5_000
# Exponent of a walk's score in its weight for the places of food.
_POWER = 4
# Out of 256 steps of a straying walk, those that lead to any free cell.
_STRAYS = 32


class Walk(NamedTuple):
    """A walk, and its score."""

    score: float
    cells: list[Cell]


class Noise:
    """Random bits from hashes of any length; for many bits, this is faster than a stream.

    Args:
        rng: gives the key of the hashes.
    """

    __slots__ = ("_counter", "_key")

    def __init__(self, rng: Stream) -> None:
        self._key = rng.getrandbits(256).to_bytes(32, "little")
        self._counter = 0

    def getrandbits(self, k: int, /) -> int:
        """Return an integer of ``k`` random bits."""
        self._counter += 1
        hashed = hashlib.shake_256(self._key + self._counter.to_bytes(8, "little"))
        size = -(-k // 8)
        return int.from_bytes(hashed.digest(size), "little") >> (8 * size - k)


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
    """Return whether a walk scores more than a limit.

    These walks are not those of `best_walks`. Otherwise boxes would remain whose floor is low only
    because those walks were unlucky.
    """
    count = max(WALKS // BATCH, _TEST_CELLS // frame_of(params).free)
    noise = Noise(Stream("test walks", params.model_dump(mode="json")))
    return any(max(best_of(params, noise)).score > limit for _ in range(count))


# Drawing, the floor and the answers of an item ask for the same batches.
@lru_cache(maxsize=8)
def best_of_batch(params: Params, batch: int) -> BestWalks:
    """Return the best walk of each kind in one batch."""
    return best_of(params, Stream("walks", params.model_dump(mode="json"), batch))


def best_of(params: Params, rng: BitSource) -> BestWalks:
    """Return the best of a batch of random walks of each kind."""
    box = Box.make(params.size, params.walls)
    steps = walk(box, box.number[params.start], rng)
    lengths = (steps != _NONE).sum(axis=1)
    # The score, which gives no more for longer walks.
    scores = np.minimum(1.0, lengths / frame_of(params).needed)
    missed = np.zeros(len(steps))
    for cell in params.food:
        missed += ~(steps == box.number[cell]).any(axis=1)
    scores /= missed + 1

    def best_of_kind(kind: int) -> Walk:
        """Return the best walk of a kind."""
        first = kind * BATCH
        k = first + int(scores[first : first + BATCH].argmax())
        return Walk(float(scores[k]), [box.cells[i] for i in steps[k, : lengths[k]]])

    return BestWalks(best_of_kind(0), best_of_kind(1), best_of_kind(2))


def with_missed_food(params: Params, count: int, rng: Stream) -> Params:
    """Return a box with food added in cells that walks miss, up to this count.

    Each item is put into the cell that lowers the scores of the walks most; the best walks have
    the largest weights.
    """
    box = Box.make(params.size, params.walls)
    start = box.number[params.start]
    steps = walk(box, start, Noise(rng))
    rows, columns = np.nonzero(steps != _NONE)
    is_missed = np.ones((len(steps), len(box.cells)), bool)
    is_missed[rows, steps[rows, columns]] = False
    lengths = (~is_missed).sum(axis=1) / len(box.cells)
    food = [box.number[cell] for cell in params.food]
    missed = is_missed[:, food].sum(axis=1)
    while len(food) < count:
        weights = (lengths / (missed + 1)) ** _POWER
        gains = weights @ is_missed
        gains[[start, *food]] = -1.0
        best = int(gains.argmax())
        food.append(best)
        missed += is_missed[:, best]
    return params.model_copy(update={"food": tuple(box.cells[i] for i in food)})


def walk(box: Box, start: int, rng: BitSource) -> NDArray[np.int64]:
    """Take the walks of a batch at the same time: plain, narrow and straying ones, in this order.

    Return the numbers of the walks' cells, a row for each walk, filled up with -1.
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
    # The walks that go on, and the last cell of each.
    walks = np.arange(count)
    heads = np.full(count, start)
    for k in range(nowhere):
        steps[walks, k] = heads
        row_starts = walks * width
        exits[row_starts + heads] += 2 * _TAKEN
        neighbours = near[heads]
        places = row_starts[:, None] + neighbours
        exits[places] -= 1
        exits_of_neighbours = exits[places]
        # A plain step may lead to any free cell, a narrow one to those with the fewest exits.
        strays = random_bytes(len(walks), rng) < _STRAYS
        is_plain = (walks < BATCH) | ((walks >= 2 * BATCH) & strays)
        fewest = exits_of_neighbours.min(axis=1)
        most_exits = np.minimum(np.where(is_plain, _TAKEN, fewest), _TAKEN)
        is_way = exits_of_neighbours <= most_exits[:, None]
        # The number of ways up to and including each neighbour.
        way_counts = is_way.cumsum(axis=1)
        # Walks that are stuck end.
        goes_on = way_counts[:, -1] > 0
        walks = walks[goes_on]
        neighbours = neighbours[goes_on]
        way_counts = way_counts[goes_on]
        if not len(walks):
            break
        # Each way is equally likely; the chosen one is the first whose count exceeds the pick.
        picks = (random_words(len(walks), rng) * way_counts[:, -1]) >> 16
        chosen = (way_counts > picks[:, None]).argmax(axis=1)
        heads = neighbours[np.arange(len(walks)), chosen]
    return steps


def random_bytes(count: int, rng: BitSource) -> NDArray[np.uint8]:
    """Return random integers below 256."""
    return np.frombuffer(rng.getrandbits(8 * count).to_bytes(count, "little"), np.uint8)


def random_words(count: int, rng: BitSource) -> NDArray[np.int64]:
    """Return random integers below 2**16."""
    words = rng.getrandbits(16 * count).to_bytes(2 * count, "little")
    return np.frombuffer(words, "<u2").astype(np.int64)
