"""A list of things: the counted ones, their quantities, and the running sum."""

from scbench.base.wording import counted
from scbench.builders.shared.words import enumeration
from scbench.graders.objects import quantity_of
from scbench.report.picture import Picture, Verdicts
from scbench.report.pictures.shared.tables import Cell, Row, sum_rows, table_picture
from scbench.schemas.objects import Answer, Params


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """List the things; with an answer, also mark the counted ones and show the sum."""
    rows: list[Row] = []
    total = 0
    for quantity, adjective, noun, group in params.entries:
        # An entry without an adjective has two spaces.
        words = f"{quantity} {adjective} {noun}".replace("  ", " ")
        if not verdicts:
            rows.append((words,))
        elif group in params.groups:
            number = quantity_of(quantity)
            total += number
            rows.append((Cell(words, "note"), group, number, total))
        else:
            rows.append((Cell(words, "quiet"), group, "-", ""))
    rows += sum_rows(answer.answer if answer else None, verdicts, total, columns=4)
    kinds = enumeration(params.groups)
    caption = verdicts.caption(
        f"How many {kinds} are there in a list of "
        f"{counted(len(params.entries), 'entry', 'entries')}?"
    )
    head = ("thing", "group", "quantity", "sum") if verdicts else ()
    return table_picture("things", head, rows, caption)
