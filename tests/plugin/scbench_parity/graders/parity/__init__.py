"""Judges parity, or misbehaves on demand."""

from scbench_parity.moods import misbehave
from scbench_parity.schemas.parity import Answer, Params

from scbench.base.model import Verdict
from scbench.graders.shared.checklist import Checklist

VERSION = 1
CHECKS = {"parity": "The bit is the parity of the string."}


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 for the right bit, unless the answer's mood says otherwise."""
    misbehave(answer.mood)
    checks = Checklist(CHECKS)
    right = params.bits.count("1") % 2
    checks.expect(
        "parity", answer.bit == right, f"The parity is {right}, not {answer.bit}."
    )
    return checks.binary()
