"""Are the answers of two models the same byte for byte beyond chance?

Right answers to a question with one right answer are the same whoever gives them, and so are easy
mistakes. What tells is a long answer that many others could stand in for: two models that choose
the same one of them, down to the last digit and the order of its parts, did not do so by chance.

An answer of a pair is *long* if it keeps 64 bytes when deflated, *short* otherwise. Answers
that are stored with the release (references and counter-references) count as neither: they have a
rule of their own, see `scbench.leaderboard.copied`. A pair is worth a look if

- at least `LEAST_LONG` long answers are the same, and they are `LONG_SHARE` of the instances to
  which both gave long answers; or
- at least `LEAST_SHORT` short answers are the same, and they are `SHORT_SHARE` of the instances to
  which both gave short answers.

It proves nothing, so it is a warning, with the numbers and the shares. Everyone is compared with
everyone: what a submission says of itself, such as that it is another of the same model, is no
reason to look away.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import combinations, islice
from pathlib import Path

from scbench.base.canonical import canonical_json, sha256
from scbench.base.errors import printable
from scbench.base.model import task_of
from scbench.catalog import Task
from scbench.grading.rows.coverage import Coverage
from scbench.grading.rows.index import LineKind, known_ids
from scbench.grading.run import choose_tasks
from scbench.leaderboard.copied import is_long
from scbench.leaderboard.findings import Finding
from scbench.leaderboard.predictions import measure
from scbench.leaderboard.submission import MOST_ATTEMPTS
from scbench.release.load import Release
from scbench.scoring.outcomes import Outcome, seek_answer

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


def read_answers(path: Path, release: Release) -> list[tuple[str, str]]:
    """Return instance and answer, as canonical JSON, of each answer in a predictions file.

    Args:
        path: of the file.
        release: that it answers.
    """
    tasks: dict[str, Task] = {task.id: task for task in choose_tasks(release, None)}
    instances = release.instances(release.manifest.default_tasks)
    coverage = Coverage(known_ids(instances, tasks))
    found: list[tuple[str, str]] = []
    if measure(path) is None:
        return found
    lines = coverage.read(str(path), hashlib.sha256())
    for admission, line in islice(lines, len(instances) * MOST_ATTEMPTS):
        if line is None or admission.kind is not LineKind.GRADED:
            continue
        answer = seek_answer(line.prediction, tasks[task_of(line.prediction.id)])
        if isinstance(answer, Outcome):
            continue
        with suppress(ValueError):  # a number that no file could hold
            found.append((line.prediction.id, canonical_json(answer.value)))
    return found


def answers_of(found: Iterable[tuple[str, str]], stored: frozenset[tuple[str, str]]) -> Answers:
    """Return the answers of a submission that say something about where they come from.

    Args:
        found: instance and answer, as canonical JSON.
        stored: see `stored_answers`.
    """
    answers: dict[str, dict[str, bool]] = defaultdict(dict)
    for row_id, text in found:
        digest = sha256(text)
        if (row_id, digest) not in stored:
            answers[row_id][digest] = is_long(text)
    return answers


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


def sharing(answers: Mapping[str, Answers]) -> list[tuple[str, str]]:
    """Return the pairs of submissions that share enough answers for it to be worth comparing them.

    Args:
        answers: those of each submission, by name.
    """
    holders: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, found in answers.items():
        for row_id, digests in found.items():
            for digest in digests:
                holders[row_id, digest].append(name)
    shared = Counter(pair for names in holders.values() for pair in combinations(names, 2))
    return [pair for pair, count in shared.items() if count >= min(LEAST_LONG, LEAST_SHORT)]
