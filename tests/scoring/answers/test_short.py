"""Short answers in text: marked as models mark them, and nothing taken that is not an answer."""

import json
from dataclasses import replace
from typing import Literal

import pytest
from bounds import a_minute_of_work
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from scbench.base.model import Prediction, Status
from scbench.catalog import get_task
from scbench.schemas.arithmetic import Answer as Number
from scbench.schemas.arithmetic import Params
from scbench.schemas.base import AnswerModel, ShortAnswer, ShortList
from scbench.schemas.boolean import Answer as Truth
from scbench.scoring.answers.extract import Extraction, from_field, from_response
from scbench.scoring.answers.shape import Shape, shape_of
from scbench.scoring.answers.short import find_short
from scbench.scoring.outcomes import grade_prediction

ONE = Shape(("answer",), texts=frozenset({"answer"}), is_short=True)
LIST = replace(ONE, is_list=True)


class Words(AnswerModel):
    answer: ShortList = Field(description="words")


class Word(AnswerModel):
    answer: ShortAnswer


class Choice(AnswerModel):
    answer: Literal["a", "b"]


class Nested(AnswerModel):
    answer: dict[str, int]


class OnlyList(AnswerModel):
    answer: list[int]


class Two(AnswerModel):
    answer: int
    why: str


def test_the_shape_of_a_short_answer_is_known_by_its_schema():
    assert shape_of(Number) == shape_of(Truth) == shape_of(Word) == shape_of(Choice) == ONE
    assert shape_of(Words) == LIST
    for model in (Nested, OnlyList, Two):
        assert not shape_of(model).is_short


def test_an_answer_field_is_taken_as_it_stands_or_put_under_the_key():
    assert from_field({"answer": "**42**"}, ONE) == Extraction({"answer": "**42**"}, "answer")
    assert from_field({"other": 42}, ONE) == Extraction({"other": 42}, "answer")
    for value in (42, "42", True, 0.5, ["a", "b"], '{"answer": 42}'):
        wrapped = Extraction({"answer": value}, "answer", ("wrapped_bare_value",))
        assert from_field(value, ONE) == wrapped


def found(source: str, *repairs: str, value="42") -> Extraction:
    return Extraction({"answer": value}, source, repairs)


def words(value: str, source: str = "marked") -> Extraction:
    return found(source, "plain_text", value=value)


J = '{"answer": "42"}'
REPLIES = {
    # Objects: places and repairs as everywhere.
    "fence": (f"So:\n```json\n{J}\n```\nDone.", found("fence")),
    "whole": (J, found("whole")),
    "number": ('{"answer": 42}', found("whole", value=42)),
    "boolean": ('{"answer": true}', found("whole", value=True)),
    "list": ('{"answer": ["a", "b"]}', found("whole", value=["a", "b"])),
    "embedded": (f"I get {J}, which is right.", found("embedded")),
    "the last": (f'Not {{"answer": "41"}}, but {J}.', found("embedded")),
    "Python": ("{'answer': '42'}", found("whole", "python_literal")),
    "in a tag": (f"<answer>{J}</answer>", found("embedded")),
    "after a mark": (f"Final answer: {J}", found("embedded")),
    "extra keys": (
        '{"answer": "42", "why": "x"}',
        Extraction({"answer": "42", "why": "x"}, "whole"),
    ),
    "think": (f'<think>{{"answer": "41"}}</think>{J}', found("whole", "dropped_reasoning")),
    "object before a later mark": (f"{J}\nFinal answer: 41", words("41")),
    "object and a longer number": ('{"answer": 4}\nFinal answer: 42', words("42")),
    "object and the same mark": (f"{J}\nFinal answer: 42 apples", found("embedded")),
    "another object in the last fence": (f'{J}\n```json\n{{"ok": true}}\n```', found("embedded")),
    "only another object": ('```json\n{"ok": true}\n```\nAnswer: 42', words("42")),
    "array before a mark": ("On [1, 2]. Answer: 42", words("42")),
    "array as a mark": ("Answer: [1, 2]", words("[1, 2]")),
    "no quotes": ('{"answer": B}', found("whole", "unquoted_value", value="B")),
    "no quotes, a fraction": ('So\n```json\n{"answer": -1/2}\n```',
                              found("fence", "unquoted_value", value="-1/2")),
    "no quotes, thousands": ("{answer: 1,234}",
                             found("whole", "unquoted_key", "unquoted_value", value="1,234")),
    "cut off in the object": ('So {"answer": 4', None),
    "cut off in quotes": ('{"answer": "4', None),
    # Marks.
    "mark": ("Answer: 42", words("42")),
    "final": ("Six sevens.\nFinal Answer: 42", words("42")),
    "bold": ("**Final Answer:** 42", words("42")),
    "bold whole": ("**Answer: 42**", words("42")),
    "bold, colon outside": ("**Final answer**: 42.", words("42")),
    "bold value": ("**Answer:** **42**", words("42")),
    "heading": ("### Answer: 42", words("42")),
    "heading, next line": ("## Final Answer\n\n42\n", words("42")),
    "next line": ("Answer:\n42", words("42")),
    "next line, bold": ("**Answer:**\n\n**42**\n\nI checked it.", words("42")),
    "next line, fence": ("Final answer:\n```text\n42\n```", words("42")),
    "next line, formula": ("Answer:\n\\[\n42\n\\]", words("42")),
    "code": ("The answer is `42`.", words("42")),
    "quotes": ('The answer is "42".', words("42")),
    "is": ("So the answer is 42.", words("42")),
    "is:": ("The final answer is: 42", words("42")),
    "is, stressed, with reasons": ("The answer is **42**, because 6 * 7 = 42.", words("42")),
    "is, formula, with reasons": ("The answer is $42$ as shown.", words("42")),
    "equals": ("final answer = 42", words("42")),
    "capitals": ("ANSWER: 42", words("42")),
    "correct": ("Correct answer: B", words("B")),
    "underscore": ("final_answer: 42", words("42")),
    "boxed": ("Thus $\\boxed{42}$.", words("42")),
    "boxed text": ("\\[\\boxed{\\text{B}}\\]", words("B")),
    "boxed fraction": ("$\\boxed{\\frac{1}{2}}$", words("\\frac{1}{2}")),
    "boxed in mark": ("The answer is \\(\\boxed{42}\\).", words("42")),
    "tag": ("So <answer>42</answer>", words("42")),
    "tag on lines": ("<answer>\n42\n</answer>", words("42")),
    "tag in capitals": ("<Answer>42</ANSWER>", words("42")),
    "mark in tag": ("<answer>Answer: 42</answer>", words("42")),
    "words": ("The answer is The Third Man.", words("The Third Man")),
    "date": ("Answer: 03/04/2021.", words("03/04/2021")),
    "option": ("Answer: B) Paris", words("B) Paris")),
    "brackets": ("Answer: )]}>", words(")]}>")),
    "sentence": ("The answer is 42 apples.", words("42 apples")),
    "reasons": ("Answer: 42 because of this", words("42 because of this")),
    "last mark": ("Answer: 41\nNo. Answer: 42", words("42")),
    "last mark, other kinds": ("\\boxed{41} <answer>40</answer> so the answer is 42.", words("42")),
    "empty last mark": ("Answer: 42\n\nAnswer:", words("42")),
    "open tag": ("Answer: 42\n<answer>4", words("42")),
    "open box": ("Answer: 42\n\\boxed{4", words("42")),
    "thought": ("<think>Answer: 41</think>Answer: 42",
                found("marked", "dropped_reasoning", "plain_text")),
    # The whole.
    "one word": ("42", words("42", "whole")),
    "one word, dressed": ("\n **True**.\n", words("True", "whole")),
    "one word, quoted": ('"B"', found("whole", "unwrapped_string", "plain_text", value="B")),
    "one word, fenced": ("```\n42\n```", words("42", "fence")),
    "one bracket string": (")]}>", words(")]}>", "whole")),
    "one option": ("(B)", words("(B)", "whole")),
    # Nothing.
    "empty": ("", None),
    "blank": (" \n", None),
    "two words": ("42 apples", words("42 apples", "whole")),
    "two lines": ("42\n43", None),
    "one line": ("I think it is 42.", words("I think it is 42", "whole")),
    "last line": ("There are six rows of seven.\n\n**42**", words("42", "whole")),
    "list of words": ("red\n\nblue\n\ngreen", None),
    "the form in the prompt": ('{"answer": "..."}', None),
    "the form without quotes": ('{"answer": ...}', None),
    "either": ('{"answer": 41} or {"answer": 42}', None),
    "mark without content": ("Answer:", None),
    "nothing after thinking": ("<think>Answer: 42</think>", None),
    "long word": ("x" * 301, None),
}  # fmt: skip


@pytest.mark.parametrize(("reply", "expected"), REPLIES.values(), ids=REPLIES)
def test_the_answer_is_found_where_the_rule_says(reply, expected):
    assert from_response(reply, ONE) == expected


LISTS = {
    "object": ('{"answer": ["a", "b"]}', found("whole", value=["a", "b"])),
    "string": ('{"answer": "a, b"}', found("whole", value="a, b")),
    "array": ('["a", "b"]', found("whole", "wrapped_bare_value", value=["a", "b"])),
    "fenced": ('```\n["a", "b"]\n```', found("fence", "wrapped_bare_value", value=["a", "b"])),
    "marked array": ('Answer: ["a", "b"]', found("marked", "wrapped_bare_value", value=["a", "b"])),
    "object beats array": ('```\n["x"]\n```\n{"answer": "a, b"}', found("fence", value="a, b")),
    "line": ("Answer: a, b, c.", words("a, b, c")),
    "stressed": ("Answer: **a**, **b**", words("a**, **b")),
    "lines": ("Final answer:\n1. a\n2. b\n\nDone.", words("1. a\n2. b")),
    "lines in a fence": ("Answer:\n```\na\nb\n```\nDone.", words("a\nb")),
    "tag": ("<answer>\na\nb\n</answer>", words("a\nb")),
}


@pytest.mark.parametrize(("reply", "expected"), LISTS.values(), ids=LISTS)
def test_lists_can_be_arrays_or_lines(reply, expected):
    assert from_response(reply, LIST) == expected


@pytest.mark.parametrize(
    ("response", "status", "score"),
    [
        ("Two times two.\n\n**Answer:** 4", Status.ANSWERED, 1),
        ("2 * 2 = 4", Status.ANSWERED, 1),
        ("Answer: it depends on the rules", Status.UNPARSED, 0),
        ("Answer: 4 or 5", Status.UNPARSED, 0),
        ("The answer is 5.", Status.ANSWERED, 0),
        ("I cannot work this out.", Status.REFUSED, 0),
    ],
)
def test_unparsed_is_told_from_wrong(response, status, score):
    prediction = Prediction(id="arithmetic/00", response=response)
    outcome = grade_prediction(prediction, get_task("arithmetic"), Params(expression="2 * 2"))
    assert outcome.status is status
    assert [verdict.score for verdict in outcome.verdicts] == [score]


value = st.from_regex(r"-?[A-Za-z0-9/]{1,20}", fullmatch=True)
MARKS = [
    "Answer: {}", "**Answer:** {}", "The answer is {}.", "Final answer:\n{}", "<answer>{}</answer>",
    "\\boxed{{{}}}", "So\n\n## Answer\n\n**{}**", '{{"answer": "{}"}}', "answer is `{}`",
]  # fmt: skip
prose = st.text(alphabet="ab .,\n*#`$(){}[]\"'", max_size=60)


@given(value, value, st.sampled_from(MARKS), st.sampled_from(MARKS[:7]), prose)
def test_the_last_mark_wins_whatever_stands_before(first, last, one, other, before):
    text = f"{one.format(first)}\n{before}\n\n{other.format(last)}"
    got = from_response(text, ONE)
    # An object outranks marks; broken fences in the prose may hide it.
    assert (
        got.value["answer"] in {last, first}
        if one.startswith("{")
        else got.value == {"answer": last}
    )


PIECES = [
    *"{}[]():*_`#$.\\\n \"'=", "answer", "Answer:", "final answer is", "<answer>", "</answer>",
    "\\boxed{", "\\text{", "```", "```json", "</think>", "42", "{'answer': ", '{"answer": ',
    "null", "\ud800", "is", "**Answer**",
]  # fmt: skip


@given(st.lists(st.sampled_from(PIECES), max_size=40), st.sampled_from([ONE, LIST]))
def test_no_arrangement_of_the_rules_own_tokens_raises(pieces, shape):
    got = from_response("".join(pieces), shape)
    if got is not None:
        assert "answer" in got.value
        json.dumps(got.value)


@given(st.text())
def test_no_text_raises(text):
    got = find_short(text)
    assert got is None or (got.value and got.source in {"marked", "fence", "whole"})
    find_short(text, is_list=True)


MEGABYTE = 2**20
ATTACKS = [
    "answer ", "answer:", "answer: x\n", "answer is ", "answer    ", "answer****", "<answer>",
    "<answer></answer>", "\\boxed{", "\\boxed{}", "\\boxed    ", "{", "{answer:", "{ 'answer' : a",
    "\n", "#", "\n####", " ", "*", "**", "`", "```\n", "final ", "final answer=", "$", ".", "a",
    "'answer'", '{"answer":', "answer:**a", "answer: $a", "\n\nanswer\n",
]  # fmt: skip


@pytest.mark.parametrize("unit", ATTACKS)
@pytest.mark.parametrize("is_list", [False, True], ids=["one", "list"])
def test_any_token_over_and_over_takes_linear_time(unit, is_list):
    text = "Answer: " + unit * (MEGABYTE // 4 // len(unit))
    with a_minute_of_work():
        find_short(text, is_list=is_list)


@pytest.mark.parametrize("before", ["answer", "answer is", "\\boxed", "{", "<answer>", "# "])
@pytest.mark.parametrize("run", [" ", "*", "{", "\n"])
def test_a_long_run_takes_linear_time(before, run):
    with a_minute_of_work():
        find_short(before + run * (MEGABYTE // 4))
