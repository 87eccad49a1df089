"""The beginning of ``scbench tasks TASK``: what the task asks, a picture and an example."""

import shutil
import sys
import textwrap
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

# Columns by which an example is indented on a terminal.
_INDENT = "    "


def example_of(task: Task) -> dict[str, Any]:
    """Return picture and example of a task as JSON values, from the newest installed release.

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
    paragraphs = []
    if record["summary"]:
        paragraphs.append(record["summary"])
    if record["scored"]:
        paragraphs.append(f"Score: {record['scored']}.")
    if record["picture"]:
        paragraphs.append(f"Picture: {record['picture']}")
    example = record["example"]
    if example:
        prompt = beginning(example["prompt"], MOST_OF_PROMPT)
        answer = beginning(example["answer"], MOST_OF_ANSWER)
        is_whole = prompt == example["prompt"].rstrip() and answer == example["answer"]
        start = "Example" if is_whole else "Beginning of an example"
        advice = f"`scbench show {example['id']} --prompt` prints the whole prompt"
        paragraphs += [
            f"{start} ({advice}):",
            as_block(prompt, style),
            "A correct answer:" if is_whole else "Beginning of a correct answer:",
            as_block(answer, style),
        ]
    if style != "markdown" and sys.stdout.isatty():
        width = shutil.get_terminal_size().columns
        paragraphs = [wrapped_lines(paragraph, width) for paragraph in paragraphs]
    return "".join(f"{paragraph}\n\n" for paragraph in paragraphs)


def wrapped_lines(text: str, width: int) -> str:
    """Return a text with its long lines wrapped; the parts keep the indentation of their line."""
    lines: list[str] = []
    for line in text.split("\n"):
        indentation = line[: len(line) - len(line.lstrip())]
        wrapper = textwrap.TextWrapper(
            width,
            initial_indent=indentation,
            subsequent_indent=indentation,
            break_on_hyphens=False,
        )
        # Wrapping nothing gives no line.
        lines += wrapper.wrap(line.strip()) or [""]
    return "\n".join(lines)


def as_block(text: str, style: ListForm) -> str:
    """Return a text as a block of code in Markdown, or indented for a terminal."""
    if style == "markdown":
        return f"```text\n{text}\n```"
    return "\n".join(f"{_INDENT}{line}".rstrip() for line in text.split("\n"))
