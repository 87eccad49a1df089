import json
from dataclasses import replace

import pytest
from pydantic import ValidationError

from scbench.base.model import Prediction, Status
from scbench.loop import grade_line
from scbench.release.load import find_release


@pytest.fixture
def trial(all_stored):
    """A trial of three different wrong answers, as a line, and its grading context."""
    stored = all_stored["enumerate_edges"]
    environment, _ = stored.played(stored.wrong[:3])
    return stored, environment.prediction()


def grade(stored, line):
    return grade_line(Prediction.model_validate(line), stored.task, stored.params)


def forged(line, **changes):
    return json.loads(json.dumps(line)) | changes


def test_unchanged_trace_is_graded(trial):
    stored, line = trial
    outcome = grade(stored, line)
    assert not outcome.forged
    assert outcome.trial.scores == ((0.0,),) * 3


def test_edited_observation_is_named_by_its_turn(trial):
    stored, line = trial
    line = forged(line)
    line["turns"][1]["observation"] = line["turns"][1]["observation"].replace("0", "1")
    outcome = grade(stored, line)
    assert outcome.forged
    assert outcome.status is Status.NOT_RUN
    assert outcome.score is None
    assert outcome.reason.startswith("turn 2: the observation differs")


def edited(turns, change):
    return {
        "dropped first": turns[1:],
        "dropped middle": [turns[0], turns[2]],
        "dropped last": turns[:-1],
        "added": [*turns, turns[-1]],
        "reordered": [turns[1], turns[0], turns[2]],
        "all dropped": [],
    }[change]


@pytest.mark.parametrize(
    ("change", "turn"),
    [
        ("dropped first", 1),
        ("dropped middle", 2),
        ("dropped last", 3),
        ("added", 4),
        ("reordered", 1),
        ("all dropped", 1),
    ],
)
def test_dropped_added_or_moved_turns_are_named(trial, change, turn):
    stored, line = trial
    outcome = grade(stored, forged(line, turns=edited(line["turns"], change)))
    assert outcome.forged
    assert outcome.reason.startswith(f"turn {turn}: ")


@pytest.mark.parametrize(
    "change", [{"disclose": "score"}, {"attempts": 5}, {"attempts": 2}]
)
def test_trace_of_another_setup_is_named(trial, change):
    stored, line = trial
    outcome = grade(stored, forged(line, loop=line["loop"] | change))
    assert outcome.forged
    assert outcome.reason.startswith("turn ")


def test_trace_of_another_instance_is_named(all_stored):
    stored = all_stored["enumerate_edges"]
    environment, _ = stored.played([stored.wrong[0], stored.right])
    other = replace(stored, instance=find_release().instances()["enumerate_edges/01"])
    outcome = grade(other, environment.prediction())
    assert outcome.forged
    assert outcome.reason.startswith("turn 1: ")


def test_different_versions_are_not_called_forged(trial):
    stored, line = trial
    for change, message in (({"rules": 99}, "rules"), ({"grader": 99}, "grader")):
        outcome = grade(stored, forged(line, loop=line["loop"] | change))
        assert (outcome.status, outcome.forged) == (Status.NOT_RUN, False)
        assert message in outcome.reason


def test_truncated_trial_needs_a_status(trial):
    stored, line = trial
    half = forged(line, turns=line["turns"][:1])
    assert grade(stored, half).forged
    assert grade(stored, half | {"status": "refused"}).score == 0
    outcome = grade(stored, half | {"status": "api_error", "error": "HTTP 500"})
    assert (outcome.status, outcome.score) == (Status.API_ERROR, None)
    assert grade(stored, half | {"status": "missing"}).score is None


@pytest.mark.parametrize(
    ("name", "status"),
    [
        ("maze_3d", "truncated"),
        ("maze_3d", "refused"),
        ("maze_3d", "unparsed"),
        ("tetrahedra_shadow_projection", "refused"),
        ("interlocking_parts", "truncated"),
    ],
)
def test_trial_cut_at_its_best_turn_keeps_the_status_it_declares(
    all_stored, name, status
):
    stored = all_stored[name]
    best, other, *_ = sorted(stored.wrong, key=len)[-2:]
    environment, _ = stored.played([best, other])
    line = environment.prediction(status=status)
    for turns in (1, 2):
        outcome = grade(stored, line | {"turns": line["turns"][:turns]})
        assert (outcome.status, outcome.score) == (Status(status), 0.0)
        assert len(outcome.verdicts) == stored.task.scores
        assert len(outcome.trial.scores) == turns
        assert outcome.answer is None
    assert grade(stored, line | {"turns": [], "status": status}).score == 0


@pytest.mark.parametrize("status", ["truncated", "refused", "unparsed"])
def test_truncated_actions_do_not_count(all_stored, status):
    stored = all_stored["hyper_snake"]
    environment, steps = stored.played(["nothing", "nothing more"], setting="act")
    assert not steps[-1].done
    outcome = grade(stored, environment.prediction(status=status))
    assert (outcome.status, outcome.score) == (Status(status), 0.0)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"setting": "no_tools"}, "needs setting retry or probe or act"),
        ({"setting": None}, "needs setting"),
        ({"loop": None}, "needs loop"),
        ({"turns": None}, "needs turns"),
        ({"setting": "probe"}, "loop has the setting retry"),
        ({"response": "x"}, "read from the turns"),
        ({"turns": [{"action": "x"}]}, "turns.0.observation"),
        ({"turns": [{"action": 1, "observation": "x"}]}, "turns.0.action"),
        ({"turns": [{"action": "", "observation": ""}] * 601}, "at most 600"),
        ({"turns": [{"action": "x" * 1_000_001, "observation": ""}]}, "1000000"),
        ({"turns": [{"action": "x", "observation": "x" * 20_001}]}, "20000"),
        ({"loop": {"setting": "retry", "attempts": 99}}, "attempts"),
        ({"loop": {"setting": "retry", "budget": 10**9}}, "budget"),
    ],
)
def test_junk_in_place_of_a_trace_is_no_prediction(trial, changes, message):
    _, line = trial
    with pytest.raises(ValidationError) as error:
        Prediction.model_validate(forged(line, **changes))
    assert message in str(error.value)
