"""Generated folders: the same bytes however they are made, and no trace of a private seed."""

import shutil

import polars as pl
import pytest
from folders import contents

from scbench.base.errors import ExperimentError, ResultsError
from scbench.freezing import fresh_folder as folder_module
from scbench.freezing.experiment import experiment_of
from scbench.freezing.fresh_folder import JOURNAL, generate_folder, work_folder
from scbench.machine.work_folder import WorkFolder
from scbench.release.load import find_release
from scbench.release.manifest import CARD, MANIFEST, layout
from scbench.release.sources import read_manifest

SMALL = {
    "seed": 3,
    "task": [{"id": "boolean", "count": 20, "grid": {"length": [4, 5, 6, 7]}}],
}


def test_generated_folder_has_the_shape_of_a_release(folder, experiment):
    tasks = experiment.task_ids
    assert set(contents(folder)) == layout(tasks) | {MANIFEST}
    release = find_release(str(folder))
    assert list(release.manifest.tasks) == tasks == release.manifest.default_tasks
    assert release.manifest.is_generated
    rows = release.instances()
    assert len(rows) == release.manifest.instances
    prefix = release.manifest.experiment.prefix
    assert len(prefix) == 8
    assert all(
        row_id.startswith(f"{prefix}:{row.task}/") for row_id, row in rows.items()
    )
    for row in rows.values():
        point = row.whole_point
        assert isinstance(row.seed, int)
        assert row.difficulty == "unrated"
        assert {"length", "depth"} <= point.keys() or row.bucket != "manifolds"
    assert all(
        row.images for row in rows.values() if row.task == "polynomial_curve_fitting"
    )
    assert sum(task.seeds == {} for task in release.manifest.tasks.values()) == len(
        tasks
    )


def test_name_is_derived_from_the_rows_unless_given(folder, tmp_path):
    manifest = read_manifest(folder)
    assert manifest.version == f"generated-{manifest.rows_hash[:8]}"
    small = experiment_of(SMALL)
    named = generate_folder(small, tmp_path / "named", name="nightly.3").manifest
    assert named.version == "nightly.3"
    for name in ("1.0.0", "", "a/b", "..", "-x", "a" * 65, "1.0.0rc1"):
        with pytest.raises(ExperimentError, match="is not a valid name"):
            generate_folder(small, tmp_path / "other", name=name)
    assert [path.name for path in tmp_path.iterdir()] == ["named"]


def test_any_number_of_processes_gives_the_same_bytes(folder, experiment, tmp_path):
    generate_folder(experiment, tmp_path / "again", workers=2)
    assert contents(tmp_path / "again") == contents(folder)


def hidden(data: bytes, seed: int) -> list[bytes]:
    """Every form of a seed that bytes can contain."""
    size = (seed.bit_length() + 7) // 8
    forms = [str(seed).encode(), f"{seed:x}".encode(), f"{seed:X}".encode()]
    forms += [seed.to_bytes(size, "big"), seed.to_bytes(size, "little")]
    return [form for form in forms if form in data]


def test_private_seed_is_nowhere(private_folder, folder, seed):
    assert hidden((folder / MANIFEST).read_bytes(), seed), (
        "a public one is found by this search"
    )
    for data in contents(private_folder).values():
        assert hidden(data, seed) == []
    for path in private_folder.rglob("*.parquet"):
        for row in pl.read_parquet(path).to_dicts():
            assert seed not in row.values()
            assert hidden(repr(row).encode(), seed) == []
    manifest = read_manifest(private_folder)
    assert manifest.experiment.seed is None
    assert (
        "The base seed of these items is private" in (private_folder / CARD).read_text()
    )
    rows = find_release(str(private_folder)).instances()
    public = find_release(str(folder)).instances()
    assert {r.content_hash for r in rows.values()} == {
        r.content_hash for r in public.values()
    }


def test_existing_files_are_never_overwritten(tmp_path):
    (tmp_path / "out").mkdir()
    with pytest.raises(ExperimentError, match="exists; choose another --out"):
        generate_folder(experiment_of(SMALL), tmp_path / "out")
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ExperimentError, match="cannot be created"):
        generate_folder(experiment_of(SMALL), tmp_path / "file" / "out")
    with pytest.raises(ExperimentError, match="length"):
        generate_folder(
            experiment_of({"seed": 1, "task": [{"id": "boolean", "length": 1}]}),
            tmp_path / "new",
        )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "out"]


class Stopped(Exception):  # noqa: N818
    """Ends a run in these tests."""


def stop_after(points: int):
    points_left = [points]

    def on_cases(_: int) -> None:
        if not points_left[0]:
            raise Stopped
        points_left[0] -= 1

    return on_cases


def test_stopped_run_resumes_with_the_same_bytes(folder, experiment, tmp_path, seed):
    out = tmp_path / "out"
    for _ in range(2):
        with pytest.raises(Stopped):
            generate_folder(experiment, out, on_cases=stop_after(3))
        assert not out.exists()
        journal = (work_folder(out) / JOURNAL).read_bytes()
        assert hidden(journal, seed) == []
    done = generate_folder(experiment, out, workers=2)
    assert done.resumed == 6
    assert contents(out) == contents(folder)
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


@pytest.mark.parametrize("damage", ["cut", "flipped", "swapped", "emptied"])
def test_damaged_journal_costs_only_its_remainder(tmp_path, damage):
    small = experiment_of(SMALL)
    generate_folder(small, tmp_path / "whole")
    out = tmp_path / "out"
    with pytest.raises(Stopped):
        generate_folder(small, out, on_cases=stop_after(3))
    path = work_folder(out) / JOURNAL
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == 3
    expected = {"cut": 2, "flipped": 1, "swapped": 3, "emptied": 0}[damage]
    match damage:
        case "cut":
            lines[2] = lines[2][:-5]
        case "flipped":
            lines[1] = lines[1].replace(b"TRUE", b"TRUF", 1)
        case "swapped":
            lines[:2] = lines[1::-1]
        case "emptied":
            lines = []
    path.write_bytes(b"".join(lines))
    assert generate_folder(small, out).resumed == expected
    assert contents(out) == contents(tmp_path / "whole")


def test_leftovers_of_somebody_else_are_not_reused(tmp_path, monkeypatch):
    small, out = experiment_of(SMALL), tmp_path / "out"
    with pytest.raises(Stopped):
        generate_folder(small, out, on_cases=stop_after(2))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.raises(ExperimentError, match="run that you did not start"):
        generate_folder(small, out)
    kept = tmp_path / "kept"
    shutil.copytree(work_folder(out), work_folder(kept))
    assert generate_folder(small, kept, resume=True).resumed == 2
    assert generate_folder(small, out, restart=True).resumed == 0


def test_leftovers_without_a_run_are_not_reused(tmp_path):
    small, out = experiment_of(SMALL), tmp_path / "out"
    with pytest.raises(Stopped):
        generate_folder(small, out, on_cases=stop_after(2))
    work = WorkFolder(work_folder(out))
    work.mark("")
    work.close()
    assert generate_folder(small, out).resumed == 0


def test_leftovers_of_another_experiment_are_not_reused(tmp_path):
    small, out = experiment_of(SMALL), tmp_path / "out"
    with pytest.raises(Stopped):
        generate_folder(small, out, on_cases=stop_after(2))
    for other in (
        {**SMALL, "seed": 4},
        {**SMALL, "task": [{"id": "boolean", "count": 21}]},
    ):
        with pytest.raises(
            ExperimentError, match="another experiment, seed or version; discard it"
        ):
            generate_folder(experiment_of(other), out)
    done = generate_folder(experiment_of({**SMALL, "seed": 4}), out, restart=True)
    assert done.resumed == 0
    generate_folder(experiment_of({**SMALL, "seed": 4}), tmp_path / "fresh")
    assert contents(out) == contents(tmp_path / "fresh")


def test_two_runs_cannot_share_a_folder(monkeypatch, tmp_path):
    small, out = experiment_of(SMALL), tmp_path / "out"
    real = folder_module.run

    def rival(*args: object, **options: object):
        with pytest.raises(ResultsError, match="is writing to"):
            generate_folder(small, out, restart=True)
        return real(*args, **options)

    monkeypatch.setattr(folder_module, "run", rival)
    assert generate_folder(small, out).manifest.instances == 80


def test_unknown_files_in_its_place_are_not_touched(tmp_path):
    small, out = experiment_of(SMALL), tmp_path / "out"
    held = work_folder(out)
    held.mkdir()
    (held / "thesis.txt").write_text("years of work")
    for restart in (False, True):
        with pytest.raises(ResultsError, match="was not made by scbench"):
            generate_folder(small, out, restart=restart)
    assert [path.name for path in held.iterdir()] == ["thesis.txt"]
