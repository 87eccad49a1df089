"""Options named in answers, and answers that name none or several."""

import pytest

from scbench.graders.shared.answer_text import MAX_LENGTH
from scbench.graders.shared.named_options import option

CITIES = ("Rome", "Paris", "A Coruña", "New York")


@pytest.mark.parametrize(
    "value",
    [
        "B", "b", "(B)", "(b)", "B)", "B.", "[B]", "B:", "**B**", "Option B", "choice b",
        "B) Paris", "B. Paris", "B: Paris", "B - Paris", "B – paris", "(B) Paris", "B Paris",
        "Paris", " PARIS ", "**Paris**", '"Paris"', "Paris (B)", "Paris [b]", "B) **Paris**",
        "Option B: Paris", "B (Paris)", "(B) (paris)", "the Paris", "B, because Rome is older",
        "B (since A is wrong)", "Paris: where the Seine is", "B) Paris: where the Seine is",
        "Paris (the capital)", "It is Paris.", "The right one is option B.", "It must be (B).",
        "B. It has the Seine.", "Paris, because Rome is older", "The friend lives in Paris",
    ],
)  # fmt: skip
def test_options_are_read_by_letter_or_text(value):
    assert option(value, CITIES) == 1


@pytest.mark.parametrize(
    "value",
    [
        "", "E", "AB", "B) Rome", "Rome (B)", "B or C", "A, B", "A and B", "Berlin", "2", 2, True,
        "Rome Paris", "B) Paris or Rome", ["B"], "Option", "()", "B" * (MAX_LENGTH + 1),
        "not Paris", "Paris or Rome", "maybe Paris", "A) Rome B) Paris",
        "Rome: old\nB) Paris: new", "B) Paris: new\nC) A Coru\u00f1a: small", "neither",
        "Paris, Rome", "(A) (B)", "B. Or maybe A.", "A Star Is Born", "A B C D", "A, B and C",
        "B, C and D",
    ],
)  # fmt: skip
def test_missing_or_ambiguous_option_is_none(value):
    assert option(value, CITIES) is None


def test_hyphens_plurals_articles_and_common_words_are_ignored():
    shapes = ("triangle", "half ellipse", "ellipse")
    for value in (
        "half-ellipse",
        "Half_Ellipse",
        "a half ellipse",
        "half ellipses",
        "It is a half ellipse",
    ):
        assert option(value, shapes) == 1
    assert option("triangles", shapes) == 0
    assert option("A triangle", shapes) == 0
    assert option("an ellipse", shapes) == 2
    balls = ("red ball", "blue ball")
    for value in (
        "red",
        "the red ball",
        "A (red ball)",
        "red balls",
        "Ann holds the red ball.",
    ):
        assert option(value, balls) == 0
    assert option("ball", balls) is None
    assert option("B) red ball", balls) is None


def test_letter_that_may_be_a_word_needs_the_text_of_its_option():
    assert option("A Rome", CITIES) == 0
    assert option("A is the capital of Italy", CITIES) == 0
    assert option("A. It is the oldest one", CITIES) == 0
    assert option("B The oldest one", CITIES) == 1
    assert option("A Wonderful Old City", CITIES) is None


def test_option_text_takes_precedence_over_labels():
    assert option("A Coruña", CITIES) == 2
    assert option("new  york", CITIES) == 3
    assert option("3", CITIES, labels="1234") == 2
    assert option(3, CITIES, labels="1234") == 2
    assert option("iv) New York", CITIES, labels=["i", "ii", "iii", "iv"]) == 3
    assert option("D", CITIES[:3]) is None
    assert option("same", ("same", "Same")) is None
