"""A logical expression as a tree with the truth value of every step."""

import re
from collections.abc import Sequence
from dataclasses import replace

from scbench.graders.boolean import evaluate, read_values
from scbench.report.picture import Picture, Verdicts
from scbench.report.pictures.shared.expression_trees import Rules, tree_picture
from scbench.schemas.boolean import LITERALS, Answer, Params

# Operators of higher rank bind closer; NOT binds closest.
_RANKS = {"OR": 1, "XOR": 2, "AND": 3}
# Words of all notations, longer words before their own prefixes.
_WORD = re.compile(r"NOT|AND|XOR|OR|TRUE|FALSE|YES|NO|ON|OFF|[TF01()]")


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the tree; for a wrong answer, mark the first slip that would explain it.

    If there are several expressions, the first with a wrong value is drawn, or else the first.
    """
    true, false = LITERALS[params.format]
    lines = params.expression.splitlines()
    values = None if answer is None else read_values(answer.answer, len(lines))
    at = 0
    if values:
        right = [evaluate(line, true, false) for line in lines]
        faults = [i for i, value in enumerate(values) if value != right[i]]
        at = faults[0] if faults else 0
    answered = None if values is None else values[at]
    tokens = _WORD.findall(lines[at])
    picture = tree_picture(tokens, rules(true, false), answered, verdicts)
    if len(lines) == 1:
        return picture
    caption = f"Expression {at + 1} of {len(lines)}. {picture.caption}"
    return replace(picture, caption=caption)


def rules(true: str, false: str) -> Rules:
    """Return the rules of logic, in the notation of a format."""

    def node_value(words: str, below: Sequence[bool]) -> bool:
        match words:
            case "NOT":
                return not below[0]
            case "AND":
                return all(below)
            case "OR":
                return any(below)
            case "XOR":
                return below[0] != below[1]
        return words == true

    def write(value: bool) -> str:
        return true if value else false

    def slips(_words: str, _below: Sequence[bool], value: bool) -> list[bool]:
        return [not value]

    return Rules(_RANKS, node_value, write, slips, prefix="NOT")
