"""Measurements of people: the plan, the file, and the human line."""

import gzip
import json
import os
import resource
from concurrent.futures import ThreadPoolExecutor

import polars as pl
import pytest
from later import Later

from scbench.analysis.human import players_mean, t_quantile
from scbench.base.errors import PredictionsError, ReleaseError
from scbench.play.items import Items
from scbench.play.study import Study, StudyPlan, append_whole, planned_items
from scbench.release.load import find_release

stats = Later("scipy.stats")

PLAN = StudyPlan(["two_segments", "shikaku_rectangles"], [1, 2], 2, 30, 7)


@pytest.fixture(scope="module")
def items():
    return Items(find_release())


def ids_of(items, plan):
    return [instance.id for instance in planned_items(items, plan)]


def test_plan_depends_on_its_seed(items):
    ids = ids_of(items, PLAN)
    assert ids == ids_of(items, PLAN)
    assert ids != ids_of(items, PLAN._replace(seed=8))
    assert len(set(ids)) == 8
    assert ["ladder-01" in name for name in ids] == [True] * 4 + [False] * 4
    with pytest.raises(ReleaseError, match="has 6 items on rung 1"):
        planned_items(items, PLAN._replace(per_rung=7))


def test_session_resumes(items, tmp_path):
    out = tmp_path / "p01.jsonl"
    instances = planned_items(items, PLAN)
    study = Study(instances, "p01", 100, out)
    first = study.step()
    study.record(first.instance.id, {"segments": []}, 30)
    with pytest.raises(ReleaseError, match="not the item to answer now"):
        study.record(first.instance.id, {}, 1)
    resumed = Study(instances, "p01", 100, out)
    second = resumed.step()
    assert (second.number, second.seconds_left) == (1, 70)
    with pytest.raises(ReleaseError, match="seconds must be from 0"):
        resumed.record(second.instance.id, {}, -1)
    resumed.record(second.instance.id, None, 80)
    assert resumed.step().instance is None
    with pytest.raises(PredictionsError, match="answers of p01, not of p02"):
        Study(instances, "p02", 100, out)
    lines = [json.loads(line) for line in out.read_text("utf-8").splitlines()]
    assert {line["setting"] for line in lines} == {"human"}
    known = {"id", "instance_hash", "model", "setting", "usage", "answer", "response"}
    assert set().union(*lines) <= known


def test_answer_is_saved_completely_or_not_at_all(tmp_path):
    path = tmp_path / "answers.jsonl"
    append_whole(path, b"first\n")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(ReleaseError, match="was not saved: cannot write to"):
            append_whole(path, b"second\n")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert path.read_bytes() == b"first\n"
    append_whole(path, b"second\n")
    assert path.read_bytes() == b"first\nsecond\n"


def test_an_answer_never_joins_the_line_before(tmp_path):
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b"saved by an editor that ends no line")
    append_whole(path, b"next\n")
    assert path.read_bytes().splitlines()[1] == b"next"


def test_a_session_starts_only_if_its_answers_can_be_saved(items, tmp_path):
    instances = planned_items(items, PLAN)
    os.mkfifo(tmp_path / "pipe")
    line = {"id": "two_segments/07", "model": "p01", "answer": 1}
    (tmp_path / "packed").write_bytes(gzip.compress(json.dumps(line).encode()))
    (tmp_path / "loop").symlink_to("loop")
    for name in ("pipe", "packed", "loop", ".", "no/folder"):
        with pytest.raises((PredictionsError, ReleaseError), match=name):
            Study(instances, "p01", 100, tmp_path / name)


def test_only_one_of_several_simultaneous_answers_is_saved(items, tmp_path):
    out = tmp_path / "p01.jsonl"
    study = Study(planned_items(items, PLAN), "p01", 100, out)
    row_id = study.step().instance.id

    def answer(_number: int) -> bool:
        try:
            study.record(row_id, {}, 1)
        except ReleaseError:
            return False
        return True

    with ThreadPoolExecutor(8) as threads:
        assert sum(threads.map(answer, range(8))) == 1
    assert len(out.read_text().splitlines()) == 1


@pytest.mark.parametrize("freedom", [1, 2, 5, 9, 29, 200])
def test_quantiles_equal_students(freedom):
    assert t_quantile(0.975, freedom) == pytest.approx(stats.t.ppf(0.975, freedom))


def test_interval_is_over_players():
    values = [0.5, 0.7, 0.9, 0.6]
    low, high = stats.t.interval(0.95, 3, pl.Series(values).mean(), stats.sem(values))
    assert players_mean(values, 0, 1) == pytest.approx((0.675, low, high))
    assert players_mean([0.1, 0.9], 0, 1) == pytest.approx((0.5, 0, 1))
    assert players_mean([0.5], 0, 1) == (0.5, None, None)
    assert players_mean([], 0, 1) == (None, None, None)
