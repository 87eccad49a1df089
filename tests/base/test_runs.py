import numpy as np

from scbench.base.runs import expand_runs


def test_runs_are_expanded_in_order_and_empty_ones_left_out():
    begin = np.array([3, 5, 9, 0])
    end = np.array([6, 5, 7, 2])
    expanded = expand_runs(begin, end)
    assert expanded.run.tolist() == [0, 0, 0, 3, 3]
    assert expanded.integer.tolist() == [3, 4, 5, 0, 1]
