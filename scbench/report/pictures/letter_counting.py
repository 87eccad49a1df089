"""Words of a row, how often the letters stand in each, and the sum so far."""

from collections.abc import Sequence

from scbench.base.model import Verdict
from scbench.report.picture import Picture
from scbench.report.pictures.shared.text_views import Cell, Row, sum_rows, table_picture, told
from scbench.schemas.letter_counting import Answer, Params


def draw(params: Params, answer: Answer | None, verdicts: Sequence[Verdict]) -> Picture:
    """List the words that count and those that do not; with an answer the letters and the sum."""
    letters = ", ".join(params.letters)
    counted = sum(counts for _, counts in params.words)
    caption = f"{letters} in {counted} of {len(params.words)} words; the others do not count."
    rows: list[Row] = []
    total = 0
    for word, counts in params.words:
        found = sum(map(word.casefold().count, params.letters))
        total += found if counts else 0
        role = ("note" if found and verdicts else "") if counts else "quiet"
        told_here = (found, total) if counts and verdicts else ("-", "") if not counts else ("", "")
        rows.append((Cell(word, role), *told_here))
    rows += sum_rows(answer.answer if answer else None, verdicts, total, columns=3)
    return table_picture(
        "words", ("word", letters, "sum") if verdicts else (), rows, told(caption, verdicts)
    )
