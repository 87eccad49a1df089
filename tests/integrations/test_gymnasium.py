"""The loop as a Gymnasium environment, checked by Gymnasium's own checker."""

import json
from importlib.util import find_spec

import pytest
from later import Later

import scbench
from scbench.catalog import get_task
from scbench.freezing.floors import floor_of
from scbench.loop import Setup
from scbench.release.load import find_release

gymnasium = Later("gymnasium")
env_checker = Later("gymnasium.utils.env_checker")
ours = Later("scbench.integrations.gymnasium")
pytestmark = pytest.mark.skipif(not find_spec("gymnasium"), reason="extra [test]")

NAME = "scbench.integrations.gymnasium:scbench/Spatial-v0"


def rows(*tasks):
    return list(find_release().instances(tasks).values())


def right(instance):
    task = get_task(instance.task)
    params = task.params_model.model_validate_json(instance.all_params)
    return task.builder().target(params)


@pytest.mark.parametrize("reward", ["score", "normalized", "improvement"])
@pytest.mark.parametrize("setting", ["retry", "probe", "act"])
def test_checker_has_no_complaints(setting, reward):
    made = gymnasium.make(
        NAME, instances=rows("hyper_snake"), setting=setting, reward=reward
    )
    env_checker.check_env(made.unwrapped)


def test_every_step_has_a_reward_and_improvements_add_up():
    (instance,) = scbench.generate("hide_and_seek", rung=1)
    best = json.loads(right(instance))
    worse = {"people": [*best["people"][:-1], {"xy": [-1.0, 0.0]}]}
    replies = ["none", json.dumps(worse), "none", json.dumps(best)]
    got = {}
    for reward in ("score", "improvement"):
        env = ours.SpatialEnv([instance], Setup(setting="retry", attempts=9), reward)
        env.reset(seed=0)
        got[reward] = [env.step(reply)[1:4] for reply in replies]
    scores = [reward for reward, _, _ in got["score"]]
    assert scores[0] == scores[2] == 0
    assert scores[3] == 1
    assert sum(reward for reward, _, _ in got["improvement"]) == pytest.approx(1)
    assert [ended for _, *ended in got["score"]] == [[False, False]] * 3 + [
        [True, False]
    ]


def test_score_within_reach_of_guessing_is_worth_nothing():
    (instance,) = scbench.generate("shuffle", seed=2)
    task = get_task("shuffle")
    floor = floor_of(
        task, task.params_model.model_validate_json(instance.all_params)
    ).score
    assert 0 < floor < 0.5
    for misses in range(3):
        env = ours.SpatialEnv(
            [instance],
            Setup(setting="retry", attempts=3, closed=True),
            reward="normalized",
        )
        env.reset(seed=0)
        rewards = [env.step("?")[1] for _ in range(misses)]
        *_, (_, reward, terminated, _, _) = [env.step(right(instance))]
        by_then = min(1, (misses + 1) * floor)
        assert reward == pytest.approx(0 if by_then == 1 else 1)
        assert terminated
        assert rewards == [0] * misses


def test_ungradable_trial_is_truncated_without_a_reward(monkeypatch):
    env = ours.SpatialEnv(rows("enumerate_edges"))
    env.reset(seed=1)
    monkeypatch.setattr("scbench.graders.enumerate_edges.grade", lambda *_: 1 / 0)
    _, reward, terminated, truncated, info = env.step(right(env.instance))
    assert (reward, terminated, truncated) == (None, False, True)
    assert info["status"] == "grader_error"
