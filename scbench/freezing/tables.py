"""The Parquet side of a release: explicit schemas, and bytes that do not vary.

The schema carries what the ``datasets`` library needs to see images as images, so no script and no
guess is involved in loading.
"""

import json
from collections.abc import Sequence
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from scbench.base.canonical import canonical_json
from scbench.base.model import Instance, rung_of, style_of
from scbench.release.load import MOST_ROWS, Reference
from scbench.release.manifest import CANARY

_ARROW = {
    "string": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
}

_TABLES = json.loads(files(__package__).joinpath("columns.json").read_bytes())
INSTANCE_COLUMNS: dict[str, str] = _TABLES["instances"]
# Those of instances on a ladder.
LADDER_COLUMNS = {"id": "string", "rung": "int32", **INSTANCE_COLUMNS}
# Those of instances with pictures.
PICTURE_COLUMNS = {"id": "string", "style": "string", **INSTANCE_COLUMNS}
REFERENCE_COLUMNS: dict[str, str] = _TABLES["references"]
REFERENCE_MEANINGS: dict[str, str] = _TABLES["meanings_of_references"]
# All but the last can be absent. Images never are, but ``datasets`` sees no others as
# images.
_NULLABLE = {"seed", "point", "unprinted", "measure", "images"}


def _schema(columns: dict[str, str]) -> pa.Schema:
    image = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
    features: dict[str, Any] = {
        name: {"feature": {"_type": "Image"}, "_type": "List"}
        if kind == "images"
        else {"dtype": kind, "_type": "Value"}
        for name, kind in columns.items()
    }
    fields = [
        pa.field(
            name,
            pa.list_(image) if kind == "images" else _ARROW[kind],
            nullable=name in _NULLABLE,
        )
        for name, kind in columns.items()
    ]
    return pa.schema(
        fields, {"huggingface": canonical_json({"info": {"features": features}})}
    )


INSTANCE_SCHEMA = _schema(INSTANCE_COLUMNS)
LADDER_SCHEMA = _schema(LADDER_COLUMNS)
PICTURE_SCHEMA = _schema(PICTURE_COLUMNS)
REFERENCE_SCHEMA = _schema(REFERENCE_COLUMNS)


def instance_table(instances: Sequence[Instance]) -> pa.Table:
    """Return instances as a table, in the order given, each with the canary.

    Those of a ladder have a column for the rung that their ids name, those with pictures one for
    the style of these.
    """
    schema = INSTANCE_SCHEMA
    rows = []
    for instance in instances:
        row = instance.model_dump(exclude={"images", "unprinted"}) | {"canary": CANARY}
        row["images"] = [
            {"bytes": data, "path": f"{instance.id.replace('/', '_')}_{i}.png"}
            for i, data in enumerate(instance.images)
        ]
        rung = rung_of(instance.id)
        if rung is not None:
            row["rung"], schema = rung, LADDER_SCHEMA
        style = style_of(instance.id)
        if style is not None:
            row["style"], schema = style, PICTURE_SCHEMA
        rows.append(row)
    return pa.Table.from_pylist(rows, schema=schema)


def reference_table(references: Sequence[Reference]) -> pa.Table:
    """Return reference answers as a table, in the order given, each with the canary."""
    rows = [
        {**{name: getattr(ref, name) for name in Reference.__slots__}, "canary": CANARY}
        for ref in references
    ]
    return pa.Table.from_pylist(rows, schema=REFERENCE_SCHEMA)


def write_table(path: Path, table: pa.Table) -> None:
    """Write a table as Parquet; equal tables give equal bytes."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:  # not by its path, which may be no UTF-8
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
        Exception: in any way at all, if the bytes are damaged.
    """
    # Not by path: pyarrow would take columns from folders named like "a=b".
    file = pq.ParquetFile(BytesIO(data))
    if file.metadata.num_rows > MOST_ROWS:
        raise ValueError(
            f"it has {file.metadata.num_rows:,} rows, more than {MOST_ROWS:,}"
        )
    return file.read()
