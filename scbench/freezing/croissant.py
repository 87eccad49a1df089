"""The Croissant description of a release: its files with hashes, and what their columns mean.

One record set for each task and one for the references. The vocabulary is that of Croissant 1.0.
"""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

from scbench.base.model import LADDER, TERSE, Instance
from scbench.freezing.tables import INSTANCE_COLUMNS, LADDER_COLUMNS, REFERENCE_COLUMNS
from scbench.release.about import (
    CITATION,
    DESCRIPTION,
    HOMEPAGE,
    KEYWORDS,
    LICENCE,
    PUBLISHED,
    TITLE,
)
from scbench.release.manifest import REFERENCES, Manifest, data_file, ladder_file, terse_file

_PARQUET = "application/x-parquet"
_TYPES = {
    "string": "sc:Text",
    "int32": "sc:Integer",
    "int64": "sc:Integer",
    "float64": "sc:Float",
    "images": "sc:ImageObject",
}
_CONTEXT = json.loads(files(__package__).joinpath("croissant_context.json").read_bytes())
"""The standard context in full: validators warn of any other."""

_REFERENCE_MEANINGS = {
    "id": "instance that the answer belongs to",
    "kind": "reference (scores 1) or counter_reference (must score less)",
    "name": "name of the answer within its instance",
    "answer": "the answer, as canonical JSON",
    "score": "mean of its scores",
    "floor": "what the best answer without insight scores",
    "floor_strategy": "name of that answer; empty where none scores anything",
    "unprinted": "what graders and tables use of the instance, no prompt prints and its row does "
    "not hold, as canonical JSON; in references only",
    "measure": "of an instance on the ladder, how hard it is: what the ladder of its task counts",
    "canary": "keep out of training data",
}


def render_croissant(manifest: Manifest) -> str:
    """Return the Croissant file of a release, from its manifest alone."""
    files = {data_file(task): task for task in manifest.tasks} | {REFERENCES: "references"}
    files |= {terse_file(task): f"{task}-{TERSE}" for task in manifest.terse}
    rungs = manifest.ladder.tasks if manifest.ladder else ()
    files |= {ladder_file(task): f"{task}-{LADDER}" for task in rungs}
    present = {path: name for path, name in files.items() if path in manifest.files}
    value = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
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
        "distribution": [_file(manifest, path) for path in present],
        "recordSet": [
            _record_set(path, name, on_rungs=manifest.is_ladder or path.startswith(f"{LADDER}/"))
            for path, name in present.items()
        ],
    }
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _file(manifest: Manifest, path: str) -> dict[str, Any]:
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


def _record_set(path: str, name: str, *, on_rungs: bool) -> dict[str, Any]:
    is_task = path != REFERENCES
    rows = LADDER_COLUMNS if on_rungs else INSTANCE_COLUMNS
    columns = rows if is_task else REFERENCE_COLUMNS
    meanings = {key: str(field.description) for key, field in Instance.model_fields.items()}
    meanings["rung"] = "of the ladder, from 1: higher ones are harder"
    meanings["canary"] = _REFERENCE_MEANINGS["canary"]
    key = ("id",) if is_task else ("id", "name")
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": (
            f"Instances of {name}."
            if is_task
            else "Reference and counter-reference answers, to test graders with."
        ),
        "key": [{"@id": f"{name}/{column}"} for column in key],
        "field": list(_fields(path, name, columns, meanings if is_task else _REFERENCE_MEANINGS)),
    }


def _fields(
    path: str, name: str, columns: Mapping[str, str], meanings: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    for column, kind in columns.items():
        yield {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": column,
            "description": meanings[column],
            "dataType": _TYPES[kind],
            **({"repeated": True} if kind == "images" else {}),
            "source": {
                "fileObject": {"@id": path},
                "extract": {"column": column},
                **({"transform": {"jsonPath": "bytes"}} if kind == "images" else {}),
            },
        }
