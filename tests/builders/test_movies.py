"""Films: facts, the effect of each parameter, and that no choice stands out."""

from collections import Counter
from itertools import pairwise

import pytest

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.movies import (
    LABELS,
    TaskBuilder,
    films,
    label_of_largest,
    points_of_choices,
)

BUILDER = TaskBuilder()


def draw_cases(count=300, **parameters):
    return BUILDER.generate_random(count=count, **parameters)


def test_impossible_margin_is_reported():
    for template in ("list", "titles"):
        with pytest.raises(GenerationError, match="a smaller min_margin"):
            BUILDER.generate_random(min_margin=100, template=template)


def test_margin_is_kept_and_narrow():
    means = []
    for least in (1, 6, 18):
        margins = [case["margin"] for case in draw_cases(100, min_margin=least)]
        assert min(margins) >= least
        means.append(sum(margins) / len(margins))
        assert means[-1] < least + 6
    assert all(a < b for a, b in pairwise(means))


@pytest.mark.parametrize(
    ("template", "choices"), [("list", 3), ("prose", 5), ("titles", 4)]
)
def test_right_choice_can_have_any_letter(template, choices):
    letters = Counter(
        case["target"]
        for case in draw_cases(100 * choices, choice_count=choices, template=template)
    )
    assert len(letters) == choices
    assert 65 < min(letters.values()) <= max(letters.values()) < 140


@pytest.mark.parametrize(("count", "weights"), [(4, (2, 3)), (6, (0, 1)), (5, (10, 0))])
def test_only_the_right_choice_has_the_shared_genre(count, weights):
    """Look genres up in the film table; films may share other tags."""
    genres_of = {title: set(genres) for title, _, genres, _ in films()}
    point = {"template": "titles", "reference_count": count, "choice_count": 5}
    point |= {"genre_weight": weights[0], "theme_weight": weights[1]}
    for case in draw_cases(100, **point):
        liked = [genres_of[title] for title, *_ in case["instance"]["liked"]]
        (shared,) = set.intersection(*liked)
        having = []
        for label, (title, *_) in zip(
            LABELS, case["instance"]["choices"], strict=False
        ):
            if shared in genres_of[title]:
                having.append(label)
        assert having == [case["target"]]


def test_blind_floor_includes_choosing_the_longest_line():
    point = {"choice_count": 5, "template": "list", "reference_count": 4}
    cases = TaskBuilder(Stream("floor of movies")).generate_random(count=600, **point)
    longest = 0
    for case in cases:
        lines = [line for line in case["input"].splitlines() if line.startswith("(")]
        # The letter in brackets comes before the first blank.
        sizes = [len(line.partition(" ")[2]) for line in lines]
        longest += "ABCDE"[sizes.index(max(sizes))] == case["target"]
    params = BUILDER.params_model.model_validate(cases[0]["instance"])
    assert BUILDER.blind_floor(params) == pytest.approx(
        max(0.2, longest / 600), abs=0.08
    )


def test_points_matter_rules_out_simple_weights():
    point = {
        "reference_count": 8,
        "choice_count": 9,
        "genre_weight": 3,
        "theme_weight": 9,
    }
    weights = set()
    for case in draw_cases(20, points_matter=True, **point):
        params = BUILDER.params_model.model_validate(case["instance"])
        own = (params.genre_weight, params.theme_weight)
        weights.add(own)
        for rule in ((1, 1), (1, 0), (0, 1), own[::-1]):
            letter = label_of_largest(points_of_choices(params, *rule))
            assert letter != case["target"]
    assert {max(own) for own in weights} == {9}
    assert {min(own) for own in weights} <= {1, 2, 3}
    assert len({genre > theme for genre, theme in weights}) == 2
