"""The example predictions: valid, complete, and graded as documented."""

import json

import polars as pl
import pytest

from scbench.catalog import get_task
from scbench.freezing.example import example_predictions
from scbench.freezing.freeze import build_release
from scbench.grading.api import grade_file
from scbench.release.load import Release, find_release

QUICK = (
    "topology_enumeration",
    "classify_behaviour",
    "two_segments",
    "shikaku_rectangles",
)
QUICK += ("half_subdivision_neighbours",)


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Release:
    """A release of tasks that are quick to grade, one of them answered in text."""
    folder = tmp_path_factory.mktemp("example") / "0.0.3"
    build_release("0.0.3", folder, [get_task(task) for task in QUICK])
    return find_release(str(folder))


def test_each_model_answers_every_instance_and_scores_as_documented(release, tmp_path):
    texts = [*example_predictions(release)]
    lines = [json.loads(text) for text in texts]
    for model in ("oracle", "sloppy"):
        assert [one["id"] for one in lines if one["model"] == model] == [
            *release.instances()
        ]
    assert {"answer" in one for one in lines if one["model"] == "oracle"} == {
        True,
        False,
    }
    path = tmp_path / "example.jsonl"
    path.write_text("\n".join(texts), "utf-8")
    report = grade_file(path, tmp_path / "out", release=str(release.root), workers=1)
    oracle, sloppy = (
        report.results.filter(pl.col("model") == model)
        for model in ("oracle", "sloppy")
    )
    assert set(oracle["score"]) == {1.0}
    assert set(sloppy["status"]) == {
        "answered", "truncated", "refused", "unparsed", "blocked", "api_error",
    }  # fmt: skip
    answered = sloppy.filter(pl.col("status") == "answered")
    assert 0.2 < (answered["score"] < 1).sum() / sloppy.height < 0.3
    assert 0.07 < 1 - answered.height / sloppy.height < 0.14
