"""Verification names every kind of damage, accidental or carefully forged."""

import json
import os
import random
import re
import shutil
import signal
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from folders import edit_row, rewrite
from typer.testing import CliRunner

from scbench.base.errors import CannotGrade, ReleaseError
from scbench.catalog import all_tasks, available_tasks
from scbench.cli.main import app
from scbench.freezing.frozen_task import freeze_task
from scbench.freezing.tables import read_table, write_table
from scbench.freezing.verify import verify_release
from scbench.freezing.verify.files import check_manifest
from scbench.release.manifest import CARD, MANIFEST, REFERENCES
from scbench.release.sources import read_manifest

DATA = "data/enumerate_edges.parquet"
OTHER = "data/shikaku_rectangles.parquet"
SCHEMA = "schemas/enumerate_edges.answer.json"
FROZEN = cache(freeze_task)


@pytest.fixture(autouse=True)
def quick_builders(monkeypatch: pytest.MonkeyPatch) -> None:
    """Build each task once: builds are pure, and these tests are about the comparison."""
    monkeypatch.setattr("scbench.freezing.frozen_task.freeze_task", FROZEN)


def edit_manifest(root: Path, change) -> None:
    record = json.loads((root / MANIFEST).read_text("utf-8"))
    change(record)
    (root / MANIFEST).write_text(
        json.dumps(record, indent=1, ensure_ascii=False) + "\n", "utf-8"
    )


def assert_names(problems: tuple[str, ...], *patterns: str) -> None:
    for pattern in patterns:
        assert any(re.search(pattern, line) for line in problems), (pattern, problems)


def test_sound_release_has_no_problems(sound):
    steps = []
    assert verify_release(sound, steps.append) == ()
    assert {"files", "enumerate_edges", "references"} <= set(steps)


def test_every_file_is_named_after_a_byte_flip(copy):
    names = [
        path.relative_to(copy).as_posix() for path in copy.rglob("*") if path.is_file()
    ]
    assert len(names) == 21
    rng = random.Random(0)
    for name in names:
        before = (copy / name).read_bytes()
        flipped = bytearray(before)
        flipped[rng.randrange(len(before))] ^= 1 << rng.randrange(8)
        (copy / name).write_bytes(flipped)
        assert_names(verify_release(copy), re.escape(name))
        (copy / name).write_bytes(before)
    assert verify_release(copy) == ()


def test_every_flipped_byte_of_the_manifest_is_noticed(copy):
    # The hashes alone must show it; finding it must not depend on rebuilding.
    before = (copy / MANIFEST).read_bytes()
    for at in range(0, len(before), 5):
        flipped = bytearray(before)
        flipped[at] ^= 1
        (copy / MANIFEST).write_bytes(flipped)
        try:
            manifest = read_manifest(copy, check_digest=False)
        except ReleaseError as error:
            problems = (str(error),)
        else:
            problems = tuple(check_manifest(copy, manifest))
        assert_names(problems, MANIFEST)


def test_damaged_parquet_never_raises(copy, forge):
    rng = random.Random(1)
    for name in (DATA, REFERENCES):
        before = (copy / name).read_bytes()
        for _ in range(8):
            damaged = bytearray(before)
            for _ in range(rng.choice([1, 3, 30])):
                damaged[rng.randrange(len(damaged))] = rng.randrange(256)
            if rng.random() < 0.2:
                damaged = damaged[: rng.randrange(len(damaged))]
            (copy / name).write_bytes(damaged)
            if bytes(damaged) != before:
                assert_names(verify_release(copy), name)
        (copy / name).write_bytes(before)


def changed(change, name=DATA):
    """Damage to a release: rows of a file are changed."""
    return lambda root: rewrite(root / name, change)


def record(change):
    """Damage to a release: its manifest is changed."""
    return lambda root: edit_manifest(root, change)


def replaced(name, put):
    """Damage to a release: a file is replaced by something else."""

    def damage(root):
        (root / name).rename(root.parent / "x")
        put(root / name)

    return damage


# Damage to a release without correcting any hash, and the expected message.
DAMAGE = {
    "row edited": (
        changed(lambda rows: edit_row(rows[2])),
        rf"{DATA}: .*manifest",
        rf"{DATA}: row enumerate_edges/02 differs .* in prompt, content_h",
    ),
    "hash of a row not mended": (
        changed(lambda rows: rows[0].update(difficulty="trivial")),
        rf"{DATA}: row enumerate_edges/00 differs from the builder's in difficulty$",
    ),
    "file missing": (lambda root: (root / OTHER).unlink(), rf"^{OTHER}: missing$"),
    "file added": (
        lambda root: (root / "data" / "extra.parquet").write_bytes(b"x"),
        "^data/extra.parquet: the manifest does not list this file$",
    ),
    "file with an odd name added": (
        lambda root: (root / "a\nb\udcff").write_text("x"),
        r"^'a\\nb\\udcff': the manifest does not list this file$",
    ),
    "pipe added": (
        lambda root: os.mkfifo(root / "pipe"),
        "^pipe: the manifest does not list this file$",
    ),
    "link to a file elsewhere": (
        replaced(DATA, lambda path: path.symlink_to("../../x")),
        f"^{DATA}: is a link, not a file$",
    ),
    "linked manifest": (
        replaced(MANIFEST, lambda path: path.symlink_to("../x")),
        f"^{MANIFEST}: is a link, not a file$",
    ),
    "folder in place of a file": (replaced(DATA, Path.mkdir), f"^{DATA}: missing$"),
    "pipe in place of a file": (
        replaced(DATA, os.mkfifo),
        f"^{DATA}: is not a regular file$",
    ),
    "emptied": (
        lambda root: (root / DATA).write_bytes(b""),
        f"^{DATA}: has 0 bytes, but the manifest says",
        f"^{DATA}: cannot be read: ArrowInvalid",
    ),
    "manifest edited": (
        record(lambda manifest: manifest.update(package_version="9")),
        f"^{MANIFEST}: was changed after it was frozen",
    ),
    "manifest laid out anew": (
        lambda root: (root / MANIFEST).write_text(
            json.dumps(json.loads((root / MANIFEST).read_text("utf-8"))), "utf-8"
        ),
        f"^{MANIFEST}: is not formatted as scbench writes it$",
    ),
    "manifest names files elsewhere": (
        record(
            lambda manifest: manifest["files"].update({"../x": manifest["files"][DATA]})
        ),
        rf"{MANIFEST} is not a manifest: files\.\.\./x",
    ),
    "everything gone": (shutil.rmtree, f"is not a release folder: {MANIFEST}"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damage_is_named(copy, kind):
    damage, *message = DAMAGE[kind]
    damage(copy)
    assert_names(verify_release(copy), *message)


def columns(change, name=DATA):
    """Damage to a release: the table of a file is changed."""
    return lambda root: write_table(
        root / name, change(read_table((root / name).read_bytes()))
    )


def wider(table):
    at = table.schema.get_field_index("prompt")
    field = table.schema.field(at).with_type(pa.large_string())
    return table.set_column(at, field, table["prompt"].cast(field.type))


def of_task(**changes):
    """Damage to a manifest: the record of a task is changed."""
    return lambda manifest: manifest["tasks"]["enumerate_edges"].update(changes)


def same(_: object) -> None:
    pass


# Forgeries that correct every hash of the manifest: rebuilding must reveal them.
FORGERIES = {
    "row edited, rows_hash made up": (
        changed(lambda rows: edit_row(rows[2])),
        lambda manifest: (
            manifest.update(rows_hash="0" * 64),
            of_task(rows_hash="1" * 64)(manifest),
        ),
        rf"^{DATA}: row enumerate_edges/02 differs",
        f"^{MANIFEST}: rows_hash is '0+', but the recomputed value is",
        rf"^{MANIFEST}: tasks\.enumerate_edges\.rows_hash is '1+', but the recomputed value is",
    ),
    "parameters made easier": (
        changed(
            lambda rows: rows[3].update({k: rows[0][k] for k in ("params", "prompt")})
        ),
        same,
        rf"^{DATA}: row enumerate_edges/03 differs from the builder's in prompt, params$",
    ),
    "picture slipped in": (
        changed(lambda rows: rows[0].update(images=[{"bytes": b"x", "path": "x.png"}])),
        same,
        rf"^{DATA}: row enumerate_edges/00 differs from the builder's in images$",
    ),
    "row dropped": (
        changed(lambda rows: rows[:-1]),
        of_task(instances=7, scores=7),
        rf"^{DATA}: row enumerate_edges/07 is missing$",
        rf"^{MANIFEST}: tasks\.enumerate_edges\.instances is 7, but the recomputed value is 8$",
    ),
    "row twice": (
        changed(lambda rows: [*rows, rows[0]]),
        same,
        rf"^{DATA}: row enumerate_edges/00 occurs 2 times$",
    ),
    "row of another task": (
        changed(lambda rows: [*rows, rows[0] | {"id": "x/00\n"}]),
        same,
        rf"^{DATA}: row 'x/00\\n' was not made by the builder$",
    ),
    "rows reordered": (
        changed(lambda rows: [rows[1], rows[0], *rows[2:]]),
        same,
        rf"^{DATA}: the rows are not in the builder's order",
    ),
    "reference edited": (
        changed(lambda rows: rows[0].update(answer=rows[1]["answer"]), REFERENCES),
        same,
        rf"^{REFERENCES}: row enumerate_edges/00 reference differs .* in answer$",
    ),
    "score edited": (
        changed(lambda rows: rows[1].update(score=0.5), REFERENCES),
        lambda manifest: manifest["references"].update(rows_hash="2" * 64),
        rf"^{REFERENCES}: row enumerate_edges/00 \w+ differs from the builder's in score$",
        rf"^{MANIFEST}: references\.rows_hash is '2+', but the recomputed value is",
    ),
    "canary taken out": (
        changed(lambda rows: [row | {"canary": ""} for row in rows], REFERENCES),
        same,
        rf"^{REFERENCES}: row enumerate_edges/00 reference differs .* in canary$",
    ),
    "column of another type": (
        columns(wider),
        same,
        rf"^{DATA}: column prompt has the type large_string not null instead of string not null$",
    ),
    "column missing": (
        columns(lambda table: table.drop_columns(["seed"])),
        same,
        rf"^{DATA}: column seed is missing$",
    ),
    "column added": (
        columns(lambda table: table.append_column("answer", [["x"] * 8])),
        same,
        rf"^{DATA}: column answer does not belong to the format$",
    ),
    "columns in another order": (
        columns(lambda table: table.select(table.schema.names[::-1])),
        same,
        rf"^{DATA}: the order or the metadata of the columns differs",
    ),
    "card edited": (
        lambda root: (root / CARD).write_text(
            (root / CARD).read_text("utf-8") + "Trust me.\n"
        ),
        same,
        f"^{CARD}: differs from the newly written file$",
    ),
    "grader version raised": (
        same,
        of_task(grader_version=99),
        rf"^{MANIFEST}: tasks\.enumerate_edges\.grader_version is 99, but the recomputed .*\d+$",
    ),
    "library versions changed": (
        same,
        lambda manifest: manifest["libraries"].update(pyarrow="1.0"),
        f"^{CARD}: differs from the newly written file$",
    ),
    "file added and listed": (
        lambda root: (root / "data" / "extra.parquet").write_bytes(b"x"),
        same,
        f"^{MANIFEST}: lists data/extra.parquet, which is not part of a release",
    ),
    "file dropped and not listed": (
        lambda root: (root / OTHER).unlink(),
        same,
        f"^{MANIFEST}: does not list {OTHER}, which a release of these tasks needs$",
    ),
    "task dropped, its rows left": (
        lambda root: (root / OTHER).unlink(),
        lambda manifest: manifest["tasks"].pop("shikaku_rectangles"),
        rf"^{REFERENCES}: row shikaku_rectangles/00 reference was not made by the builder$",
        f"^{MANIFEST}: lists schemas/shikaku_rectangles.answer.json, which is not part",
        f"^{MANIFEST}: rows_hash is",
    ),
    "task nobody knows": (
        same,
        lambda manifest: manifest["tasks"].update(
            enumerate_edge=manifest["tasks"]["enumerate_edges"]
        ),
        "^task enumerate_edge: this installation has no such task.*mean 'enumerate_edges'",
        f"^{MANIFEST}: does not list data/enumerate_edge.parquet",
    ),
}


@pytest.mark.parametrize("kind", FORGERIES)
def test_forgery_with_right_hashes_is_named(copy, forge, kind):
    damage, change, *message = FORGERIES[kind]
    damage(copy)
    forge(copy, change)
    problems = verify_release(copy)
    assert_names(problems, *message)
    assert not any("SHA-256" in line or "digest" in line for line in problems)


def test_other_library_versions_are_no_problem(copy, monkeypatch):
    """Rows must be equal wherever they are built; the bytes of files may differ."""
    monkeypatch.setattr(
        "scbench.freezing.frozen_manifest.installed_version", lambda _: "99.0"
    )
    monkeypatch.setattr("scbench.freezing.frozen_manifest.__version__", "99.0")
    assert verify_release(copy) == ()


def test_rows_are_checked_even_if_references_cannot_be_judged(copy, monkeypatch):
    def cannot(task, params, answer):
        raise CannotGrade("the engine is not installed")

    monkeypatch.setattr("scbench.freezing.frozen_task.freeze_task", freeze_task)
    monkeypatch.setattr("scbench.freezing.floors.judge", cannot)
    why = "cannot be built again: .*/00: reference cannot be graded: the engine is not installed$"
    whole = verify_release(copy)
    assert len(whole) == 2
    assert_names(
        whole, f"^task enumerate_edges: {why}", f"^task shikaku_rectangles: {why}"
    )
    rewrite(copy / OTHER, lambda rows: edit_row(rows[0]))
    assert_names(verify_release(copy), f"^{OTHER}: row shikaku_rectangles/00 differs")


def test_parquet_written_differently_contains_the_same_rows(copy, forge):
    table = read_table((copy / DATA).read_bytes())
    pq.write_table(
        table,
        copy / DATA,
        compression="snappy",
        row_group_size=3,
        use_compliant_nested_type=False,
    )
    forge(copy)
    assert verify_release(copy) == ()


def broken_builder(task):
    class Broken:
        version = 1

        def paper(self):
            raise LookupError("no data\nhere")

    return type(
        "Broken",
        (type(task),),
        {"__slots__": (), "builder": property(lambda _: Broken)},
    )


def test_failing_builder_is_a_finding_and_the_rest_is_checked(copy, monkeypatch):
    task = all_tasks()["enumerate_edges"]
    broken = replace(task)
    object.__setattr__(broken, "__class__", broken_builder(task))
    monkeypatch.setattr("scbench.freezing.frozen_task.freeze_task", freeze_task)
    others = [other for other in available_tasks() if other.id != task.id]
    monkeypatch.setattr(
        "scbench.freezing.verify.available_tasks", lambda: (*others, broken)
    )
    problems = verify_release(copy)
    assert problems == (
        "task enumerate_edges: cannot be built again: LookupError: no data",
    )
    rewrite(copy / OTHER, lambda rows: edit_row(rows[0]))
    rewrite(copy / REFERENCES, lambda rows: rows[-1].update(score=0.25))
    assert_names(
        verify_release(copy),
        f"^{OTHER}: row shikaku_rectangles/00 differs",
        f"^{REFERENCES}: row shikaku_rectangles/05 .* in score$",
    )


def test_interruption_masked_by_a_builder_error_is_not_lost(sound, monkeypatch):
    def interrupted(*_: object, **__: object) -> None:
        # Python 3.11 wraps an interruption during the creation of a class in another error.
        try:
            signal.raise_signal(signal.SIGINT)
        except KeyboardInterrupt as interruption:
            raise RuntimeError("Error calling __set_name__") from interruption

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr("scbench.freezing.frozen_task.freeze_task", interrupted)
    steps = []
    try:
        with pytest.raises(KeyboardInterrupt):
            verify_release(sound, steps.append)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, handler)
    assert steps == ["files"]


def test_interruption_after_the_last_step_is_not_lost(sound, monkeypatch):
    def swallowed(*_: object) -> list[str]:
        with suppress(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        return []

    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    monkeypatch.setattr("scbench.freezing.verify.check_gallery", swallowed)
    try:
        with pytest.raises(KeyboardInterrupt):
            verify_release(sound)
    finally:
        signal.signal(signal.SIGINT, handler)


@pytest.mark.parametrize("name", [DATA, REFERENCES, SCHEMA, CARD])
def test_unreadable_file_is_named(sound, monkeypatch, name):
    opened = os.open

    def refuse(path: str | Path, *how: int, **more: int) -> int:
        if path == sound / name:
            raise PermissionError(13, "Permission denied", str(path))
        return opened(path, *how, **more)

    monkeypatch.setattr(os, "open", refuse)
    assert_names(verify_release(sound), f"^{name}: cannot be read: Permission denied$")


def test_command_prints_problems_and_exits_with_1(copy):
    command = ["release", "verify", str(copy), "--workers", "1"]
    done = CliRunner().invoke(app, command)
    assert (done.exit_code, done.stdout) == (0, "")
    assert done.stderr.endswith(": no problems\n")
    damage, *message = DAMAGE["row edited"]
    damage(copy)
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 1
    assert_names(tuple(done.stdout.splitlines()), *message)
    assert "problems" in done.stderr


def test_hash_problems_are_reported_before_rebuilding(copy):
    with (copy / DATA).open("ab") as file:
        file.write(b"more")
    events = []
    problems = verify_release(copy, events.append, on_hashes=events.append)
    assert events[:2] == ["files", problems[:1]]
    assert DATA in problems[0]
    assert "bytes, but the manifest says" in problems[0]
    assert len(problems) > 1, "what is made again is compared all the same"
