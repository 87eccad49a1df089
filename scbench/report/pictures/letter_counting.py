"""Words of a row, how often the letters occur in each, and the running sum."""

from scbench.report.picture import Picture, Verdicts
from scbench.report.pictures.shared.tables import Cell, Row, sum_rows, table_picture
from scbench.schemas.letter_counting import Answer, Params


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """List the words that count and those that do not; with an answer the letters and the sum."""
    letters = ", ".join(params.letters)
    rows: list[Row] = []
    counted = 0
    total = 0
    for word, counts in params.words:
        if not counts:
            rows.append((Cell(word, "quiet"), "-", ""))
            continue
        counted += 1
        letter_count = sum(map(word.casefold().count, params.letters))
        total += letter_count
        # The counts are the solution, so a picture of the task alone has none.
        if not verdicts:
            rows.append((word, "", ""))
        elif letter_count:
            rows.append((Cell(word, "note"), letter_count, total))
        else:
            rows.append((word, letter_count, total))
    rows += sum_rows(answer.answer if answer else None, verdicts, total, columns=3)
    head = ("word", letters, "sum") if verdicts else ()
    caption = (
        f"{letters} in {counted} of {len(params.words)} words; the others do not count."
    )
    return table_picture("words", head, rows, verdicts.caption(caption))
