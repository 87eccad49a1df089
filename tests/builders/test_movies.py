"""Films: their facts, what each parameter moves, and that no choice stands out."""

from collections import Counter
from itertools import pairwise

import pytest
from pydantic import ValidationError

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.movies import LABELS, Space, TaskBuilder, alike, clear_genres, films
from scbench.graders.shared.short_answers import option, tidy

BUILDER = TaskBuilder()
GENRES = {
    *("action", "adventure", "animation", "biography", "comedy", "crime", "drama", "fantasy"),
    *("history", "horror", "musical", "mystery", "romance", "science fiction", "sport"),
    *("thriller", "war", "western"),
}


def draw_cases(count=300, **parameters):
    return BUILDER.generate_random(count=count, **parameters)


def test_films_are_many_and_different():
    assert len(films()) >= 200
    assert len({title.casefold() for title, *_ in films()}) == len(films())
    assert all(1895 <= year <= 2025 for _, year, _, _ in films())
    lines = [(title, year) for title, year, *_ in films()]
    assert len(set(lines)) == len(lines)


def test_genres_and_themes_are_few_plain_and_never_the_same_word():
    themes = Counter(theme for film in films() for theme in film[3])
    assert {genre for film in films() for genre in film[2]} == GENRES
    assert not GENRES & themes.keys()
    assert 50 < len(themes) < 150
    for title, _, genres, about in films():
        assert 1 <= len(genres) == len(set(genres)) <= 4, title
        assert 1 <= len(about) == len(set(about)) <= 4, title
        for tag in (*genres, *about):
            assert not {",", ";", "."} & set(tag)
            assert " and " not in tag
    folded = Counter(theme.casefold() for theme in themes)
    assert max(folded.values()) == 1


def test_titles_survive_as_answers():
    titles = [title for title, *_ in films()]
    for title, year, *_ in films():
        assert tidy(title) == title
        assert title.upper() not in LABELS
        assert option(title, [title, "Some Other Film"]) == 0
        assert option(f"{title} ({year})", [f"{title} ({year})", "Some Other Film"]) == 0
    assert sum(title.startswith("A ") for title in titles) > 3, "which look like a letter"


def test_films_that_are_alike_share_a_genre_and_a_theme():
    for i, film in enumerate(films()):
        for j in alike(i):
            assert i != j
            assert set(film[2]) & set(films()[j][2])
            assert set(film[3]) & set(films()[j][3])
    assert sum(len(alike(i)) >= 6 for i in range(len(films()))) > 300
    assert all(len(of_genre) >= 10 for of_genre in clear_genres())


def test_two_weights_of_nothing_are_refused():
    with pytest.raises(ValidationError, match=r"genre_weight \(0\) and theme_weight \(0\)"):
        BUILDER.generate_random(genre_weight=0, theme_weight=0)


def test_a_margin_beyond_all_films_ends_with_advice():
    for template in ("list", "titles"):
        with pytest.raises(GenerationError, match="a smaller min_margin"):
            BUILDER.generate_random(min_margin=100, template=template)


def test_the_margin_is_kept_and_narrow():
    means = []
    for least in (1, 6, 18):
        margins = [case["margin"] for case in draw_cases(100, min_margin=least)]
        assert min(margins) >= least
        means.append(sum(margins) / len(margins))
        assert means[-1] < least + 6
    assert all(a < b for a, b in pairwise(means))


def test_weights_decide():
    for case in draw_cases(50, genre_weight=10, theme_weight=0):
        assert case["overlap"] % 10 == case["margin"] % 10 == 0
    unlike = 0
    for case in draw_cases(100, genre_weight=1, theme_weight=10):
        params = BUILDER.params_model.model_validate(case["instance"])
        reweighted = params.model_copy(update={"genre_weight": 10, "theme_weight": 1})
        unlike += (
            BUILDER.facts(reweighted)["overlap"] and BUILDER.target(reweighted) != case["target"]
        )
    assert unlike > 10


@pytest.mark.parametrize("template", ["list", "prose", "titles"])
@pytest.mark.parametrize("choices", [3, 5])
def test_the_right_choice_can_have_any_letter(template, choices):
    letters = Counter(
        case["target"]
        for case in draw_cases(100 * choices, choice_count=choices, template=template)
    )
    assert len(letters) == choices
    assert 65 < min(letters.values()) <= max(letters.values()) < 140


@pytest.mark.parametrize("count", [4, 5, 6])
@pytest.mark.parametrize("weights", [(2, 3), (0, 1), (10, 0)], ids=str)
def test_titles_share_one_genre_and_only_the_right_choice_has_it(count, weights):
    """By what the films' table says, whatever else the films have in common."""
    genres = {film[0]: set(film[2]) for film in films()}
    for case in draw_cases(
        200,
        template="titles",
        reference_count=count,
        choice_count=5,
        genre_weight=weights[0],
        theme_weight=weights[1],
    ):
        instance = case["instance"]
        (shared,) = set.intersection(*(genres[film[0]] for film in instance["liked"]))
        having = [i for i, film in enumerate(instance["choices"]) if shared in genres[film[0]]]
        assert having == [LABELS.index(case["target"])]


def test_the_film_with_most_facts_is_a_poor_guess():
    cases, right = draw_cases(600), 0
    for case in cases:
        sizes = [len(film[2]) + len(film[3]) for film in case["instance"]["choices"]]
        right += "ABCD"[sizes.index(max(sizes))] == case["target"]
    assert right / len(cases) < 0.5


def test_prose_has_the_right_article():
    params = BUILDER.draw(Space(template="prose"), Stream("articles"))
    prompts = [case["input"] for case in draw_cases(50, template="prose")]
    assert BUILDER.prompt(params).count(" film about ") == 8
    for prompt in prompts:
        for start in "aeiou":
            assert f" is a {start}" not in prompt
        assert " is an horror" not in prompt


def test_the_floor_knows_the_longest_line_where_it_is_right_more_often_than_a_guess():
    point = {"choice_count": 5, "template": "list", "reference_count": 4}
    cases = TaskBuilder(Stream("floor of movies")).generate_random(count=600, **point)
    longest = 0
    for case in cases:
        lines = [line for line in case["input"].splitlines() if line.startswith("(")]
        # What stands before the first blank is the letter in brackets.
        sizes = [len(line.partition(" ")[2]) for line in lines]
        longest += "ABCDE"[sizes.index(max(sizes))] == case["target"]
    params = BUILDER.params_model.model_validate(cases[0]["instance"])
    assert BUILDER.blind_floor(params) == pytest.approx(max(0.2, longest / 600), abs=0.08)
