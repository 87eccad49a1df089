"""A logical expression as a tree with the truth value of every step."""

import re
from collections.abc import Sequence
from dataclasses import replace

from scbench.graders.boolean import evaluate, read_values
from scbench.report.picture import Picture, Verdicts
from scbench.report.pictures.shared.expression_trees import Rules, tree_picture
from scbench.schemas.boolean import LITERALS, Answer, Params

_WORD = re.compile(r"NOT|AND|XOR|OR|TRUE|FALSE|YES|NO|ON|OFF|[TF01()]")


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the tree; with a wrong answer, the first step that would give it if it were mistaken.

    Of several expressions, that is the first with a wrong value, or else the first of all.
    """
    true, false = LITERALS[params.format]
    lines = params.expression.splitlines()
    values = read_values(answer.answer, len(lines)) if answer is not None else None
    right = [evaluate(line, true, false) for line in lines]
    faults = [i for i, value in enumerate(values or ()) if value != right[i]]
    at = faults[0] if faults else 0

    def value(words: str, below: Sequence[bool]) -> bool:
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

    rules = Rules(
        {"OR": 1, "XOR": 2, "AND": 3},
        value,
        lambda value: true if value else false,
        lambda _words, _below, value: [not value],
        prefix="NOT",
    )
    answered = None if values is None else values[at]
    picture = tree_picture(_WORD.findall(lines[at]), rules, answered, verdicts)
    if len(lines) == 1:
        return picture
    return replace(
        picture, caption=f"Expression {at + 1} of {len(lines)}. {picture.caption}"
    )
