"""A single item, as text and as a page."""

from dataclasses import replace

import pytest

from scbench.base.errors import ReleaseError, ResultsError
from scbench.report import single
from scbench.report.single import RunChoice


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("two_segment/01", "Did you mean 'two_segments'"),
        (
            "two_segments/99",
            "those of two_segments are two_segments/00 to two_segments/26",
        ),
        ("two_segments", "those of two_segments are"),
        (
            "largest_printable_prime/7",
            "are largest_printable_prime/00 to largest_printable_prime/00",
        ),
    ],
)
def test_unknown_id_is_reported_with_the_available_ones(installed, name, message):
    with pytest.raises(ReleaseError, match=message):
        single.find_instance(installed, name)


def test_stored_results_are_shown_as_graded(rows, small, stored, installed):
    folder = stored(rows)
    instance = small.held["two_segments/00"]
    item, note = single.stored_by(folder, instance, RunChoice("right"))
    assert note == ""
    text = single.as_text(item, instance, single.picture(item, instance))
    assert "score 1, answered" in text
    first, note = single.stored_by(folder, instance, RunChoice())
    assert "has 2 answers to two_segments/00; the first (" in note
    assert first.run[0] in note.partition("For another")[0]
    other = instance.model_copy(update={"content_hash": "other"})
    with pytest.raises(ResultsError, match="no matching answer"):
        single.stored_by(folder, other, RunChoice("right"))


def test_unreadable_answer_has_no_solids(installed):
    instance = single.find_instance(installed, "csg_union/00")
    item = single.item_without_answer(instance)
    assert single.solids(item, instance)
    with pytest.raises(ResultsError, match="the answer has none"):
        single.solids(
            replace(item, status="answered", answer='{"polyhedron": 1}'), instance
        )
    lego = single.find_instance(installed, "lego_hemispherical_shell/00")
    with pytest.raises(
        ResultsError, match="choose an answer, for example with --reference"
    ):
        single.solids(single.item_without_answer(lego), lego)
