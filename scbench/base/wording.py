"""Wording of messages: numbers with their nouns, and forms of text."""

import re
from collections.abc import Mapping

# A pattern of text whose characters all belong to one class, such as ``^[01]+$``.
_CLASS = re.compile(
    r"\^(?:\(\?:)?\[(?P<characters>[^^\]\\](?:\\.|[^\]\\])*)\](?P<times>[+*])(?:\)(?P<may>\?))?\$"
)
# A character or a range in such a class.
_MEMBER = re.compile(r"(?:\\.|[^\\])(?:-(?:\\.|[^\\]))?")
# Descriptions of forms of text, by pattern; see `pattern_for`.
_FORMS: dict[str, str] = {}


def by_frequency(counts: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return counts from largest to smallest; names with equal counts are in alphabetical order."""
    return sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))


def counted(number: int, singular: str, plural: str = "") -> str:
    """Return a number with its noun, such as "1 box" or "2,000 boxes".

    Args:
        number: how many there are.
        singular: the noun for one.
        plural: the noun for other numbers, if it is irregular.
    """
    if number == 1:
        return f"1 {singular}"
    return f"{number:,} {plural or singular + 's'}"


def pattern_for(form: str, pattern: str) -> str:
    """Return a pattern, after recording the words that messages show instead of it.

    Args:
        form: the words, which follow "text", such as "of the form YYYY-MM-DD".
        pattern: regular expression.
    """
    _FORMS[pattern] = form
    return pattern


def form_in_words(pattern: str) -> str:
    """Return the form of text that a pattern requires, such as "of the characters 0 and 1"."""
    if pattern in _FORMS:
        return _FORMS[pattern]
    match = _CLASS.fullmatch(pattern)
    if match is None:
        return "in the documented form"
    members = []
    for member in _MEMBER.findall(match["characters"]):
        name = "space" if member == " " else member.replace("\\", "")
        members.append(name)
    names = members[-1]
    if len(members) > 1:
        names = f"{', '.join(members[:-1])} and {names}"
    form = f"of the characters {names}"
    if match["times"] == "*" or match["may"]:
        form += ", or empty"
    return form
