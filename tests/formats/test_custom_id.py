"""Request ids: every instance's id fits and can be read back."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scbench.base.errors import PredictionsError
from scbench.formats.custom_id import RequestKey, read_custom_id
from scbench.release.load import find_release

NAMES = st.from_regex(
    r"[a-z][a-z0-9_]{0,9}/[a-z0-9_]{1,5}(-[a-z0-9_]{1,5}){0,2}", fullmatch=True
)


@pytest.fixture(scope="module")
def every_id() -> list[str]:
    release = find_release()
    configs = [release, release.terse(), release.ladder()]
    return [row_id for held in configs for row_id in held.ids(held.manifest.tasks)]


def test_ids_of_released_and_drawn_instances_fit_with_sample_and_budget(every_id):
    texts = set()
    assert len(every_id) > 6000
    for row_id in [name for held in every_id for name in (held, f"b001f663:{held}")]:
        for sample, budget in ((0, None), (99, None), (0, 0), (15, 131_072)):
            asked = RequestKey(row_id, sample, budget)
            text = asked.custom_id
            assert re.fullmatch("[A-Za-z0-9_-]{1,64}", text)
            assert read_custom_id(text) == asked
            texts.add(text)
    assert len(texts) == 2 * 4 * len(every_id)


@given(NAMES, st.integers(0, 999), st.none() | st.integers(0, 10**6))
def test_no_two_requests_share_an_id(name, sample, budget):
    asked = RequestKey(name, sample, budget)
    assert read_custom_id(asked.custom_id) == asked


@pytest.mark.parametrize(
    "row_id", ["Task/03", "a" * 70 + "/03", "task", "task/a.b", "a:b:c/03"]
)
def test_ambiguous_ids_are_refused(row_id):
    with pytest.raises(PredictionsError, match="batches cannot contain"):
        _ = RequestKey(row_id).custom_id


@pytest.mark.parametrize(
    "text",
    [
        "",
        "csg_union",
        "request-1-S01",
        "t-1-B1-S1",
        "a" * 65,
    ],
)
def test_other_ids_name_no_instance(text):
    assert read_custom_id(text) is None
