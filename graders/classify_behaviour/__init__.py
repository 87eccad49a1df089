"""Checks whether every square has the right name.

The classes at the corners of a square decide its name. One wrong name fails the answer.
"""

from functools import lru_cache
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.shared.checklist import Checklist, all_passed
from scbench.graders.shared.corner_labels import behaviour, letters, on_ring
from scbench.schemas.classify_behaviour import Answer, Behaviour, Params
from scbench.schemas.corner_labels import CORNERS

VERSION = 1

CHECKS = {
    "length": "The answer has one name for each square.",
    "names": "Every square has the right name.",
}
# Checks whose failure follows from prompt and answer alone.
OWN_FAULTS = ("length",)


class RightNames(NamedTuple):
    """The squares of an instance and their names, in order."""

    shapes: tuple[str, ...]
    """Classes counter-clockwise around each square, such as abac."""
    names: tuple[Behaviour, ...]
    verdict: Verdict
    """The verdict on the right names."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if every square has the right name, else 0."""
    squares = right_names(params)
    if answer.labels == squares.names:
        return squares.verdict
    checks = Checklist(CHECKS)
    count = len(squares.names)
    aligned = checks.expect(
        "length",
        len(answer.labels) == count,
        f"The answer has {counted(len(answer.labels), 'name')} for {counted(count, 'square')}.",
    )
    if not aligned:
        checks.skip(
            "names",
            "The names cannot be matched to the squares because the number of names is wrong.",
        )
        return checks.binary()

    wrong = []
    for i, (label, expected) in enumerate(
        zip(answer.labels, squares.names, strict=True)
    ):
        if label != expected:
            shape = squares.shapes[i]
            wrong.append(
                {"square": i, "given": label, "expected": expected, "shape": shape}
            )
    wrong_names = counted(
        len(wrong), f"of {count} squares has", f"of {count} squares have"
    )
    checks.forbid(
        "names",
        wrong,
        lambda item: (
            f"{wrong_names} a wrong name; the first is square {item['square']} "
            f"({item['shape']} counter-clockwise), named {item['given']!r} "
            f"instead of {item['expected']!r}."
        ),
    )
    return checks.binary(squares_right=count - len(wrong))


@lru_cache(maxsize=256)
def right_names(params: Params) -> RightNames:
    """Return the right names, cached for further answers to the instance."""
    rings = [on_ring(labels, params.corner_order, CORNERS) for labels in params.squares]
    return RightNames(
        tuple(letters(ring) for ring in rings),
        tuple(behaviour(ring) for ring in rings),
        Verdict(1.0, all_passed(CHECKS), {"squares_right": len(rings)}),
    )
