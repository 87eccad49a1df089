"""Visible text of a reply: a JSON string or a chat message."""

import json

import pytest

from scbench.scoring.answers.visible import visible_text

TEXT = 'The "answer":\nfour'


@pytest.mark.parametrize("reply", [TEXT, {"role": "assistant", "content": TEXT}])
def test_text_in_json_strings_and_messages_is_visible(reply):
    assert visible_text(json.dumps(reply)) == TEXT


@pytest.mark.parametrize(
    ("entity", "character"),
    [("&#" + "1" * 5_000 + ";", "\ufffd"), ("&#" + "0" * 5_000 + "65;", "A")],
)
def test_entities_with_thousands_of_digits_are_read(entity, character):
    reply = '{&quot;path&quot;: "' + entity + '"}'
    assert visible_text(reply) == '{"path": "' + character + '"}'
