import json
import re
from concurrent.futures import ThreadPoolExecutor

import pytest

import scbench
from scbench.base.errors import PredictionsError
from scbench.base.model import Prediction
from scbench.catalog import PAPER, available_tasks, get_task
from scbench.freezing.experiment import experiment_of
from scbench.freezing.fresh_folder import generate_folder
from scbench.release.load import find_release
from scbench.reward import outcome, unpacked
from scbench.scoring.outcomes import grade_prediction

LIGHT = [task for task in available_tasks() if not task.heavy and task.origin == PAPER]


@pytest.fixture(scope="module")
def references():
    """Stored answers of the light tasks of the newest release.

    Not those that give text in place of an object: here text is taken for a reply.
    """
    light = {task.id for task in LIGHT}
    return [
        ref
        for ref in find_release().references()
        if ref.id.partition("/")[0] in light and not ref.answer.startswith('"')
    ]


def test_scores_match_the_release(references):
    some = references[::3]
    ids = [ref.id for ref in some]
    got = scbench.scores(ids, [json.loads(ref.answer) for ref in some])
    assert got == [ref.score for ref in some]


def test_threads_get_the_same_scores(references):
    some = references[::7]
    with ThreadPoolExecutor(8) as pool:
        got = list(
            pool.map(lambda ref: scbench.score(ref.id, json.loads(ref.answer)), some)
        )
    assert got == [ref.score for ref in some]


def test_outcomes_match_those_of_file_grading(references):
    instances = find_release().instances()
    for ref in references[::11]:
        instance = instances[ref.id]
        task = get_task(instance.task)
        params = task.params_model.model_validate_json(instance.all_params)
        for field, given in (
            ("answer", json.loads(ref.answer)),
            ("response", f"I thought hard.\n\n```json\n{ref.answer}\n```"),
        ):
            if field == "answer" and isinstance(given, str):
                continue
            line = Prediction.model_validate({"id": ref.id, field: given})
            assert outcome(ref.id, given) == grade_prediction(line, task, params)


def test_ungradable_answer_scores_none_instead_of_zero():
    here = [float(i % 5 == 0) for i in range(16)]
    program = {
        "fileContents": "print(1)",
        "fileType": "Python Generating STL",
        "transform": here,
    }
    assert outcome("interlocking_parts/00", {"parts": [program]}).status == "not_run"
    assert scbench.score("interlocking_parts/00", {"parts": [program]}) is None


@pytest.mark.parametrize("item", [None, 1, b"two_segments/07", {"id": "a"}, ["a"]])
def test_item_of_another_type_is_named(item):
    words = f"must be an id or an Instance, not {type(item).__name__}"
    with pytest.raises(PredictionsError, match=words):
        scbench.score(item, "{}")
    for workers in (None, 1):
        with pytest.raises(PredictionsError, match=words):
            scbench.scores([item], ["{}"], workers=workers)


@pytest.mark.parametrize("text", ["[" * 100_000, "1", "{}", ""])
def test_text_that_is_no_instance_is_refused(text):
    with pytest.raises(PredictionsError, match="not an instance"):
        unpacked(text)


def test_generated_case_is_never_graded_against_a_release_item():
    """Its own reference, looked up as docs/environments.md shows, scores 1."""
    for task_id in ("arithmetic", "shikaku_rectangles"):
        (case,) = scbench.generate(task_id, seed=5)
        assert re.fullmatch(rf"[0-9a-f]{{8}}:{task_id}/00", case.id)
        task = get_task(task_id)
        reference = task.builder().reference(
            task.params_model.model_validate_json(case.all_params)
        )
        assert scbench.score(case, reference.model_dump(mode="json")) == 1
        with pytest.raises(PredictionsError, match="It is a generated item"):
            scbench.score(case.id, {"answer": 1})


def test_ids_are_looked_up_in_the_named_release(tmp_path):
    experiment = experiment_of({"seed": 1, "task": [{"id": "arithmetic", "count": 2}]})
    folder = tmp_path / "fresh"
    generate_folder(experiment, folder)
    release = find_release(str(folder))
    right = [ref for ref in release.references() if ref.kind == "reference"]
    ids, answers = [ref.id for ref in right], [json.loads(ref.answer) for ref in right]
    for named in (str(folder), release):
        assert scbench.scores(ids, answers, release=named) == [1, 1]
        assert scbench.outcome(ids[0], answers[0], release=named).verdicts[0].score == 1
    with pytest.raises(PredictionsError, match=f"in release {release.version}"):
        scbench.score("arithmetic/00", answers[0], release=release)
