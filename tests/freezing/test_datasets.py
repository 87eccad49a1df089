"""The ``datasets`` library reads the release from every place it can load from."""

import json
import re
import socket
import sys
from pathlib import Path

import pytest
from commands import run

from scbench.base.model import Instance, rung_of, style_of
from scbench.catalog import BUCKETS, MANIFOLDS
from scbench.freezing.copies import export_release
from scbench.freezing.tables import INSTANCE_COLUMNS, instance_table, write_table
from scbench.release.load import find_release
from scbench.release.manifest import CANARY, data_file
from scbench.release.sources import read_manifest

SCBENCH = Path(sys.executable).with_name("scbench")


@pytest.fixture(scope="module")
def datasets(hub_home):
    """The library, offline and with a separate home folder."""
    import datasets  # noqa: PLC0415  (reads where that is when it is imported)

    datasets.disable_progress_bars()
    return datasets


@pytest.fixture
def load(datasets, tmp_path, monkeypatch):
    """``load_dataset`` with a separate cache and without a network."""

    def refuse(*_: object) -> None:
        raise AssertionError("a socket was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)

    load_dataset = datasets.load_dataset

    def load(*args: str, **options: object):
        return load_dataset(*args, cache_dir=str(tmp_path / "cache"), **options)

    return load


def test_every_config_contains_its_rows(load, whole):
    manifest = read_manifest(whole)
    release = find_release(str(whole))
    groups = {bucket: [] for bucket in (*BUCKETS, MANIFOLDS)}
    for task, record in manifest.tasks.items():
        groups[task] = [task]
        groups[record.bucket].append(task)
    groups["default"] = manifest.default_tasks
    terse = load(str(whole), "terse", split="test")
    assert terse["id"][:] == list(release.terse().instances())
    assert terse.num_rows == load(str(whole), split="test").num_rows == 277
    drawn = load(str(whole), "pictures", split="test")
    assert drawn["id"][:] == list(release.pictures().instances())
    assert drawn["style"][:] == [style_of(name) for name in drawn["id"]]
    assert all(drawn["images"])
    rungs = load(str(whole), "ladder", split="test")
    assert rungs["id"][:] == list(release.ladder().instances())
    assert rungs["rung"][:] == [rung_of(name) for name in rungs["id"]]
    for config, tasks in groups.items():
        if tasks:
            rows = load(str(whole), config, split="test")
            assert rows["id"][:] == list(release.instances(tasks)), config
            assert rows.column_names == list(INSTANCE_COLUMNS)


def test_rows_equal_those_of_the_release(load, sound):
    expected = find_release(str(sound)).instances()
    for row in load(str(sound), split="test"):
        assert Instance(**row | {"images": tuple(row["images"])}) == expected[row["id"]]


def test_references_are_separate_and_carry_the_canary(load, sound):
    stored = find_release(str(sound)).references()
    rows = load(str(sound), "references", split="test")
    assert rows["id"][:] == [ref.id for ref in stored]
    assert rows["answer"][:] == [ref.answer for ref in stored]
    assert set(rows["canary"]) == {CANARY}
    default = load(str(sound), split="test")
    assert not {"answer", "reference", "score"} & set(default.column_names)


def test_every_config_streams_the_rows_it_loads(load, sound, datasets):
    manifest = read_manifest(sound)
    names = datasets.get_dataset_config_names(str(sound))
    groups = ["default", "axiomatic", "constructive"]
    assert names == [*groups, *manifest.tasks, "terse", "pictures", "references"]
    for name in names:
        rows = load(str(sound), name, split="test")
        streamed = load(str(sound), name, split="test", streaming=True)
        assert list(streamed) == list(rows)
        assert streamed.features == rows.features


@pytest.mark.parametrize("streaming", [False, True])
def test_images_keep_their_order_next_to_rows_without(
    load, copy, forge, datasets, streaming
):
    pictures = (b"\x89PNG one", b"\x89PNG two")
    rows = list(find_release(str(copy)).instances(["enumerate_edges"]).values())
    rows[0] = rows[0].model_copy(update={"images": pictures})
    write_table(copy / data_file("enumerate_edges"), instance_table(rows))
    forge(copy)
    assert find_release(str(copy)).instances()["enumerate_edges/00"].images == pictures
    loaded = load(str(copy), "enumerate_edges", split="test", streaming=streaming)
    assert loaded.features["images"] == datasets.List(datasets.Image())
    raw = datasets.List(datasets.Image(decode=False))
    first, second, *_ = loaded.cast_column("images", raw)
    assert first["images"] == [
        {"bytes": pictures[0], "path": "enumerate_edges_00_0.png"},
        {"bytes": pictures[1], "path": "enumerate_edges_00_1.png"},
    ]
    assert second["images"] == []


def test_code_on_the_card_runs(load, sound, tmp_path, monkeypatch):
    """Code copied from the card works, and writes a file that the grader accepts."""
    monkeypatch.chdir(tmp_path)
    export_release(find_release(str(sound)), Path("scbench"))
    card = Path("scbench/README.md").read_text("utf-8")
    blocks = re.findall(r"```python\n(.*?)```", card, re.DOTALL)
    assert len(blocks) == 2
    names = {"ask": lambda prompt, images: f"{len(prompt)} {len(images)}"}
    monkeypatch.setattr("datasets.load_dataset", load)
    for block in blocks:
        exec(block, names)  # noqa: S102
    lines = Path("predictions.jsonl").read_text().splitlines()
    ids = [json.loads(line)["id"] for line in lines]
    assert ids == list(find_release(str(sound)).instances())
    run("scbench-grade", "predictions.jsonl", "--release", "scbench", "--check", code=0)
