"""Dates of a story: how each follows, and the month of the one that is asked for."""

from calendar import monthrange, weekday

from scbench.graders.dates import date, date_of
from scbench.graders.shared.short_answers import quote
from scbench.report.picture import Picture, Verdicts, texts
from scbench.report.pictures.shared.tables import (
    Cell,
    Row,
    table_panels,
    table_text,
    text_picture,
)
from scbench.schemas.dates import Answer, Params

_DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
_STEPS = texts("dates.steps")
Day = tuple[int, int, int]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """List the events; with an answer their dates and calendars of the right and the given day."""
    caption = verdicts.caption(f"When is {params.events[params.asked]}?")
    rows: list[Row] = []
    for event, *_ in params.given:
        rows.append(
            (_name(params, event), "given", _event_date(params, event, verdicts))
        )
    for event, kind, amount, origin in params.steps:
        how = _STEPS[kind].format(n=amount, day=_DAYS[amount % 7], of=f"({origin})")
        rows.append((_name(params, event), how, _event_date(params, event, verdicts)))
    if verdicts.wrong:
        rows.append(
            ("given", "", Cell(quote(answer.answer) if answer else "nothing", "wrong"))
        )
    panels = table_panels("events", ("event", "how", "date"), rows, caption)
    texts = [table_text(("event", "how", "date"), rows)]
    right = date_of(params) if verdicts else None
    answered = date(answer.answer) if answer and verdicts.wrong else None
    months = {day[:2]: None for day in (right, answered) if day and 1 <= day[1] <= 12}
    for year, month in months:
        weeks = _weeks(year, month, right, answered)
        title = f"{month:02}/{year:04}"
        panels += table_panels(title, _DAYS, weeks, caption)
        texts.append(f"{title}\n{table_text(_DAYS, weeks)}")
    return text_picture(panels, caption, "\n\n".join(texts))


def _name(params: Params, event: int) -> Cell:
    role = "target" if event == params.asked else ""
    return Cell(f"({event}) {params.events[event]}", role)


def _event_date(params: Params, event: int, verdicts: Verdicts) -> str:
    """Return the date of an event, if one has answered and the story leads to it."""
    if not verdicts:
        return ""
    try:
        year, month, day = date_of(params.model_copy(update={"asked": event}))
    except ValueError:
        return "unknown"
    return f"{_DAYS[weekday(year, month, day)]} {month:02}/{day:02}/{year:04}"


def _weeks(year: int, month: int, right: Day | None, answered: Day | None) -> list[Row]:
    """Return the days of a month in weeks; the right day and the given one are marked."""
    first, length = monthrange(year, month)
    days: list[Cell] = [Cell("")] * first
    for day in range(1, length + 1):
        here = (year, month, day)
        role = "right" if here == right else "wrong" if here == answered else ""
        days.append(Cell(f"{day:>2}", role))
    return [days[i : i + 7] for i in range(0, len(days), 7)]
