"""Means and differences of levels over several tasks.

The mean is over the tasks' levels, each clipped to half a rung beyond its ladder.
Interval ends are combined with the method of variance estimates recovery (Zou and
Donner 2008), which preserves asymmetry.

All tasks share the ceiling of their run, so its error does not average out in a mean.
This error is the drift: the change of levels, down and up, with the ceiling.
"""

from collections.abc import Sequence

import numpy as np

from scbench.analysis.curves import FIRST
from scbench.analysis.levels import BEYOND, Level
from scbench.base.intervals import Floats

# Intervals are widened by this factor times the share of items without an answer.
_ADAPTIVE = 0.7


def mean_level(
    levels: Sequence[Level],
    answered: float = 1.0,
    drift: tuple[float, float] = (0.0, 0.0),
) -> Level:
    """Return the mean of tasks' levels, which are based on different items.

    Args:
        levels: at least one level; see `Level.clipped` for levels beyond the ladder.
        answered: share of the ladder's items with an answer. Items picked adaptively
            near the level carry less information than the same number picked
            beforehand, so partial answers widen the interval (measured in
            docs/evidence.md).
        drift: how far an error of the ceiling moves the mean, down and up.
    """
    if len(levels) == 1:
        return levels[0]
    values, lows, highs = _clipped(levels)
    tops = np.array([level.top for level in levels])
    widening = (1 + _ADAPTIVE * (1 - answered)) / len(levels)
    down = np.hypot(np.hypot.reduce(values - lows) * widening, drift[0])
    up = np.hypot(np.hypot.reduce(values - highs) * widening, drift[1])
    value = float(values.mean())
    # An end that no task bounds stays open.
    low = value - float(down) if (lows > FIRST - BEYOND).any() else -np.inf
    high = value + float(up) if (highs < tops + BEYOND).any() else np.inf
    return Level(
        value,
        low,
        high,
        float(tops.mean()),
        below=sum(level.below for level in levels),
        above=sum(level.above for level in levels),
    )


def level_difference(
    first: Sequence[Level],
    second: Sequence[Level],
    alike: Floats | float = 0.0,
    drift: tuple[float, float] = (0.0, 0.0),
) -> tuple[float, float, float]:
    """Return the mean difference of tasks' levels, second minus first, with its interval.

    Args:
        first: levels of one run.
        second: levels of another run on the same tasks.
        alike: the correlation of their random errors, from 0 (different items) to 1;
            one number, or one for each task.
        drift: how far errors of the ceilings move the mean difference, down and up.

    Returns:
        The difference, and the bounds of its interval. Each level is clipped to half a
        rung beyond its ladder.
    """
    first_values, first_lows, first_highs = _clipped(first)
    second_values, second_lows, second_highs = _clipped(second)
    change = second_values - first_values
    first_down = first_values - first_lows
    second_down = second_values - second_lows
    first_up = first_highs - first_values
    second_up = second_highs - second_values
    # The difference is lower where the second level is lower or the first one higher.
    lower = second_down**2 + first_up**2 - 2 * alike * second_down * first_up
    upper = second_up**2 + first_down**2 - 2 * alike * second_up * first_down
    value = float(change.mean())
    low = _mean_error(lower, drift[0])
    high = _mean_error(upper, drift[1])
    return value, value - low, value + high


def _clipped(levels: Sequence[Level]) -> Floats:
    """Return values, lows and highs as an array of shape (3, levels)."""
    return np.array([level.clipped() for level in levels]).T


def _mean_error(squares: Floats, drift: float) -> float:
    error = np.sqrt(np.maximum(squares, 0).sum()) / len(squares)
    return float(np.hypot(error, drift))
