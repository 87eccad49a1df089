"""Coverage: each line is an item to grade, a row outside the release, or a problem with advice."""

import json
from itertools import islice, permutations

import pytest
from bounds import a_minute_of_work
from hypothesis import example, given
from hypothesis import strategies as st

from scbench.base.model import Instance, task_of
from scbench.formats.predictions import Line, Problem, parse_line
from scbench.grading.rows import coverage as module
from scbench.grading.rows.columns import RunKey
from scbench.grading.rows.coverage import Coverage
from scbench.grading.rows.index import KnownIds, LineKind

HELD = {"two_segments": 27, "enumerate_edges": 8, "classify_behaviour": 13}


def instance(task: str, subtask: int) -> Instance:
    return Instance.freeze(
        task=task,
        bucket="axiomatic",
        subtask=subtask,
        difficulty="easy",
        prompt="",
        images=(),
        params="{}",
        answer_schema="{}",
        scores=1,
        seed=None,
    )


INSTANCES = {
    item.id: item
    for task, n in HELD.items()
    for item in (instance(task, i) for i in range(n))
}


IDS = list(INSTANCES)


def coverage(*chosen: str) -> Coverage:
    expected = [row_id for row_id in IDS if not chosen or task_of(row_id) in chosen]
    others = frozenset(IDS).difference(expected)
    return Coverage(
        KnownIds(expected, list(HELD), chosen or list(HELD), unchosen=others)
    )


def graded(book: Coverage, line: Line) -> str | None:
    """Admit a line; return the id of its instance, or None if it is not graded."""
    result = book.admit_line(line)
    assert result.problem is None
    return (
        book.known_ids.ids[result.position] if result.kind is LineKind.GRADED else None
    )


def line(row_id: str, number: int = 1, **fields) -> Line:
    parsed = parse_line(json.dumps({"id": row_id, **fields}).encode(), number)
    assert isinstance(parsed, Line)
    return parsed


def problem(row_id: str) -> Problem:
    admission = coverage().admit_line(line(row_id, 7))
    assert admission.kind is LineKind.UNKNOWN
    result = admission.problem
    assert (result.code, result.line, result.id) == ("unknown_id", 7, row_id)
    assert result.message.startswith(f"no item {row_id!r} in this release.")
    assert result.message.isprintable()
    return result


@pytest.mark.parametrize(
    ("row_id", "meant"),
    [
        ("two_segments/1", "two_segments/01"),
        ("two_segments/01 ", "two_segments/01"),
        ("two_segments/ 01", "two_segments/01"),
        ("two_segments_26", "two_segments/26"),
        ("two-segments/01", "two_segments/01"),
        ("Two Segments/1", "two_segments/01"),
        ("two_segment/01", "two_segments/01"),
        ("two_segmetns/1", "two_segments/01"),
        ("classify_behavior/12", "classify_behaviour/12"),
    ],
)
def test_misspelt_id_suggests_the_correct_one(row_id, meant):
    assert f"Did you mean {meant!r}" in problem(row_id).message


@pytest.mark.parametrize(
    "row_id", ["/", "/01", "01", "zzz/01", "\x1b[2J", "💥" * 100, "../../x"]
)
def test_dissimilar_id_gets_no_wrong_hint(row_id):
    assert problem(row_id).message == f"no item {row_id!r} in this release."


@pytest.mark.parametrize(
    "row_id", ["csg_union/03", "csg_union/3", "csg_union/21", "maze_3d/00"]
)
def test_ids_outside_the_release_are_recognized(row_id):
    assert coverage().admit_line(line(row_id)) == (LineKind.NOT_IN_RELEASE, None, None)


@pytest.mark.parametrize("row_id", ["csg_union/x3", "csg_union/٣", "csg_union/²"])
def test_non_number_makes_no_item(row_id):
    problem(row_id)


def test_lines_of_unselected_tasks_are_left_alone():
    book = coverage("enumerate_edges")
    for _ in range(2):
        assert book.admit_line(line("two_segments/00")) == (
            LineKind.NOT_CHOSEN,
            None,
            None,
        )
    assert book.not_chosen == 2
    assert graded(book, line("enumerate_edges/00")) == "enumerate_edges/00"
    [(_, missing)] = book.missing()
    assert missing == [f"enumerate_edges/{i:02d}" for i in range(1, 8)]


def test_excluded_instances_are_counted_and_never_missing():
    kept = IDS[1:]
    book = Coverage(KnownIds(kept, list(HELD), list(HELD), frozenset(IDS[:1])))
    assert book.admit_line(line(IDS[0])) == (LineKind.EXCLUDED, None, None)
    assert (book.excluded, book.lines) == (1, 1)
    for number, row_id in enumerate(kept, 2):
        assert book.admit_line(line(row_id, number)).kind is LineKind.GRADED
    assert [missing for _, missing in book.missing()] == [[]]


def test_duplicate_names_both_lines_and_the_graded_one():
    book = coverage()
    assert graded(book, line("two_segments/03", 5)) == "two_segments/03"
    for number in (9, 12):
        admission = book.admit_line(line("two_segments/03", number, response="other"))
        assert (admission.kind, admission.position) == (LineKind.DUPLICATE, 3)
        result = admission.problem
        assert (result.code, result.line, result.id) == (
            "duplicate",
            number,
            "two_segments/03",
        )
        assert "line 5 already answers two_segments/03" in result.message
        assert "only line 5 is graded" in result.message


@pytest.mark.parametrize(
    "fields",
    [
        {"model": "b"},
        {"setting": "tools"},
        {"setting": "no_tools"},
        {"sample": 1},
        {"budget": 0},
    ],
)
def test_rows_of_other_runs_are_not_duplicates(fields):
    book = coverage()
    assert graded(book, line("two_segments/03", 1)) == "two_segments/03"
    assert graded(book, line("two_segments/03", 2, **fields)) == "two_segments/03"
    assert (
        book.admit_line(line("two_segments/03", 3, **fields)).kind is LineKind.DUPLICATE
    )


def test_file_with_too_many_runs_is_graded_in_part(monkeypatch):
    monkeypatch.setattr(module, "_MOST_RUNS", 2)
    book = coverage()
    for sample in range(4):
        admission = book.admit_line(line("two_segments/03", sample + 1, sample=sample))
        if sample < 2:
            assert admission.kind is LineKind.GRADED
            continue
        assert admission.kind is LineKind.DUPLICATE
        assert admission.problem.code == "too_many_runs"
        assert "more than 2 runs" in admission.problem.message
    # Lines of the runs that it has are graded.
    assert graded(book, line("two_segments/04", 9, sample=1)) == "two_segments/04"
    assert len(list(book.missing())) == 2


def test_missing_items_are_named_for_each_run():
    book = coverage()
    book.admit_line(
        line("two_segments/00", 1, model="b", setting="tools", sample=2, budget=64)
    )
    book.run(RunKey("a", None, 0, None))
    first, second = book.incomplete()
    assert (first.code, first.line) == ("incomplete", None)
    assert first.message == (
        "model 'a' has no prediction for 48 of 48 items (the first is two_segments/00); "
        "add --partial if this is intended"
    )
    assert second.message.startswith(
        "model 'b', setting tools, sample 2, budget 64 has no prediction for 47 of 48 items "
        "(the first is two_segments/01)"
    )


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=200))
@example("two_segments/²")
@example("csg_union/²")
@example("İ" * 200)
@example("0" * 200)
def test_no_id_raises(row_id):
    kind, position, problem = coverage().admit_line(line(row_id))
    assert (position is not None) == (kind is LineKind.GRADED)
    assert (problem is not None) == (kind is LineKind.UNKNOWN)
    assert (
        position is not None or problem is not None or kind is LineKind.NOT_IN_RELEASE
    )


def test_file_of_foreign_ids_is_not_slow():
    book = coverage()
    orders = islice(permutations("two_segments"), 20_000)
    lines = [line("".join(order), i) for i, order in enumerate(orders, 1)]
    with a_minute_of_work():  # a second; minutes if each were compared
        assert all(book.admit_line(entry).problem for entry in lines)


def generated(prefix: str, task: str, n: int) -> KnownIds:
    ids = [f"{prefix}:{task}/{i:02d}" for i in range(n)]
    return KnownIds(ids, [task], [task], hashes=[f"{i:064x}" for i in range(n)])


@pytest.mark.parametrize(
    ("row_id", "message"),
    [
        ("two_segments/02", "was generated: its ids begin with 'b001f663:'"),
        ("b001f664:two_segments/02", "was generated: its ids begin with 'b001f663:'"),
        ("b001f663:two_segments/2", "Did you mean 'b001f663:two_segments/02'?"),
        (
            "b001f663:two_segments/77",
            "run from b001f663:two_segments/00 to b001f663:two_segm",
        ),
    ],
)
def test_ids_of_another_origin_get_no_wrong_hint(row_id, message):
    admission = Coverage(generated("b001f663", "two_segments", 3)).admit_line(
        line(row_id)
    )
    assert message in admission.problem.message


@pytest.mark.parametrize(
    ("given", "fits"), [(f"{1:064x}", True), ("0" * 12, True), ("1" * 12, False)]
)
def test_line_about_other_content_is_a_problem_with_its_number(given, fits):
    known = generated("b001f663", "two_segments", 2)
    result = known.of_another(line("b001f663:two_segments/01", 7, instance_hash=given))
    assert (result is None) == fits
    if result:
        assert (result.line, result.code) == (7, "other_instance")


def test_nothing_graded_is_a_problem_that_names_the_option():
    book = coverage("two_segments")
    assert book.nothing_graded() is None
    book.admit_line(line("enumerate_edges/00"))
    assert "--tasks axiomatic" in book.nothing_graded().message
    book.admit_line(line("two_segments/00", 2))
    assert book.nothing_graded() is None
    excluded = Coverage(KnownIds(IDS[1:], list(HELD), list(HELD), {IDS[0]}))
    excluded.admit_line(line(IDS[0]))
    assert "--exclude-withdrawn" in excluded.nothing_graded().message
    outside = coverage()
    outside.admit_line(line("csg_union/00"))
    assert "--release" in outside.nothing_graded().message


def test_unknown_keys_are_counted_and_few_are_kept():
    book = coverage()
    for i in range(300):
        book.admit_line(line("two_segments/00", i + 1, modell="x", **{f"k{i}": 1}))
    assert (book.unread["modell"], len(book.unread)) == (300, 100)
