"""Copied answers are noticed; shared correct answers and shared easy mistakes are not."""

import json
import random

import pytest

from scbench.leaderboard.answer_overlap import (
    AnswerOverlap,
    compare,
    compare_with_others,
)
from scbench.leaderboard.folder import open_submission
from scbench.leaderboard.validate import release_finder, validate


@pytest.fixture
def warned(small, entry, kit):
    """A function that returns the warnings, given the answers of two models to each instance."""
    other = entry.folder.parent / "borealis"

    def run(mine, theirs, organisation: str = "Other Lab"):
        other.mkdir(exist_ok=True)
        about = kit.about.format(release="0.0.1").replace("Example Lab", organisation)
        (other / "submission.yaml").write_text(about, "utf-8")
        for folder, answer in ((entry.folder, mine), (other, theirs)):
            lines = kit.answers(small)
            for i, line in enumerate(lines):
                line["answer"] = answer(i, line["answer"])
                if folder is other:  # the same answers in another form
                    line["response"] = json.dumps(line.pop("answer"), indent=1)
            kit.write(folder / "predictions.jsonl", lines)
        with open_submission(entry.folder) as opened:
            done = validate(opened, release_finder([small]))
            return compare_with_others(done, entry.folder.parent)

    return run


def noise(seed: int):
    """Long answers that two models never share by chance."""

    def answer(i: int, reference: dict) -> dict:
        rng = random.Random(f"{seed} {i}")
        return {
            next(iter(reference)): [
                [rng.randrange(99) for _ in range(4)] for _ in range(12)
            ]
        }

    return answer


def right(_: int, reference: object) -> object:
    return reference


def test_correct_answers_prove_nothing(warned):
    assert warned(right, right) == []


def test_copy_is_noticed_with_number_and_share(warned):
    mine, own = noise(1), noise(2)
    (finding,) = warned(mine, lambda i, ref: (mine if i % 2 else own)(i, ref))
    assert (finding.level, finding.code, finding.file) == (
        "warning",
        "alike",
        "predictions.jsonl",
    )
    assert "borealis" in finding.message
    assert "13 of 27 long answers (48%)" in finding.message


@pytest.mark.parametrize(
    ("overlap", "suspicious"),
    [
        (AnswerOverlap(4, 4, 0, 0), False),
        (AnswerOverlap(5, 5, 0, 0), True),
        (AnswerOverlap(5, 50, 0, 0), True),
        (AnswerOverlap(5, 51, 0, 0), False),
        (AnswerOverlap(0, 0, 19, 19), False),
        (AnswerOverlap(0, 0, 20, 22), True),
        (AnswerOverlap(0, 0, 20, 23), False),
    ],
)
def test_overlap_rule(overlap, suspicious):
    assert overlap.suspicious is suspicious


def test_long_and_short_answers_are_compared_separately():
    first = {"a": {"long": True, "short": False}, "b": {"other": True}, "c": {}}
    second = {"a": {"long": True, "tiny": False}, "b": {"short": False}, "d": {}}
    assert compare(first, second) == AnswerOverlap(
        equal_long=1, compared_long=1, equal_short=0, compared_short=1
    )
