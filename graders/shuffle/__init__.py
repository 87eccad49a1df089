"""Checks whether an option names the thing that a person has at the end of a story.

The thing is followed backwards, swap by swap, from the person who has it at the end to the person
who had it at first.
"""

from functools import lru_cache

from scbench.base.model import Verdict
from scbench.graders.shared.answer_text import quote
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.named_options import option
from scbench.schemas.shuffle import Answer, Params

VERSION = 4

CHECKS = {
    "readable": "The answer is one of the options.",
    "value": "The option is what the person has at the end.",
}
OWN_FAULTS = ("readable",)


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer is the right option, by its letter or its text, else 0."""
    checks = Checklist(CHECKS)
    choice = option(answer.answer, params.options)
    wrong = f"{quote(answer.answer)} is not one of the options."
    if checks.readable(choice, wrong, "There is no option to compare."):
        right = outcome(params)
        person = params.people[params.asked]
        wrong = f"{person} ends up with {right}, not {params.options[choice]}."
        checks.expect("value", params.options[choice] == right, wrong)
    return checks.binary()


@lru_cache(maxsize=1024)
def outcome(params: Params) -> str:
    """Return the thing that the person asked about has at the end.

    Raises:
        ValueError: the options are not the things that people have.
    """
    options_match = sorted(params.options) == sorted(params.things)
    if not options_match or len(params.things) != len(params.people):
        raise ValueError(
            "things and options must have the same entries, one for each person"
        )
    owner = params.asked
    for swaps, a, b, _ in reversed(params.events):
        if swaps and owner in {a, b}:
            # The other person of the swap had it before.
            owner = a + b - owner
    return params.things[owner]
