"""The example of each task: an item of the easiest rung of its ladder, with a correct answer.

All pages and commands that explain a task take it from here, so they show the same one.
"""

from collections.abc import Collection
from typing import NamedTuple

from scbench.base.model import Instance, rung_of
from scbench.release.load import Release

# Characters of prompts and answers that are shown at most.
MOST_OF_PROMPT = 1_200
MOST_OF_ANSWER = 500


class Example(NamedTuple):
    """An item that shows what its task is like.

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
    """Return a key that is least for the example that explains its task best.

    An item that a trivial baseline solves explains little. Of the others, a short one is best.
    """
    length = len(example.instance.prompt) + len(example.answer)
    return example.floor >= 1, length, example.instance.id


def beginning(text: str, most: int) -> str:
    """Return the beginning of a text, cut where a paragraph, line, word or list entry ends.

    Args:
        text: to shorten.
        most: characters to keep at most.
    """
    if len(text) <= most:
        return text.rstrip()
    start = text[:most]
    for end in ("\n\n", "\n", " ", ","):
        place = start.rfind(end)
        # Half of the limit is worth more than a tidy end.
        if place >= most // 2:
            start = start[:place]
            break
    paragraphs = start.rstrip().split("\n\n")
    # A line that introduces a list is of no use without the list.
    if len(paragraphs) > 1 and paragraphs[-1].endswith(":"):
        del paragraphs[-1]
    return "\n\n".join(paragraphs)
