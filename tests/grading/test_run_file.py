"""Metadata of runs: from lines, from a file beside them, and into everything that follows."""

import json

import pytest

from scbench.base.errors import PredictionsError
from scbench.base.model import Prediction
from scbench.grading.rows.index import metadata_of, read_run_file


def write(tmp_path, value):
    path = tmp_path / "run.json"
    path.write_text(value if isinstance(value, str) else json.dumps(value), "utf-8")
    return path


def test_one_object_is_of_all_runs_and_the_last_that_fits_counts(tmp_path):
    found = read_run_file(write(tmp_path, {"effort": "high", "tools": []}))
    assert metadata_of("any", None, None, found) == '{"effort":"high","tools":[]}'
    listed = read_run_file(
        write(tmp_path, [{"effort": "low"}, {"model": "b", "budget": 8, "effort": "high"}])
    )
    assert metadata_of("b", "tools", 8, listed) == '{"effort":"high"}'
    assert metadata_of("b", "tools", None, listed) == '{"effort":"low"}'


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"efort": "high"}, "efort"),
        ({"temperature": "hot"}, "temperature"),
        ({"date": "yesterday"}, "date"),
        ({"system_prompt_sha256": "abc"}, "system_prompt_sha256"),
        ("{", "is not JSON"),
        ("3", "run.json"),
    ],
)
def test_what_it_cannot_say_is_refused(tmp_path, value, words):
    with pytest.raises(PredictionsError, match=words):
        read_run_file(write(tmp_path, value))


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(PredictionsError, match="no-file"):
        read_run_file(tmp_path / "no-file")


def test_reasoning_is_taken_and_is_not_the_answer():
    line = Prediction(id="a/0", reasoning='{"x": 1}', run={"budget_stated": True})
    assert line.response is None
    assert line.run.budget_stated is True
