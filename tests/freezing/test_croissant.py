"""The Croissant file is valid and readable for its own library."""

import json
from pathlib import Path

import pytest
from commands import python

from scbench.catalog import get_task
from scbench.freezing.croissant import render_croissant
from scbench.freezing.freeze import build_release
from scbench.release.load import find_release
from scbench.release.manifest import CROISSANT, REFERENCES
from scbench.release.sources import read_manifest

READ = """
import json, logging, sys, warnings
warnings.simplefilter("ignore")  # its own and its libraries'
import mlcroissant
said = []
logging.getLogger("absl").addHandler(type("Listen", (logging.Handler,), {
    "emit": lambda self, record: said.append(record.getMessage())})())
dataset = mlcroissant.Dataset(jsonld=sys.argv[1])
issues = dataset.metadata.issues
records = {name.id: list(dataset.records(name.id)) for name in dataset.metadata.record_sets}
def plain(value):
    if isinstance(value, list):
        return [plain(part) for part in value]
    return value.decode() if isinstance(value, bytes) else getattr(value, "size", value)
print(json.dumps({
    "issues": [*issues.errors, *issues.warnings, *said],
    "records": {name: [{key: plain(value) for key, value in row.items()} for row in rows]
                for name, rows in records.items()},
}))
"""


@pytest.fixture(scope="module")
def pictured(tmp_path_factory) -> Path:
    """A small release with pictures in some rows."""
    root = tmp_path_factory.mktemp("pictured") / "release"
    build_release(
        "0.0.1",
        root,
        [get_task("enumerate_edges"), get_task("polynomial_curve_fitting")],
    )
    return root


def test_validator_has_no_complaints_and_reads_every_row(pictured):
    output = json.loads(python(READ, pictured / CROISSANT))
    assert output["issues"] == []
    release = find_release(str(pictured))
    rows = release.instances()
    for task in release.manifest.tasks:
        read = output["records"][task]
        assert [row[f"{task}/id"] for row in read] == [
            row.id for row in rows.values() if row.task == task
        ]
        for row in read:
            stored = rows[row[f"{task}/id"]]
            assert row[f"{task}/prompt"] == stored.prompt
            seed = None if stored.seed is None else str(stored.seed)
            assert row[f"{task}/seed"] == seed
            assert len(row[f"{task}/images"]) == len(stored.images)
    assert any(
        row["polynomial_curve_fitting/images"] for row in output["records"][task]
    )
    stored = release.references()
    assert [row["references/answer"] for row in output["records"]["references"]] == [
        ref.answer for ref in stored
    ]


def test_files_are_listed_with_their_hashes(sound):
    manifest = read_manifest(sound)
    text = (sound / CROISSANT).read_text("utf-8")
    assert text == render_croissant(manifest)
    value = json.loads(text)
    assert value["version"] == manifest.version
    assert manifest.rows_hash in value["description"]
    files = {entry["contentUrl"]: entry for entry in value["distribution"]}
    kinds = ("data", "terse", "pictures")
    rows = {f"{kind}/{task}.parquet" for kind in kinds for task in manifest.tasks}
    assert set(files) == rows | {REFERENCES}
    for path, entry in files.items():
        assert entry["sha256"] == manifest.files[path].sha256
        assert entry["contentSize"] == f"{(sound / path).stat().st_size} B"
