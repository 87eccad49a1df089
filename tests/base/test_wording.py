"""Words of messages: counted nouns, and text in place of regular expressions."""

import pytest
from pydantic import ValidationError

from scbench.base.errors import faults_of
from scbench.base.model import Prediction
from scbench.base.wording import counted, form_in_words


@pytest.mark.parametrize(
    ("words", "text"),
    [
        ((1, "box", "boxes"), "1 box"),
        ((0, "row"), "0 rows"),
        ((1234, "row"), "1,234 rows"),
        ((-1, "point"), "-1 points"),
    ],
)
def test_nouns_agree_with_their_numbers(words, text):
    assert counted(*words) == text


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("^[01]+$", "of the characters 0 and 1"),
        (r"^(?:[01]+)?$", "of the characters 0 and 1, or empty"),
        (r"^[0-9+\-*/() ]+$", "of the characters 0-9, +, -, *, /, (, ) and space"),
        ("^[#]+$", "of the characters #"),
        ("^a?b?$", "in the documented form"),
    ],
)
def test_patterns_are_put_in_words(pattern, words):
    assert form_in_words(pattern) == words


@pytest.mark.parametrize(
    ("field", "value", "words"),
    [
        ("prompt_sha256", "x", "must be text of 64 characters 0-9 and a-f; got"),
        ("instance_hash", "x", "must be text of 12 to 64 characters 0-9 and a-f; got"),
        ("run", {"date": "May 1"}, "must be text of the form YYYY-MM-DD; got"),
        ("run", {"effort": "a\nb"}, "must be text without line breaks; got"),
    ],
)
def test_messages_show_no_regular_expressions(field, value, words):
    with pytest.raises(ValidationError) as caught:
        Prediction.model_validate({"id": "a/00", field: value})
    message = str(faults_of(caught.value)[0])
    assert words in message
    assert "^" not in message
