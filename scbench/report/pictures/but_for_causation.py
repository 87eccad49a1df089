"""Events and rules as a graph from causes to the outcome, with the necessary events."""

from collections.abc import Mapping
from textwrap import wrap
from typing import NamedTuple

from scbench.graders.but_for_causation import necessary
from scbench.graders.shared.named_options import option
from scbench.graders.shared.short_answers import entries
from scbench.report.draw.canvas import pixel_canvas
from scbench.report.draw.svg import Drawing
from scbench.report.picture import Panel, Picture, Verdicts
from scbench.report.pictures.shared.tables import (
    Cell,
    Row,
    mark,
    table_text,
    text_picture,
)
from scbench.schemas.but_for_causation import Answer, Params

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
# Pixels of an event's box, between columns and between rows.
_WIDTH = 124
_HEIGHT = 34
_GAP = 36
_ROW_GAP = 18
# Maximum number of letters of a line in a box.
_ACROSS = 22
# Maximum number of letters of a line of text.
_TEXT_WIDTH = 140
_LEGEND = {
    "target": "the outcome",
    "note": "assumed not to happen",
    "right": "necessary",
    "missing": "necessary but not named",
    "wrong": "wrong",
}

# Whether each event happens.
Course = Mapping[int, bool]
# Role of each event in the picture.
Roles = Mapping[int, str]
# Level of each event, the lowest first: its column in the graph.
Levels = Mapping[int, int]


class Rule(NamedTuple):
    """The rule of an event.

    Attributes:
        kind: whether ``all`` or ``any`` of the conditions are needed.
        conditions: events, and whether each must happen or must not happen.
    """

    kind: str
    conditions: tuple[tuple[int, bool], ...]


Rules = Mapping[int, Rule]


def draw(params: Params, answer: Answer | None, verdicts: Verdicts) -> Picture:
    """Draw events and causes; with an answer, also what happened and the right letters."""
    rules = {event: Rule(kind, conditions) for event, kind, conditions in params.rules}
    levels = event_levels(len(params.events), rules)
    outcome = event_words(params, params.outcome)
    supposed = None
    if params.question == "but_for":
        supposed = params.candidates[0]
        words = event_words(params, supposed)
        question = f'Would "{outcome}" still have happened without "{words}"?'
    else:
        question = f'Which of the lettered events were necessary for "{outcome}"?'
    caption = verdicts.caption(question)
    roles = event_roles(params, answer, verdicts)
    courses: dict[str, Course] = {}
    if verdicts:
        courses["happened"] = course_of_events(params, rules, levels, None)
        if supposed is not None:
            courses["without it"] = course_of_events(params, rules, levels, supposed)
    drawing = graph(params, rules, levels, roles, courses)
    panel = Panel("causes on the left", drawing, caption)
    rows = [
        event_row(params, event, rules.get(event), roles, courses)
        for event in range(len(params.events))
    ]
    text = table_text(("", "event", "rule", *courses), rows, _TEXT_WIDTH)
    legend = {"given": shape_words(rules, courses), **_LEGEND}
    return text_picture([panel], caption, text, legend)


def shape_words(rules: Rules, courses: Mapping[str, Course]) -> str:
    """Return the meaning of boxes and arrows, and of dashed ones if there are any."""
    words = "box: event; arrow: cause"
    if not all(courses.get("happened", {}).values()):
        words += "; dashed box: did not happen"
    conditions = [condition for rule in rules.values() for condition in rule.conditions]
    if not all(expected for _, expected in conditions):
        words += "; dashed arrow: cause that must not happen"
    return words


def event_roles(params: Params, answer: Answer | None, verdicts: Verdicts) -> Roles:
    """Return the roles of the outcome, the necessary events, and the events in an answer."""
    needed = {params.candidates[k] for k in necessary(params)} if verdicts else set()
    roles = dict.fromkeys(needed, "right")
    answered = None
    single = params.question == "but_for"
    if verdicts.wrong and not single:
        answered = answered_events(params, answer)
    if answered is not None:
        roles |= dict.fromkeys(answered - needed, "wrong")
        roles |= dict.fromkeys(needed - answered, "missing")
    # A wrong answer without letters is marked at the outcome.
    outcome_role = "wrong" if verdicts.wrong and answered is None else "target"
    roles.setdefault(params.outcome, outcome_role)
    if single:
        roles.setdefault(params.candidates[0], "note")
    return roles


def answered_events(params: Params, answer: Answer | None) -> set[int] | None:
    """Return the events that an answer names; None if it cannot be read as letters."""
    if answer is None or isinstance(answer.answer, bool):
        return None
    texts = [event_words(params, event) for event in params.candidates]
    events = set()
    for word in entries(answer.answer) or ():
        if word.casefold() == "and":
            continue
        place = option(word, texts)
        if place is None:
            return None
        events.add(params.candidates[place])
    return events or None


def course_of_events(
    params: Params, rules: Rules, levels: Levels, without: int | None
) -> Course:
    """Return whether each event happens, optionally with one event removed."""
    course = dict(params.told)
    if without is not None:
        course[without] = False
    # Causes are on lower levels, so they are decided before their effects.
    for event in levels:
        if event in rules and event != without:
            kind, conditions = rules[event]
            conditions_met = [
                course[cause] == expected for cause, expected in conditions
            ]
            course[event] = (
                all(conditions_met) if kind == "all" else any(conditions_met)
            )
    return course


def event_words(params: Params, event: int) -> str:
    """Return an event in the past tense."""
    phrase = params.events[event]
    return f"{phrase[0]} {phrase[3]}"


def lettered_words(params: Params, event: int) -> str:
    """Return an event with its letter, if the question has letters."""
    words = event_words(params, event)
    if params.question == "but_for" or event not in params.candidates:
        return words
    return f"{_LETTERS[params.candidates.index(event)]}: {words}"


def outcome_words(course: Course, event: int) -> str:
    """Return whether an event happens, in words; empty if that is unknown."""
    if event not in course:
        return ""
    return "yes" if course[event] else "no"


def event_row(
    params: Params,
    event: int,
    rule: Rule | None,
    roles: Roles,
    courses: Mapping[str, Course],
) -> Row:
    """Return the row of an event in the table: number, words, rule, and outcomes."""
    origin = "given"
    if rule and rule.conditions:
        causes = []
        for cause, expected in rule.conditions:
            causes.append(f"({cause})" if expected else f"not ({cause})")
        conjunction = " and " if rule.kind == "all" else " or "
        origin = f"if {conjunction.join(causes)}"
    words = Cell(lettered_words(params, event), roles.get(event, ""))
    fates = [outcome_words(course, event) for course in courses.values()]
    return (f"({event})", words, origin, *fates)


def graph(
    params: Params,
    rules: Rules,
    levels: Levels,
    roles: Roles,
    courses: Mapping[str, Course],
) -> Drawing:
    """Return events as boxes in columns, with arrows from causes."""
    columns = event_columns(levels, rules)
    tallest = max(map(len, columns))
    width = _WIDTH + _GAP
    height = _HEIGHT + _ROW_GAP
    across = len(columns) * width - _GAP
    drawing = pixel_canvas(across, tallest * height, margin=8)
    rows: dict[int, float] = {}
    for column in columns:
        shift = (tallest - len(column)) / 2
        rows |= {event: i + 0.5 + shift for i, event in enumerate(column)}
    # The middle of the left side of each box.
    places = {
        event: (level * width, rows[event] * height) for event, level in levels.items()
    }
    for event, rule in rules.items():
        for cause, expected in rule.conditions:
            ax, ay = places[cause]
            bx, by = places[event]
            ends = [(ax + _WIDTH, ay), (bx - 2, by)]
            drawing.line(ends, "given", dashed=not expected, arrow=True)
    happened = courses.get("happened", {})
    without = courses.get("without it", {})
    for event, (x, y) in places.items():
        low = (x, y - _HEIGHT / 2)
        high = (x + _WIDTH, y + _HEIGHT / 2)
        dashed = happened.get(event) is False
        drawing.box(low, high, "paper", edge="given", dashed=dashed)
        changed_fate = outcome_words(without, event)
        tip = f"without it: {changed_fate}" if changed_fate else ""
        mark(drawing, low, high, roles.get(event, ""), tip)
        words = lettered_words(params, event)
        if event in rules and len(rules[event].conditions) > 1:
            words += f" ({rules[event].kind})"
        lines = wrap(words, _ACROSS, max_lines=2, placeholder="…")
        for i, line in enumerate(lines):
            down = (0.0, 12 * (i - (len(lines) - 1) / 2))
            drawing.text((x + _WIDTH / 2, y), line, size=10, shift=down)
    return drawing


def event_levels(count: int, rules: Rules) -> Levels:
    """Return the level of each event: 0 without a rule, else 1 above its highest cause."""
    levels = {event: 0 for event in range(count) if event not in rules}
    waiting = dict(rules)
    while waiting:
        # The events whose causes all have a level; in rules with a cycle, there are none in the
        # end.
        ready = {}
        for event, rule in waiting.items():
            causes = [cause for cause, _ in rule.conditions]
            if levels.keys() >= set(causes):
                ready[event] = causes
        if not ready:
            break
        for event, causes in ready.items():
            highest = max((levels[cause] for cause in causes), default=0)
            levels[event] = 1 + highest
            del waiting[event]
    return levels


def event_columns(levels: Levels, rules: Rules) -> list[list[int]]:
    """Return the events of each level from top to bottom."""
    columns: list[list[int]] = [[] for _ in range(max(levels.values()) + 1)]
    for event, level in sorted(levels.items()):
        columns[level].append(event)
    rows: dict[int, float] = {}

    def middle_of_causes(event: int) -> float:
        if event not in rules or not rules[event].conditions:
            return event
        causes = [rows[cause] for cause, _ in rules[event].conditions]
        return sum(causes) / len(causes)

    for column in columns:
        # Near the middle of its causes, so that few arrows cross.
        column.sort(key=middle_of_causes)
        rows |= {event: i + 0.5 for i, event in enumerate(column)}
    return columns
