"""Events and rules as a graph from causes to the outcome: what happened, and what was necessary."""

from collections.abc import Mapping
from textwrap import wrap

from scbench.graders.but_for_causation import necessary
from scbench.graders.shared.short_answers import entries, option
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts, texts
from scbench.report.pictures.shared.tables import (
    Cell,
    Row,
    mark,
    table_text,
    text_picture,
)
from scbench.schemas.but_for_causation import Answer, Params

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
Rules = Mapping[int, tuple[str, tuple[tuple[int, bool], ...]]]
Course = dict[int, bool]

_WIDTH, _HEIGHT, _GAP = 124, 34, 36
_ACROSS = 22


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw events by causes; with an answer what happened, and letters wrong or right."""
    rules = {event: (kind, conditions) for event, kind, conditions in params.rules}
    single = params.question == "but_for"
    outcome = _event_words(params, params.outcome)
    if single:
        supposed = _event_words(params, params.candidates[0])
        question = (
            f'Without "{supposed}", would "{outcome}" have happened all the same?'
        )
    else:
        question = (
            f'Without which of the lettered events would "{outcome}" not have happened?'
        )
    caption = verdicts.caption(question)
    needed = {params.candidates[k] for k in necessary(params)} if verdicts else set()
    answered = (
        _answered_events(params, answer) if verdicts.wrong and not single else None
    )
    happened = _played(params, None) if verdicts else {}
    without = _played(params, params.candidates[0]) if verdicts and single else {}
    roles = dict.fromkeys(needed, "right")
    if answered is not None:
        roles |= dict.fromkeys(answered - needed, "wrong")
        roles |= dict.fromkeys(needed - answered, "missing")
    roles.setdefault(
        params.outcome, "wrong" if verdicts.wrong and answered is None else "target"
    )
    if single:
        roles.setdefault(params.candidates[0], "note")
    drawing = _graph(params, rules, roles, happened, without)
    facts = {"happened": happened, "but for it": without}
    columns = {name: course for name, course in facts.items() if course}
    rows: list[Row] = []
    for event in range(len(params.events)):
        kind, conditions = rules.get(event, ("all", ()))
        causes = f" {'and' if kind == 'all' else 'or'} ".join(
            f"{'' if expected else 'not '}({cause})" for cause, expected in conditions
        )
        words = Cell(
            f"{_letter(params, event)}{_event_words(params, event)}",
            roles.get(event, ""),
        )
        fates = [_yes(course.get(event)) for course in columns.values()]
        rows.append((f"({event})", words, f"if {causes}" if causes else "told", *fates))
    head = ("", "event", "rule", *columns)
    panel = Panel("causes to the left", drawing, caption)
    return text_picture(
        [panel], caption, table_text(head, rows, 140), texts("but_for_causation.legend")
    )


def _yes(value: bool | None) -> str:
    return "" if value is None else "yes" if value else "no"


def _event_words(params: Params, event: int) -> str:
    return f"{params.events[event][0]} {params.events[event][3]}"


def _letter(params: Params, event: int) -> str:
    if params.question == "but_for" or event not in params.candidates:
        return ""
    return f"{_LETTERS[params.candidates.index(event)]}: "


def _answered_events(params: Params, answer: Answer | None) -> set[int] | None:
    """Return the events that an answer names; None if it cannot be read as letters."""
    words = (
        entries(answer.answer)
        if answer and not isinstance(answer.answer, bool)
        else None
    )
    texts = [_event_words(params, event) for event in params.candidates]
    places = [option(word, texts) for word in words or () if word.casefold() != "and"]
    events = {params.candidates[place] for place in places if place is not None}
    return events if places and None not in places else None


def _played(params: Params, without: int | None) -> dict[int, bool]:
    """Return whether each event happens, the causes before what they cause."""
    course = dict(params.told) | ({} if without is None else {without: False})
    waiting = [rule for rule in params.rules if rule[0] != without]
    while ready := [
        rule for rule in waiting if all(cause in course for cause, _ in rule[2])
    ]:
        for event, kind, conditions in ready:
            met = [course[cause] == expected for cause, expected in conditions]
            course[event] = all(met) if kind == "all" else any(met)
        waiting = [rule for rule in waiting if rule[0] not in course]
    return course


def _graph(
    params: Params,
    rules: Rules,
    roles: dict[int, str],
    happened: Course,
    without: Course,
) -> Drawing:
    level: dict[int, int] = {
        event: 0 for event in range(len(params.events)) if event not in rules
    }
    while ready := [
        event
        for event in rules
        if event not in level and all(c in level for c, _ in rules[event][1])
    ]:
        for event in ready:
            level[event] = 1 + max(
                (level[cause] for cause, _ in rules[event][1]), default=0
            )
    columns: list[list[int]] = [[] for _ in range(max(level.values()) + 1)]
    for event, k in sorted(level.items()):
        columns[k].append(event)
    row: dict[int, float] = {}
    for column in columns:  # beside the middle of its causes, so that few arrows cross
        column.sort(
            key=lambda e: (
                sum(row[c] for c, _ in rules[e][1]) / len(rules[e][1])
                if e in rules and rules[e][1]
                else e
            )
        )
        row |= {event: i + 0.5 for i, event in enumerate(column)}
    tallest = max(map(len, columns))
    size = (len(columns) * (_WIDTH + _GAP) - _GAP, tallest * (_HEIGHT + 18))
    drawing = Drawing((0, 0, *size), size=max(size), up=False, margin=8)
    for column in columns:
        shift = (tallest - len(column)) / 2
        row |= {event: row[event] + shift for event in column}
    place = {
        event: (level[event] * (_WIDTH + _GAP), row[event] * (_HEIGHT + 18))
        for event in level
    }
    for event, (_, conditions) in rules.items():
        for cause, expected in conditions:
            (ax, ay), (bx, by) = place[cause], place[event]
            ends = [(ax + _WIDTH, ay), (bx - 2, by)]
            drawing.line(ends, "given", dashed=not expected, arrow=True)
    for event, (x, y) in place.items():
        low, high = (x, y - _HEIGHT / 2), (x + _WIDTH, y + _HEIGHT / 2)
        drawing.box(
            low, high, "paper", edge="given", dashed=happened.get(event) is False
        )
        fate = _yes(without.get(event))
        mark(
            drawing,
            low,
            high,
            roles.get(event, ""),
            f"but for it: {fate}" if fate else "",
        )
        kind = (
            f" ({rules[event][0]})"
            if event in rules and len(rules[event][1]) > 1
            else ""
        )
        words = f"{_letter(params, event)}{_event_words(params, event)}{kind}"
        lines = wrap(words, _ACROSS, max_lines=2, placeholder="…")
        for i, line in enumerate(lines):
            down = (0.0, 12 * (i - (len(lines) - 1) / 2))
            drawing.text((x + _WIDTH / 2, y), line, size=10, shift=down)
    return drawing
