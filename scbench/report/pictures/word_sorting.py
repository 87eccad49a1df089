"""Sorted words: the answer's list next to the right one."""

from itertools import zip_longest

from scbench.base.wording import counted
from scbench.graders.shared.short_answers import entries
from scbench.report.picture import Picture, Verdicts
from scbench.report.pictures.shared.tables import Cell, Row, table_picture
from scbench.schemas.word_sorting import Answer, Params


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """List the words; next to an answer, list the right one and mark the first mistake."""
    case = "ignoring case"
    if params.case_sensitive:
        first_case = "capital" if params.order == "ascending" else "small"
        case = f"with {first_case} letters first"
    size = counted(len(params.words), "word")
    caption = verdicts.caption(f"Sort {size} in {params.order} order, {case}.")
    if not verdicts:
        words: list[Row] = [(i, word) for i, word in enumerate(params.words, 1)]
        return table_picture("words to sort", ("", "word"), words, caption)
    key = None if params.case_sensitive else str.lower
    right = sorted(params.words, key=key, reverse=params.order == "descending")
    answered = (entries(answer.answer) if answer else None) or ()
    rows: list[Row] = []
    # After the first wrong word, all positions may be shifted, so later words have no colour.
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
    return table_picture("sorted words", ("", "answer", "right"), rows, caption)
