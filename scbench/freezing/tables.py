"""The Parquet files of a release, with explicit schemas and reproducible bytes."""

import json
from collections.abc import Sequence
from importlib.resources import files
from io import BytesIO
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from scbench.base.model import Instance, rung_of, style_of
from scbench.freezing.arrow_schemas import schema_of
from scbench.release.load import MOST_ROWS, Reference
from scbench.release.manifest import CANARY

_TABLES = json.loads(files(__package__).joinpath("columns.json").read_bytes())
INSTANCE_COLUMNS: dict[str, str] = _TABLES["instances"]
# Columns of instances on a ladder.
LADDER_COLUMNS = {"id": "string", "rung": "int32", **INSTANCE_COLUMNS}
# Columns of instances with pictures.
PICTURE_COLUMNS = {"id": "string", "style": "string", **INSTANCE_COLUMNS}
REFERENCE_COLUMNS: dict[str, str] = _TABLES["references"]
REFERENCE_MEANINGS: dict[str, str] = _TABLES["meanings_of_references"]
INSTANCE_SCHEMA = schema_of(INSTANCE_COLUMNS)
LADDER_SCHEMA = schema_of(LADDER_COLUMNS)
PICTURE_SCHEMA = schema_of(PICTURE_COLUMNS)
REFERENCE_SCHEMA = schema_of(REFERENCE_COLUMNS)


def instance_table(instances: Sequence[Instance]) -> pa.Table:
    """Return instances as a table, in the order given, each with the canary.

    Instances on a ladder have a column for the rung that their ids name, and instances
    with pictures have one for the style of the pictures.
    """
    schema = INSTANCE_SCHEMA
    rows = []
    for instance in instances:
        row = instance.model_dump(exclude={"images", "unprinted"})
        row["canary"] = CANARY
        # As text: many readers of JSON and JavaScript round whole numbers above 2^53.
        row["seed"] = None if instance.seed is None else str(instance.seed)
        stem = instance.id.replace("/", "_")
        row["images"] = [
            {"bytes": data, "path": f"{stem}_{i}.png"}
            for i, data in enumerate(instance.images)
        ]
        rung = rung_of(instance.id)
        if rung is not None:
            row["rung"] = rung
            schema = LADDER_SCHEMA
        style = style_of(instance.id)
        if style is not None:
            row["style"] = style
            schema = PICTURE_SCHEMA
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=schema)


def reference_table(references: Sequence[Reference]) -> pa.Table:
    """Return reference answers as a table, in the order given, each with the canary."""
    rows = []
    for reference in references:
        row = {name: getattr(reference, name) for name in Reference.__slots__}
        rows.append({**row, "canary": CANARY})
    return pa.Table.from_pylist(rows, schema=REFERENCE_SCHEMA)


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table as Parquet; equal tables give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:  # not by its path, which may not be UTF-8
        pq.write_table(
            table,
            file,
            compression="zstd",
            compression_level=9,
            row_group_size=1000,
            use_compliant_nested_type=False,  # "item", the name that ``datasets`` expects
        )


def read_table(data: bytes) -> pa.Table:
    """Return the table in the bytes of a Parquet file.

    Raises:
        Exception: of any type, if the bytes are damaged.
    """
    # Not by path, because pyarrow would add columns for folders named like "a=b".
    file = pq.ParquetFile(BytesIO(data))
    # Checked first, because a few bytes of Parquet can claim any number of equal rows.
    if file.metadata.num_rows > MOST_ROWS:
        raise ValueError(
            f"it has {file.metadata.num_rows:,} rows; the limit is {MOST_ROWS:,}"
        )
    return file.read()
