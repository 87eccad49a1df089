"""Write docs/tasks.md: every task with a picture, a sentence, an example and its floor.

::

    python tools/tasks_page.py            # writes it
    python tools/tasks_page.py --check    # fails if the page is out of date

Everything on the page comes from the newest release in this repository and from the catalogue. Run
this after freezing a release, and after changing a sentence in scbench/tasks.toml.
"""

import sys
from pathlib import Path

from scbench.base.model import task_of
from scbench.base.wording import counted
from scbench.catalog import BUCKETS, MANIFOLDS, Task, get_task
from scbench.release.examples import (
    MOST_OF_ANSWER,
    MOST_OF_PROMPT,
    Example,
    beginning,
    examples,
)
from scbench.release.load import Release, find_release
from scbench.release.manifest import picture_file

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "tasks.md"
# Prompts up to this many characters are shown in full, because their rules come last.
WHOLE_PROMPT = 2_450

# The text before the tasks.
START = (
    "# Tasks\n\n"
    "This page shows what each task asks, with a picture and an example.\n\n"
    "Release {version} has {tasks} in three buckets, with {items} and {scores} in all, and {texts} "
    "scored separately. Each picture shows an item of the release with a correct answer. "
    "The example is much easier: it comes from the first rung of the [ladder](ladder.md). "
    "`scbench show ID --prompt` prints the prompt of any item, and `scbench gallery FOLDER` draws "
    "the pictures.\n\n"
    "Scores range from 0 to 1, and every prompt states its rules in full. The "
    "[floor](statistics.md#floors) is the mean score of the best trivial baseline.\n\n"
    "`tools/tasks_page.py` generates this page.\n"
)
# The text before the tasks of a bucket.
BUCKET_WORDS = {
    "axiomatic": "Draw conclusions from geometric rules.",
    "constructive": "Construct a shape that meets a specification.",
    "planning": "Choose actions whose effects depend on one another.",
    MANIFOLDS: (
        "Text puzzles whose difficulty is set by parameters. They are not part of the overall "
        "score; `scbench manifolds` reports them."
    ),
}
# Headings of buckets, if they differ from the name of the bucket.
HEADINGS = {MANIFOLDS: "Text tasks"}


def page(release: Release) -> str:
    """Return the page on the tasks of a release."""
    records = release.manifest.tasks
    examples_by_task = examples(release, list(records))
    floors = floors_by_task(release)
    parts = [start(release)]
    for bucket in (*BUCKETS, MANIFOLDS):
        tasks = [
            get_task(task_id)
            for task_id, record in records.items()
            if record.bucket == bucket
        ]
        if not tasks:
            continue
        parts.append(f"## {heading(bucket)}\n\n{BUCKET_WORDS[bucket]}\n")
        parts += [
            section(release, task, examples_by_task.get(task.id), floors[task.id])
            for task in tasks
        ]
    return "\n".join(parts)


def start(release: Release) -> str:
    """Return the beginning of the page, with a table of all tasks."""
    records = release.manifest.tasks
    spatial = [record for record in records.values() if record.bucket in BUCKETS]
    text = START.format(
        version=release.version,
        tasks=counted(len(spatial), "task"),
        items=counted(sum(record.instances for record in spatial), "item"),
        scores=counted(sum(record.scores for record in spatial), "score"),
        texts=counted(len(records) - len(spatial), "text task"),
    )
    lines = [text, "| task | what it asks |", "|---|---|"]
    for task_id in records:
        task = get_task(task_id)
        name = f"[{task.title}](#{anchor(task.title)})"
        lines.append(f"| {name} | {task.summary} |")
    return "\n".join([*lines, ""])


def heading(bucket: str) -> str:
    """Return the heading over the tasks of a bucket."""
    return HEADINGS.get(bucket, bucket.capitalize())


def anchor(title: str) -> str:
    """Return the anchor of a heading, as code forges and Sphinx make it."""
    letters = [sign for sign in title.lower() if sign.isalnum() or sign in "- "]
    return "".join(letters).replace(" ", "-")


def section(release: Release, task: Task, example: Example | None, floor: float) -> str:
    """Return the section on a task."""
    record = release.manifest.tasks[task.id]
    size = counted(record.instances, "item")
    if record.scores != record.instances:
        size += f" with {counted(record.scores, 'score')}"
    lines = [f"### {task.title}\n", f"{task.summary}\n"]
    picture = release.root / picture_file(task.id)
    if picture.is_file():
        path = f"../releases/{release.version}/{picture_file(task.id)}"
        lines.append(f"![{task.title}: an item with a correct answer]({path})\n")
    lines += [
        f"- Score: {task.scored}.",
        f"- Size: {size}. Floor: {floor:.2f}.",
        f"- All rules: [`{task.id}`](../dataset_card/tasks/{task.id}.md).",
        "",
    ]
    if example is not None:
        lines.append(example_block(example))
    return "\n".join(lines)


def example_block(example: Example) -> str:
    """Return an example that opens on a click."""
    prompt = example.instance.prompt.rstrip()
    if len(prompt) > WHOLE_PROMPT:
        prompt = beginning(prompt, MOST_OF_PROMPT)
    answer = beginning(example.answer, MOST_OF_ANSWER)
    lines = [
        "<details><summary>Example</summary>\n",
        f"Prompt of `{example.instance.id}`{share(prompt, example.instance.prompt)}:\n",
        f"```text\n{prompt}\n```\n",
        f"A correct answer{share(answer, example.answer)}:\n",
        f"```text\n{answer}\n```\n",
        "</details>\n",
    ]
    return "\n".join(lines)


def share(excerpt: str, text: str) -> str:
    """Return a note on how much of a text is shown; empty if all of it is."""
    if excerpt == text.rstrip():
        return ""
    return f" (the first {len(excerpt):,} of {len(text):,} characters)"


def floors_by_task(release: Release) -> dict[str, float]:
    """Return the mean floor of each task."""
    floors: dict[str, list[float]] = {task: [] for task in release.manifest.tasks}
    for row_id, floor in release.floors().items():
        floors[task_of(row_id)].append(floor)
    return {task: sum(values) / len(values) for task, values in floors.items()}


if __name__ == "__main__":
    text = page(find_release())
    if sys.argv[1:] == ["--check"]:
        current = PAGE.read_text("utf-8") == text
        sys.exit(0 if current else f"{PAGE} is out of date: run tools/tasks_page.py")
    PAGE.write_text(text, "utf-8")
