"""The words of a row, how often the letters occur in each, and the running sum."""

from scbench.base.wording import counted
from scbench.report.picture import Picture, Verdicts
from scbench.report.pictures.shared.tables import Cell, Row, sum_rows, table_picture
from scbench.schemas.letter_counting import Answer, Params


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """List the words, counted ones in brackets; with an answer, also the counts and the sum."""
    letters = ", ".join(params.letters)
    rows: list[Row] = []
    marked = 0
    total = 0
    for word, is_marked in params.words:
        if not is_marked:
            rows.append((Cell(word, "quiet"), "-", ""))
            continue
        marked += 1
        # As in the prompt, the words in brackets count.
        text = f"[{word}]"
        letter_count = sum(map(word.casefold().count, params.letters))
        total += letter_count
        # The counts are the solution, so a picture without an answer omits them.
        if not verdicts:
            rows.append((text, "", ""))
        elif letter_count:
            rows.append((Cell(text, "note"), letter_count, total))
        else:
            rows.append((text, letter_count, total))
    rows += sum_rows(answer.answer if answer else None, verdicts, total, columns=3)
    head = ("word", letters, "sum") if verdicts else ()
    noun = "letter" if len(params.letters) == 1 else "letters"
    size = counted(len(params.words), "word")
    caption = f"Count the {noun} {letters} in the words in square brackets: {marked} of {size}."
    return table_picture("words", head, rows, verdicts.caption(caption))
