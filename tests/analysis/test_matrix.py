"""Normalized scores by hand, and the rows that lines of tables cover."""

import numpy as np
import polars as pl
import pytest

from scbench.analysis.differences import difference_of, pair_scores
from scbench.analysis.matrix import score_matrix
from scbench.analysis.paper import paper_table
from scbench.analysis.results import check_results
from scbench.base.errors import ResultsError

ZEROS = {"truncated", "unparsed", "refused"}

G = 0.25
GUESSED = [(1, G), (1, G), (0, G), ("truncated", G), ("refused", G), ("unparsed", G)]


def floored(make_results, rows, **more):
    """Results with a score and a floor each; a score may be a status."""
    results = []
    for item, (score, floor) in enumerate(rows):
        result = {"subtask": item, "floor": floor}
        if isinstance(score, str):
            result["status"] = score
            if score in ZEROS:
                result["score"] = 0.0
        else:
            result["score"] = float(score)
        results.append(result | more)
    return make_results(*results)


def line(results, **more):
    return paper_table(results, **more).row(0, named=True)


@pytest.mark.parametrize(
    ("task", "rows", "normalized", "below"),
    [
        (
            "csg_union",
            [(1, 0.5), (0.75, 0.5), (0, 0.5), (1, 0.5)],
            (1 + 0.5 + 0 + 1) / 4,
            0.25,
        ),
        ("csg_union", [(0, 0.2)] * 6, 0.0, 1.0),
        ("csg_union", [(1, 0.9), (0.5, 0.0)], 0.75, 0.0),
        ("csg_union", [(1, 1.0), (0.5, 0.5)], 0.0, 0.0),  # the first has no room
        ("csg_union", [("unparsed", 0.9), (1, 0.9), ("missing", 0.9)], 0.5, 0.5),
        ("csg_union", [("missing", None), (1, 0.5)], 1.0, 0.0),
        ("csg_union", [(1, 0.5), (0, None)], None, 0.0),  # a floor is not known
        ("csg_union", [(1, 1.0), (0, 1.0)], None, None),  # no room
        # (right - g answered) / (n (1 - g)): who gave no answer did not guess.
        ("boolean", GUESSED, (2 - G * 3) / (6 * (1 - G)), None),
        ("boolean", [(0, 0.5)] * 3, -1.0, None),
        ("two_segments", GUESSED, 2 / 6, 4 / 6),
    ],
)
def test_normalized_scores_by_hand(make_results, task, rows, normalized, below):
    row = line(floored(make_results, rows, task=task))
    assert (row["normalized"], row["below_floor"]) == pytest.approx((normalized, below))
    if normalized is None:
        assert row["normalized_low"] is row["normalized_high"] is None
    else:
        assert row["normalized_low"] <= normalized <= row["normalized_high"]


def test_guesser_is_at_the_floor_whatever_is_cut_off(make_results):
    rng = np.random.default_rng(1)
    floor = 0.2
    is_cut, is_right = rng.random(4000) < 0.5, rng.random(4000) < floor
    scores = np.where(is_cut, "truncated", is_right.astype(object))
    rows = [(score, floor) for score in scores]
    row = line(floored(make_results, rows, task="boolean"))
    assert row["normalized"] == pytest.approx(0.0, abs=0.03)
    assert row["normalized_low"] < 0 < row["normalized_high"]


@pytest.mark.parametrize(("task", "g"), [("csg_union", 0.0), ("boolean", 0.5)])
def test_differences_are_those_of_normalized_scores(make_results, task, g):
    first = floored(make_results, [(0, g), (1, g), (0, g)], task=task, model="a")
    second = floored(make_results, [(1, g), (1, g), (0, g)], task=task, model="b")
    block = score_matrix(pl.concat([first, second])).blocks[task]
    result = difference_of([pair_scores(block, 0, 1)])
    assert result.of_means == pytest.approx(1 / 3)
    assert result.difference == pytest.approx(1 / 3 / (1 - g))
    ends = result.of_means_low, result.of_means_high
    assert (result.low, result.high) == pytest.approx([end / (1 - g) for end in ends])


def test_impossible_floor_is_refused(make_results):
    with pytest.raises(ResultsError, match=r"has the floor 1\.5"):
        check_results(make_results({"score": 1.0, "floor": 1.5}), partial=True)
