"""Files for the Hub are readable by the Hub's own library."""

import pytest
import yaml

from scbench.base.errors import ResultsError
from scbench.leaderboard.publish import hub_results
from scbench.leaderboard.receipt import read_receipt
from scbench.release.load import find_release


@pytest.fixture(scope="module")
def receipts(synthetic, kit, tmp_path_factory):
    root = tmp_path_factory.mktemp("hub")
    half = lambda row, _: float(row["subtask"] % 2)  # noqa: E731
    gap = lambda row, _: None if row["subtask"] == 0 else 1.0  # noqa: E731
    models = {"half": {"scores": half}, "gap": {"scores": gap}}
    synthetic(root, find_release(), models)
    return {
        name: read_receipt(root / f"site/graded/{name}/receipt.json") for name in models
    }


def test_entries_are_read_by_the_hubs_library(receipts):
    from huggingface_hub import parse_eval_result_entries  # noqa: PLC0415  (heavy)

    text = hub_results(
        receipts["half"],
        "scbench/scbench",
        revision="abc123",
        source="https://example.org/board",
    )
    entries = parse_eval_result_entries(yaml.safe_load(text))
    assert [entry.task_id for entry in entries] == [
        "default", "axiomatic", "constructive", "planning",
    ]  # fmt: skip
    for entry in entries:
        assert entry.dataset_id == "scbench/scbench"
        assert entry.dataset_revision == "abc123"
        assert entry.source_url == "https://example.org/board"
        assert entry.date == "2026-01-02"
        begin = f"normalized score; no-tools; scbench release {find_release().version}"
        assert entry.notes.startswith(begin)
        name = "overall" if entry.task_id == "default" else entry.task_id
        score = receipts["half"].buckets[name]
        assert entry.value == round(100 * score.normalized, 1)
        assert entry.notes.endswith(f"; mean {100 * score.mean:.1f}")


def test_gaps_are_not_published(receipts):
    tasks = find_release().manifest.default_records.values()
    scores = sum(task.scores for task in tasks)
    with pytest.raises(
        ResultsError, match=f"only {scores - len(tasks)} of {scores} scores"
    ):
        hub_results(receipts["gap"], "scbench/scbench")
