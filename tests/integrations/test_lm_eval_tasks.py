"""The tasks for lm-evaluation-harness: the contents of their files, and their functions."""

import io
import json
import runpy
from importlib.resources import files
from pathlib import Path

import pytest
import yaml
from loopback import Loopback
from PIL import Image
from stored_replies import graded, run_lm_eval

from scbench.base.errors import PredictionsError
from scbench.formats.imports.harnesses import NO_REPLY
from scbench.release.load import find_release

FOLDER = Path(str(files("scbench.integrations"))) / "lm_eval"


def test_every_task_and_bucket_of_the_release_has_a_file():
    records = find_release().manifest.tasks
    paths = {
        FOLDER / name
        for name in ("scbench.yaml", "images.yaml", "terse.yaml", "ladder.yaml")
    }
    for task, record in records.items():
        path = FOLDER / record.bucket / f"{task}.yaml"
        assert yaml.safe_load(path.read_text()) == {
            "include": "../_task",
            "task": f"scbench_{task}",
            "dataset_kwargs": {"tasks": task},
        }
        paths.add(path)
    for bucket in {record.bucket for record in records.values()}:
        path = FOLDER / bucket / f"_{bucket}.yaml"
        assert yaml.safe_load(path.read_text()) == {
            "include": "../_task",
            "task": f"scbench_{bucket}",
            "dataset_kwargs": {"tasks": bucket},
        }
        paths.add(path)
    whole = yaml.safe_load((FOLDER / "scbench.yaml").read_text())
    assert whole == {"include": "_task", "task": "scbench"}
    assert {*FOLDER.rglob("*.yaml")} == paths


@pytest.fixture
def documents():
    """The module of functions, loaded from its path like the harness does."""
    return runpy.run_path(str(FOLDER / "documents.py"))


def test_prompts_with_pictures_are_left_out_and_form_a_separate_task(documents, caplog):
    instances = find_release().instances(["polynomial_curve_fitting"])
    pictured = [row_id for row_id, one in instances.items() if one.images]
    documents_loaded = documents["load"](tasks="polynomial_curve_fitting")["test"]
    assert documents_loaded["id"] == [
        row_id for row_id in instances if row_id not in pictured
    ]
    assert (
        f"left out because they have pictures (see scbench_images): {', '.join(pictured)}"
        in caplog.text
    )
    with pytest.raises(PredictionsError, match="run scbench_images separately"):
        documents["load"](images=True)
    documents_loaded = runpy.run_path(str(FOLDER / "documents.py"))["load"](
        images=True
    )["test"]
    assert documents_loaded["id"] == pictured


@pytest.mark.parametrize("name", ["tasks", "config", "release"])
@pytest.mark.parametrize("value", [5, ["a"], {"a": 1}, True])
def test_setting_that_is_no_text_is_named(documents, name, value):
    with pytest.raises(PredictionsError, match=f"{name} must be text"):
        documents["load"](**{name: value})


def test_prompt_asked_without_its_pictures_has_no_score(documents, caplog):
    document = documents["load"](images=True)["test"][0]
    (picture,) = documents["pictures"](document)
    assert documents["process_results"](document, ["no"]) == {}
    assert "was sent without its pictures" in caplog.text
    written = io.BytesIO()
    picture.save(written, "PNG")
    (held,) = find_release().instances()[document["id"]].images
    assert Image.open(written).tobytes() == Image.open(io.BytesIO(held)).tobytes()
    assert scores_of(documents["process_results"](document, ["no"])) == [0.0]


def scores_of(metrics: dict) -> list[float]:
    """The scores of an answer, which both metrics receive."""
    assert metrics["score"] == metrics["mean"]
    return metrics["score"]["scores"]


def test_ungradable_answer_has_no_metric(documents, caplog):
    document = {"id": "interlocking_parts/00", "release": None, NO_REPLY: "(none: 5f)"}
    here = [float(i % 5 == 0) for i in range(16)]
    program = {
        "fileContents": "print(1)",
        "fileType": "Python Generating STL",
        "transform": here,
    }
    reply = str({"parts": [program]}).replace("'", '"')
    assert documents["process_results"](document, [reply]) == {}
    assert documents["process_results"](document, [None]) == {}
    assert documents["process_results"](document, [document[NO_REPLY]]) == {}
    known = ["(there was no reply)"]
    assert scores_of(documents["process_results"](document, known)) == [0.0] * 9
    assert scores_of(documents["process_results"](document, ["no"])) == [0.0] * 9
    assert "has no score (not_run)" in caplog.text


def test_filtered_call_has_no_score(tmp_path):
    """The harness logs no reason and no text; a marker takes their place."""
    withheld = {"role": "assistant", "content": None}
    with Loopback(lambda _: withheld) as served:
        (samples,) = run_lm_eval(
            served.url, ["scbench_two_segments"], 1, tmp_path / "out", {}
        )
    (line,) = map(json.loads, samples.read_text().splitlines())
    assert line["filtered_resps"] == [line["doc"][NO_REPLY]]
    assert "score" not in line
    assert graded(samples, tmp_path / "graded") == {
        "unnamed": {"two_segments/00": ("api_error", None)}
    }
