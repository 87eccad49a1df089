"""Tables over manifolds: figures computed by hand, from a small generated folder."""

import json
from collections.abc import Callable

import polars as pl
import pytest

from scbench.analysis.manifold_sheets import heat_sheets
from scbench.analysis.manifolds import (
    LEVELS,
    SCHEMA,
    Cases,
    heat_table,
    manifold_table,
)
from scbench.analysis.paper import paper_table
from scbench.analysis.results import check_results
from scbench.base.errors import ResultsError
from scbench.freezing.experiment import experiment_of
from scbench.freezing.fresh_folder import generate_folder
from scbench.grading.rows.columns import column_types
from scbench.grading.score_tables import score_table
from scbench.release.load import Release, find_release

COUNT = 5
EXPERIMENT = {
    "seed": 9,
    "task": [
        {
            "id": "arithmetic",
            "count": COUNT,
            "grid": {"length": [3, 9, 20], "max_depth": [0, 2]},
        },
        {
            "id": "boolean",
            "count": COUNT,
            "grid": {"length": [4, 9], "format": ["T_F", "BINARY"]},
        },
        {"id": "movies", "count": COUNT, "grid": {"choice_count": [3, 5]}},
    ],
}

Score = Callable[[str, dict, int], dict]


@pytest.fixture(scope="module")
def release(tmp_path_factory) -> Release:
    out = tmp_path_factory.mktemp("manifolds") / "folder"
    generate_folder(experiment_of(EXPERIMENT), out)
    return find_release(str(out))


@pytest.fixture(scope="module")
def cases(release) -> Cases:
    return Cases(release)


def results_of(release: Release, score: Score, model: str = "m") -> pl.DataFrame:
    """Results with outcomes given by a function of task, point and number."""
    rows = []
    for row in release.instances().values():
        usual = dict.fromkeys(column_types()) | {"model": model, "setting": "no_tools"}
        usual |= {
            "id": row.id,
            "task": row.task,
            "bucket": row.bucket,
            "subtask": row.subtask,
        }
        usual |= {"sample": 0, "status": "answered", "score": 1.0, "grader_version": 1}
        usual |= {"instance_hash": row.content_hash, "release": release.version}
        usual |= {
            "release_hash": release.manifest.rows_hash,
            "checks": "[]",
            "metrics": "{}",
        }
        usual |= {"failed_checks": [], "notes": [], "repairs": [], "reason": ""}
        rows.append(usual | score(row.task, json.loads(row.point), row.subtask))
    return pl.DataFrame(rows, schema=column_types())


def falling(task: str, point: dict, number: int) -> dict:
    """Always correct up to length 9; two in five at length 20."""
    if task == "arithmetic" and point["length"] == 20:
        return {"score": float(number % 5 < 2)}
    return {}


def test_figures_match_those_computed_by_hand(release, cases):
    def what(task: str, point: dict, number: int) -> dict:
        if task != "boolean":
            return {"score": None, "status": "missing"}
        match number % 5:
            case 0:
                return {
                    "score": 1.0,
                    "usage": '{"output_tokens": 100}',
                    "finish_reason": "stop",
                }
            case 1:
                return {"score": 1.0, "usage": '{"output_tokens": 300}'}
            case 2:
                return {
                    "score": 0.0,
                    "status": "unparsed",
                    "finish_reason": "MAX_TOKENS",
                }
            case 3:
                return {"score": 0.0, "status": "truncated"}
        return {"score": None, "status": "api_error", "usage": '{"input_tokens": 3}'}

    table = manifold_table(results_of(release, what), cases)
    rows = {row["task"]: row for row in table.to_dicts()}
    assert table.schema == pl.Schema(SCHEMA)
    row = rows["boolean"]
    assert (row["n"], row["scored"], row["coverage"]) == (20, 16, 0.8)
    assert (row["floor"], row["accuracy"]) == (0.5, 0.5)
    right, answered, n, g = 8, 8, 16, 0.5
    assert row["above"] == pytest.approx((right - g * answered) / (n * (1 - g)))
    assert (row["truncated"], row["unparsed"]) == (0.4, 0.2)
    assert (row["mean_output_tokens"], row["token_observations"]) == (200.0, 8)
    assert rows["arithmetic"]["accuracy"] is rows["arithmetic"]["above"] is None
    assert (rows["arithmetic"]["n"], rows["arithmetic"]["coverage"]) == (30, 0.0)
    assert (rows[None]["n"], rows[None]["scored"]) == (60, 16)


def test_guesser_scores_zero_after_correction_for_guessing(release, cases):
    """With three and with five choices, guesses are correct as often as the rows state."""
    table = manifold_table(
        results_of(release, lambda *_: {"score": 0.25}), cases, parameter="choice_count"
    )
    assert table["value"].to_list() == ["3", "5"]
    # Of five films, the longest line is right in 24 of 100.
    floors = [1 / 3, 0.24]
    assert table["floor"].to_list() == pytest.approx(floors)
    above = [(0.25 - floor) / (1 - floor) for floor in floors]
    assert table["above"].to_list() == pytest.approx(above)


def test_parameter_values_are_ordered_with_their_kinds(release, cases):
    table = manifold_table(results_of(release, falling), cases, "parameter")
    result = table.select("task", "parameter", "kind", "value", "n", "accuracy").rows()
    assert result == [
        ("arithmetic", "length", "scale", "3", 10, 1.0),
        ("arithmetic", "length", "scale", "9", 10, 1.0),
        ("arithmetic", "length", "scale", "20", 10, pytest.approx(0.4)),
        ("arithmetic", "max_depth", "depth", "0", 15, pytest.approx(0.8)),
        ("arithmetic", "max_depth", "depth", "2", 15, pytest.approx(0.8)),
        ("boolean", "length", "scale", "4", 10, 1.0),
        ("boolean", "length", "scale", "9", 10, 1.0),
        ("boolean", "format", "semantic", "T_F", 10, 1.0),
        ("boolean", "format", "semantic", "BINARY", 10, 1.0),
        ("movies", "choice_count", "scale", "3", 5, 1.0),
        ("movies", "choice_count", "scale", "5", 5, 1.0),
    ]
    of_kinds = manifold_table(results_of(release, falling), cases, "kind")
    assert of_kinds["value"].to_list() == [
        *LEVELS[:3],
        "lowest",
        "highest",
        "unordered",
    ]


def test_map_has_a_figure_for_each_pair_of_values(release, cases):
    rows = results_of(release, falling)
    table = heat_table(rows, cases, "length", "max_depth")
    result = {
        (r["value"], r["second_value"]): (r["n"], r["accuracy"])
        for r in table.to_dicts()
    }
    assert set(table["task"]) == {"arithmetic"}, (
        "a task with one value of a parameter has no map"
    )
    # By `falling`, answers fail at length 20 only, whatever the depth.
    assert result == {
        ("3", "0"): (5, 1.0),
        ("3", "2"): (5, 1.0),
        ("9", "0"): (5, 1.0),
        ("9", "2"): (5, 1.0),
        ("20", "0"): (5, 0.4),
        ("20", "2"): (5, 0.4),
    }
    (sheet,) = heat_sheets(table, "accuracy")
    assert list(sheet.heads) == ["length \\ max_depth", "0", "2"]
    assert sheet.rows[2] == ["20", "40.0\n5", "40.0\n5"]
    turned = heat_table(rows, cases, "format", "length")
    assert heat_sheets(turned, "above")[0].heads[1:] == ["4", "9"]
    for pair in (("length", "choice_count"), ("length", "length")):
        with pytest.raises(ResultsError, match="no task has both"):
            heat_table(rows, cases, *pair)


def test_results_of_other_instances_are_refused(release, cases):
    rows = results_of(release, falling)
    with pytest.raises(
        ResultsError, match="the results are for items of another release"
    ):
        manifold_table(rows.with_columns(instance_hash=pl.lit("x")), cases)
    with pytest.raises(ResultsError, match="--tasks manifolds"):
        manifold_table(rows.filter(pl.col("task") == "none"), cases)
    with pytest.raises(
        ResultsError, match=r"task 'bolean' is not in release .* mean 'boolean'"
    ):
        Cases(release, ["bolean"])


# Text tasks next to the paper's.


def test_text_tasks_are_a_separate_bucket_and_never_in_overall(release, make_results):
    texts = results_of(release, falling)
    spatial = make_results(
        *({"subtask": i, "score": 0.0, "status": "answered"} for i in range(4))
    )
    same = {name: texts[name][0] for name in ("release", "release_hash")}
    spatial = spatial.with_columns(
        **{name: pl.lit(value) for name, value in same.items()}
    )
    both = pl.concat([texts, spatial])
    for table in (score_table(both, "bucket"), paper_table(both)):
        result = {row["bucket"]: (row["n"], row["mean"]) for row in table.to_dicts()}
        assert result["axiomatic"] == (4, 0.0)
        assert "overall" not in result, "there is one bucket to add up"
        assert result["manifolds"] == (60, pytest.approx(0.9))
    single = score_table(texts, "bucket")
    assert single["bucket"].to_list() == ["manifolds"]
    assert set(paper_table(texts)["bucket"]) == {"manifolds"}


def test_text_tasks_may_be_missing_but_spatial_ones_may_not(release, make_results):
    texts = results_of(release, falling)
    spatial = make_results(*({"subtask": i, "score": 1.0} for i in range(4)))
    same = {name: texts[name][0] for name in ("release", "release_hash")}
    spatial = spatial.with_columns(
        **{name: pl.lit(value) for name, value in same.items()}
    )
    second = spatial.with_columns(model=pl.lit("other"))
    check_results(pl.concat([texts, spatial, second]))
    check_results(pl.concat([texts.with_columns(model=pl.lit("other")), spatial]))
    extra = make_results(
        *({"task": "csg_union", "subtask": i, "score": 1.0} for i in range(2))
    )
    extra = extra.with_columns(**{name: pl.lit(value) for name, value in same.items()})
    with pytest.raises(ResultsError, match="model 'other' has no rows of csg_union"):
        check_results(pl.concat([texts, spatial, extra, second]))
