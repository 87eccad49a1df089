"""Items and difficulty labels: against numpy, and on labels that do and do not fit."""

import numpy as np
import polars as pl
import pytest

from scbench.analysis.items import (
    item_sheets,
    item_table,
    label_table,
    unscored_items,
)
from scbench.base.model import Instance


class Small:
    """A release of labels only."""

    def __init__(self, labels):
        self.labels = labels

    def instances(self, tasks):
        assert tasks == {"two_segments"}
        return {
            f"two_segments/{i:02d}": Instance.model_construct(
                id=f"two_segments/{i:02d}", task="two_segments", difficulty=label
            )
            for i, label in enumerate(self.labels)
        }


def of_models(make_results, scores):
    """Results of an array of shape (models, items)."""
    rows = []
    for (model, item), score in np.ndenumerate(scores):
        row = {"model": f"m{model}", "subtask": item}
        if np.isnan(score):
            row["status"] = "missing"
        else:
            row["score"] = float(score)
        rows.append(row)
    return make_results(*rows)


def test_discrimination_is_the_correlation_with_the_rest(make_results):
    scores = (np.random.default_rng(5).random((8, 6)) < 0.5).astype(float)
    scores[3, 2] = np.nan
    scores[:, 5] = 1.0
    table = item_table(of_models(make_results, scores))
    for i, row in enumerate(table.iter_rows(named=True)):
        reference = ~np.isnan(scores[:, i])
        remainder = np.nanmean(np.delete(scores, i, axis=1), axis=1)[reference]
        assert row["runs"] == reference.sum()
        assert row["mean"] == pytest.approx(np.nanmean(scores[:, i]))
        assert row["right"] == pytest.approx(np.nanmean(scores[:, i]))
        if i == 5:
            assert row["discrimination"] is None, "all score alike"
        else:
            expected = np.corrcoef(scores[reference, i], remainder)[0, 1]
            assert row["discrimination"] == pytest.approx(expected)


def test_mismatched_labels_are_named(make_results):
    scores = np.array([[1, 1, 0, 0, 1, 1.0], [1, 1, 0, 0, 1, 0.0]])
    release = Small(["easy", "easy", "medium", "medium", "hard", "hard"])
    table = label_table(of_models(make_results, scores), release)
    task = table.filter(pl.col("task") == "two_segments")
    assert task["mean"].to_list() == [1.0, 0.0, 0.75]
    assert task["in_order"].to_list() == [None, True, False]
    assert (task["low"] < task["high"]).all()
    items, labels = item_sheets(
        item_table(of_models(make_results, scores), release), table, {}
    )
    assert items.rows[0][2] == "easy"
    assert "no, an easier label scores lower" in labels.rows[2]


def test_label_means_average_samples_first(make_results):
    rows = [
        {"subtask": 0, "sample": 0, "score": 1.0},
        {"subtask": 0, "sample": 1, "score": 0.0},
        {"subtask": 1, "sample": 0, "score": 1.0},
        {"subtask": 1, "sample": 1, "score": 1.0},
    ]
    table = label_table(make_results(*rows), Small(["easy", "hard"]))
    task = table.filter(pl.col("task") == "two_segments")
    assert task["mean"].to_list() == [0.5, 1.0]


def test_items_give_reasons_for_lost_points(make_results):
    rows = [
        {"model": "a", "subtask": 0, "score": 1.0, "failed_checks": []},
        {"model": "b", "subtask": 0, "score": 1.0, "failed_checks": []},
        {
            "model": "a",
            "subtask": 1,
            "score": 0.0,
            "failed_checks": ["overlap", "size"],
        },
        {"model": "b", "subtask": 1, "score": 0.0, "failed_checks": ["overlap"]},
        {"model": "a", "subtask": 2, "score": 0.4, "failed_checks": []},
        {"model": "b", "subtask": 2, "status": "missing", "failed_checks": []},
    ]
    rows.append({"model": "a", "subtask": 3, "score": 0.0, "failed_checks": []})
    rows[-1]["status"] = "unparsed"
    rows.append({"model": "b", "subtask": 3, "score": 0.0, "failed_checks": ["size"]})
    results = make_results(*rows)
    table = item_table(results)
    assert table["why"].to_list() == [
        None,
        "overlap (2)",
        "partial score",
        "size (1), unparsed (1)",
    ]


def test_reply_without_an_answer_has_its_status_as_the_reason(make_results):
    no_answer = {"score": 0.0, "failed_checks": ["answer_found"]}
    rows = [
        {"model": "a", "subtask": 0, "status": "truncated", **no_answer},
        {"model": "a", "subtask": 1, "score": 0.0, "failed_checks": ["overlap"]},
    ]
    table = item_table(make_results(*rows))
    assert table["why"].to_list() == ["truncated", "overlap"]
    labels = label_table(make_results(*rows), Small(["easy"] * 2))
    items, _ = item_sheets(table, labels, {})
    assert "run `scbench show ITEM --results DIR`" in " ".join(items.notes)


def test_note_names_the_items_without_a_score(make_results):
    rows = [
        {"model": model, "subtask": subtask, "status": status, "failed_checks": []}
        for model, status in (("a", "missing"), ("b", "blocked"))
        for subtask in range(12)
    ]
    rows[0] |= {"status": "answered", "score": 1.0}
    results = make_results(*rows)
    unscored = unscored_items(results)
    assert list(unscored) == [f"two_segments/{i:02d}" for i in range(1, 12)]
    assert set(unscored.values()) == {"blocked or missing"}
    table, labels = item_table(results), label_table(results, Small(["easy"] * 12))
    items, _ = item_sheets(table, labels, unscored)
    note = items.notes[0]
    assert note.startswith(
        "Items without a score in any run are not listed: two_segments/01 (blocked or missing), "
    )
    assert note.endswith("two_segments/10 (blocked or missing) and 1 more.")
    complete, _ = item_sheets(table, labels, {})
    assert complete.notes == items.notes[1:]
