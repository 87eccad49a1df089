"""A logical expression as a tree with the truth value of every step."""

import re
from collections.abc import Sequence

from scbench.graders.shared.short_answers import truth
from scbench.report.picture import Picture, Verdicts
from scbench.report.pictures.shared.expression_trees import Rules, tree_picture
from scbench.schemas.boolean import LITERALS, Answer, Params

_WORD = re.compile(r"NOT|AND|XOR|OR|TRUE|FALSE|YES|NO|ON|OFF|[TF01()]")


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw the tree; with a wrong answer, the first step that would give it if it were mistaken."""
    true, false = LITERALS[params.format]

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
    answered = None if answer is None else truth(answer.answer)
    return tree_picture(_WORD.findall(params.expression), rules, answered, verdicts)
