"""Byte-identical answers of two models: detection of more than chance would produce.

If a question has one correct answer, all correct answers to it are equal, and so are easy mistakes.
If many answers are possible, equal long answers are evidence: two models do not choose the same one
by chance, down to the last digit and the order of its parts.

An answer is *long* if it has at least 64 bytes after deflating, *short* otherwise.
Answers stored with the release (references and counter-references) are not counted:
`scbench.leaderboard.copied_answers` covers them. A pair is reported if

- at least `LEAST_LONG` long answers are the same, and they make up at least
  `LONG_SHARE` of the instances to which both gave long answers; or
- at least `LEAST_SHORT` short answers are the same, and they make up at least
  `SHORT_SHARE` of the instances to which both gave short answers.

This is not proof, so it gives a warning with the numbers and shares. All submissions
are compared with each other, even two of the same model.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import combinations, islice
from pathlib import Path
from typing import NamedTuple

from scbench.base.canonical import sha256
from scbench.base.errors import printable
from scbench.base.model import task_of
from scbench.grading.options import choose_tasks
from scbench.grading.rows.coverage import Coverage
from scbench.grading.rows.index import LineKind, known_ids
from scbench.leaderboard.copied_answers import is_long
from scbench.leaderboard.findings import Finding, finding
from scbench.leaderboard.folder import open_submission, submissions_in
from scbench.leaderboard.names import similar_names
from scbench.leaderboard.predictions import Pair, answer_pair, unpacked_hash
from scbench.leaderboard.submission import MOST_ATTEMPTS
from scbench.leaderboard.validate import Validated, read_about
from scbench.release.load import Release

# Short answers coincide often, so many more of them must be the same.
LEAST_LONG, LONG_SHARE = 5, 0.10
LEAST_SHORT, SHORT_SHARE = 20, 0.90

# For each instance, the hashes of a model's answers (all samples), and whether each is
# long.
Answers = Mapping[str, Mapping[str, bool]]


class AnswerOverlap(NamedTuple):
    """The overlap of two models' answers, in numbers of instances.

    Attributes:
        equal_long: both gave the same long answer.
        compared_long: both gave a long answer.
        equal_short: both gave the same short answer.
        compared_short: both gave a short answer.
    """

    equal_long: int
    compared_long: int
    equal_short: int
    compared_short: int

    @property
    def suspicious(self) -> bool:
        """Whether the overlap is too large to be chance."""
        least_long = max(LEAST_LONG, LONG_SHARE * self.compared_long)
        least_short = max(LEAST_SHORT, SHORT_SHARE * self.compared_short)
        return self.equal_long >= least_long or self.equal_short >= least_short


def compare_with_others(done: Validated, folder: Path) -> list[Finding]:
    """Return the findings from comparing a valid submission with the others in a folder.

    Answers are compared with all submissions to the same release, including those of
    the same model. A submission is not compared with the folder that it corrects.
    """
    own_about = done.about
    release = done.release
    predictions = done.opened.predictions
    if release is None or own_about is None or predictions is None:
        return []
    stored = stored_answers(release)
    own_answers = answers_of(done.checked.answers, stored)
    findings: list[Finding] = []
    warnings: list[Finding] = []
    for path in submissions_in(folder):
        if path.resolve() == done.opened.path.resolve() or path.is_symlink():
            continue
        with open_submission(path) as opened:
            # Only the names are compared with submissions to other releases.
            about = read_about(opened, lambda _: release).about
            if about is None:
                continue
            findings += similar_names(own_about, about, path.name)
            same_release = about.release == own_about.release
            same_board = same_release and about.tasks == own_about.tasks
            if opened.predictions is not None and same_board:
                answers = read_answers(opened.predictions.path, release)
                warnings += overlap_warning(
                    own_answers,
                    answers_of(answers, stored),
                    path.name,
                    predictions.name,
                )
    return findings + warnings


@lru_cache(maxsize=4)
def stored_answers(release: Release) -> frozenset[Pair]:
    """Return the instance and hash of every answer stored with a release."""
    return frozenset((ref.id, sha256(ref.answer)) for ref in release.references())


def read_answers(path: Path, release: Release) -> list[Pair]:
    """Return each answer in a predictions file for a release; none if the file is too large."""
    if unpacked_hash(path) is None:
        return []
    tasks = {task.id: task for task in choose_tasks(release, None)}
    instances = release.instances(release.manifest.default_tasks)
    coverage = Coverage(known_ids(instances, tasks))
    # The file may never have been validated.
    limit = len(instances) * MOST_ATTEMPTS
    pairs: list[Pair] = []
    for admission, line in islice(coverage.read(str(path), hashlib.sha256()), limit):
        if line is not None and admission.kind is LineKind.GRADED:
            task = tasks[task_of(line.prediction.id)]
            pairs += answer_pair(line.prediction, task)
    return pairs


def answers_of(pairs: Iterable[Pair], stored: frozenset[Pair]) -> Answers:
    """Return the answers that are not stored with the release."""
    answers = defaultdict[str, dict[str, bool]](dict)
    for row_id, text in pairs:
        digest = sha256(text)
        if (row_id, digest) not in stored:
            answers[row_id][digest] = is_long(text)
    return answers


def compare(first: Answers, second: Answers) -> AnswerOverlap:
    """Return the overlap of two models' answers."""
    # Counted by whether the answers are long; a long answer never equals a short one.
    equal = Counter[bool]()
    compared = Counter[bool]()
    for row_id in first.keys() & second.keys():
        for long in (True, False):
            first_digests = digests_of(first[row_id], long=long)
            second_digests = digests_of(second[row_id], long=long)
            if first_digests and second_digests:
                compared[long] += 1
            if first_digests & second_digests:
                equal[long] += 1
    return AnswerOverlap(
        equal_long=equal[True],
        compared_long=compared[True],
        equal_short=equal[False],
        compared_short=compared[False],
    )


def digests_of(answers: Mapping[str, bool], *, long: bool) -> set[str]:
    """Return the hashes of the long answers, or of the short ones."""
    return {digest for digest, kind in answers.items() if kind is long}


def overlap_warning(
    mine: Answers, theirs: Answers, where: str, file: str = ""
) -> Iterator[Finding]:
    """Yield a warning if the answers of two submissions are suspiciously similar.

    Args:
        mine: answers of the submission that the warning is about.
        theirs: answers of the submission that it is compared with.
        where: the path of that other submission.
        file: name of the predictions file.
    """
    overlap = compare(mine, theirs)
    if not overlap.suspicious:
        return
    shares = []
    for equal, compared, kind in (
        (overlap.equal_long, overlap.compared_long, "long"),
        (overlap.equal_short, overlap.compared_short, "short"),
    ):
        if compared:
            share = equal / compared
            shares.append(f"{equal} of {compared} {kind} answers ({share:.0%})")
    yield finding("alike", file, where=printable(where), shares=" and ".join(shares))


def pairs_to_compare(answers: Mapping[str, Answers]) -> list[tuple[str, str]]:
    """Return the pairs of submissions that share enough answers to be worth comparing."""
    names_by_answer = defaultdict[Pair, list[str]](list)
    for name, by_row in answers.items():
        for row_id, hashes in by_row.items():
            for digest in hashes:
                names_by_answer[row_id, digest].append(name)
    counts = Counter(
        pair for names in names_by_answer.values() for pair in combinations(names, 2)
    )
    least = min(LEAST_LONG, LEAST_SHORT)
    return [pair for pair, count in counts.items() if count >= least]
