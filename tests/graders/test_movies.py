"""Choosing a film, checked by counting points in the prompt's text."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.seeding import Stream
from scbench.builders.movies import Space, TaskBuilder, films
from scbench.catalog import get_task
from scbench.graders.movies import points_of
from scbench.schemas.movies import Params
from scbench.scoring.judge import judge

TASK = get_task("movies")
BUILDER = TaskBuilder()
KNOWN = {
    f"{title} ({year})": (set(genres), set(themes))
    for title, year, genres, themes in films()
}

MARK = re.compile(r"^(?:- |\(([A-E])\) )?", re.MULTILINE)
LISTED = re.compile(r"(.* \(\d{4}\)); genres: (.*); themes: (.*)")
PROSE = re.compile(r"(.*? \(\d{4}\)) is an? (.*?) film about ([^.]*)\.(?: |$)")
A = ("Alpha", 1990, ("crime", "drama"), ("police",))
B = ("Beta", 1991, ("drama",), ("police", "family"))


def films_of(line):
    """Return genres and themes of the films in a line."""
    if line in KNOWN:
        return [KNOWN[line]]
    report = []
    for name, *tags in (LISTED if "; genres: " in line else PROSE).findall(line):
        genres, themes = (set(re.split(", | and ", text)) for text in tags)
        assert (genres, themes) == KNOWN[name]
        report.append((genres, themes))
    return report


def points_from_prompt(prompt):
    """Return points by letter, from the prompt alone; titles are looked up in the data."""
    weights = re.search(
        r"gets (\d+) points? for each genre that the two films\s+share, and "
        r"(\d+) points? for each theme",
        prompt,
    )
    per_genre, per_theme = map(int, weights.groups()) if weights else (1, 1)
    _, _, above, _, below, *_ = prompt.split("\n\n")
    liked, choices = [], {}
    for line in f"{above}\n{below}".splitlines():
        letter = MARK.match(line)[1]
        for film in films_of(MARK.sub("", line, count=1)):
            if letter:
                choices[letter] = film
            else:
                liked.append(film)
    points = dict.fromkeys(choices, 0)
    for letter, (genres, themes) in choices.items():
        for liked_genres, liked_themes in liked:
            points[letter] += per_genre * len(genres & liked_genres)
            points[letter] += per_theme * len(themes & liked_themes)
    return len(liked), points


@st.composite
def spaces(draw):
    genre_weight = draw(st.integers(0, 10))
    least_theme_weight = 1 if genre_weight == 0 else 0
    return Space(
        reference_count=draw(st.integers(4, 6)),
        choice_count=draw(st.integers(3, 5)),
        genre_weight=genre_weight,
        theme_weight=draw(st.integers(least_theme_weight, 10)),
        min_margin=draw(st.integers(1, 3)),
        template=draw(st.sampled_from(["list", "prose", "titles"])),
    )


def has_one_choice_with_the_common_genre(params, right):
    common = set.intersection(*(set(genres) for _, _, genres, _ in params.liked))
    having = []
    for letter, (_, _, genres, _) in zip("ABCDE", params.choices, strict=False):
        if common & set(genres):
            having.append(letter)
    return having == [right]


@settings(max_examples=200)
@given(spaces(), st.integers(0, 2**63))
def test_builder_grader_and_prompt_agree(point, seed):
    params = BUILDER.draw(point, Stream("movies", seed))
    liked, points = points_from_prompt(BUILDER.prompt(params))
    assert (liked, len(points)) == (point.reference_count, point.choice_count)
    first, second, *_ = sorted(points.values(), reverse=True)
    right = max(points, key=points.get)
    assert first > second
    assert BUILDER.target(params) == right
    if point.template != "titles":
        assert points_of(params) == tuple(points.values())
        assert BUILDER.facts(params) == {"overlap": first, "margin": first - second}
        assert first - second >= point.min_margin
    else:
        assert second == 0
        assert has_one_choice_with_the_common_genre(params, right)
    for letter, (title, year, *_) in zip("ABCDE", params.choices, strict=False):
        for answer in (letter, title, f"{title} ({year})"):
            score = judge(TASK, params, {"answer": answer})[0].score
            assert score == (letter == right)


def item(*choices, liked=(A, B), genre=2, theme=3):
    return Params(
        liked=liked,
        choices=choices,
        genre_weight=genre,
        theme_weight=theme,
        template="list",
        opening=0,
    )


def test_tie_is_an_error():
    same_tags = ("Delta", 1993, *A[2:])
    with pytest.raises(ValueError, match="two choices have 12 points"):
        judge(TASK, item(A, same_tags), {"answer": "A"})


def test_title_of_a_liked_film_is_no_choice():
    liked = ("A Star Is Born", 1954, *A[2:]), ("Toy Story 3", 2010, *B[2:])
    params = item(A, ("Toy Story", 1995, ("comedy",), ("toys",)), liked=liked)
    for title in ("A Star Is Born", "Toy Story 3", "Toy Story 3 (2010)"):
        assert judge(TASK, params, {"answer": title})[0].score == 0
    sentence = "Alpha, because A Star Is Born is a drama"
    assert judge(TASK, params, {"answer": sentence})[0].score == 1
