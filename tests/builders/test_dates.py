"""Dates: the prompt's sentences alone lead to the target, counted day by day."""

import re
from calendar import day_name, isleap, month_name
from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.dates import Space, TaskBuilder
from scbench.builders.dates.stories import scenarios
from scbench.catalog import get_task
from scbench.scoring.judge import judge

BUILDER = TaskBuilder()
TASK = get_task("dates")
FORMATS = ["MM_DD_YYYY", "NATURAL_LANGUAGE", "ORDINAL_DAY", "RELATIVE_OFFSET"]
DAY = timedelta(days=1)
VERB = "(?:is|falls|comes)"
EVENT, ORIGIN = r"(?P<event>.+?)", r"(?P<origin>.+?)"
SIDE, UNITS = "(?P<side>after|before)", r"(?P<n>\d+) (?P<unit>\w+?)s?"
STEPS = [
    (
        rf"{EVENT} {VERB} on day (?P<n>\d+), counting the day of {ORIGIN} as day 1",
        "counted",
    ),
    (rf"{EVENT} {VERB} on the (?:first|last) (?P<n>\w+day) {SIDE} {ORIGIN}", "weekday"),
    (rf"{EVENT} {VERB} on the last day of the month in which {ORIGIN} falls", "last"),
    (
        rf"{EVENT} {VERB} on the first day of the month after the one in which {ORIGIN} falls",
        "first",
    ),
    (rf"{EVENT} {VERB} (?:exactly )?{UNITS} {SIDE} {ORIGIN}", "shift"),
]
LEAP_YEARS = "February has 29 days in years divisible by 4"


def read_date(text):
    """Parse a date such as "on the 5th of March 2021"; return None for other text."""
    text = re.sub(rf"^.+? {VERB} ", "", text)
    if match := re.fullmatch(r"(\d+) days (after|before) (\d\d)/(\d\d)/(\d{4})", text):
        days, side, month, day, year = match.groups()
        origin = date(int(year), int(month), int(day))
        change = int(days) * DAY
        return origin + change if side == "after" else origin - change
    if match := re.fullmatch(r"on (\d\d)/(\d\d)/(\d{4})", text):
        month, day, year = map(int, match.groups())
        return date(year, month, day)
    for form in (r"the (\d+)(?:st|nd|rd|th) day of (\d{4})", r"day (\d+) of (\d{4})"):
        if match := re.fullmatch(f"on {form}", text):
            day, year = map(int, match.groups())
            return date(year, 1, 1) + (day - 1) * DAY
    number, year = r"(?P<day>\d+)", r"(?P<year>\d{4})"
    name = rf"(?P<month>{'|'.join(month_name[1:])})"
    for form in (
        f"{name} {number}, {year}",
        f"{number} {name} {year}",
        f"the {number}(?:st|nd|rd|th) of {name} {year}",
    ):
        if match := re.fullmatch(f"on {form}", text):
            month = list(month_name).index(match["month"])
            return date(int(match["year"]), month, int(match["day"]))
    return None


def days_in_month(year, month):
    if month == 2:
        return 29 if isleap(year) else 28
    return 30 if month in {4, 6, 9, 11} else 31


def walk_months(start, count):
    """Go from a date by months, one at a time; the last day replaces days that do not exist."""
    year, month = start.year, start.month
    for _ in range(abs(count)):
        month += 1 if count > 0 else -1
        if month == 13:
            year, month = year + 1, 1
        elif month == 0:
            year, month = year - 1, 12
    return date(year, month, min(start.day, days_in_month(year, month)))


def walk_to_date(start, kind, match):
    """Go from one date to another, one day or one month at a time."""
    at = start
    step = -DAY if match.get("side") == "before" else DAY
    if kind == "counted":
        for _ in range(int(match["n"]) - 1):
            at += DAY
    elif kind == "weekday":
        at += step
        while day_name[at.weekday()] != match["n"]:
            at += step
    elif kind in {"last", "first"}:
        while (at + DAY).month == start.month:
            at += DAY
        if kind == "first":
            at += DAY
    elif match["unit"] in {"day", "week"}:
        for _ in range(int(match["n"]) * (7 if match["unit"] == "week" else 1)):
            at += step
    else:
        months = int(match["n"]) * (12 if match["unit"] == "year" else 1)
        return walk_months(start, months if step == DAY else -months)
    return at


def read_step(sentence):
    """Return the kind of a step and its parts."""
    for pattern, kind in STEPS:
        if match := re.fullmatch(pattern, sentence):
            return kind, match.groupdict()
    raise AssertionError(sentence)


def answer_from_prompt(prompt):
    """Return the date asked for and the number of steps, from the prompt alone."""
    question, story, *_ = prompt.split("\n\n")
    request = re.fullmatch(
        r"(?:On which date is|What is the date of|On what date does) (.+?)(?: fall)?\?",
        question,
    )[1]
    days, waiting = {}, []
    for sentence in story.removesuffix(".").split(". ")[2:]:
        if day := read_date(sentence):
            event = re.match(rf"(.+?) {VERB} ", sentence)[1]
            days[event.lower()] = day
        else:
            waiting.append(read_step(sentence))
    step_count = len(waiting)
    while waiting:
        kind, match = waiting.pop(0)
        origin = days.get(match["origin"].lower())
        if origin is None:
            waiting.append((kind, match))
        else:
            days[match["event"].lower()] = walk_to_date(origin, kind, match)
    return days[request.lower()].strftime("%m/%d/%Y"), step_count


@st.composite
def spaces(draw):
    return Space(
        tier=draw(st.integers(0, 3)),
        date_format=draw(st.sampled_from(FORMATS)),
        scenario=draw(st.integers(0, 36)),
    )


@settings(max_examples=200)
@given(spaces(), st.integers(0, 2**63))
def test_prompt_alone_leads_to_the_target(point, seed):
    case = BUILDER.case(point, seed)
    assert answer_from_prompt(case.input) == (case.target, case.steps)
    params = BUILDER.params_model(**case.instance)
    (verdict,) = judge(TASK, params, {"answer": case.target})
    assert verdict.score == 1


@pytest.mark.parametrize("form", FORMATS)
def test_tiers_have_their_kinds_of_steps(form):
    for tier, step_counts in enumerate([{0}, {1}, {1}, {3, 4, 5}]):
        cases = BUILDER.generate_random(count=60, tier=tier, date_format=form)
        assert {case["steps"] for case in cases} == step_counts
        kinds = set()
        for case in cases:
            _, story, *_ = case["input"].split("\n\n")
            assert story.startswith(case["instance"]["opening"])
            if tier == 1:
                assert 0 < case["shift"] < 31
                assert case["month_ends"] == 0
            if tier == 2:
                _, kind, _, _ = case["instance"]["steps"][0]
                kinds.add(kind)
                assert case["month_ends"] or kind == "month_last"
        if tier == 2:
            assert len(kinds) >= 6


@pytest.mark.parametrize("links", [1, 5, 8, 12])
def test_long_chains_use_two_scenarios(links):
    for seed in range(30):
        point = Space(tier=3, links=links, date_format="RELATIVE_OFFSET")
        params = BUILDER.draw(point, Stream("links", seed))
        assert len(params.steps) == links
        assert len({*params.events}) == len(params.events) == links + 2
        homes = {s.id for s in scenarios() if {*s.events} & {*params.events}}
        assert len(homes) == (1 if links <= 5 else 2)
        text = BUILDER.prompt(params).replace(params.opening, "Once.")
        assert answer_from_prompt(text) == (BUILDER.target(params), links)


@pytest.mark.parametrize("form", FORMATS)
def test_leap_year_rule_is_printed_wherever_it_matters(form):
    """Without the rule, no step that counts days passes a February 29."""
    without_rule = 0
    for tier in range(4):
        for case in BUILDER.generate_random(count=150, tier=tier, date_format=form):
            if LEAP_YEARS not in case["input"]:
                without_rule += 1
                assert not case["leap_day"] or counts_no_days(case)
    # Most stories with ordinal days have a day after February, so the rule is printed.
    assert without_rule > (0 if form == "ORDINAL_DAY" else 100)


def counts_no_days(case):
    """Return whether all steps of a case are months, years, or ends of months."""
    kinds = {kind for _, kind, _, _ in case["instance"]["steps"]}
    return kinds <= {"months", "years", "month_first", "month_last"}


def test_links_need_the_last_tier():
    with pytest.raises(ValueError, match="links"):
        Space(tier=2, links=3)
