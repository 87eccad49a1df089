"""Do these brackets close all that are open?

Pairs that stand together are crossed out until none is left; what remains is open.
"""

import re
from functools import lru_cache

from scbench.base.model import Verdict
from scbench.graders.shared.answer_text import quote
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.short_answers import unspaced
from scbench.schemas.bracket_stack import PAIRS, Answer, Params

VERSION = 3

CHECKS = {
    "readable": "The answer is a string of closing brackets.",
    "value": "They close what is open, in the right order.",
}
# Checks whose failure follows from prompt and answer alone.
OWN_FAULTS = ("readable",)

_PAIR = re.compile(r"\(\)|\[\]|\{\}|<>")
# From opening to closing brackets.
_MIRROR = str.maketrans({pair[0]: pair[1] for pair in PAIRS})


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer closes all open brackets, blanks aside, else 0."""
    checks = Checklist(CHECKS)
    brackets = unspaced(answer.answer)
    readable = bool(brackets) and set(brackets or "") <= set(")]}>")
    wrong = f"{quote(answer.answer)} is not a string of closing brackets."
    if checks.expect("readable", readable, wrong):
        # The last one opened is the first to be closed.
        right = still_open(params.sequence)[::-1].translate(_MIRROR)
        wrong = f"It takes {right}, not {quote(answer.answer)}."
        checks.expect("value", brackets == right, wrong)
    else:
        checks.skip("value", "There are no closing brackets.")
    return checks.binary()


@lru_cache(maxsize=1024)
def still_open(sequence: str) -> str:
    """Return the brackets of a sequence that nothing closes."""
    shorter = _PAIR.sub("", sequence)
    while shorter != sequence:
        sequence, shorter = shorter, _PAIR.sub("", shorter)
    return sequence
