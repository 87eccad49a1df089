"""Checks whether brackets close all open brackets of a sequence.

Adjacent pairs are removed until none is left; the brackets that remain are open.
"""

import re
from functools import lru_cache

from scbench.base.model import Verdict
from scbench.graders.shared.answer_text import quote
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import without_spaces
from scbench.schemas.bracket_stack import PAIRS, Answer, Params

VERSION = 4

CHECKS = {
    "readable": "The answer is a string of closing brackets.",
    "value": "The brackets close all open brackets, in the right order.",
}
# Checks whose failure follows from prompt and answer alone.
OWN_FAULTS = ("readable",)

_PAIR = re.compile(r"\(\)|\[\]|\{\}|<>")
# The closing bracket of each opening bracket.
_MIRROR = str.maketrans({pair[0]: pair[1] for pair in PAIRS})


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer closes all open brackets, else 0; spaces are ignored."""
    checks = Checklist(CHECKS)
    brackets = without_spaces(answer.answer)
    readable = bool(brackets) and set(brackets or "") <= set(")]}>")
    wrong = f"{quote(answer.answer)} is not a string of closing brackets."
    if checks.expect("readable", readable, wrong):
        # The bracket opened last is closed first.
        right = still_open(params.sequence)[::-1].translate(_MIRROR)
        wrong = f"The sequence needs {right}, not {quote(answer.answer)}."
        checks.expect("value", brackets == right, wrong)
    else:
        checks.skip("value", "There are no closing brackets to compare.")
    return checks.binary()


@lru_cache(maxsize=1024)
def still_open(sequence: str) -> str:
    """Return the brackets of a sequence that are still open."""
    shorter = _PAIR.sub("", sequence)
    while shorter != sequence:
        sequence = shorter
        shorter = _PAIR.sub("", shorter)
    return sequence
