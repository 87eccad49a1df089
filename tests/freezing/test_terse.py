"""The config terse: the paper's information on the same instances, with separate results."""

import polars as pl
import pytest

from scbench.base.model import terse_id
from scbench.catalog import paper_tasks
from scbench.freezing.frozen_task import fixed_list
from scbench.freezing.verify import verify_release
from scbench.grading.rows.index import KnownIds, LineKind
from scbench.release.load import find_release, open_release
from scbench.release.manifest import terse_file

SPATIAL = paper_tasks()


@pytest.mark.parametrize("task", SPATIAL, ids=str)
def test_terse_rows_differ_only_in_prompt_and_id(task):
    part = fixed_list(task)
    assert len(part.terse) == len(part.instances) > 0
    for full, terse in zip(part.instances, part.terse, strict=True):
        one, other = full.model_dump(), terse.model_dump()
        differing = {name for name in one if one[name] != other[name]}
        assert differing == {"id", "prompt", "content_hash"}
        assert terse.id == f"{full.id}-terse"
        assert terse.with_terse(terse.prompt).content_hash != terse.content_hash, (
            "of another id"
        )


def test_terse_is_found_as_a_release(sound):
    terse = find_release(f"{sound}+terse")
    assert terse.version == "0.0.1+terse"
    assert {*terse.instances()} == {*map(terse_id, open_release(sound).instances())}
    assert {ref.id for ref in terse.references()} == {*terse.instances()}
    assert not terse.manifest.is_generated
    assert terse.choose(["terse", "enumerate_edges"]) == (terse, ["enumerate_edges"])


def test_verify_rebuilds_terse_rows(copy, forge):
    path = copy / terse_file("enumerate_edges")
    table = pl.read_parquet(path)
    table.with_columns(prompt=pl.col("prompt") + " Good luck!").write_parquet(path)
    forge(copy)
    assert any(terse_file("enumerate_edges") in found for found in verify_release(copy))


def test_ids_of_the_other_prompts_are_left_alone():
    full = KnownIds(["csg_union/03"], ["csg_union"], ["csg_union"])
    terse = KnownIds(["csg_union/03-terse"], ["csg_union"], ["csg_union"])
    assert full.place("csg_union/03") == terse.place("csg_union/03-terse") == 0
    assert full.place("csg_union/03-terse") == LineKind.NOT_CHOSEN
    assert terse.place("csg_union/03") == LineKind.NOT_CHOSEN
    assert full.place("csg_union/04-terse") == full.place("csg_union/03-terse-terse")
    assert full.place("csg_union/04-terse") == LineKind.UNKNOWN
