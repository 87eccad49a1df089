"""Finding the answer: the rule as stated, on replies as they come and on replies that attack."""

import json
import re

import pytest
from bounds import a_minute_of_work
from hypothesis import example, given
from hypothesis import strategies as st

from scbench.base.canonical import parse_json
from scbench.schemas.csg_union import Answer as CsgUnion
from scbench.schemas.delaunay_triangulation import Answer
from scbench.schemas.polynomial_curve_fitting import Answer as Polynomial
from scbench.schemas.two_segments import Answer as TwoSegments
from scbench.scoring.answers.extract import Extraction, declines, from_field, from_response
from scbench.scoring.answers.shape import Shape, shape_of

ONE = shape_of(Answer)
TWO = Shape(("vertices", "faces"))
ROWS = Shape(("maze",), bare_text=re.compile(r"[#.]+(?:\s+[#.]+)*"))

A = {"triangles": [[0, 1, 2], [1, 2, 3]]}
JSON = json.dumps(A)
BARE = json.dumps(A["triangles"])
PYTHON = "{'triangles': [(0, 1, 2), (1, 2, 3)]}"
OTHER = '{"triangles": [[7, 8, 9]]}'
PAIR = '{"vertices": [{"x": 0}], "faces": [{"v": [0]}]}'


def found(source: str, *repairs: str, value=A) -> Extraction:
    return Extraction(value, source, repairs)


def test_the_shape_of_an_answer_is_taken_from_its_model():
    assert Shape(("triangles",)) == ONE
    assert shape_of(TwoSegments) == Shape(("segments",))
    assert shape_of(CsgUnion) == Shape(("polyhedron",), inner=("vertex", "faces"))
    assert shape_of(Polynomial) == Shape(
        ("function",), texts=frozenset({"function"}), bare_text=Polynomial.BARE_TEXT
    )


REPLIES = {
    # 1. fence
    "fence": (f"```json\n{JSON}\n```", found("fence")),
    "fence without language": (f"```\n{JSON}\n```", found("fence")),
    "fence with prose": (f"Sure!\n\n```json\n{JSON}\n```\n\nHope it helps.", found("fence")),
    "fence of CRLF": (f"Here:\r\n```json\r\n{JSON}\r\n```\r\n", found("fence")),
    "indented fence": (f"1. Answer\n   ```json\n   {JSON}\n   ```", found("fence")),
    "pretty fence": (f"```json\n{json.dumps(A, indent=2)}\n```", found("fence")),
    "longer fence": (f"````json\n{JSON}\n````", found("fence")),
    "fence closed by a longer one": (f"```\n{JSON}\n`````\nbye", found("fence")),
    "last of several": (f"```json\n{OTHER}\n```\nNo:\n```json\n{JSON}\n```", found("fence")),
    "last is code": (
        f"```json\n{JSON}\n```\nChecked with\n```python\nfrom scipy import x\nx({{}})\n```",
        found("fence"),
    ),
    "last is a transcript": (f"```\n{JSON}\n```\n```text\n2 triangles\n```", found("fence")),
    "last is blank": (f"```\n{JSON}\n```\n```\n\n```", found("fence")),
    "never closed": (f"```json\n{JSON}", found("fence")),
    "never closed, next opens": (f"```json\n{JSON}\n```python\nprint(1)\n```", found("fence")),
    "fence in a tag": (f"<answer>\n```json\n{JSON}\n```\n</answer>", found("fence")),
    "fence after mark": (f"**Final answer:**\n```json\n{JSON}\n```", found("fence")),
    "fence before later mark": (
        f"```json\n{JSON}\n```\nFinal answer: {OTHER}",
        found("embedded", value=json.loads(OTHER)),
    ),
    "Python in fence": (f"```python\n{PYTHON}\n```", found("fence", "python_literal")),
    "array in fence": (f"```json\n{BARE}\n```", found("fence", "wrapped_bare_array")),
    "tuples in fence": (
        "```\n((0, 1, 2), (1, 2, 3))\n```",
        found("fence", "python_literal", "wrapped_bare_array"),
    ),
    "answer key in fence": (
        f'```json\n{{"answer": {JSON}}}\n```',
        found("fence", "unwrapped_answer_key"),
    ),
    "answer key of array": (
        f'```json\n{{"answer": {BARE}}}\n```',
        found("fence", "unwrapped_answer_key", "wrapped_bare_array"),
    ),
    "another object in the last fence": (
        f'```json\n{JSON}\n```\n```json\n{{"ok": true}}\n```',
        found("fence"),
    ),
    # 2. marked
    "tag": (f"I think <answer>{JSON}</answer> it is", found("embedded")),
    "last tag": (f"<answer>{OTHER}</answer> or <answer> {JSON} </answer>", None),
    "tag beats mark": (
        f"<answer>{JSON}</answer> Answer: {OTHER}",
        found("embedded", value=json.loads(OTHER)),
    ),
    "tag of array": (f"<answer>{BARE}</answer>", found("marked", "wrapped_bare_array")),
    "mark": (f"Answer: {JSON}", found("embedded")),
    "final": (f"So...\nFinal Answer: {JSON}", found("embedded")),
    "bold": (f"**Final Answer:** {JSON}", found("embedded")),
    "bold, colon outside": (f"**Final answer**: {JSON}", found("embedded")),
    "underlined": (f"__Answer__:\n\n{JSON}", found("embedded")),
    "heading": (f"### Final answer:\n{JSON}\n", found("embedded")),
    "the answer is": (f"The answer is: {JSON}.", found("embedded")),
    "equals": (f"answer = {JSON}", found("embedded")),
    "assignment": (f"answer = {PYTHON}", found("embedded", "python_literal")),
    "capitals": (f"ANSWER: {JSON}", found("embedded")),
    "in backticks": (f"Final answer: `{JSON}`", found("embedded")),
    "in inline fence": (f"Final answer: ```{JSON}```", found("embedded")),
    "mark with prose after": (f"Answer: {JSON}\n\nThis is optimal.", found("embedded")),
    "mark with prose between": (f"Answer: the list is\n{JSON}\nDone.", found("embedded")),
    "last mark": (f"Answer: {OTHER}\nNo. Answer: {JSON}", found("embedded")),
    "marked array": (f"Answer: {BARE}", found("marked", "wrapped_bare_array")),
    "marked array, prose after": (f"Answer: {BARE} (2)", found("marked", "wrapped_bare_array")),
    "marked tuples": (
        "Answer: [(0, 1, 2), (1, 2, 3)].",
        found("marked", "python_literal", "wrapped_bare_array"),
    ),
    "marked in LaTeX": (f"Answer: $$\\boxed{{{JSON}}}$$", found("embedded")),
    "key is the mark": (
        f'{{"answer": {JSON}, "note": "x"}}',
        found("whole", "unwrapped_answer_key"),
    ),
    # 3. whole
    "plain": (JSON, found("whole")),
    "blanks around": (f"\n\n  {JSON}\n", found("whole")),
    "pretty": (json.dumps(A, indent=4), found("whole")),
    "Python": (PYTHON, found("whole", "python_literal")),
    "trailing commas": (
        '{"triangles": [[0, 1, 2,], [1, 2, 3],],}',
        found("whole", "trailing_comma"),
    ),
    "comments": (
        '{"triangles": [[0, 1, 2], # one\n [1, 2, 3]]}',
        found("whole", "comment"),
    ),
    "bare array": (BARE, found("whole", "wrapped_bare_array")),
    "inline fence": (f"```{JSON}```", found("fence")),
    "answer key": (f'{{"answer": {JSON}}}', found("whole", "unwrapped_answer_key")),
    "extra keys": (
        '{"triangles": [], "why": "none"}',
        found("whole", value={"triangles": [], "why": "none"}),
    ),
    "empty object": ("{}", None),
    "empty array": ("[]", found("whole", "wrapped_bare_array", value={"triangles": []})),
    "wrong key": ('{"tris": []}', None),
    # 4. embedded
    "prose before": (f"The triangles are {JSON}", found("embedded")),
    "JSON, then prose": (f"{JSON}\n\nThese are all {{of}} them [I hope].", found("embedded")),
    "prose around": (f"I get {JSON}, which is Delaunay.", found("embedded")),
    "the last": (f"First {OTHER}, then {JSON}!", found("embedded")),
    "the last that can be read": (f'{JSON} but not {{"triangles": [0, }}', None),
    "the last that has the key": (f'{JSON} with {{"n": 2}}', found("embedded")),
    "the outer of two": (
        f'I say {{"triangles": [], "was": {OTHER}}}.',
        found("embedded", value={"triangles": [], "was": json.loads(OTHER)}),
    ),
    "an object before the key": (
        'Thus {"n": {"count": 0}, "triangles": []}.',
        found("embedded", value={"n": {"count": 0}, "triangles": []}),
    ),
    "Python in prose": (f"I get {PYTHON}, I think", found("embedded", "python_literal")),
    "stray quote": (f'A 5" square. {JSON}', found("embedded")),
    "stray brackets": (f"On [0, 1) and }} and {{ and ]: {JSON} [", found("embedded")),
    "stray quote after a mismatch": (f'On [0, 1)}} a 5" square: {JSON}', found("embedded")),
    "brackets in text": (
        'So {"why": "} ]", "triangles": []} it is',
        found("embedded", value={"why": "} ]", "triangles": []}),
    ),
    "quotes in text": (
        r'So {"why": "\"}\\", "triangles": []} it is',
        found("embedded", value={"why": '"}\\', "triangles": []}),
    ),
    "LaTeX": (f"$$\\boxed{{\\text{{see}}\\; {JSON}}}$$ \\[x\\] \\{{", found("embedded")),
    # reasoning
    "think": (
        f"<think>maybe {OTHER}?</think>\n{JSON}",
        found("whole", "dropped_reasoning"),
    ),
    "think without opening": (
        f"```json\n{OTHER}\n```\n</think>\n```json\n{JSON}\n```",
        found("fence", "dropped_reasoning"),
    ),
    "think twice": (
        f"<think>a</think>{OTHER}<think>b</think>{PYTHON}",
        found("whole", "dropped_reasoning", "python_literal"),
    ),
    "in a string": (json.dumps(JSON), found("whole", "unwrapped_string")),
    # nothing
    "empty": ("", None),
    "blank": (" \n\t\n", None),
    "refusal": ("I'm sorry, but I can't solve this.", None),
    "prose": ("There are two triangles: 0-1-2 and 1-2-3.", None),
    "array in prose": (f"The triangles are {BARE}.", None),
    "cut off": (JSON[:-4], None),
    "cut off in fence": (f"```json\n{JSON[:-4]}", None),
    "NaN": ('{"triangles": [[0, 1, NaN]]}', None),
    "NaN in Python": ("{'triangles': [[0, 1, nan]]}", None),
    "Infinity in fence": ('```json\n{"triangles": [[0, 1, Infinity]]}\n```', None),
    "1e999": ('{"triangles": [[0, 1, 1e999]]}', None),
    "key twice": ('{"triangles": [], "triangles": []}', None),
    "key twice in Python": ("{'triangles': [], 'triangles': []}", None),
    "number": ("42", None),
    "null": ("null", None),
    "set": ("{(0, 1, 2), (1, 2, 3)}", None),
    "nothing after thinking": (f"<think>{JSON}</think>", None),
    "code": ("```python\nprint([[0, 1, 2]])\n```", None),
    "power": ("[9**9**9]", None),
    "lone surrogate": (r"{'triangles': ['\ud800']}", None),
    "too long an integer": ('{"triangles": [' + "9" * 5000 + "]}", None),
    "hexadecimal": ("{'triangles': [0x" + "f" * 5000 + "]}", None),
    "too deep": ("[" * 202 + "]" * 202, None),
}


@pytest.mark.parametrize(("reply", "expected"), REPLIES.values(), ids=REPLIES)
def test_the_answer_is_found_where_the_rule_says(reply, expected):
    assert from_response(reply, ONE) == expected


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (f"```json\n{PAIR}\n```", "fence"),
        (f"Answer: {PAIR}", "embedded"),
        (f"It is {PAIR}, is it not?", "embedded"),
        (f'It is {PAIR}, and not {{"faces": []}}.', "embedded"),
        ("It is {'faces': [{'v': (0,)}], 'vertices': [{'x': 0}]}, so", "embedded"),
    ],
)
def test_an_answer_of_two_keys_is_found(reply, expected):
    answer = from_response(reply, TWO)
    assert answer.source == expected
    assert answer.value == json.loads(PAIR)


@pytest.mark.parametrize(
    "reply",
    [
        "[[0], [1]]",
        "```json\n[[0], [1]]\n```",
        "Answer: [[0], [1]]",
        'Well, {"vertices": []}.',
        'Well, {"faces": [{"vertices": []}]}.',
    ],
)
def test_what_lacks_a_key_is_no_answer_of_two_keys_outside_the_named_places(reply):
    assert from_response(reply, TWO) is None


@pytest.mark.parametrize(
    ("reply", "rows", "source"),
    [
        ("#.#\n...\n", "#.#\n...", "whole"),
        ("```\n#.#\n...\n```", "#.#\n...", "fence"),
        ("Maze:\n```text\n #.  \n..\n```\nEnjoy.", " #.  \n..", "fence"),
        ("```\n#\n```\nbetter:\n```\n.\n```", ".", "fence"),
        ("```\n.#\n#.", ".#\n#.", "fence"),
        ("<think>#</think>.", ".", "whole"),
        ("**Final answer:**\n\n##\n..\n\nDone.", "##\n..", "marked"),
    ],
)
def test_rows_alone_in_the_last_fence_or_as_the_whole_reply_count(reply, rows, source):
    answer = from_response(reply, ROWS)
    assert (answer.value, answer.source) == ({"maze": rows}, source)


@pytest.mark.parametrize(
    "reply", ["", " \n", "<think>#</think>", "I can't.", "#.#\nis it", "```\nx\n```"]
)
def test_text_that_is_no_row_is_no_answer(reply):
    assert from_response(reply, ROWS) is None


@pytest.mark.parametrize("value", [None, 0, True, "", JSON, BARE, [], {}, [A], {"answer": A}, A])
def test_an_answer_field_is_taken_as_it_stands(value):
    assert from_field(value, ONE) == Extraction(value, "answer")


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        ("I can't help with that.", True),
        ("I’m sorry, but I can’t do this.", True),
        ("I cannot solve it by hand.", True),
        ("Unfortunately I am unable to run code.", True),
        ("I'm not able to see the picture.", True),
        ("We could not find one.", True),
        ("I won't.", True),
        ("I must decline.", True),
        ("I do not have the ability to draw.", True),
        ("I CAN NOT", True),
        ("<think>I can't see it</think>There are two.", False),
        ("<think>easy</think>I can't see it.", True),
        ("There are two triangles.", False),
        ("It cannot be done.", False),
        ("There is no valid solution.", True),
        ("No other solution exists.", False),
        ("Hawaii cannot", False),
        ("I can do it.", False),
        ("", False),
    ],
)
def test_a_refusal_is_told_by_its_words(reply, expected):
    assert declines(reply) is expected


PIECES = [
    *"{}[](),:\"'`\\\n. 01-+#",
    "```",
    "```json",
    "````",
    "<think>",
    "</think>",
    "<answer>",
    "</answer>",
    "Final answer:",
    "answer is =",
    '"answer":',
    '"triangles"',
    "'triangles':",
    "triangles",
    "'''",
    "True",
    "null",
    "NaN",
    "1e999",
    "\\ud800",
    "\ud800",
    "[[0, 1, 2]]",
    JSON,
    PYTHON,
]


@given(st.lists(st.sampled_from(PIECES), max_size=40), st.sampled_from([ONE, TWO, ROWS]))
@example(["<answer>", "</answer>", "```", "\n", "{"], ONE)
@example(["</answer>", "<answer>", JSON], ONE)
def test_no_arrangement_of_the_rules_own_tokens_raises(pieces, shape):
    text = "".join(pieces)
    answer = from_response(text, shape)
    assert isinstance(declines(text), bool)
    assert answer == from_response(text, shape)
    if answer is not None:
        assert isinstance(answer.value, dict)
        assert parse_json(json.dumps(answer.value).encode()) == answer.value
        assert answer.source in {"fence", "marked", "whole", "embedded"}
        assert answer.source != "embedded" or answer.value.keys() >= set(shape.keys)


@given(st.text())
def test_no_text_raises(text):
    for shape in (ONE, TWO, ROWS):
        from_response(text, shape)
    declines(text)


@given(st.text(alphabet="abc {[]}()\"'.,:;!?\n0123456789\\$*_", max_size=60))
def test_a_fenced_answer_is_found_whatever_the_prose_around_it(prose):
    answer = from_response(f"{prose}\n```json\n{JSON}\n```\n{prose}", ONE)
    assert answer == found("fence")


MEGABYTE = 2**20
ATTACKS = {
    "fences": "```\n",
    "languages": "```json\n[1,\n",
    "blocks": "```\n[a\n```\n",
    "long fences": "`" * 50 + "\n",
    "backticks": "`",
    "tags": "<answer>",
    "closed tags": "</answer>",
    "empty tags": "<answer></answer>",
    "thoughts": "<think></think>",
    "open thoughts": "<think>",
    "quotes": '"',
    "escaped quotes": '\\"',
    "single quotes": "'",
    "backslashes": "\\",
    "brackets": "[",
    "braces": "{",
    "closing": "]}",
    "pairs": "{}",
    "crossed": "[}",
    "lines of brackets": "[\n{\n",
    "marks": "answer:",
    "marks and brackets": "answer: [[1],",
    "almost marks": "answer ",
    "marks far off": "answer" + "*" * 5000 + " " * 5000,
    "marks and verbs": "answer  is  ",
    "keys": '"triangles"',
    "keys in braces": '{"triangles":',
    "objects": '{"triangles":[]} ',
    "bad objects": '{"triangles":[,]} ',
    "Python keys": "{'triangles':(",
    "nested": '{"triangles":[' * 90 + "]}" * 90,
    "signs": "[- ",
    "underscores before an array": "_" * 5000 + ":[1] ",
    "refusals": "i am  ",
    "blanks": " ",
    "lines": "\n",
    "commas": "[1," * 20 + "]" * 20 + "\n",
}


def read_in_linear_time(text: str) -> None:
    with a_minute_of_work():
        from_response(text, ONE)
        from_response(text, ROWS)
        declines(text)


@pytest.mark.parametrize("before", ["", 'Answer: {"triangles": '])
@pytest.mark.parametrize("unit", ATTACKS.values(), ids=ATTACKS)
def test_any_token_over_and_over_takes_linear_time(unit, before):
    text = before + unit * (MEGABYTE // 8 // len(unit))
    read_in_linear_time(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["blocks", "marks and brackets", "bad objects", "nested", "marks"])
def test_two_megabytes_of_the_worst_take_seconds(name):
    text = ATTACKS[name] * (2 * MEGABYTE // len(ATTACKS[name]))
    read_in_linear_time(text)


LONG = 2 * MEGABYTE


@pytest.mark.slow
@pytest.mark.parametrize(
    "text",
    [
        "answer" + " " * LONG,
        "answer" + "*" * LONG,
        "answer" + " " * (LONG // 2) + "is" + " " * (LONG // 2),
        "i" + " " * LONG,
        '"' + '\\"' * (LONG // 2),
        '["' + '\\"' * (LONG // 2),
        '{"triangles": "' + "a" * LONG,
        "{'" + "triangles" * (LONG // 9),
        '{"triangles": [' + "9" * LONG + "]}",
        "[" + "- " * (LONG // 2) + "1]",
        "[" + "9**" * (LONG // 3) + "9]",
        "```\n" + "[" * LONG,
    ],
    ids=lambda text: text[:12],
)
def test_two_megabytes_of_one_run_take_linear_time(text):
    read_in_linear_time(text)
