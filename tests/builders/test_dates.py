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
WHAT, ORIGIN = r"(?P<what>.+?)", r"(?P<other>.+?)"
SIDE, UNITS = "(?P<side>after|before)", r"(?P<n>\d+) (?P<unit>\w+?)s?"
STEPS = [
    (
        rf"{WHAT} {VERB} on day (?P<n>\d+), if the day of {ORIGIN} is counted as day 1",
        "counted",
    ),
    (rf"{WHAT} {VERB} on the (?:first|last) (?P<n>\w+day) {SIDE} {ORIGIN}", "weekday"),
    (rf"{WHAT} {VERB} on the last day of the month in which {ORIGIN} falls", "last"),
    (
        rf"{WHAT} {VERB} on the first day of the month after the one in which {ORIGIN} falls",
        "first",
    ),
    (rf"{WHAT} {VERB} {UNITS} {SIDE} {ORIGIN}", "shift"),
    (rf"Exactly {UNITS} {SIDE} {ORIGIN} {VERB} {WHAT}", "shift"),
]
LEAP_YEARS = "February has 29 days in years divisible by 4"


def read_date(text):
    """Parse a date such as "on the 5th of March 2021"; return None for other text."""
    text = re.sub(rf"^.+? {VERB} ", "", text)
    if match := re.fullmatch(r"(\d+) days (after|before) (\d\d)/(\d\d)/(\d{4})", text):
        days = int(match[1]) * (1 if match[2] == "after" else -1)
        return date(int(match[5]), int(match[3]), int(match[4])) + days * DAY
    if match := re.fullmatch(r"on (\d\d)/(\d\d)/(\d{4})", text):
        return date(int(match[3]), int(match[1]), int(match[2]))
    if match := re.fullmatch(
        r"on (?:the (\d+)(?:st|nd|rd|th) day|day (\d+)) of (\d{4})", text
    ):
        return date(int(match[3]), 1, 1) + (int(match[1] or match[2]) - 1) * DAY
    number, year = r"(?P<day>\d+)", r"(?P<year>\d{4})"
    name = rf"(?P<month>{'|'.join(month_name[1:])})"
    for form in (f"{name} {number}, {year}", f"{number} {name} {year}",
                 f"the {number}(?:st|nd|rd|th) of {name} {year}"):  # fmt: skip
        if match := re.fullmatch(f"on {form}", text):
            months = list(month_name)
            return date(
                int(match["year"]), months.index(match["month"]), int(match["day"])
            )
    return None


def walk_to_date(start, kind, match):
    """Go from one date to another, one day or one month at a time."""
    at, back = start, match.get("side") == "before"
    if kind == "counted":
        for _ in range(int(match["n"]) - 1):
            at += DAY
    elif kind == "weekday":
        while True:
            at += -DAY if back else DAY
            if day_name[at.weekday()] == match["n"]:
                break
    elif kind in {"last", "first"}:
        while (at + DAY).month == start.month:
            at += DAY
        at += DAY * (kind == "first")
    elif match["unit"] in {"day", "week"}:
        for _ in range(int(match["n"]) * (7 if match["unit"] == "week" else 1)):
            at += -DAY if back else DAY
    else:
        year, month = at.year, at.month
        for _ in range(int(match["n"]) * (12 if match["unit"] == "year" else 1)):
            month += -1 if back else 1
            year, month = year + (month > 12) - (month < 1), (month - 1) % 12 + 1
        for day in range(at.day, 27, -1):
            if day <= (29 if isleap(year) else 28) or month != 2:
                if day == 31 and month in {4, 6, 9, 11}:
                    continue
                return date(year, month, day)
        return date(year, month, at.day)
    return at


def answer_from_prompt(prompt):
    """Return the date asked for, from the text of the prompt alone."""
    question, story, *_ = prompt.split("\n\n")
    request = re.fullmatch(
        r"(?:On which date is|What is the date of|On what date does) (.+?)(?: fall)?\?",
        question,
    )[1]
    days, waiting = {}, []
    for sentence in story.removesuffix(".").split(". ")[2:]:
        if day := read_date(sentence):
            what = re.match(rf"(.+?) {VERB} ", sentence)[1]
            days[what.lower()] = day
            continue
        for pattern, kind in STEPS:
            if match := re.fullmatch(pattern, sentence):
                waiting.append((kind, match.groupdict()))
                break
        else:
            raise AssertionError(sentence)
    total = len(waiting)
    while waiting:
        kind, match = waiting.pop(0)
        if match["other"].lower() in days:
            days[match["what"].lower()] = walk_to_date(
                days[match["other"].lower()], kind, match
            )
        else:
            waiting.append((kind, match))
    return days[request.lower()].strftime("%m/%d/%Y"), total


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
    (verdict,) = judge(
        TASK, BUILDER.params_model(**case.instance), {"answer": case.target}
    )
    assert verdict.score == 1


@pytest.mark.parametrize("form", FORMATS)
def test_tiers_have_their_kinds_of_steps(form):
    for tier in range(4):
        cases = BUILDER.generate_random(count=60, tier=tier, date_format=form)
        steps = {case["steps"] for case in cases}
        assert steps == [{0}, {1}, {1}, {3, 4, 5}][tier]
        if tier == 1:
            assert all(
                0 < case["shift"] < 31 and case["month_ends"] == 0 for case in cases
            )
        if tier == 2:
            assert all(
                case["month_ends"] or case["instance"]["steps"][0][1] == "month_last"
                for case in cases
            )
            assert len({case["instance"]["steps"][0][1] for case in cases}) >= 6
        for case in cases:
            _, story, *_ = case["input"].split("\n\n")
            assert story.startswith(case["instance"]["opening"])


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
