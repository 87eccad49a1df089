"""Runs of consecutive integers, expanded without a loop."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


class ExpandedRuns(NamedTuple):
    """The integers of all runs, run after run.

    Attributes:
        run: (n,) position of the run of each integer.
        integer: (n,) the integers.
    """

    run: Integers
    integer: Integers


def expand_runs(begin: Integers, end: Integers) -> ExpandedRuns:
    """Expand runs (k,) into their integers: from begin up to, but not including, end.

    A run that ends before it begins is empty.
    """
    count = np.maximum(end - begin, 0)
    run = np.repeat(np.arange(len(count)), count)
    # Position in the result at which each run starts.
    start = np.cumsum(count) - count
    place_in_run = np.arange(len(run)) - start[run]
    return ExpandedRuns(run, begin[run] + place_in_run)
