import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import scbench
from scbench.base.canonical import canonical_json
from scbench.base.errors import PredictionsError
from scbench.base.model import Check, Prediction, Status, Verdict
from scbench.catalog import MANIFOLDS, SECONDS, get_task
from scbench.loop import Environment, Setup, grade_line
from scbench.loop.disclosure import disclosure_lines, one_right
from scbench.loop.environment import floor_after
from scbench.release.load import find_release
from scbench.scoring.answers.shape import shape_of
from scbench.scoring.outcomes import grade_prediction

JUNK = "I would rather talk about the weather."

OWN = {
    "shikaku_rectangles": {
        "overlap": "the first at column",
        "one_clue": "one clue; the first is",
    },
    "delaunay_triangulation": {
        "repeats": "is listed 2 times",
        "indices": "an index outside",
    },
    "half_subdivision_neighbours": {
        "repeats": "more than once",
        "target": "itself is listed",
    },
}


def reply(answer: str) -> str:
    return f"I thought hard.\n\n```json\n{answer}\n```"


def test_player_that_repairs_by_the_checks_ends_at_full_score(stored):
    environment, steps = stored.played([reply(stored.wrong[0]), reply(stored.right)])
    assert [step.done for step in steps] == [False, True]
    assert steps[-1].info["score"] == 1
    assert "full score" in steps[-1].observation
    assert environment.turns[0]["action"] == reply(stored.wrong[0])
    # The replay equals the live trial, and the single-answer verdict on the same answer.
    line = stored.prediction(environment)
    outcome = grade_line(line, stored.task, stored.params)
    assert outcome.status is Status.ANSWERED
    alone = Prediction(id=line.id, response=reply(stored.right))
    assert (
        outcome.verdicts == grade_prediction(alone, stored.task, stored.params).verdicts
    )
    means = [
        None if item is None else sum(item) / len(item) for item in outcome.trial.scores
    ]
    assert means == [step.info["score"] for step in steps]


def test_feedback_never_contains_the_reference_answer(stored):
    """For tasks with one correct answer: neither as a word nor any part that was not given."""
    task = stored.task
    assert one_right(task) == (task.one_answer or task.bucket == MANIFOLDS)
    if task.heavy or not one_right(task):
        return
    right = json.loads(stored.right)
    fixed = set(task.checks.values())
    for answer in stored.wrong:
        line = Prediction(id="x", response=reply(answer))
        outcome = grade_prediction(line, task, stored.params)
        for message in disclosure_lines(task, outcome.verdicts, "places")[1:]:
            rule = message.partition("this rule is broken: ")[2]
            check = message.removeprefix("- ").partition(":")[0]
            if check not in {"answer_schema", "answer_found", *task.own_faults}:
                assert rule in fixed or message.startswith("- resource_limit")
            if shape_of(task.answer_model).is_short:
                parts = (
                    right["answer"]
                    if isinstance(right["answer"], list)
                    else [right["answer"]]
                )
                words = set(
                    re.findall(r"[\w/().-]+", message.replace(rule, "").lower())
                )
                assert not words & {
                    str(part).lower() for part in parts if str(part) not in answer
                }


def test_feedback_contains_no_piece_of_the_reference(stored):
    """For any task: no twenty characters of it that neither the wrong answer nor the row has."""
    if stored.task.seconds > SECONDS:
        return
    right = canonical_json(json.loads(stored.right))
    pieces = {right[i : i + 20] for i in range(max(1, len(right) - 19))}
    for answer in stored.wrong[: 2 if stored.task.heavy else 12]:
        line = Prediction(id="x", response=reply(answer))
        outcome = grade_prediction(line, stored.task, stored.params)
        message = "\n".join(disclosure_lines(stored.task, outcome.verdicts, "places"))
        row = stored.instance
        known = canonical_json(json.loads(answer)) + row.all_params + row.answer_schema
        leaked = {message[i : i + 20] for i in range(len(message) - 19)} & pieces
        assert not {piece for piece in leaked if piece not in known}


@pytest.mark.parametrize("name", OWN)
def test_faults_of_the_answer_itself_are_reported_for_unique_answers(all_stored, name):
    stored = all_stored[name]
    (key, parts), *_ = json.loads(stored.right).items()
    beside = {
        "shikaku_rectangles": [[0, 0, *parts[-1][2:]]],
        "delaunay_triangulation": [[0, 0, 1]],
        "half_subdivision_neighbours": [getattr(stored.params, "target", "")],
    }
    wrong = [*parts, parts[0], *beside[name]]
    _, (step,) = stored.played([json.dumps({key: wrong})])
    for check, words in OWN[name].items():
        assert f"- {check}: " in step.observation
        assert words in step.observation
    assert "this rule is broken" not in step.observation


def test_easily_guessed_items_are_played_only_on_request(all_stored):
    stored = all_stored["boolean"]
    with pytest.raises(PredictionsError, match="at least 10 % of the time"):
        Environment(Setup(setting="retry")).reset(stored.instance)
    Environment(Setup(setting="retry")).reset(all_stored["arithmetic"].instance)
    environment, _ = stored.played([reply(stored.right)])
    line = environment.prediction()
    forged = line | {"loop": line["loop"] | {"closed": False}}
    outcome = grade_line(Prediction.model_validate(forged), stored.task, stored.params)
    assert outcome.forged


def test_trying_all_choices_earns_nothing(all_stored):
    """Each option of a shuffle is equally likely: the floor after k answers is that score."""
    rows = list(find_release().instances(["shuffle"]).values())[::7]
    task = all_stored["shuffle"].task
    for attempts in (1, 2, 4):
        solved = guessed = 0.0
        for row in rows:
            params = task.params_model.model_validate_json(row.all_params)
            solved += any(
                scbench.score(row, {"answer": item})
                for item in params.options[:attempts]
            )
            guessed += floor_after(
                task.bucket, task.builder().blind_floor(params), attempts
            )
        assert abs(solved - guessed) / len(rows) < 0.12


def test_higher_disclosure_reveals_more(all_stored):
    stored = all_stored["two_segments"]
    texts = {}
    for level in ("score", "checks", "places"):
        _, (step,) = stored.played([reply(stored.wrong[0])], disclose=level)
        texts[level] = step.observation
    assert "Checks that failed" not in texts["score"]
    assert len(texts["score"]) < len(texts["checks"]) < len(texts["places"])
    assert "{" not in texts["checks"]


def test_feedback_is_bounded_and_states_its_omissions():
    task = get_task("two_segments")
    many = tuple(
        Check(
            f"c{i}",
            False,
            "x" * 1000,
            {"places": list(range(10_000)), "text": "y" * 9999},
        )
        for i in range(100)
    )
    for level in ("checks", "places"):
        text = "\n".join(disclosure_lines(task, (Verdict(0.0, many),), level))
        assert len(text) < 11_000
        assert "(700 more characters)" in text
        assert re.search(r"- and \d+ more\Z", text)
    assert '"and 9980 more"' in text
    huge = Check("c", False, "m", {f"key{i}": "z" * 300 for i in range(100)})
    assert (
        "are left out" in disclosure_lines(task, (Verdict(0.0, (huge,)),), "places")[1]
    )


def test_junk_takes_an_attempt_and_the_last_answer_counts(all_stored):
    stored = all_stored["tetrahedra_shadow_projection"]
    partial = stored.wrong[1]
    environment, steps = stored.played([JUNK, reply(partial), JUNK])
    assert [step.info["score"] is None for step in steps] == [True, False, True]
    assert "no readable answer" in steps[0].observation
    outcome = grade_line(stored.prediction(environment), stored.task, stored.params)
    assert outcome.score == steps[1].info["score"]
    assert outcome.trial.scores[0] is outcome.trial.scores[2] is None
    environment, _ = stored.played([JUNK] * 3)
    outcome = grade_line(stored.prediction(environment), stored.task, stored.params)
    assert (outcome.status, outcome.score) == (Status.UNPARSED, 0)


def test_nothing_is_read_after_the_end(all_stored):
    stored = all_stored["enumerate_edges"]
    environment, _ = stored.played([reply(stored.right)])
    before = list(environment.turns)
    step = environment.step(reply(stored.right))
    assert step.done
    assert "over" in step.observation
    assert environment.turns == before


def test_state_is_small_json_and_can_be_restored(all_stored):
    stored = all_stored["enumerate_edges"]
    environment, _ = stored.played([JUNK])
    state = json.loads(json.dumps(environment.state))
    assert len(json.dumps(state)) < 200
    other = Environment(environment.setup)
    other.reset(stored.instance)
    other.state, other.turns = state, list(environment.turns)
    for env in (environment, other):
        env.step(reply(stored.wrong[0]))
        env.step(JUNK)
    assert other.prediction() == environment.prediction()


def test_ungradable_answer_ends_the_trial_without_a_score(all_stored, monkeypatch):
    stored = all_stored["enumerate_edges"]
    grade = "scbench.graders.enumerate_edges.grade"
    monkeypatch.setattr(grade, lambda *_: 1 / 0)
    environment, (step,) = stored.played([reply(stored.right)])
    assert step.done
    assert step.info["score"] is None
    assert step.info["status"] == "grader_error"
    monkeypatch.undo()
    line = stored.prediction(environment, model="m")
    assert grade_line(line, stored.task, stored.params).forged  # here it can be judged


@given(
    texts=st.lists(st.text(max_size=200) | st.binary(max_size=50).map(repr), max_size=6)
)
def test_any_reply_is_answered_and_replays_alike(all_stored, texts):
    stored = all_stored["two_segments"]
    environment, steps = stored.played([*texts, "\ud800{", *[JUNK] * 9], attempts=7)
    assert steps[-1].done
    line = Prediction.model_validate_json(json.dumps(environment.prediction()))
    assert not grade_line(line, stored.task, stored.params).forged


@pytest.mark.parametrize(
    "setup",
    [
        {"attempts": 0},
        {"attempts": 11},
        {"disclose": "all"},
        {"budget": 0},
        {"setting": "tools"},
    ],
)
def test_setups_are_bounded(setup):
    with pytest.raises(ValueError, match="validation error"):
        Setup(**{"setting": "retry"} | setup)
