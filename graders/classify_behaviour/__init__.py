"""Is every square named after what its corners fix about its inside?

The names follow from the types of the crossed sides; one wrong name fails the answer.
"""

from functools import lru_cache
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist, all_passed
from scbench.graders.shared.corner_labels import behaviour, letters, on_ring
from scbench.schemas.classify_behaviour import Answer, Behaviour, Params
from scbench.schemas.corner_labels import CORNERS

VERSION = 1

CHECKS = {
    "length": "There is one name for each square.",
    "names": "Every square has the right name.",
}
OWN_FAULTS = ("length",)


class _Squares(NamedTuple):
    shapes: tuple[str, ...]
    """Classes round the ring, such as abac."""
    names: tuple[Behaviour, ...]
    verdict: Verdict
    """That on these names."""


@lru_cache(maxsize=256)
def _right_names(params: Params) -> _Squares:
    rings = [on_ring(labels, params.corner_order, CORNERS) for labels in params.squares]
    verdict = Verdict(1.0, all_passed(CHECKS), {"squares_right": len(rings)})
    return _Squares(tuple(map(letters, rings)), tuple(map(behaviour, rings)), verdict)


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if every square has the right name, else 0."""
    squares = _right_names(params)
    if answer.labels == squares.names:
        return squares.verdict
    right = list(zip(squares.shapes, squares.names, strict=True))
    checks = Checklist(CHECKS)
    aligned = checks.expect(
        "length",
        len(answer.labels) == len(right),
        f"There are {len(answer.labels)} names for {len(right)} squares.",
    )
    if not aligned:
        checks.skip(
            "names",
            "The names cannot be matched with the squares, because their number is wrong.",
        )
        return checks.binary()

    wrong = [
        {"square": i, "given": label, "expected": expected, "shape": shape}
        for i, (label, (shape, expected)) in enumerate(
            zip(answer.labels, right, strict=True)
        )
        if label != expected
    ]
    checks.forbid_many(
        "names",
        wrong,
        f"of {len(right)} squares have a wrong name",
        lambda item: (
            f"is square {item['square']}, which reads {item['shape']} round the ring and is called "
            f"{item['given']!r} instead of {item['expected']!r}"
        ),
    )
    return checks.binary(squares_right=len(right) - len(wrong))
