"""Differences between two runs, answer by answer, and their intervals."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from scbench.analysis.matrix import Block
from scbench.base.intervals import (
    LEVEL,
    Floats,
    condense_differences,
    ends_of_differences,
    pair_of,
)


@dataclass(frozen=True, slots=True)
class Paired:
    """Differences of two runs over the scores of a task that both have.

    Attributes:
        answers: numbers of the answers, see `Block.answers`.
        weights: how many scores each answer has.
        first: each answer's scores in the first run, added up.
        second: in the second.
        lifted: their difference, second minus first, without what luck rows of text tasks lack.
        floor: sum of the floors.
    """

    answers: npt.NDArray[np.int64]
    weights: Floats
    first: Floats
    second: Floats
    lifted: Floats
    floor: float

    @property
    def differences(self) -> Floats:
        """Second minus first, added up by answer."""
        return self.second - self.first


def paired(block: Block, first: int, second: int) -> Paired:
    """Return two runs' scores of a task, answer by answer.

    Samples are averaged first: with unequal numbers of them, items would weigh differently in the
    two runs, and the difference would show that.
    """
    both = (block.counts[:, first] > 0) & (block.counts[:, second] > 0)
    common = block.take(np.flatnonzero(both))
    pair = [first, second]
    scores, raised = (sums[:, pair] / common.counts[:, pair] for sums in (common.sums, common.lifted))
    change = raised[:, 1] - raised[:, 0]
    columns = np.column_stack([np.ones(len(scores)), scores, change])
    added = common.per_answer(columns)
    there = added[:, 0] > 0
    weights, first_sums, second_sums, raised_change = added[there].T
    return Paired(np.flatnonzero(there), weights, first_sums, second_sums, raised_change, float(common.floors.sum()))


@dataclass(frozen=True, slots=True)
class Difference:
    """The mean difference over a line, second minus first; None where nothing is known.

    Attributes:
        n: scores that both runs have.
        first: mean of the first run over these.
        second: of the second.
        difference: of the means; `low` and `high` are the ends of its interval.
        above: the difference above the floor, with its interval.
    """

    n: int
    first: float | None
    second: float | None
    difference: float | None
    low: float | None
    high: float | None
    above: float | None
    above_low: float | None
    above_high: float | None


def difference_of(pairs: Sequence[Paired], level: float = LEVEL) -> Difference:
    """Return the mean difference over some tasks, with its interval."""
    pairs = [pair for pair in pairs if len(pair.weights)]
    n = sum(pair.weights.sum() for pair in pairs)
    if not n:
        return Difference(0, *(None,) * 8)
    first, second, raised = (
        sum(float(getattr(pair, name).sum()) for pair in pairs) / n
        for name in ("first", "second", "lifted")
    )
    between = _ends(pairs, [pair.differences for pair in pairs], level)
    floor = np.float64(sum(pair.floor for pair in pairs) / n)
    room = np.nan if np.isnan(floor) or floor >= 1 else 1 - floor
    of_raised = _ends(pairs, [pair.lifted for pair in pairs], level)
    above = [None if np.isnan(room) else end / room for end in (raised, *of_raised)]
    return Difference(round(n), first, second, second - first, *between, *above)


def _ends(pairs: Sequence[Paired], sums: Sequence[Floats], level: float) -> tuple[float, float]:
    parts = [
        condense_differences((change / pair.weights)[:, None], pair.weights[:, None])
        for pair, change in zip(pairs, sums, strict=True)
    ]
    low, high = ends_of_differences(parts, level)
    first, second = pair_of(low[0], high[0])
    return first or 0.0, second or 0.0
