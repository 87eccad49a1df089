"""Every rule and example in docs/answers.md is true of answer extraction."""

import json
import re
from pathlib import Path

import pytest

from scbench.catalog import get_task
from scbench.graders.dates import date
from scbench.graders.shared.named_options import option
from scbench.graders.shared.short_answers import entries, number, truth, without_spaces
from scbench.scoring.answers.extract import from_response
from scbench.scoring.answers.shape import Shape, shape_of

PAGE = Path(__file__).parents[3] / "docs" / "answers.md"
PATH = Shape(("path",), {"path": "path"}, {"path": frozenset({"array"})})
READERS = {
    "a number": number,
    "a truth value": truth,
    "an option": lambda value: option(value, ("Rome", "Paris", "half ellipse")),
    "a date": date,
    "a list": entries,
    "brackets": without_spaces,
}


def rows(*headings: str) -> list[list[str]]:
    """Return the cells of the tables under some headings."""
    text = PAGE.read_text("utf-8")
    found = []
    for heading in headings:
        section = text.partition(f"## {heading}\n")[2].partition("\n## ")[0]
        for line in section.split("\n"):
            if not line.startswith("|"):
                continue
            cells = re.split(r"(?<!\\) ?\| ", line.strip("| "))
            is_header = cells[0] in {"Rule", "Asked for"} or set(cells[0]) == {"-", "|"}
            if not is_header:
                found.append(cells)
    return found


@pytest.mark.parametrize(
    ("rule", "reply", "counts"),
    rows("Visible text", "Candidates", "The candidate that counts"),
)
def test_examples_follow_their_rules(rule, reply, counts):
    assert rule.endswith(".")
    text = re.match(r"`(.*)`(?: \(cut\))?$", reply)[1].replace("\\|", "|")
    expected = None if counts == "nothing" else json.loads(counts[1:-1])
    result = from_response(text, PATH)
    assert (result and result.value) == expected


@pytest.mark.parametrize(("kind", "examples"), rows("Text answers"))
def test_text_answers_are_read_as_documented(kind, examples):
    read = READERS[kind]
    for example in re.findall(r"`([^`]+)`", examples):
        ambiguous = example == "03.04.2021"
        assert (read(example) is None) is ambiguous, example


def test_sentences_are_not_lists_of_words():
    task = get_task("pattern_interference")
    sentence = "The answer is valid: the counts are [3, 4, 5]."
    for text, value in (
        (sentence, None),
        (f'{{"answer": [90]}}\n{sentence}', [90]),
        ("[90]", [90]),
    ):
        result = from_response(text, shape_of(task.answer_model), lambda _: True)
        assert (result and result.value) == (value and {"answer": value})


@pytest.mark.parametrize("form", ["{}", "Here it is:\n```\n{}\n```"])
def test_mazes_and_functions_need_no_key(form):
    for task, text in (
        ("maze_3d", "A10\n2B3"),
        ("polynomial_curve_fitting", "def f(x, y): return x"),
    ):
        result = from_response(form.format(text), shape_of(get_task(task).answer_model))
        assert [*result.value.values()] == [text]


def test_sources_and_repairs_are_recorded():
    sources = {
        "whole": "{}",
        "fence": "```\n{}\n```",
        "embedded": "It is {}.",
        "marked": "Answer: {}",
    }
    for source, form in sources.items():
        text = "[2]" if source == "marked" else '{"path": [2]}'
        assert from_response(form.format(text), PATH).source == source
    for form, source in (("```\n{}", "fence"), ("```\n{} or so", "embedded")):
        assert from_response(form.format('{"path": [2]}'), PATH).source == source
    assert from_response("{'path': [2,]}", PATH).repairs == (
        "python_literal",
        "trailing_comma",
    )
    for text, repair in (
        ('{\n> "path": [\n> 2]\n> }', "quoted_lines"),
        ('{\u00a0"path":\u202f[2]}', "special_blanks"),
        ("{&quot;path&quot;: [2]}", "html_entities"),
        ('<think>[1]</think>{"path": [2]}', "dropped_reasoning"),
        ('{"Path": [2]}', "key_case"),
    ):
        result = from_response(text, PATH)
        assert (result.value, result.repairs) == ({"path": [2]}, (repair,))
