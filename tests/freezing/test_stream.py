"""Endless fresh instances, and the curriculum that chooses their rungs."""

import json
import math
import pickle
import random
from collections import Counter
from itertools import islice
from statistics import fmean

import pytest

import scbench
from scbench.base.errors import ExperimentError
from scbench.base.model import rung_of
from scbench.freezing import stream as module
from scbench.freezing.fresh_folder import generate_folder
from scbench.freezing.ladder import ladder
from scbench.freezing.stream import Curriculum, data_hash, frozen_hashes
from scbench.release.load import find_release


def first(count, *args, **kwargs):
    return [*islice(scbench.stream(*args, **kwargs), count)]


def test_rung_in_python_equals_that_of_the_command(tmp_path):
    experiment = ladder().experiment(seed=9, tasks=["two_segments"], rung=3, count=4)
    folder = generate_folder(experiment, tmp_path / "out")
    assert folder.manifest.is_ladder
    stored = find_release(str(tmp_path / "out")).instances()
    items = scbench.generate("two_segments", 4, 9, rung=3)
    assert [item.id for item in items] == list(stored)
    for item in items:
        assert item.content_hash == stored[item.id].content_hash
    with pytest.raises(ExperimentError, match="rung or parameters"):
        scbench.generate("two_segments", rung=3, segments=2)
    with pytest.raises(ExperimentError, match="no rung 99"):
        scbench.generate("two_segments", rung=99)


def test_ranks_together_draw_the_stream_of_a_single_one():
    tasks = ["two_segments", "arithmetic", "dates"]
    alone = first(12, tasks, seed=5)
    for rank in range(3):
        # Each of three processes draws every third item.
        assert first(4, tasks, seed=5, rank=rank, world=3) == alone[rank::3]
    names = [item.task for item in alone]
    assert Counter(names) == dict.fromkeys(tasks, 4)
    # Every three items are of the three tasks, in changing order.
    orders = {tuple(names[start : start + 3]) for start in (0, 3, 6, 9)}
    assert len(orders) > 1
    other = first(12, tasks, seed=6)
    assert not {item.prompt for item in alone} & {item.prompt for item in other}
    assert len({item.id for item in (*alone, *other)}) == 24


def test_released_data_is_never_drawn(monkeypatch):
    release = find_release()
    for part in (release, release.ladder(), release.terse()):
        stored = part.instances(["two_segments"]).values()
        assert set(map(data_hash, stored)) <= frozen_hashes("two_segments")
    taken = first(3, "arithmetic", seed=1)
    hashes = frozenset(map(data_hash, taken))
    monkeypatch.setattr(module, "frozen_hashes", lambda _: hashes)
    again = scbench.stream("arithmetic", seed=1)
    drawn = [*islice(again, 3)]
    assert not hashes & set(map(data_hash, drawn))
    assert again.counts["frozen"] == 3


def test_exhausted_space_repeats_itself_with_a_warning():
    tiny = {"length": 3, "max_depth": 0, "prob_negation": 0, "format": "T_F"}
    stream = scbench.stream("boolean", **tiny)
    with pytest.warns(
        UserWarning, match="boolean: 20 draws at this point gave no new item"
    ):
        drawn = [*islice(stream, 120)]
    assert stream.counts["drawn"] == 120
    different = len(set(map(data_hash, drawn)))
    assert stream.counts["repeats"] == 120 - different
    assert 60 < different <= 72


def played(curriculum, one, level, groups, luck):
    """Report groups of eight rollouts of a model of this level; return the rungs."""
    rungs = []
    for _ in range(groups):
        rung = curriculum.rung(one.task)
        rungs.append(rung)
        chance = 1 / (1 + math.exp(1.5 * (rung - level)))
        scores = [float(luck.random() < chance) for _ in range(8)]
        of_rung = one.model_copy(update={"id": f"x:{one.task}/ladder-{rung:02d}-1"})
        curriculum.report(of_rung, scores)
    return rungs


@pytest.mark.parametrize("level", [2, 5, 7])
def test_curriculum_settles_where_half_of_the_rollouts_succeed(level):
    curriculum, luck = Curriculum(), random.Random(level)
    (item,) = scbench.generate("hamiltonian_loop", rung=1)
    # The first groups are left out: the curriculum starts in the middle of the ladder.
    rungs = played(curriculum, item, level, 40, luck)
    assert fmean(rungs[10:]) == pytest.approx(level, abs=0.7)
    # The curriculum follows a model that learns.
    rungs = played(curriculum, item, level + 2, 40, luck)
    assert fmean(rungs[15:]) == pytest.approx(level + 2, abs=0.8)
    state = json.loads(json.dumps(curriculum.state))
    second = Curriculum()
    second.state = state
    assert second.rung("hamiltonian_loop") == curriculum.rung("hamiltonian_loop")


def test_stream_draws_from_the_rung_of_its_curriculum():
    stream = scbench.stream("two_segments", curriculum=True, seed=2)
    middle = rung_of(next(stream).id)

    def rung_after(score):
        for _ in range(8):
            stream.curriculum.report(next(stream), [score] * 8 + [None])
        return rung_of(next(stream).id)

    assert rung_after(1.0) > middle
    assert rung_after(0.0) < middle
    (plain,) = scbench.generate("arithmetic")
    with pytest.raises(ExperimentError, match="not on a rung"):
        stream.curriculum.report(plain, [1.0])


def test_stream_continues_in_another_process():
    stream = scbench.stream(
        ["two_segments", "hamiltonian_loop"], curriculum=True, seed=8
    )
    stream.curriculum.report(next(stream), [1.0] * 8)
    second = pickle.loads(pickle.dumps(stream))  # noqa: S301  (our own)
    assert [next(second) for _ in range(4)] == [next(stream) for _ in range(4)]
    assert second.counts == stream.counts
