"""Terrain levelling: each rule, and the physics compared with a plain simulation."""

import math
import os
import random
import signal

import pytest
from commands import python
from hypothesis import given
from hypothesis import strategies as st
from plain_blast import plain_blast, random_blasts

from scbench.base import progress
from scbench.base.errors import CannotGrade
from scbench.base.model import Prediction, Status
from scbench.catalog import get_task
from scbench.graders import terrain_levelling
from scbench.graders.terrain_levelling import blast_simulation, grade
from scbench.graders.terrain_levelling.blast_simulation import (
    ball_count,
    blast_cell,
    engine,
    largest_flat,
    neighbours,
    start_positions,
)
from scbench.machine.physics import VARIABLE, PhysicsError
from scbench.schemas.terrain_levelling import MAX_BLASTS, Answer, Params
from scbench.scoring.judge import judge
from scbench.scoring.outcomes import grade_prediction

TASK = get_task("terrain_levelling")
PAPER = TASK.builder().paper()
# Three cells are level, (1, 0) is higher, and the last row has height 0.
STEP = Params(
    heights=((5, 8, 5), (5, 2, 5), (0, 0, 0)),
    flat_tolerance=0.2,
    share=0.5,
    max_blasts=5,
)


def plan(*blasts):
    return {"blasts": [dict(zip("xyz", blast, strict=True)) for blast in blasts]}


def verdict(params, *blasts):
    return grade(params, Answer.model_validate(plan(*blasts)))


def failed(*blasts, params=STEP):
    given = verdict(params, *blasts)
    assert given.score == 0
    return {check.id for check in given.checks if check.passed is False}


def fast_blast(rows, n, x, y, z):
    """Run the grader's blast on a copy of the rows; return all heights in hexadecimal."""
    heights = [height for row in rows for height in row]
    blast_cell(heights, n, x, y, z)
    return [height.hex() for height in heights]


def test_blasts_match_fresh_clients_in_any_order_and_after_a_crash():
    rng = random.Random(7)
    paper_heights = [item.params.heights for item in PAPER]
    jobs = []
    for rows, n, x, y, z in random_blasts(rng, paper_heights, 60):
        before = [list(row) for row in rows]
        plain_blast(rows, n, x, y, z)
        after = [height.hex() for row in rows for height in row]
        assert fast_blast(before, n, x, y, z) == after
        jobs.append((before, n, x, y, z, after))
    rng.shuffle(jobs)
    for number, (*blast, after) in enumerate(jobs):
        if number % 20 == 1:
            os.kill(engine()._child.pid, signal.SIGKILL)
        assert fast_blast(*blast) == after


def test_engine_crash_fails_only_its_own_row(monkeypatch, tmp_path):
    script = tmp_path / "engine.py"
    script.write_text("import os\ndef roll(numbers):\n    os.abort()\n")
    row = Prediction(id="terrain_levelling/00", answer=plan((0, 0, 0.5)))
    with monkeypatch.context() as broken:
        broken.setattr(blast_simulation, "_ENGINE", script)
        with pytest.raises(PhysicsError, match="exited with code -6"):
            verdict(PAPER[0].params, (0, 0, 0.5))
        outcome = grade_prediction(row, TASK, PAPER[0].params)
        assert outcome.status is Status.GRADER_ERROR
    assert grade_prediction(row, TASK, PAPER[0].params).status is Status.ANSWERED


def test_balls_start_as_specified():
    counts = {0.01: 3, 0.99: 3, 1: 4, 2.49: 9, 2.5: 10, 29.9: 119, 30: 120, 1e308: 120}
    assert {depth: ball_count(depth) for depth in counts} == counts
    starts = start_positions(2, 7, 3.0, 6)
    heights = [z for _, _, z in starts]
    assert heights == pytest.approx([3.6, 3.62, 3.64, 3.66, 3.68, 3.6])
    radii = [math.hypot(x - 2.5, y - 7.5) for x, y, _ in starts]
    assert radii == pytest.approx([0.25 * math.sqrt((i + 1) / 6) for i in range(6)])


@pytest.mark.parametrize(
    ("blasts", "checks"),
    [
        ([(3, 0, 1)], {"grid"}), ([(0, 3, 1)], {"grid"}), ([(-1, 0, 1)], {"grid"}),
        ([(0, -1, 1)], {"grid"}), ([(10**30, 0, 1)], {"grid"}), ([(0, -(10**5000), 1)], {"grid"}),
        ([(0, 0, 0)], {"positive"}), ([(0, 0, -1)], {"positive"}), ([(0, 0, 5.001)], {"depth"}),
        ([(1, 1, 2.5)], {"depth"}), ([(0, 0, 1e308)], {"depth"}), ([(0, 2, 0.001)], {"depth"}),
        ([(1, 0, 5), (1, 0, 5)], {"depth"}),
        ([(1, 0, 9), (5, 5, -1)], {"grid", "positive", "depth"}),
        ([(1, 0, 1), (0, 0, -1), (9, 0, 1)], {"grid", "positive"}), ([(0, 0, 0.01)] * 6, {"count"}),
        ([], {"level"}),
    ],
)  # fmt: skip
def test_each_fault_fails_its_own_check(blasts, checks):
    assert failed(*blasts) - {"level"} == checks - {"level"}
    if checks == {"level"}:
        assert failed(*blasts) == checks


def test_blasts_may_reach_down_to_zero_but_no_deeper():
    assert verdict(STEP, (0, 0, 5.0)).checks[3].passed
    assert not verdict(STEP, (0, 0, math.nextafter(5.0, 6))).checks[3].passed


def test_score_is_share_of_required_gain(monkeypatch):
    def flatten(cells):
        """Return a blast that leaves this many of 9 cells flat."""

        def blast(heights, n, x, y, depth):
            heights[:] = [0.0 if i < cells else 10.0 * (i + 1) for i in range(9)]
            return 0

        return blast

    rough = Params(
        heights=((1, 2, 3), (4, 5, 6), (7, 8, 9)),
        flat_tolerance=0.2,
        share=0.5,
        max_blasts=9,
    )
    for cells, score in {1: 0, 2: 1 / 4.5, 5: 4 / 4.5, 6: 1, 9: 1}.items():
        monkeypatch.setattr(terrain_levelling, "blast_cell", flatten(cells))
        assert verdict(rough, (0, 0, 1)).score == pytest.approx(score)
    # The share is nine tenths, but only 8 cells can be gained.
    most = rough.model_copy(update={"share": 0.9})
    assert verdict(most, (0, 0, 1)).score == 1
    lost = rough.model_copy(update={"heights": ((5, 5, 5), (5, 5, 9), (1, 2, 3))})
    monkeypatch.setattr(terrain_levelling, "blast_cell", flatten(2))
    assert verdict(lost, (0, 0, 1)).score == 0


def brute_flat(heights, n, most):
    """Return the size of the largest flat region, merging labels of exact numbers."""
    labels = list(range(n * n))
    changed = True
    while changed:
        changed = False
        for cell, around in enumerate(neighbours(n)):
            for other in around:
                if abs(heights[cell] - heights[other]) <= most:
                    low = min(labels[cell], labels[other])
                    changed |= labels[cell] != labels[other]
                    labels[cell] = labels[other] = low
    return max(labels.count(label) for label in labels)


@given(n=st.integers(2, 6), data=st.data())
def test_largest_flat_region_matches_merged_labels(n, data):
    tenths = data.draw(st.lists(st.integers(0, 90), min_size=n * n, max_size=n * n))
    tolerance = data.draw(st.integers(1, 10))
    region = largest_flat([k / 10 for k in tenths], n, tolerance / 10)
    assert len(region) == len(set(region)) == brute_flat(tenths, n, tolerance)


def test_gentle_slopes_are_flat_and_rounding_is_ignored():
    slope = [0.1 * i for i in range(5) for _ in range(5)]
    assert len(largest_flat(slope, 5, 0.2)) == 25
    assert 5.0 - 4.8 > 0.2
    assert len(largest_flat([5.0, 4.8, 0, 9], 2, 0.2)) == 2
    assert len(largest_flat([5.0, 4.8 - 2e-9, 0, 9], 2, 0.2)) == 1
    assert len(largest_flat([5.0, 4.81, 0, 9], 2, 0.2)) == 2


def test_work_is_limited(monkeypatch):
    flood = Answer.model_validate(plan(*[(0, 0, 0.01)] * (MAX_BLASTS + 1)))
    given = grade(PAPER[0].params, flood)
    checks = {check.id for check in given.failed}
    assert checks >= {"count", "resource_limit", "depth", "level"}
    assert given.metrics["simulated"] == 0
    tower = Params(
        heights=((9000, 5), (5, 5)),
        flat_tolerance=0.2,
        share=0.5,
        max_blasts=MAX_BLASTS,
    )
    monkeypatch.setattr(terrain_levelling, "blast_cell", lambda *_: 0)
    deep, medium, shallow = (0, 0, 40), (0, 0, 5), (0, 0, 0.1)
    # 120 balls are 120 + 6^4 units of work, 20 are 20 + 1^4, and 3 hardly more than 3.
    assert failed(*[deep] * 14, *[medium] * 8, params=tower) == {"level"}
    assert failed(*[deep] * 14, *[medium] * 9, params=tower) == {"resource_limit"}
    assert failed(*[shallow] * 6665, params=tower) == {"level"}
    assert failed(*[shallow] * 6666, params=tower) == {"resource_limit"}


def test_fingerprint_is_in_verdicts_and_differs_between_machines(monkeypatch):
    code = "from scbench.graders.terrain_levelling import fingerprint\nprint(fingerprint())"
    given = verdict(STEP).metrics["fingerprint"]
    assert python(code).strip() == given == TASK.fingerprint()
    # One position is off in its last bit.
    starts = blast_simulation.start_positions

    def off(*args):
        first, *others = starts(*args)
        return [[math.nextafter(first[0], 9), *first[1:]], *others]

    monkeypatch.setattr(blast_simulation, "start_positions", off)
    assert blast_simulation.fingerprint.__wrapped__() != given


def test_every_blast_reports_progress():
    beats = []
    progress.listen(lambda *args: beats.append(args))
    try:
        verdict(STEP, (1, 0, 1), (1, 0, 1), (1, 0, 99))
    finally:
        progress.listen(None)
    assert beats == [(1, 3), (2, 3)]


@pytest.mark.parametrize(
    "blasts",
    [[], [(0, 0, -1)], [(0, 0, 99)], [(9, 9, 1)], [(0, 0, 0.1)] * (MAX_BLASTS + 1)],
)
def test_plans_need_the_engine(monkeypatch, blasts):
    monkeypatch.setenv(VARIABLE, "/nowhere/python")
    with pytest.raises(CannotGrade, match="which /nowhere/python cannot run"):
        judge(TASK, STEP, plan(*blasts))


def test_missing_engine_is_not_run_but_broken_answers_score_0(
    monkeypatch,
):
    monkeypatch.setenv(VARIABLE, "/nowhere/python")
    row = Prediction(id="terrain_levelling/00", answer=plan((0, 0, 0.5)))
    outcome = grade_prediction(row, TASK, PAPER[0].params)
    assert outcome.status is Status.NOT_RUN
    assert not any(verdict.score for verdict in outcome.verdicts)
    assert judge(TASK, STEP, {"blasts": 1})[0].score == 0
