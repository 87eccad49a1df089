"""The Parquet files: explicit columns, stable bytes, images declared as images."""

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scbench.base.model import Instance
from scbench.freezing.tables import (
    INSTANCE_SCHEMA,
    REFERENCE_SCHEMA,
    instance_table,
    read_table,
    write_table,
)
from scbench.release.load import Reference
from scbench.release.manifest import CANARY

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=50)


def make(i: int = 0, **changes: object) -> Instance:
    values: dict = {
        "task": "some_task", "bucket": "planning", "subtask": i, "difficulty": "easy",
        "prompt": "Do it.", "images": (), "params": "{}", "answer_schema": "{}", "scores": 1,
        "seed": None, "point": None,
    }  # fmt: skip
    return Instance.freeze(**values | changes)


def test_columns_are_the_fields_of_an_instance():
    fields = [name for name in Instance.model_fields if name != "unprinted"]
    assert INSTANCE_SCHEMA.names == [*fields, "canary"]
    assert set(REFERENCE_SCHEMA.names) == {*Reference.__slots__, "canary"}


@settings(deadline=None)
@given(
    prompt=TEXT,
    params=TEXT,
    images=st.lists(st.binary(max_size=20), max_size=3),
    seed=st.none() | st.integers(-(2**63), 2**63 - 1),
    point=st.none() | TEXT,
)
def test_instances_survive_their_table(prompt, params, images, seed, point):
    values = {"prompt": prompt, "params": params, "images": tuple(images), "seed": seed}
    instance = make(**values, point=point)
    table = instance_table([instance, make(1)])
    assert table.schema.equals(INSTANCE_SCHEMA, check_metadata=True)
    table.validate(full=True)
    row = table.to_pylist()[0]
    assert [image["bytes"] for image in row["images"]] == images
    assert row["canary"] == CANARY
    assert Instance(**row | {"images": tuple(images)}) == instance
    assert row["seed"] == (None if seed is None else str(seed))
    # Files of releases before 4.0.0 have numbers.
    older = row | {"images": tuple(images), "seed": seed}
    assert Instance(**older) == instance


def test_file_contains_the_table_and_the_same_bytes_each_time(tmp_path):
    table = instance_table([make(i, images=(b"x" * i,)) for i in range(2500)])
    for name in ("a", "b/c=d/e"):
        write_table(tmp_path / name, table)
    data = (tmp_path / "a").read_bytes()
    assert data == (tmp_path / "b/c=d/e").read_bytes()
    assert read_table(data).equals(table, check_metadata=True)


def test_number_too_large_for_its_column_is_not_written():
    with pytest.raises((pa.ArrowException, ValueError)):
        instance_table([make().model_copy(update={"subtask": 2**40})])
