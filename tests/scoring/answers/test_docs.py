"""The examples of docs/answers.md are read as the page says."""

import re
from pathlib import Path

import pytest

from scbench.graders.dates import date
from scbench.graders.shared.short_answers import entries, number, option, truth, unspaced
from scbench.scoring.answers.extract import declines, from_response
from scbench.scoring.answers.shape import Shape

PAGE = Path(__file__).parents[3] / "docs" / "answers.md"
PATH = Shape(("path",), {"path": "path"})


def rows(heading: str) -> list[tuple[str, str]]:
    """Return the two columns of the table under a heading."""
    text = PAGE.read_text("utf-8").partition(f"## {heading}\n")[2].partition("\n## ")[0]
    cells = [
        re.split(r"(?<!\\) \| ", line.strip("| ")) for line in text.split("\n") if line[:1] == "|"
    ]
    return [(left, right) for left, right in cells[2:]]


@pytest.mark.parametrize(("reply", "counts"), rows("Examples"))
def test_examples_are_read_as_the_page_says(reply, counts):
    text = re.match(r"`+ ?(.*?) ?`+(?: \(cut off\))?$", reply)[1]
    text = re.sub(r"``` ?json (.*?) ```", r"\n```json\n\1\n```\n", text)
    found = from_response(text, PATH)
    if counts.startswith("nothing"):
        assert found is None
        assert declines(text) is ("refused" in counts)
    else:
        assert found.value == {"path": [int(re.search(r"\d", counts)[0])]}


READERS = {
    "a number": number,
    "a truth value": truth,
    "an option": lambda value: option(value, ("Rome", "Paris", "half ellipse")),
    "a date": date,
    "a list": entries,
    "brackets": unspaced,
}


@pytest.mark.parametrize(("kind", "examples"), rows("Text answers"))
def test_text_answers_are_read_as_the_page_says(kind, examples):
    read = READERS[kind]
    for example in re.findall(r"`([^`]+)`", examples):
        ambiguous = example == "03.04.2021"
        assert (read(example) is None) is ambiguous, example
