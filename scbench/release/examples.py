"""The example of each task: an item of the easiest rung of its ladder, with a correct answer.

All pages and commands use this module, so they show the same example.
"""

from collections.abc import Collection
from typing import NamedTuple

from scbench.base.model import Instance, rung_of
from scbench.release.load import Release

# Maximum characters shown of prompts and answers.
MOST_OF_PROMPT = 1_200
MOST_OF_ANSWER = 500


class Example(NamedTuple):
    """An item that illustrates its task.

    Attributes:
        instance: the item.
        answer: a correct answer to it, as JSON.
        floor: score of its best trivial baseline.
    """

    instance: Instance
    answer: str
    floor: float


def examples(release: Release, tasks: Collection[str]) -> dict[str, Example]:
    """Return the examples of some tasks, by task; a task without a ladder has none.

    Raises:
        ReleaseError: the release has no ladder, or a file is missing or was changed.
    """
    ladder = release.ladder()
    instances = ladder.instances(tasks)
    results: dict[str, Example] = {}
    for reference in ladder.references():
        instance = instances.get(reference.id)
        if instance is None or reference.kind != "reference":
            continue
        if rung_of(instance.id) != 1:
            continue
        example = Example(instance, reference.answer, reference.floor)
        best = results.get(instance.task, example)
        results[instance.task] = min(best, example, key=difficulty_to_read)
    return results


def difficulty_to_read(example: Example) -> tuple[bool, int, str]:
    """Return a sort key; the best example of a task has the smallest key.

    An item that a trivial baseline solves explains little. Among the others, the shortest
    one is the best.
    """
    length = len(example.instance.prompt) + len(example.answer)
    return example.floor >= 1, length, example.instance.id


def beginning(text: str, most: int) -> str:
    """Return the beginning of a text, cut where a paragraph, line, word or list entry ends.

    Args:
        text: text to shorten.
        most: characters to keep at most.
    """
    if len(text) <= most:
        return text.rstrip()
    start = text[:most]
    for end in ("\n\n", "\n", " ", ","):
        place = start.rfind(end)
        # Do not cut below half of the limit for the sake of a clean end.
        if place >= most // 2:
            start = start[:place]
            break
    paragraphs = start.rstrip().split("\n\n")
    # A line that introduces a list is useless without the list.
    if len(paragraphs) > 1 and paragraphs[-1].endswith(":"):
        del paragraphs[-1]
    return "\n\n".join(paragraphs)
