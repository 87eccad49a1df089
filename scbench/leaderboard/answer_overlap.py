"""Are the answers of two models the same byte for byte beyond chance?

Right answers to a question with one right answer are the same whoever gives them, and so are easy
mistakes. What tells is a long answer that many others could stand in for: two models that choose
the same one of them, down to the last digit and the order of its parts, did not do so by chance.

An answer of a pair is *long* if it keeps `LONG` bytes when deflated, *short* otherwise. Answers
that are stored with the release (references and counter-references: forced, natural or trivial
ones) count as neither. A pair is worth a look if

- at least `LEAST_LONG` long answers are the same, and they are `LONG_SHARE` of the instances to
  which both gave long answers; or
- at least `LEAST_SHORT` short answers are the same, and they are `SHORT_SHARE` of the instances to
  which both gave short answers.

It proves nothing, so it is a warning, with the numbers and the shares.
"""

import hashlib
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from scbench.canonical import canonical_json, sha256
from scbench.catalog import Task
from scbench.errors import printable
from scbench.grading.outcome import Outcome, seek_answer
from scbench.grading.rows.coverage import Coverage
from scbench.grading.rows.index import LineKind, known_ids
from scbench.grading.run import choose_tasks
from scbench.leaderboard.findings import Finding
from scbench.leaderboard.predictions import measure
from scbench.leaderboard.submission import MOST_ATTEMPTS
from scbench.model import task_of
from scbench.release.load import Release

LONG = 64
LEAST_LONG, LONG_SHARE = 5, 0.10
LEAST_SHORT, SHORT_SHARE = 20, 0.90

Answers = Mapping[str, Mapping[str, bool]]
"""By instance, the hashes of a model's answers (of all samples), and whether each is long."""


@dataclass(frozen=True, slots=True)
class AnswerOverlap:
    """How alike the answers of two models are, long ones and short ones."""

    same_long: int
    both_long: int
    same_short: int
    both_short: int

    @property
    def suspicious(self) -> bool:
        """Whether it is more than chance gives."""
        return self.same_long >= max(
            LEAST_LONG, LONG_SHARE * self.both_long
        ) or self.same_short >= max(LEAST_SHORT, SHORT_SHARE * self.both_short)


def stored_answers(release: Release) -> frozenset[tuple[str, str]]:
    """Return instance and hash of every answer that is stored with a release."""
    return frozenset((ref.id, sha256(ref.answer)) for ref in release.references())


def answers_of(path: Path, release: Release, stored: frozenset[tuple[str, str]]) -> Answers:
    """Return the answers in a predictions file that say something about where they come from.

    Args:
        path: of the file.
        release: that it answers.
        stored: see `stored_answers`.
    """
    tasks: dict[str, Task] = {task.id: task for task in choose_tasks(release, None)}
    instances = release.instances(release.manifest.default_tasks)
    coverage = Coverage(known_ids(instances, tasks))
    found: dict[str, dict[str, bool]] = defaultdict(dict)
    if measure(path) is None:
        return found
    lines = coverage.read(str(path), hashlib.sha256())
    for admission, line in islice(lines, len(instances) * MOST_ATTEMPTS):
        if line is None or admission.kind is not LineKind.GRADED:
            continue
        prediction = line.prediction
        answer = seek_answer(prediction, tasks[task_of(prediction.id)])
        if isinstance(answer, Outcome):
            continue
        try:
            data = canonical_json(answer.value).encode()
        except ValueError:
            continue
        digest = sha256(data)
        if (prediction.id, digest) not in stored:
            found[prediction.id][digest] = len(zlib.compress(data, 9)) >= LONG
    return found


def compare(first: Answers, second: Answers) -> AnswerOverlap:
    """Return how alike the answers of two models are."""
    counts = {True: [0, 0], False: [0, 0]}
    for row_id in sorted(first.keys() & second.keys()):
        mine, theirs = first[row_id], second[row_id]
        for long, count in counts.items():
            here = {digest for digest, kind in mine.items() if kind is long}
            there = {digest for digest, kind in theirs.items() if kind is long}
            count[0] += bool(here & there)
            count[1] += bool(here and there)
    return AnswerOverlap(*counts[True], *counts[False])


def overlaps(mine: Answers, others: Mapping[str, Answers], file: str) -> Iterator[Finding]:
    """Yield a warning for each other submission whose answers are suspiciously alike.

    Args:
        mine: answers of the submission that is looked at.
        others: those of other submissions, by name.
        file: name of the predictions file, for messages.
    """
    for name, theirs in others.items():
        like = compare(mine, theirs)
        if like.suspicious:
            parts = [
                f"{same} of {both} {kind} answers ({same / both:.0%})"
                for same, both, kind in (
                    (like.same_long, like.both_long, "long"),
                    (like.same_short, like.both_short, "short"),
                )
                if both
            ]
            message = (
                f"the same byte for byte as in {printable(name)}, though other answers would do: "
                f"{' and '.join(parts)}"
            )
            todo = "say in notes how the two models are related, or correct the file"
            yield Finding("alike", message, todo, file, level="warning")
