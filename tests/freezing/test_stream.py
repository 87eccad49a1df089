"""Endless fresh instances, and the curriculum that chooses their rungs."""

import json
import pickle
import random
from collections import Counter
from itertools import islice

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
    folder = generate_folder(
        ladder().experiment(seed=9, tasks=["two_segments"], rung=3, count=4),
        tmp_path / "out",
    )
    assert folder.manifest.is_ladder
    held = find_release(str(tmp_path / "out")).instances()
    ours = scbench.generate("two_segments", 4, 9, rung=3)
    assert [item.id for item in ours] == [*held]
    assert [item.content_hash for item in ours] == [
        item.content_hash for item in held.values()
    ]
    with pytest.raises(ExperimentError, match="rung or parameters"):
        scbench.generate("two_segments", rung=3, segments=2)
    with pytest.raises(ExperimentError, match="no rung 99"):
        scbench.generate("two_segments", rung=99)


def test_ranks_together_draw_the_stream_of_a_single_one():
    alone = first(12, ["two_segments", "arithmetic", "dates"], seed=5)
    shards = [
        first(4, ["two_segments", "arithmetic", "dates"], seed=5, rank=rank, world=3)
        for rank in range(3)
    ]
    assert [item for turn in zip(*shards, strict=True) for item in turn] == alone
    assert Counter(item.task for item in alone) == dict.fromkeys(
        ("two_segments", "arithmetic", "dates"), 4
    )
    assert (
        len({tuple(item.task for item in alone[i : i + 3]) for i in (0, 3, 6, 9)}) > 1
    )
    second = first(12, ["two_segments", "arithmetic", "dates"], seed=6)
    assert not {item.prompt for item in alone} & {item.prompt for item in second}
    assert len({item.id for item in (*alone, *second)}) == 24


def test_released_data_is_never_drawn(monkeypatch):
    release = find_release()
    for part in (release, release.ladder(), release.terse()):
        held = part.instances(["two_segments"]).values()
        assert {data_hash(item) for item in held} <= frozen_hashes("two_segments")
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
        chance = 1 / (1 + 2.718 ** (1.5 * (rung - level)))
        of_rung = one.model_copy(update={"id": f"x:{one.task}/ladder-{rung:02d}-1"})
        curriculum.report(of_rung, [float(luck.random() < chance) for _ in range(8)])
    return rungs


@pytest.mark.parametrize("level", [2, 5, 7])
def test_curriculum_settles_where_half_of_the_rollouts_succeed(level):
    curriculum, luck = Curriculum(), random.Random(level)
    (item,) = scbench.generate("hamiltonian_loop", rung=1)
    rungs = played(curriculum, item, level, 40, luck)
    assert abs(sum(rungs[10:]) / 30 - level) < 0.7
    # A model that learns is followed.
    rungs = played(curriculum, item, level + 2, 40, luck)
    assert abs(sum(rungs[15:]) / 25 - level - 2) < 0.8
    state = json.loads(json.dumps(curriculum.state))
    second = Curriculum()
    second.state = state
    assert second.rung("hamiltonian_loop") == curriculum.rung("hamiltonian_loop")


def test_stream_draws_from_the_rung_of_its_curriculum():
    stream = scbench.stream("two_segments", curriculum=True, seed=2)
    middle = rung_of(next(stream).id)
    for score in (1.0, 0.0):
        for _ in range(8):
            item = next(stream)
            stream.curriculum.report(item, [score] * 8 + [None])
        assert (rung_of(next(stream).id) - middle) * (1 if score else -1) > 0
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
