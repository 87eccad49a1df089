"""Finding and reading releases: files changed after freezing are refused by name."""

import shutil
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest
from folders import rewrite

from scbench.base.errors import ReleaseError
from scbench.freezing.tables import read_table, write_table
from scbench.release.load import find_release, installed_releases, release_in_results
from scbench.release.manifest import REFERENCES

DATA = "data/enumerate_edges.parquet"


@pytest.fixture
def home(tmp_path, sound, monkeypatch) -> Path:
    """A folder of installed releases."""
    home = tmp_path / "releases"
    for version in ("0.10.0", "0.9.0rc1", "0.2.0", "0.9.0"):
        shutil.copytree(sound, home / version)
    (home / "__pycache__").mkdir()
    (home / "0.11.0").mkdir()
    monkeypatch.setattr("scbench.release.load.files", lambda _: home)
    return home


def test_installed_releases_are_listed_oldest_first(home):
    assert list(installed_releases()) == ["0.2.0", "0.9.0rc1", "0.9.0", "0.10.0"]


def test_unknown_version_suggests_similar_ones(home):
    with pytest.raises(ReleaseError) as caught:
        find_release("v0.9.0")
    message = str(caught.value)
    assert "no release 'v0.9.0': it is not an installed version" in message
    assert "(0.2.0, 0.9.0rc1, 0.9.0, 0.10.0)" in message
    assert "Did you mean '0.9.0'" in message


@pytest.mark.parametrize("name", ["9.0.0", "9.0.0+terse"])
def test_folder_here_never_replaces_a_version(home, sound, name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(sound, tmp_path / "9.0.0")
    with pytest.raises(ReleaseError, match=r"For the folder here, write \./9\.0\.0"):
        find_release(name)
    assert find_release("./9.0.0").version == "0.0.1"


@pytest.mark.parametrize(
    "version",
    ["stranger", "./stranger", "9.0.0", "0.9.0+/../../stranger", "a/b@main", ""],
)
def test_results_name_only_installed_releases(
    home, sound, version, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for folder in ("stranger", "9.0.0", "a/b@main", "0.9.0+/../../stranger"):
        shutil.copytree(sound, tmp_path / folder, dirs_exist_ok=True)
    monkeypatch.setattr("scbench.release.load.fetch_snapshot", pytest.fail)
    if version.startswith("0.9.0"):
        assert release_in_results(version).root == home / "0.9.0"
        return
    with pytest.raises(ReleaseError, match="is not installed"):
        release_in_results(version)


@pytest.mark.parametrize(
    "name", ["x" * 5000, "a\x00b", "\n", "no/such/folder", "MANIFEST.json"]
)
def test_odd_names_are_refused_in_words(home, name):
    with pytest.raises(ReleaseError, match="no release"):
        find_release(name)


def test_weights_come_from_the_manifest_or_from_the_floors(sound):
    release = find_release(str(sound))
    records = release.manifest.tasks
    assert release.weights() == {
        task: record.weight for task, record in records.items()
    }
    bare = {
        task: record.model_copy(update={"weight": None})
        for task, record in records.items()
    }
    older = replace(
        release, manifest=release.manifest.model_copy(update={"tasks": bare})
    )
    assert older.weights() == pytest.approx(release.weights())


def test_only_the_files_of_named_tasks_are_read(copy):
    (copy / DATA).unlink()
    release = find_release(str(copy))
    assert len(release.instances(["shikaku_rectangles"])) == 6
    assert release.instances([]) == {}
    with pytest.raises(ReleaseError, match=rf"release 0\.0\.1: .*{DATA}: No such file"):
        release.instances()


@pytest.mark.parametrize(
    ("name", "read"),
    [
        (DATA, lambda release: release.instances()),
        (REFERENCES, lambda release: release.references()),
        ("README.md", lambda release: release.read("README.md")),
        (
            "schemas/prediction.json",
            lambda release: release.read("schemas/prediction.json"),
        ),
    ],
)
def test_file_changed_after_freezing_is_refused_by_name(copy, name, read):
    data = bytearray((copy / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copy / name).write_bytes(data)
    with pytest.raises(
        ReleaseError,
        match=rf"{name} was changed after it was frozen; for details run `scbench",
    ):
        read(find_release(str(copy)))


@pytest.mark.parametrize(
    "change",
    [
        lambda table: table.drop_columns(["prompt"]),
        lambda table: table.append_column("more", [["x"] * table.num_rows]),
        lambda table: table.set_column(3, "subtask", [[-1] * table.num_rows]),
        lambda table: table.set_column(
            6, "images", pa.nulls(table.num_rows, table.schema.field("images").type)
        ),
        lambda table: table.set_column(9, "scores", [[0] * table.num_rows]),
        lambda table: table.set_column(9, "scores", [[2**31 - 1] * table.num_rows]),
    ],
    ids=[
        "column missing",
        "column added",
        "wrong value",
        "no images",
        "no scores",
        "too many scores",
    ],
)
def test_invalid_rows_are_refused_by_name(copy, forge, change):
    write_table(copy / DATA, change(read_table((copy / DATA).read_bytes())))
    forge(copy)
    with pytest.raises(ReleaseError, match=rf"{DATA} has the wrong content") as refused:
        find_release(str(copy)).instances()
    assert len(str(refused.value).splitlines()) == 1


def test_task_without_instances_is_refused(copy, forge):
    write_table(copy / DATA, read_table((copy / DATA).read_bytes()).slice(0, 0))
    forge(copy)
    with pytest.raises(ReleaseError, match=rf"{DATA} contains no instances"):
        find_release(str(copy)).instances()


def test_duplicate_id_is_refused(copy, forge):
    table = read_table((copy / DATA).read_bytes())
    write_table(copy / DATA, pa.concat_tables([table, table.slice(0, 1)]))
    forge(copy)
    with pytest.raises(ReleaseError, match=r"enumerate_edges/00 occurs twice"):
        find_release(str(copy)).instances()


@pytest.mark.parametrize("floors", [[1.5], [float("nan")], [0.25, 0.5]])
def test_floor_that_is_not_one_score_is_refused(copy, forge, floors):
    rewrite(
        copy / REFERENCES,
        lambda rows: [
            row | {"floor": floors[i % len(floors)]} for i, row in enumerate(rows)
        ],
    )
    forge(copy)
    with pytest.raises(
        ReleaseError, match="the floor of enumerate_edges/00 must be a single number"
    ):
        find_release(str(copy)).floors()
