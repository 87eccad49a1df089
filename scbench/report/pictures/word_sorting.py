"""Words in order: the list that was given beside the right one."""

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
        rows: list[Row] = [(i, word) for i, word in enumerate(params.words, 1)]
        return table_picture("to be sorted", ("", "word"), rows, caption)
    key = None if params.case_sensitive else str.lower
    right = sorted(params.words, key=key, reverse=params.order == "descending")
    answered = (entries(answer.answer) if answer else None) or ()
    rows, astray = [], False
    for i, (word, expected) in enumerate(zip_longest(answered, right), 1):
        same = (
            word is not None
            and expected is not None
            and word.lower() == expected.lower()
        )
        role = "right" if same and not astray else "" if astray else "wrong"
        if word is None:
            role = "missing"
        astray = astray or not same
        rows.append((i, Cell("-" if word is None else word, role), expected or "-"))
    return table_picture("in order", ("", "given", "right"), rows, caption)
