"""The manifest: its refusals, and the order of versions."""

import json

import pytest
from pydantic import ValidationError

from scbench.base.errors import ReleaseError
from scbench.release.manifest import (
    MANIFEST,
    Manifest,
    is_version,
    version_key,
    weight_of,
)
from scbench.release.sources import read_manifest


def test_versions_sort_by_number_and_stage():
    right = [
        "", "0.1", "draft", "0.1.0a1", "0.1.0a2", "0.1.0a10", "0.1.0b1", "0.1.0rc1", "0.1.0",
        "0.1.1", "0.2.0", "0.9.0rc1", "0.9.0", "0.10.0rc2", "0.10.0", "1.0.0", "10.0.0",
    ]  # fmt: skip
    for wrong in (right[::-1], right[1::2] + right[::2]):
        assert sorted(wrong, key=version_key) == right


@pytest.mark.parametrize(
    "name",
    [
        "",
        "1",
        "1.0",
        "v1.0.0",
        "1.0.0 ",
        "1.0.0\n",
        "../1.0.0",
        "1.0.0rc",
        "1.0.0.1",
        "١.٠.٠",
    ],
)
def test_other_names_are_not_versions(name):
    assert not is_version(name)


@pytest.mark.parametrize(
    "name",
    ["../x", "/etc/passwd", "a/../../x", "a/..", ".", "..", "", "a//b", "a/", "./a", "a\\b", "a\n",
     "~/x", "a b", "a\x00b"],
)  # fmt: skip
def test_file_names_cannot_lead_out_of_the_folder(sound, name):
    record = json.loads((sound / MANIFEST).read_text("utf-8"))
    record["files"][name] = {"sha256": "0", "bytes": 1}
    with pytest.raises(ValidationError, match=r"files"):
        Manifest.model_validate(record)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "Invalid JSON"),
        (b"\xff\xfe\x00", "Invalid JSON"),
        (b"[" * 100_000, "Invalid JSON"),
        (b"[]", "object"),
        (b"null", "object"),
        (b"{}", "version: is missing"),
        (b'{"format": 2}', "format: .*newer scbench"),
        (b'{"version": 1}', "version: .*string"),
        (b'{"tasks": {}}', "is missing|at least 1"),
    ],
)
def test_invalid_manifest_is_refused_with_a_reason(tmp_path, data, message):
    (tmp_path / MANIFEST).write_bytes(data)
    with pytest.raises(
        ReleaseError, match=rf"MANIFEST\.json is not a manifest: .*({message})"
    ):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("floors", "weight"),
    [([0.0] * 10, 20.0), ([0.0, 1.0, 1.0], 4.348), ([1.0, 1.0], 0.0), ([], 0)],
)
def test_task_weighs_by_its_answers_with_room(floors, weight):
    assert weight_of(floors) == weight
