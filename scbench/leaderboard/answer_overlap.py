"""Answers that are somebody else's: another submission's, or those that the release prints.

**Are the answers of two models the same byte for byte beyond chance?**

Right answers to a question with one right answer are the same whoever gives them, and so are easy
mistakes. What tells is a long answer that many others could stand in for: two models that choose
the same one of them, down to the last digit and the order of its parts, did not do so by chance.

An answer of a pair is *long* if it keeps 64 bytes when deflated, *short* otherwise. Answers
that are stored with the release (references and counter-references) count as neither: they have a
rule of their own, see below. A pair is worth a look if

- at least `LEAST_LONG` long answers are the same, and they are `LONG_SHARE` of the instances to
  which both gave long answers; or
- at least `LEAST_SHORT` short answers are the same, and they are `SHORT_SHARE` of the instances to
  which both gave short answers.

It proves nothing, so it is a warning, with the numbers and the shares. Everyone is compared with
everyone: what a submission says of itself, such as that it is another of the same model, is no
reason to look away.

**Is a submission made of the answers that the release prints?** References are public, so a file of
nothing but them scores 100. Whoever solves an instance by himself gives the same answer only where
there is one, or one that anybody would choose. So an answer *tells* where it comes from if

- its task takes many answers, see `scbench.catalog.Task.one_answer`, and is no text task; and
- it is long; and
- it is in no natural order: the parts of its longest list neither rise nor fall throughout.

Stored answers for which this holds (references and counter-references) are counted by task. Two are
the same if what the grader reads of them is, with numbers to six digits. With `LEAST` or more of
them a row is marked, and has no rank. Answers that are forced are never counted, so that a model
that gets everything right by itself has none.
"""

import hashlib
import json
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations, islice
from pathlib import Path
from typing import Any, NamedTuple

from scbench.base.canonical import canonical_json, sha256
from scbench.base.errors import printable
from scbench.base.model import task_of
from scbench.catalog import MANIFOLDS, Task, get_task
from scbench.grading.rows.coverage import Coverage
from scbench.grading.rows.index import LineKind, known_ids
from scbench.grading.run import choose_tasks
from scbench.leaderboard.findings import Finding, finding
from scbench.leaderboard.predictions import Pair, answer_pair, measure
from scbench.leaderboard.submission import MOST_ATTEMPTS
from scbench.release.load import Release

# Bytes that a long answer keeps when deflated.
LONG = 64
# So many telling answers that are stored ones mark a submission.
LEAST = 5
LEAST_LONG, LONG_SHARE = 5, 0.10
LEAST_SHORT, SHORT_SHARE = 20, 0.90

# By instance, the hashes of a model's answers (of all samples), and whether each is
# long.
Answers = Mapping[str, Mapping[str, bool]]


class StoredAnswers(NamedTuple):
    """Stored answers by instance: what references that tell say, hashes of counter-references."""

    references: dict[str, set[str]]
    counter_references: dict[str, set[str]]


@dataclass(frozen=True, slots=True)
class Copied:
    """How many telling answers of a submission are the stored ones."""

    references: Mapping[str, int]  #: by task, how many are a reference.
    counter_references: Mapping[str, int]  #: by task, how many are a counter-reference.
    of: Mapping[
        str, int
    ]  #: by task, how many instances with a reference that tells are answered.

    @property
    def count(self) -> int:
        """How many are a stored answer of either kind."""
        return sum(self.references.values()) + sum(self.counter_references.values())

    @property
    def marked(self) -> bool:
        """Whether it is more than anybody gets by chance or by nature."""
        return self.count >= LEAST

    def as_record(self) -> dict[str, Any]:
        """Return it for JSON."""
        parts = {
            "references": self.references,
            "counter_references": self.counter_references,
        }
        by_task = {name: dict(counts) for name, counts in parts.items()}
        return {
            "same": self.count,
            "of": sum(self.of.values()),
            **by_task,
            "answered": {**self.of},
        }

    def __str__(self) -> str:
        tasks = ", ".join(
            f"{task} {count} of {self.of[task]}"
            for task, count in self.references.items()
        )
        shares = f"{sum(self.references.values())} of {sum(self.of.values())}"
        counters = sum(self.counter_references.values())
        return (
            f"{shares} answers to items with many right answers are the release's references"
            f"{f' ({tasks})' if tasks else ''}, and {counters} its counter-references"
        )


def is_long(canonical: str) -> bool:
    """Whether an answer could have been written in very many ways, by its canonical JSON."""
    return len(zlib.compress(canonical.encode(), 9)) >= LONG


@lru_cache(maxsize=4)
def telling_answers(release: Release) -> StoredAnswers:
    """Return the stored answers of a release that may tell where an answer comes from."""
    stored = StoredAnswers({}, {})
    for ref in release.references():
        task = task_of(ref.id)
        if (
            get_task(task).one_answer
            or release.manifest.tasks[task].bucket == MANIFOLDS
        ):
            continue
        if ref.kind != "reference":
            stored.counter_references.setdefault(ref.id, set()).add(sha256(ref.answer))
        elif _is_telling(ref.answer):
            stored.references.setdefault(ref.id, set()).add(_identity(task, ref.answer))
    return stored


def _is_telling(text: str) -> bool:
    return is_long(text) and not _is_natural(json.loads(text))


def _identity(task_id: str, text: str) -> str:
    """Return the same text for answers that say the same to the grader, to six digits."""
    answer = json.loads(text)
    with suppress(ValueError):  # it scores 0
        answer = (
            get_task(task_id)
            .answer_model.model_validate(answer)
            .model_dump(mode="json")
        )
    return sha256(canonical_json(_rounded_numbers(answer)))


def _rounded_numbers(value: Any) -> Any:  # noqa: ANN401  (JSON)
    if isinstance(value, dict):
        return {key: _rounded_numbers(part) for key, part in value.items()}
    if isinstance(value, list):
        return [_rounded_numbers(part) for part in value]
    if (
        isinstance(value, bool)
        or not isinstance(value, int | float)
        or abs(value) > 1e300
    ):
        return value
    return float(f"{float(value):.6g}") + 0.0  # which is 0 for -0.0, too


def _is_natural(answer: Any) -> bool:  # noqa: ANN401  (JSON)
    """Whether the parts of the longest list in an answer rise or fall, as anybody lists them."""
    lists = (node for node in _json_nodes(answer) if isinstance(node, list))
    parts = [
        [
            (isinstance(leaf, str), leaf or 0 if not isinstance(leaf, str) else leaf)
            for leaf in _json_nodes(part)
            if not isinstance(leaf, dict | list)
        ]
        for part in max(lists, key=len, default=[])
    ]
    return len(parts) > 1 and parts in (ordered := sorted(parts), ordered[::-1])


def _json_nodes(value: Any) -> Iterator[Any]:  # noqa: ANN401  (JSON)
    """Yield a value and all that is in it; what mappings hold, by their keys."""
    yield value
    if isinstance(value, dict):
        value = [value[key] for key in sorted(value)]
    for part in value if isinstance(value, list) else ():
        yield from _json_nodes(part)


def copied(answers: Iterable[Pair], stored: StoredAnswers) -> Copied:
    """Count the answers of a submission that are stored ones; of several samples, one suffices."""
    same, counter, answered = set(), set(), set()
    for row_id, text in answers:
        if row_id in stored.references:
            answered.add(row_id)
            if _identity(task_of(row_id), text) in stored.references[row_id]:
                same.add(row_id)
        if sha256(text) in stored.counter_references.get(row_id, ()) and _is_telling(
            text
        ):
            counter.add(row_id)
    parts = (
        dict(Counter(map(task_of, sorted(ids))))
        for ids in (same, counter - same, answered)
    )
    return Copied(*parts)


def copy_warning(copies: Copied, file: str = "") -> Iterator[Finding]:
    """Yield a warning, naming the predictions' file, if a submission is marked."""
    if copies.marked:
        yield finding("references", file, copies=copies)


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


@lru_cache(maxsize=4)
def stored_answers(release: Release) -> frozenset[Pair]:
    """Return instance and hash of every answer that is stored with a release."""
    return frozenset((ref.id, sha256(ref.answer)) for ref in release.references())


def read_answers(path: Path, release: Release) -> list[Pair]:
    """Return each answer in a file of predictions for a release."""
    tasks: dict[str, Task] = {task.id: task for task in choose_tasks(release, None)}
    instances = release.instances(release.manifest.default_tasks)
    coverage = Coverage(known_ids(instances, tasks))
    if measure(path) is None:
        return []
    lines = islice(
        coverage.read(str(path), hashlib.sha256()), len(instances) * MOST_ATTEMPTS
    )
    return [
        pair
        for admission, line in lines
        if line is not None and admission.kind is LineKind.GRADED
        for pair in answer_pair(line.prediction, tasks[task_of(line.prediction.id)])
    ]


def answers_of(pairs: Iterable[Pair], stored: frozenset[Pair]) -> Answers:
    """Return the answers that say where they come from; those that are stored do not."""
    answers: dict[str, dict[str, bool]] = defaultdict(dict)
    for row_id, text in pairs:
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


def overlaps(
    mine: Answers, peers: Mapping[str, Answers], file: str
) -> Iterator[Finding]:
    """Yield a warning for each other submission whose answers are suspiciously alike."""
    for name, theirs in peers.items():
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
            yield finding(
                "alike", file, where=printable(name), shares=" and ".join(parts)
            )


def sharing(answers: Mapping[str, Answers]) -> list[tuple[str, str]]:
    """Return the pairs of submissions that share enough answers to be worth comparing."""
    holders: dict[tuple[str, str], list[str]] = defaultdict(list)
    for name, by_row in answers.items():
        for row_id, digests in by_row.items():
            for digest in digests:
                holders[row_id, digest].append(name)
    shared = Counter(
        pair for names in holders.values() for pair in combinations(names, 2)
    )
    return [
        pair for pair, count in shared.items() if count >= min(LEAST_LONG, LEAST_SHORT)
    ]
