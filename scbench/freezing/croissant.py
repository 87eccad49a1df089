"""The Croissant description of a release, in the vocabulary of Croissant 1.1.

It has a record set for each task in each config, and one for the references.
"""

import json
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from scbench.base.model import LADDER, PICTURES, TERSE, Instance
from scbench.freezing.tables import (
    INSTANCE_COLUMNS,
    LADDER_COLUMNS,
    PICTURE_COLUMNS,
    REFERENCE_COLUMNS,
    REFERENCE_MEANINGS,
)
from scbench.release.about import (
    CITATION,
    DESCRIPTION,
    HOMEPAGE,
    KEYWORDS,
    LICENCE,
    PUBLISHED,
    TITLE,
)
from scbench.release.manifest import (
    REFERENCES,
    Manifest,
    data_file,
    ladder_file,
    pictures_file,
    terse_file,
)

_PARQUET = "application/x-parquet"
# Types of columns, by their names in our tables.
_TYPES = {
    "string": "sc:Text",
    "int32": "sc:Integer",
    "int64": "sc:Integer",
    "float64": "sc:Float",
    "images": "sc:ImageObject",
}
# The standard context in full, because validators warn about any other.
_CONTEXT = json.loads(
    files(__package__).joinpath("croissant_context.json").read_bytes()
)


def render_croissant(manifest: Manifest) -> str:
    """Return the Croissant file of a release, from its manifest alone."""
    names = record_set_names(manifest)
    distribution = [file_object(manifest, path) for path in names]
    record_sets = []
    for path, name in names.items():
        if path == REFERENCES:
            record_sets.append(references_set(name))
        else:
            is_ladder = manifest.is_ladder or path.startswith(f"{LADDER}/")
            record_sets.append(task_set(path, name, is_ladder=is_ladder))
    value = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.1",
        "name": TITLE,
        "alternateName": manifest.name,
        "description": f"{DESCRIPTION} Rows: {manifest.rows_hash}.",
        "version": manifest.version,
        "license": LICENCE,
        "url": HOMEPAGE,
        "datePublished": PUBLISHED,
        "creator": {"@type": "Organization", "name": "The scbench developers"},
        "keywords": list(KEYWORDS),
        "citeAs": CITATION,
        "isLiveDataset": False,
        "distribution": distribution,
        "recordSet": record_sets,
    }
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def record_set_names(manifest: Manifest) -> dict[str, str]:
    """Return the names of the record sets of a release, by Parquet file."""
    names = {data_file(task): task for task in manifest.tasks}
    # The order of the record sets: tasks, references, then the other configs.
    names[REFERENCES] = "references"
    for task in manifest.terse:
        names[terse_file(task)] = f"{task}-{TERSE}"
    for task in manifest.pictures:
        names[pictures_file(task)] = f"{task}-{PICTURES}"
    if manifest.ladder:
        for task in manifest.ladder.tasks:
            names[ladder_file(task)] = f"{task}-{LADDER}"
    return {path: name for path, name in names.items() if path in manifest.files}


def file_object(manifest: Manifest, path: str) -> dict[str, Any]:
    """Return the description of a file."""
    record = manifest.files[path]
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "contentSize": f"{record.bytes} B",
        "encodingFormat": _PARQUET,
        "sha256": record.sha256,
    }


def references_set(name: str) -> dict[str, Any]:
    """Return the record set of the references."""
    return record_set(
        name,
        description="Reference and counter-reference answers, for testing graders.",
        key=("id", "name"),
        fields=_fields(REFERENCES, name, REFERENCE_COLUMNS, REFERENCE_MEANINGS),
    )


def task_set(path: str, name: str, *, is_ladder: bool) -> dict[str, Any]:
    """Return the record set of a task in one config."""
    if path.startswith(f"{PICTURES}/"):
        columns = PICTURE_COLUMNS
    elif is_ladder:
        columns = LADDER_COLUMNS
    else:
        columns = INSTANCE_COLUMNS
    meanings = {}
    for column, field in Instance.model_fields.items():
        meanings[column] = str(field.description)
    meanings["rung"] = "rung of the ladder, from 1; higher rungs are harder"
    meanings["style"] = (
        "style of the pictures: drawn, or symbols instead of filled cells"
    )
    meanings["canary"] = REFERENCE_MEANINGS["canary"]
    return record_set(
        name,
        description=f"Instances of {name}.",
        key=("id",),
        fields=_fields(path, name, columns, meanings),
    )


def record_set(
    name: str, description: str, key: tuple[str, ...], fields: list[dict[str, Any]]
) -> dict[str, Any]:
    """Return a record set whose key consists of some columns."""
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": description,
        "key": [{"@id": f"{name}/{column}"} for column in key],
        "field": fields,
    }


def _fields(
    path: str, name: str, columns: Mapping[str, str], meanings: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Return the fields of a record set: one for each column of a file."""
    fields = []
    for column, kind in columns.items():
        field: dict[str, Any] = {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": column,
            "description": meanings[column],
            "dataType": _TYPES[kind],
        }
        source: dict[str, Any] = {
            "fileObject": {"@id": path},
            "extract": {"column": column},
        }
        if kind == "images":
            # A list of structs, as ``datasets`` stores images.
            field["repeated"] = True
            source["transform"] = {"jsonPath": "bytes"}
        field["source"] = source
        fields.append(field)
    return fields
