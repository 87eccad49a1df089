"""The introduction in ``scbench tasks TASK``: what the task asks, a picture and an example."""

import re
import shutil
import sys
import textwrap
from functools import partial
from pathlib import Path
from typing import Any

from scbench.catalog import Task
from scbench.cli.options import ListForm
from scbench.release.examples import (
    MOST_OF_ANSWER,
    MOST_OF_PROMPT,
    beginning,
    examples,
)
from scbench.release.load import Release, find_release
from scbench.release.manifest import picture_file

# Indentation of an example on a terminal.
_INDENT = "    "
# Width at which the lines of prompts are wrapped, in columns.
_PROMPT_WIDTH = 100
# A line of text that is at least this long and ends inside a sentence was wrapped. Numbers that
# were filled in after wrapping change the length of a line, so this is less than the width.
_NEARLY_FULL = 75
_SENTENCE_ENDS = (".", ":", ";", "!", "?")
# The indentation of a line, and the marker of a list item.
_START = re.compile(r"( *)([-*] |\d+\. |\(?[A-Z]\) )?")
# Two columns of a table, or the key of a JSON object.
_DATA = re.compile(r"\S {2,}\S|^ *\"")
_WORD = re.compile(r"\b[a-z]{2,}\b")
# A line with at least this many words is text; with fewer, it may be data.
_LEAST_WORDS = 3


def example_of(task: Task) -> dict[str, Any]:
    """Return a task's picture and example as JSON values, from the newest installed release.

    Both are null if the release does not contain the task.
    """
    release = find_release()
    values: dict[str, Any] = {"picture": None, "example": None}
    if task.id not in release.manifest.tasks:
        return values
    picture = picture_path(release, task)
    if picture is not None:
        values["picture"] = str(picture)
    example = examples(release, [task.id]).get(task.id)
    if example is not None:
        values["example"] = {
            "id": example.instance.id,
            "prompt": example.instance.prompt,
            "answer": example.answer,
        }
    return values


def picture_path(release: Release, task: Task) -> Path | None:
    """Return the path of a task's picture in a release; None if there is no such file."""
    path = release.root / picture_file(task.id)
    return path if path.is_file() else None


def introduction(record: dict[str, Any], style: ListForm) -> str:
    """Return the paragraphs that come before a task's parameters."""
    is_wrapped = style != "markdown" and sys.stdout.isatty()
    fit = partial(wrapped_lines, width=text_width()) if is_wrapped else str
    paragraphs = []
    if record["summary"]:
        paragraphs.append(fit(record["summary"]))
    if record["scored"]:
        paragraphs.append(fit(f"Score: {record['scored']}."))
    if record["picture"]:
        # A path is never broken, so that it can be copied.
        paragraphs.append(f"Picture: {record['picture']}")
    example = record["example"]
    if example:
        prompt = beginning(example["prompt"], MOST_OF_PROMPT)
        answer = beginning(example["answer"], MOST_OF_ANSWER)
        is_whole = prompt == example["prompt"].rstrip() and answer == example["answer"]
        start = "Example" if is_whole else "Beginning of an example"
        advice = f"`scbench show {example['id']} --prompt` prints the whole prompt"
        if is_wrapped:
            prompt = unwrap_paragraphs(prompt)
        paragraphs += [
            fit(f"{start} ({advice}):"),
            fit(as_block(prompt, style)),
            "A correct answer:" if is_whole else "Beginning of a correct answer:",
            fit(as_block(answer, style)),
        ]
    return "".join(f"{paragraph}\n\n" for paragraph in paragraphs)


def text_width() -> int:
    """Return the width of text on this terminal, in columns, at most that of an indented prompt."""
    return min(shutil.get_terminal_size().columns, _PROMPT_WIDTH + len(_INDENT))


def unwrap_paragraphs(prompt: str) -> str:
    """Return a prompt with each paragraph and list item on one line; data keeps its lines."""
    joined: list[str] = []
    last_line = ""
    for line in prompt.split("\n"):
        if joined and is_continuation(line, last_line, hanging_indent(joined[-1])):
            joined[-1] += f" {line.strip()}"
        else:
            joined.append(line)
        last_line = line
    return "\n".join(joined)


def is_continuation(line: str, last_line: str, indentation: str) -> bool:
    """Return whether wrapping made the break between two lines of a prompt.

    Args:
        line: line of the prompt.
        last_line: the line before it.
        indentation: indentation of the further lines of that line's paragraph.
    """
    words = line.split()
    is_text = len(_WORD.findall(last_line)) >= _LEAST_WORDS
    is_data = bool(_DATA.search(line) or _DATA.search(last_line))
    if not words or not is_text or is_data or last_line.endswith(":"):
        return False
    start = _START.match(line)
    if start and start[2]:
        return False
    is_aligned = line[: len(line) - len(line.lstrip())] == indentation
    # The next word would not have fitted.
    is_full = len(last_line) + 1 + len(words[0]) > _PROMPT_WIDTH
    is_cut = len(last_line) >= _NEARLY_FULL and not last_line.endswith(_SENTENCE_ENDS)
    return is_aligned and (is_full or is_cut)


def hanging_indent(line: str) -> str:
    """Return the indentation of the further lines of a paragraph, or of a list item."""
    start = _START.match(line)
    return " " * start.end() if start else ""


def wrapped_lines(text: str, width: int) -> str:
    """Return a text with its long lines wrapped; the parts keep the indentation of their line."""
    lines: list[str] = []
    for line in text.split("\n"):
        indentation = line[: len(line) - len(line.lstrip())]
        wrapper = textwrap.TextWrapper(
            width,
            initial_indent=indentation,
            subsequent_indent=hanging_indent(line),
            break_on_hyphens=False,
        )
        # Wrapping an empty text gives no lines.
        lines += wrapper.wrap(line.strip()) or [""]
    return "\n".join(lines)


def as_block(text: str, style: ListForm) -> str:
    """Return a text as a block of code in Markdown, or indented for a terminal."""
    if style == "markdown":
        return f"```text\n{text}\n```"
    return "\n".join(f"{_INDENT}{line}".rstrip() for line in text.split("\n"))
