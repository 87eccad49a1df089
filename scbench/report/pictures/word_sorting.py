"""Words in order: the list of the answer next to the right one."""

from itertools import zip_longest

from scbench.graders.shared.short_answers import entries
from scbench.report.picture import Picture, Verdicts
from scbench.report.pictures.shared.tables import Cell, Row, table_picture
from scbench.schemas.word_sorting import Answer, Params


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """List the words; with an answer its list, the first misplaced word marked, and the order."""
    case = "capitals first" if params.case_sensitive else "capitals alike"
    caption = verdicts.caption(f"{len(params.words)} words, {params.order}, {case}.")
    if not verdicts:
        words: list[Row] = [(i, word) for i, word in enumerate(params.words, 1)]
        return table_picture("to be sorted", ("", "word"), words, caption)
    key = None if params.case_sensitive else str.lower
    right = sorted(params.words, key=key, reverse=params.order == "descending")
    answered = (entries(answer.answer) if answer else None) or ()
    rows: list[Row] = []
    # After the first wrong word all positions are shifted: the rest has no colour.
    astray = False
    for i, (word, expected) in enumerate(zip_longest(answered, right), 1):
        if word is None:
            astray = True
            cell = Cell("-", "missing")
        elif astray:
            cell = Cell(word)
        elif expected is not None and word.lower() == expected.lower():
            cell = Cell(word, "right")
        else:
            astray = True
            cell = Cell(word, "wrong")
        rows.append((i, cell, expected or "-"))
    return table_picture("in order", ("", "given", "right"), rows, caption)
