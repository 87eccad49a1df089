"""Untrusted releases: odd files, absurd sizes, and text that controls terminals and pages."""

import json
import os
import re
import shutil
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from folders import edit_row, forge, rewrite
from typer.testing import CliRunner

from scbench.base.errors import ReleaseError
from scbench.cli.grade import app as grade
from scbench.cli.main import app
from scbench.freezing.tables import read_table
from scbench.freezing.verify import verify_release
from scbench.release.load import find_release, open_release
from scbench.release.manifest import MANIFEST, REFERENCES, Manifest

DATA = "data/enumerate_edges.parquet"
STEERING = (
    "\x1b[31mred\x1b]0;t\x07 <script>alert(1)</script> \u202e\u2066\u200b\x9b &\"'"
)
RAW = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u202a-\u202e\u2066-\u2069]")
"""Characters that must not reach a terminal."""

COMMANDS = {
    "tasks": ["tasks", "--release", "r"],
    "show": ["show", "enumerate_edges/00", "--release", "r", "--text"],
    "show as page": [
        "show",
        "enumerate_edges/00",
        "--release",
        "r",
        "--reference",
        "--out",
        "s.html",
    ],
    "diff": ["release", "diff", "r", "4.0.0"],
    "verify": ["release", "verify", "r", "--workers", "1"],
}


@pytest.fixture
def replaced(copy):
    """A function that replaces a file by something else."""

    def put(name: str, kind: str) -> Path:
        path = copy / name
        path.unlink()
        if kind == "pipe":
            os.mkfifo(path)
        elif kind == "folder":
            path.mkdir()
        elif kind == "device":
            path.symlink_to("/dev/zero")
        elif kind == "secret":
            path.symlink_to("/etc/passwd")
        else:
            with path.open("wb") as file:
                file.truncate(2 * 10**12)  # a hole, which takes no room
        return copy

    return put


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "secret", "huge"])
def test_irregular_manifest_is_refused_immediately(replaced, kind):
    root = replaced(MANIFEST, kind)
    with pytest.raises(ReleaseError) as caught:
        open_release(root)
    assert "root:" not in str(caught.value)
    (problem,) = verify_release(root)
    assert MANIFEST in problem


@pytest.mark.parametrize("kind", ["pipe", "folder", "device", "secret", "huge"])
@pytest.mark.parametrize("name", [DATA, REFERENCES])
def test_irregular_file_is_refused_immediately(replaced, name, kind, monkeypatch):
    root = replaced(name, kind)
    with pytest.raises(ReleaseError, match=re.escape(name)) as caught:
        open_release(root).instances()
    assert "root:" not in str(caught.value)
    monkeypatch.setattr("scbench.freezing.verify.freeze_tasks", lambda *_: iter(()))
    assert any(name in problem for problem in verify_release(root))


def test_size_claimed_by_the_manifest_is_not_trusted(copy, monkeypatch):
    most = 10**7
    for module in ("release.sources", "freezing.verify.files"):
        monkeypatch.setattr(f"scbench.{module}.MOST_BYTES", most)
    with (copy / DATA).open("r+b") as file:
        file.truncate(most + 10)
    record = json.loads((copy / MANIFEST).read_text("utf-8"))
    record["files"][DATA]["bytes"] = most + 10
    text = Manifest.model_validate(record).sealed().text()
    (copy / MANIFEST).write_text(text, "utf-8")
    problems = verify_release(copy)
    assert f"{DATA}: is too large for a release file" in problems


def test_endlessly_nested_manifest_is_refused(copy):
    (copy / MANIFEST).write_bytes(b'{"experiment":{"tasks":[' + b"[" * 1_000_000)
    with pytest.raises(ReleaseError, match="is not a manifest"):
        open_release(copy)


def test_too_many_rows_are_refused_before_they_are_made(copy, forge, monkeypatch):
    """A small file can contain many equal rows."""
    schema = read_table((copy / REFERENCES).read_bytes()).schema
    one = read_table((copy / REFERENCES).read_bytes()).slice(0, 1)
    count = 20_000
    for module in ("release.load", "freezing.tables"):
        monkeypatch.setattr(f"scbench.{module}.MOST_ROWS", 10_000)
    columns = [
        pa.DictionaryArray.from_arrays(
            pa.array([0] * count, pa.int8()), one[name].combine_chunks()
        )
        if pa.types.is_string(schema.field(name).type) and one[name][0].is_valid
        else pa.array([one[name][0].as_py()] * count, schema.field(name).type)
        for name in schema.names
    ]
    pq.write_table(
        pa.table(columns, names=schema.names), copy / REFERENCES, row_group_size=count
    )
    assert (copy / REFERENCES).stat().st_size < 100_000
    forge(copy)
    with pytest.raises(ReleaseError, match="more than 10,000 rows"):
        open_release(copy).references()
    with pytest.raises(ValueError, match="20,000 rows"):
        read_table((copy / REFERENCES).read_bytes())


def test_parquet_that_crashes_its_library_is_refused(copy, forge):
    pl.DataFrame({"id": ["two_segments/07"], "response": ["{}"]}).write_parquet(
        copy / REFERENCES
    )
    data = bytearray((copy / REFERENCES).read_bytes())
    data[426 // 8] ^= 1 << 426 % 8
    (copy / REFERENCES).write_bytes(data)
    forge(copy)
    with pytest.raises(ReleaseError, match="cannot be read as Parquet"):
        open_release(copy).references()


@pytest.mark.parametrize("key", ["version", "package_version", "canary"])
@pytest.mark.parametrize("sign", ["\x1b[31m", "\u202e", "\u200b", "\x9b", "\n"])
def test_unprintable_manifest_text_is_refused(copy, key, sign):
    record = json.loads((copy / MANIFEST).read_text("utf-8"))
    record[key] += sign
    text = Manifest.model_validate(record).sealed().text()
    (copy / MANIFEST).write_text(text, "utf-8")
    with pytest.raises(
        ReleaseError, match="characters that cannot be displayed"
    ) as caught:
        open_release(copy)
    assert str(caught.value).isprintable()


@pytest.fixture(scope="module")
def steering(sound, tmp_path_factory):
    """A release with right hashes, whose prompts and other texts contain control characters."""
    home = tmp_path_factory.mktemp("steering")
    root = shutil.copytree(sound, home / "r")

    def prompts(rows: list[dict]) -> None:
        for row in rows:
            edit_row(row, prompt=STEERING + row["prompt"], difficulty=STEERING)

    def references(rows: list[dict]) -> None:
        for row in rows:
            row["floor_strategy"] = STEERING
            row["name"] = row["name"] if row["kind"] == "reference" else STEERING

    rewrite(root / DATA, prompts)
    rewrite(root / REFERENCES, references)
    forge(root)
    lines = [
        json.dumps({"id": ref.id, "model": "m", "answer": json.loads(ref.answer)})
        for ref in find_release(str(root)).references()
        if ref.kind == "reference"
    ]
    (home / "p.jsonl").write_text("\n".join(lines), "utf-8")
    return home


def test_item_of_a_faulty_release_gives_one_line(copy, forge):
    """Its parameters have 100,000 faults."""

    def change(rows: list[dict]) -> None:
        first = next(row for row in rows if row["id"] == "enumerate_edges/00")
        params = dict.fromkeys(json.loads(first["params"]), [[]] * 100_000)
        edit_row(first, params=json.dumps(params))

    rewrite(copy / DATA, change)
    forge(copy)
    item = ["show", "enumerate_edges/00", "--release", str(copy)]
    for options in (["--text"], ["--reference", "--text"]):
        done = CliRunner().invoke(app, [*item, *options])
        assert done.exit_code == 2
        assert done.output.startswith("error: "), done.output[:300]
        assert len(done.output.splitlines()) == 1
        assert len(done.output) < 1000


@pytest.mark.parametrize("name", COMMANDS)
def test_release_text_controls_no_terminal_and_no_page(steering, monkeypatch, name):
    monkeypatch.chdir(steering)
    done = CliRunner().invoke(app, COMMANDS[name])
    assert done.exit_code in {0, 1}, done.output
    assert done.exception is None or isinstance(done.exception, SystemExit)
    assert not RAW.search(done.output)
    for page in ("s.html", "s.svg"):
        if page in COMMANDS[name]:
            assert "<script>alert" not in (steering / page).read_text("utf-8")


def test_release_text_controls_no_run_and_no_report(steering, monkeypatch):
    monkeypatch.chdir(steering)
    done = CliRunner().invoke(
        grade, ["p.jsonl", "--release", "r", "--out", "o", "--report"]
    )
    assert done.exit_code == 0, done.output
    assert not RAW.search(done.output)
    assert "<script>alert" not in (steering / "o" / "report.html").read_text("utf-8")
    again = ["report", "o", "--release", "r", "--items", "all", "--out", "all.html"]
    done = CliRunner().invoke(app, again)
    assert done.exit_code == 0, done.output
    page = (steering / "all.html").read_text("utf-8")
    assert "<script>alert" not in page
    assert "&lt;script&gt;alert" in page, "the prompt is shown as text"
