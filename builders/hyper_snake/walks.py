"""Random walks through a box that go on until they are stuck; none of them looks for food."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from scbench.base.seeding import Stream
from scbench.builders.hyper_snake.paths import Box, Cell
from scbench.graders.hyper_snake import frame_of
from scbench.schemas.hyper_snake import Params

# Walks of each kind, of which the best one counts.
WALKS = 200
# Trials of as many further walks that a box must not be easy for.
_TRIALS = 2
# Fills up the rows of walks that are shorter than others.
_NONE = -1
# More than the exits of any free cell, less than those of any other.
_TAKEN = 5_000


class BestWalks(NamedTuple):
    """The best walk of each kind, and how good it is."""

    plain: list[Cell]
    """Each step leads to a random free cell next to the last one."""
    narrow: list[Cell]
    """Each step leads to a random one of the cells with the fewest ways out."""
    score: float
    """Score of the better one."""


def best_walks(params: Params, trial: int = 0) -> BestWalks:
    """Return the best of many walks of each kind; every trial has other walks."""
    box = Box.make(params.size, params.walls)
    rng = Stream("walks", params.model_dump(mode="json"), trial)
    steps = walk(box, box.number[params.start], rng)
    lengths = (steps != _NONE).sum(axis=1)
    # The score, which gives no more for longer walks.
    scores = np.minimum(1.0, lengths / frame_of(params).needed)
    missed = np.zeros(len(steps))
    for cell in params.food:
        missed += ~(steps == box.number[cell]).any(axis=1)
    scores /= missed + 1
    plain = int(scores[:WALKS].argmax())
    narrow = WALKS + int(scores[WALKS:].argmax())

    def cells_of(k: int) -> list[Cell]:
        """Return the cells of a walk."""
        return [box.cells[i] for i in steps[k, : lengths[k]]]

    return BestWalks(cells_of(plain), cells_of(narrow), float(scores.max()))


def is_easy_for_walks(params: Params, limit: float) -> bool:
    """Return whether one of very many walks scores more than a limit.

    The best of a few walks is a matter of luck: in a box that is barely hard enough for them, the
    same number of other walks often does far better.
    """
    return any(
        best_walks(params, trial).score > limit for trial in range(1, _TRIALS + 1)
    )


def walk(box: Box, start: int, rng: Stream) -> NDArray[np.int64]:
    """Take all walks at the same time, first the plain ones, then the narrow ones.

    Return the numbers of their cells, a row for each walk, filled up with -1.
    """
    # One more number stands for no cell, which fills up the lists of neighbours.
    nowhere = len(box.cells)
    width = nowhere + 1
    near = np.full((width, max(map(len, box.near))), nowhere)
    for i, cells in enumerate(box.near):
        near[i, : len(cells)] = cells
    # The free neighbours of each cell, in a row for each walk; far more if it is not free itself.
    exits = np.tile((near < nowhere).sum(axis=1, dtype=np.int16), (2 * WALKS, 1))
    exits[:, nowhere] = 2 * _TAKEN
    exits = exits.ravel()
    steps = np.full((2 * WALKS, nowhere), _NONE)
    walks = np.arange(2 * WALKS)
    heads = np.full(2 * WALKS, start)
    for k in range(nowhere):
        steps[walks, k] = heads
        offsets = walks * width
        exits[offsets + heads] += 2 * _TAKEN
        ways = near[heads]
        at = offsets[:, None] + ways
        exits[at] -= 1
        ranks = exits[at]
        limits = np.full(len(walks), _TAKEN)
        first_narrow = int(walks.searchsorted(WALKS))
        limits[first_narrow:] = ranks[first_narrow:].min(axis=1)
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


def random_words(count: int, rng: Stream) -> NDArray[np.int64]:
    """Return random integers below 2**16."""
    words = rng.getrandbits(16 * count).to_bytes(2 * count, "little")
    return np.frombuffer(words, "<u2").astype(np.int64)
