"""Sentences of failed checks."""

import pytest

from scbench.graders.shared.checklist import Checklist

CHECKS = {"repeats": "No cell is listed twice."}


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        (["a1"], "1 cell is listed twice; it is a1."),
        (["a1", "b2"], "2 cells are listed twice; the first is a1."),
    ],
)
def test_single_offender_has_a_sentence_in_the_singular(cells, sentence):
    checks = Checklist(CHECKS)
    checks.forbid_many(
        "repeats",
        cells,
        "cells are listed twice",
        lambda cell: f"is {cell}",
        one="cell is listed twice",
    )
    (check,) = checks.binary().checks
    assert check.message == sentence
