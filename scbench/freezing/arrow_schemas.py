"""Arrow schemas of the columns of a release's tables.

The schemas contain the metadata by which the ``datasets`` library recognizes images, so loading
needs no script and no guess.
"""

from typing import Any

import pyarrow as pa

from scbench.base.canonical import canonical_json

_ARROW_TYPES = {
    "string": pa.string(),
    "int32": pa.int32(),
    "int64": pa.int64(),
    "float64": pa.float64(),
}
_IMAGE = pa.struct([pa.field("bytes", pa.binary()), pa.field("path", pa.string())])
# Columns that may contain nulls. Images never are, but ``datasets`` recognizes images
# only in such a column.
_NULLABLE = {"seed", "point", "unprinted", "measure", "images"}


def schema_of(columns: dict[str, str]) -> pa.Schema:
    """Return the Arrow schema of columns, given their types by name."""
    features: dict[str, Any] = {}
    fields = []
    for name, kind in columns.items():
        if kind == "images":
            features[name] = {"feature": {"_type": "Image"}, "_type": "List"}
            arrow_type = pa.list_(_IMAGE)
        else:
            features[name] = {"dtype": kind, "_type": "Value"}
            arrow_type = _ARROW_TYPES[kind]
        fields.append(pa.field(name, arrow_type, nullable=name in _NULLABLE))
    metadata = {"huggingface": canonical_json({"info": {"features": features}})}
    return pa.schema(fields, metadata)
