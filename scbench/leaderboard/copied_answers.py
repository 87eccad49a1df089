"""Submissions that copy the answers stored with the release.

References are public, so a file of references scores 100. A model that solves an item
gives the same answer only if it is the only or the obvious one. An answer is therefore
*telling* if

- its task accepts many answers, see `scbench.catalog.Task.one_answer`, and is not a
  text task; and
- it is long, see `LONG`; and
- it has no natural order: the parts of its longest list are not sorted in either
  direction.

Telling answers that equal stored ones (references and counter-references) are counted
by task. Two answers are equal if the grader parses them to the same value, with numbers
to six digits. A row with at least `LEAST` such answers is marked and gets no rank. Answers
without alternatives are never counted, so an honest model that solves everything has a
count of 0.
"""

import json
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from scbench.base.canonical import canonical_json, sha256
from scbench.base.model import task_of
from scbench.base.wording import counted
from scbench.catalog import MANIFOLDS, get_task
from scbench.leaderboard.findings import Finding, finding
from scbench.leaderboard.predictions import Pair
from scbench.release.load import Release

# Minimum bytes of a long answer after deflating. Such an answer could have been written in very
# many ways.
LONG = 64
# Minimum number of copied telling answers that mark a submission.
LEAST = 5
# Larger numbers are not rounded: rounding up could exceed the largest double.
_GREATEST = 1e300


class StoredAnswers(NamedTuple):
    """Telling stored answers, by instance.

    Attributes:
        references: identities of references, see `answer_identity`.
        counter_references: SHA-256 of counter-references.
    """

    references: dict[str, set[str]]
    counter_references: dict[str, set[str]]


@dataclass(frozen=True, slots=True)
class Copied:
    """Numbers of telling answers in a submission that equal stored ones, by task.

    Attributes:
        references: answers that equal a reference.
        counter_references: answers that equal a counter-reference.
        of: answered instances with a telling reference.
    """

    references: Mapping[str, int]
    counter_references: Mapping[str, int]
    of: Mapping[str, int]

    @property
    def count(self) -> int:
        """The number of answers that equal a stored answer of either kind."""
        return sum(self.references.values()) + sum(self.counter_references.values())

    @property
    def marked(self) -> bool:
        """Whether there are too many copies to be chance."""
        return self.count >= LEAST

    def as_record(self) -> dict[str, Any]:
        """Return the numbers for JSON."""
        return {
            "same": self.count,
            "of": sum(self.of.values()),
            "references": dict(self.references),
            "counter_references": dict(self.counter_references),
            "answered": dict(self.of),
        }

    def __str__(self) -> str:
        matching = sum(self.references.values())
        total = sum(self.of.values())
        tasks = ", ".join(
            f"{task} {count} of {self.of[task]}"
            for task, count in self.references.items()
        )
        task_words = f" ({tasks})" if tasks else ""
        counters = sum(self.counter_references.values())
        return (
            f"{matching} of {total} answers to items with many right answers match reference "
            f"answers of the release{task_words}; in total, {counted(counters, 'answer')} match "
            "its counter-references"
        )


@lru_cache(maxsize=4)
def telling_answers(release: Release) -> StoredAnswers:
    """Return the telling stored answers of a release."""
    stored = StoredAnswers({}, {})
    for ref in release.references():
        task = task_of(ref.id)
        is_text_task = release.manifest.tasks[task].bucket == MANIFOLDS
        if get_task(task).one_answer or is_text_task:
            continue
        # Counter-references are compared byte for byte, references by their content.
        if ref.kind != "reference":
            stored.counter_references.setdefault(ref.id, set()).add(sha256(ref.answer))
        elif is_telling(ref.answer):
            identity = answer_identity(task, ref.answer)
            stored.references.setdefault(ref.id, set()).add(identity)
    return stored


def is_telling(text: str) -> bool:
    """Whether an answer, as canonical JSON, is long and has no natural order."""
    return is_long(text) and not is_natural(json.loads(text))


def is_long(canonical: str) -> bool:
    """Whether an answer is long, judged by its canonical JSON."""
    return len(zlib.compress(canonical.encode(), 9)) >= LONG


def is_natural(answer: Any) -> bool:  # noqa: ANN401  (JSON)
    """Whether the longest list in an answer is sorted, as anyone would write it."""
    longest: list[Any] = []
    for node in json_nodes(answer):
        if isinstance(node, list) and len(node) > len(longest):
            longest = node
    keys = [leaves_of(part) for part in longest]
    if len(keys) < 2:
        return False
    rising_keys = sorted(keys)
    return keys in (rising_keys, rising_keys[::-1])


def json_nodes(value: Any) -> Iterator[Any]:  # noqa: ANN401  (JSON)
    """Yield a value and everything in it; entries of mappings are sorted by key."""
    yield value
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    if isinstance(value, list):
        for part in value:
            yield from json_nodes(part)


def leaves_of(value: Any) -> list[tuple[bool, Any]]:  # noqa: ANN401  (JSON)
    """Return the words and numbers in a value as a sort key; numbers come first."""
    leaves: list[tuple[bool, Any]] = []
    for node in json_nodes(value):
        if isinstance(node, str):
            leaves.append((True, node))
        elif not isinstance(node, dict | list):
            # null counts as 0
            leaves.append((False, node or 0))
    return leaves


def answer_identity(task_id: str, text: str) -> str:
    """Return a hash that is equal for answers with the same meaning, to six digits."""
    answer = json.loads(text)
    # An answer that fails validation scores 0, and is compared unchanged.
    with suppress(ValueError):
        model = get_task(task_id).answer_model.model_validate(answer)
        answer = model.model_dump(mode="json")
    return sha256(canonical_json(rounded_numbers(answer)))


def rounded_numbers(value: Any) -> Any:  # noqa: ANN401  (JSON)
    """Return a value with its numbers as floats rounded to six digits."""
    if isinstance(value, dict):
        return {key: rounded_numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [rounded_numbers(part) for part in value]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not is_number or abs(value) > _GREATEST:
        return value
    return float(f"{float(value):.6g}") + 0.0  # -0.0 + 0.0 is 0.0


def count_copies(answers: Iterable[Pair], stored: StoredAnswers) -> Copied:
    """Count the answers of a submission that equal stored ones, at most one per instance."""
    references = set()
    counters = set()
    answered = set()
    for row_id, text in answers:
        identities = stored.references.get(row_id)
        if identities is not None:
            answered.add(row_id)
            if answer_identity(task_of(row_id), text) in identities:
                references.add(row_id)
        hashes = stored.counter_references.get(row_id, ())
        if sha256(text) in hashes and is_telling(text):
            counters.add(row_id)
    return Copied(
        by_task(references), by_task(counters - references), by_task(answered)
    )


def by_task(ids: Iterable[str]) -> dict[str, int]:
    """Return the number of instances of each task, by task."""
    return dict(Counter(map(task_of, sorted(ids))))


def copy_warning(copies: Copied, file: str = "") -> Iterator[Finding]:
    """Yield a warning, naming the predictions file, if a submission is marked."""
    if copies.marked:
        yield finding("references", file, copies=copies)
