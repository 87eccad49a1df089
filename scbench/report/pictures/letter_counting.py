"""Words of a row, how often the letters stand in each, and the sum so far."""

from scbench.report.picture import Picture, Verdicts
from scbench.report.pictures.shared.tables import Cell, Row, sum_rows, table_picture
from scbench.schemas.letter_counting import Answer, Params


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """List the words that count and those that do not; with an answer the letters and the sum."""
    letters = ", ".join(params.letters)
    counted = sum(counts for _, counts in params.words)
    caption = (
        f"{letters} in {counted} of {len(params.words)} words; the others do not count."
    )
    rows: list[Row] = []
    total = 0
    for word, counts in params.words:
        letter_count = sum(map(word.casefold().count, params.letters))
        total += letter_count if counts else 0
        role = ("note" if letter_count and verdicts else "") if counts else "quiet"
        tally = (
            ("-", "") if not counts else (letter_count, total) if verdicts else ("", "")
        )
        rows.append((Cell(word, role), *tally))
    rows += sum_rows(answer.answer if answer else None, verdicts, total, columns=3)
    head = ("word", letters, "sum") if verdicts else ()
    return table_picture("words", head, rows, verdicts.caption(caption))
