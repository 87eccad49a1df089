"""Checks whether a choice has the most in common with the liked films.

Every choice is compared with every liked film, pair by pair.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.shared.answer_text import Value, first_read, quote
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.named_options import OptionNames, option
from scbench.schemas.movies import Answer, Film, Params

VERSION = 4

CHECKS = {
    "readable": "The answer is one of the choices.",
    "value": "The choice has the most points.",
}
OWN_FAULTS = ("readable",)

# A year after a title, as printed in choices.
_YEAR = re.compile(r"\(\d{4}\)")


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 if the answer is the right choice, by letter or title, else 0."""
    checks = Checklist(CHECKS)
    titles = [film[0] for film in params.choices]
    choice = None
    if not is_liked_film(params, answer.answer):
        choice = option(answer.answer, names_of(params.choices, answer.answer))
    wrong = f"{quote(answer.answer)} is not one of the choices."
    if not checks.readable(choice, wrong, "There is no choice to compare."):
        return checks.binary()
    points = points_of(params)
    best = max(points)
    if points.count(best) > 1:
        raise ValueError(
            f"two choices have {best} points, so the instance has no single answer"
        )
    wrong = (
        f"{titles[points.index(best)]} has {counted(best, 'point')}, "
        f"{titles[choice]} only {points[choice]}."
    )
    checks.expect("value", points[choice] == best, wrong)
    return checks.binary()


def is_liked_film(params: Params, value: Value) -> bool:
    """Return whether an answer is a liked film and no choice; its title may contain a choice's."""
    liked = OptionNames(names_of(params.liked, value), labels="")
    if first_read(liked.place_by_text, value) is None:
        return False
    choices = OptionNames(names_of(params.choices, value), labels="")
    return first_read(choices.place_by_text, value) is None


def names_of(films: Sequence[Film], value: Value) -> list[str]:
    """Return the titles of films, with their years if an answer gives a year."""
    if names_year(value):
        return [f"{film[0]} ({film[1]})" for film in films]
    return [film[0] for film in films]


def names_year(value: object) -> bool:
    """Return whether an answer has a year after a title."""
    try:
        text = str(value)
    except ValueError:  # a number with more digits than Python prints
        return False
    return _YEAR.search(text) is not None


@lru_cache(maxsize=1024)
def points_of(params: Params) -> tuple[int, ...]:
    """Return the points of every choice."""
    points = []
    for choice in params.choices:
        common = [points_in_common(choice, film, params) for film in params.liked]
        points.append(sum(common))
    return tuple(points)


def points_in_common(a: Film, b: Film, params: Params) -> int:
    """Return the points of two films for their common genres and themes."""
    _, _, genres_a, themes_a = a
    _, _, genres_b, themes_b = b
    genres = set(genres_a) & set(genres_b)
    themes = set(themes_a) & set(themes_b)
    return params.genre_weight * len(genres) + params.theme_weight * len(themes)
