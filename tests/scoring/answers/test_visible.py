"""Visible text of a reply: a JSON string or a chat message."""

import json

import pytest

from scbench.scoring.answers.visible import visible

TEXT = 'The "answer":\nfour'


@pytest.mark.parametrize("reply", [TEXT, {"role": "assistant", "content": TEXT}])
def test_text_in_json_strings_and_messages_is_visible(reply):
    assert visible(json.dumps(reply)) == TEXT
