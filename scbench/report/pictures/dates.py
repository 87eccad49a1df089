"""Dates of a story: the step that leads to each, and the month of the requested date."""

from calendar import monthrange, weekday

from scbench.graders.dates import date, date_of
from scbench.graders.shared.answer_text import quote
from scbench.report.picture import Picture, Verdicts
from scbench.report.pictures.shared.tables import (
    Cell,
    Row,
    table_panels,
    table_text,
    text_picture,
)
from scbench.schemas.dates import Answer, Params

_DAYS = ("Mo", "Tu", "We", "Th", "Fr", "Sa", "Su")
_HEAD = ("event", "how", "date")
# Description of each kind of step from one date to another.
_STEPS = {
    "days": "{n:+} days from {of}",
    "weeks": "{n:+} weeks from {of}",
    "months": "{n:+} months from {of}",
    "years": "{n:+} years from {of}",
    "counted_day": "day {n} if {of} is day 1",
    "weekday_after": "first {day} after {of}",
    "weekday_before": "last {day} before {of}",
    "month_last": "last day of the month of {of}",
    "month_first": "first day of the month after {of}",
}

# Year, month and day.
Day = tuple[int, int, int]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """List the events; with an answer, also their dates, and the right and answered months."""
    caption = verdicts.caption(f"When is {params.events[params.asked]}?")
    rows = event_rows(params, verdicts)
    if verdicts.wrong:
        words = quote(answer.answer) if answer else "none"
        rows.append(("answer", "", Cell(words, "wrong")))
    panels = table_panels("events", _HEAD, rows, caption)
    texts = [table_text(_HEAD, rows)]
    right = date_of(params) if verdicts else None
    answered = date(answer.answer) if answer and verdicts.wrong else None
    months: list[tuple[int, int]] = []
    for day in (right, answered):
        # A wrong answer may name a month outside the calendar.
        if day and 1 <= day[1] <= 12 and day[:2] not in months:
            months.append(day[:2])
    for year, month in months:
        weeks = month_rows(year, month, right, answered)
        title = f"{month:02}/{year:04}"
        panels += table_panels(title, _DAYS, weeks, caption)
        texts.append(f"{title}\n{table_text(_DAYS, weeks)}")
    return text_picture(panels, caption, "\n\n".join(texts))


def event_rows(params: Params, verdicts: Verdicts) -> list[Row]:
    """Return the events in the order of the story; with verdicts, also their dates."""
    origins = [(event, "given") for event, *_ in params.given]
    for event, kind, amount, origin in params.steps:
        day = _DAYS[amount % 7]
        words = _STEPS[kind].format(n=amount, day=day, of=f"({origin})")
        origins.append((event, words))
    rows: list[Row] = []
    for event, words in origins:
        role = "target" if event == params.asked else ""
        name = Cell(f"({event}) {params.events[event]}", role)
        rows.append((name, words, event_date(params, event) if verdicts else ""))
    return rows


def event_date(params: Params, event: int) -> str:
    """Return the date of an event if it follows from the story."""
    try:
        year, month, day = date_of(params.model_copy(update={"asked": event}))
    except ValueError:
        return "unknown"
    return f"{_DAYS[weekday(year, month, day)]} {month:02}/{day:02}/{year:04}"


def month_rows(
    year: int, month: int, right: Day | None, answered: Day | None
) -> list[Row]:
    """Return the days of a month in weeks; the right day and the answered day are marked."""
    first, length = monthrange(year, month)
    roles = {answered: "wrong", right: "right"}
    cells = [Cell("")] * first
    for day in range(1, length + 1):
        cells.append(Cell(f"{day:>2}", roles.get((year, month, day), "")))
    return [cells[i : i + 7] for i in range(0, len(cells), 7)]
