"""What a reply shows: the text in a JSON string or in a message of a chat."""

import json

import pytest

from scbench.scoring.answers.visible import visible

TEXT = 'The "answer":\nfour'


@pytest.mark.parametrize("reply", [TEXT, {"role": "assistant", "content": TEXT}])
def test_the_text_in_a_json_string_or_a_message_is_shown(reply):
    assert visible(json.dumps(reply)) == TEXT
