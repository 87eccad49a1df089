"""Shares, deltas, transitions and agreement: the stored figures, and the rows left out."""

import numpy as np
import polars as pl
import pytest

from scbench.analysis.failure_modes.agreement import agreement, kappa_interval
from scbench.analysis.failure_modes.label_files import (
    LABELS,
    check_labels,
    labelled,
    labels_file,
    read_labels,
)
from scbench.analysis.failure_modes.labels import candidates
from scbench.analysis.failure_modes.modes import PASS, Mode, ordered_states
from scbench.analysis.failure_modes.shares import label_shares, states
from scbench.analysis.failure_modes.transitions import (
    run_pairs,
    state_deltas,
    transitions,
)
from scbench.base.errors import ResultsError

KINDS = ("no_tools", "tools")

MIXED = (
    *({"subtask": i, "score": 1.0} for i in range(3)),
    *({"subtask": i, "score": 0.0} for i in range(3, 6)),
    {"subtask": 6, "status": "missing"},
    {"subtask": 7, "score": 0.0, "status": "truncated"},
    {"subtask": 8, "score": 0.0, "status": "unparsed", "response_characters": 0},
    *({"setting": "tools", "subtask": i, "score": 1.0} for i in (0, 3, 6)),
    *({"setting": "tools", "subtask": i, "score": 0.0} for i in (1, 4)),
    *({"setting": "tools", "subtask": i, "status": "blocked"} for i in (2, 5, 7, 8)),
)
MODES = ("near_miss", "near_miss", "local_only", "local_only", "evasion_forfeit")


def label(rows: pl.DataFrame, modes) -> pl.DataFrame:
    """Labels of candidates, in order."""
    result = candidates(rows)
    decisions = result.select(
        "candidate",
        "task",
        "subtask",
        failure_mode=pl.Series(list(modes), dtype=pl.String),
        confidence=pl.lit(1.0),
        justification=pl.lit("as stored"),
        evidence_tags=pl.lit([], pl.List(pl.String)),
    )
    return labelled(result, decisions, "stored", "v1")


@pytest.fixture(scope="module")
def stored(paper_numbers):
    """The stored report of each run, by model and setting."""
    reports = paper_numbers["failure_modes"]["stored_reports"]
    return {
        (model["key"], kind): reports[model[f"{kind}_run"]]
        for model in paper_numbers["models"]
        for kind in KINDS
    }


@pytest.fixture(scope="module")
def paper_labels(paper_results, stored):
    """The stored label counts, dealt to the real candidates in a fixed order."""
    modes = []
    for run in (
        candidates(paper_results)
        .select("model", "setting")
        .unique(maintain_order=True)
        .iter_rows()
    ):
        for mode, count in stored[run]["counts"].items():
            modes += [mode] * count
    return label(paper_results, modes)


@pytest.fixture(scope="module")
def paper_states(paper_results, paper_labels):
    return states(paper_results, paper_labels)


@pytest.fixture(scope="module")
def scores(paper_numbers) -> int:
    """The number of scores that the paper has for each run."""
    return paper_numbers["table1"][-1]["n"]


def test_paper_label_counts_and_shares(paper_states, stored, scores):
    table = label_shares(paper_states)
    assert table.height == 6 * 5
    for row in table.iter_rows(named=True):
        report = stored[row["model"], row["setting"]]
        assert row["count"] == report["counts"][row["failure_mode"]]
        assert row["judged"] == report["judged"]
        share = report["share_of_judged_percent"][row["failure_mode"]]
        assert round(100 * row["share"], 2) == share
        assert (row["rows"], row["passed"]) == (scores, scores - report["candidates"])
        assert row["answered"] == scores


def test_paper_differences_of_states(paper_states, paper_numbers, scores):
    table = state_deltas(paper_states, run_pairs(paper_states))
    assert table.height == 3 * 6
    expected = paper_numbers["failure_modes"]["state_rate_deltas_over_285"]
    for row in table.iter_rows(named=True):
        cell = expected[row["first"].removesuffix(" no_tools")][row["state"]]
        assert (row["first_count"], row["second_count"]) == (
            cell["no_tools"],
            cell["tools"],
        )
        assert round(100 * row["delta"], 2) == cell["delta_pp"]
        assert (row["n"], row["left_out"]) == (scores, 0)
    assert table["state"].to_list()[:6] == ordered_states(), (
        "in the order of the paper's figure"
    )


@pytest.fixture(scope="module")
def mixed(make_results):
    rows = make_results(*MIXED)
    return states(rows, label(rows, MODES))


def test_matrix_is_square_and_pairs_the_same_subtasks(mixed):
    table = transitions(mixed, run_pairs(mixed))
    cells = {(a, b): n for a, b, n in table.select(pl.nth(2, 3, 4)).iter_rows()}
    listing = [*ordered_states(), "unparsed", "truncated", "blocked", "missing"]
    assert list(dict.fromkeys(a for a, _ in cells)) == listing
    assert len(cells) == len(listing) ** 2
    assert {pair: n for pair, n in cells.items() if n} == {
        (PASS, PASS): 1,
        (PASS, "local_only"): 1,
        (PASS, "blocked"): 1,
        ("near_miss", PASS): 1,
        ("near_miss", "evasion_forfeit"): 1,
        ("local_only", "blocked"): 1,
        ("missing", PASS): 1,
        ("truncated", "blocked"): 1,
        ("unparsed", "blocked"): 1,
    }


def test_runs_can_be_named(paper_states):
    (pair,) = run_pairs(paper_states, "gpt-5.2 tools", "gemini-3-pro-preview tools")
    assert pair == (("gpt-5.2", "tools", None), ("gemini-3-pro-preview", "tools", None))
    with pytest.raises(
        ResultsError, match=r"no run 'gpt-5 tools'.*Did you mean 'gpt-5.2 tools'"
    ):
        run_pairs(paper_states, "gpt-5 tools", "gpt-5.2 tools")
    with pytest.raises(ResultsError, match="name both runs"):
        run_pairs(paper_states, "gpt-5.2 tools")


def test_two_runs_are_a_pair_and_three_must_be_named(make_results):
    rows = make_results(*({"model": m, "setting": None, "score": 1.0} for m in "abc"))
    three = states(rows, label(rows, []))
    with pytest.raises(ResultsError, match=r"name two of these runs .*: 'a', 'b', 'c'"):
        run_pairs(three)
    two = three.filter(pl.col("model") != "b")
    assert run_pairs(two) == [(("a", None, None), ("c", None, None))]


def test_labels_of_other_candidates_are_refused(make_results):
    rows = make_results(*MIXED)
    labels = label(rows, MODES)
    assert labels.columns == list(LABELS)
    with pytest.raises(
        ResultsError, match="without a label: 1, labels without a candidate: 0"
    ):
        states(rows, labels.slice(1))
    with pytest.raises(
        ResultsError, match="without a label: 0, labels without a candidate: 2"
    ):
        states(rows.filter(pl.col("setting") == "no_tools"), labels)
    with pytest.raises(ResultsError, match="labels without a candidate: 5"):
        states(rows, labels, 0.0)
    regraded = candidates(rows).with_columns(score=pl.lit(0.25))
    with pytest.raises(
        ResultsError, match=r"5 scores changed after the answers were labelled"
    ):
        check_labels(labels, regraded)


def test_label_files_survive_a_round_trip(paper_labels, tmp_path):
    path = tmp_path / "labels.parquet"
    path.write_bytes(labels_file(paper_labels))
    again = read_labels([path])
    assert again.equals(paper_labels)
    assert dict(again.schema) == dict(LABELS)
    with pytest.raises(ResultsError, match="a candidate has two labels"):
        read_labels([path, path])
    path.write_bytes(
        labels_file(paper_labels.with_columns(failure_mode=pl.lit("mood")))
    )
    with pytest.raises(ResultsError, match="'mood' is not a failure mode"):
        read_labels([path])


def pair_of_judges(make_results, first, second):
    rows = make_results(*({"subtask": i, "score": 0.0} for i in range(len(first))))
    return agreement(label(rows, first), label(rows, second).reverse())


def test_kappa_by_hand(make_results):
    """Cohen's example: of 50, the judges agree on 20 and 15, and disagree on 5 and 10."""
    first = ["near_miss"] * 25 + ["local_only"] * 25
    second = (
        ["near_miss"] * 20
        + ["local_only"] * 5
        + ["near_miss"] * 10
        + ["local_only"] * 15
    )
    rows = make_results(
        *(
            {"task": "csg_union", "subtask": i % 22, "sample": i // 22, "score": 0.0}
            for i in range(50)
        )
    )
    table = agreement(label(rows, first), label(rows, second))
    head = table.row(0, named=True)
    assert head["n"] == 50
    assert head["agreement"] == pytest.approx(0.7)
    assert head["kappa"] == pytest.approx(0.4)
    cells = {(a, b): n for a, b, n in table.select(pl.nth(0, 1, 2)).iter_rows()}
    assert len(cells) == 25
    assert cells["near_miss", "local_only"] == 5
    assert cells["local_only", "near_miss"] == 10


def test_kappa_at_its_ends(make_results):
    modes = [mode.value for mode in Mode]
    assert pair_of_judges(make_results, modes, modes)["kappa"][0] == 1
    swapped = pair_of_judges(make_results, modes[:2], modes[1::-1])
    assert (swapped["agreement"][0], swapped["kappa"][0]) == (0, -1)
    same = pair_of_judges(make_results, ["near_miss"] * 3, ["near_miss"] * 3)
    assert (same["agreement"][0], same["kappa"][0]) == (1, None)


def kappa(table):
    n = table.sum()
    agreed = np.trace(table) / n
    chance = (table.sum(0) @ table.sum(1)) / n**2
    return (agreed - chance) / (1 - chance)


def test_large_table_has_the_interval_of_the_delta_method():
    """Compared with numeric derivatives of kappa by the shares of the cells."""
    table = np.array([[400.0, 60, 10], [50, 300, 40], [20, 30, 90]])
    n = table.sum()
    shares = (table / n).ravel()

    def of(p):
        return kappa(p.reshape(3, 3) / p.sum())

    slopes = np.array(
        [(of(shares + step) - of(shares - step)) / 2e-6 for step in np.eye(9) * 1e-6]
    )
    variance = (slopes**2 @ shares - (slopes @ shares) ** 2) / n
    low, high = kappa_interval(table, kappa(table))
    assert (high - low) / 2 == pytest.approx(1.96 * variance**0.5, rel=0.02)
    assert (high + low) / 2 == pytest.approx(kappa(table), abs=0.005)
