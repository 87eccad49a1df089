"""Sources of releases: folders, zip archives and the Hub; files are verified when read."""

import random
import shutil
import zipfile
from pathlib import Path

import pytest

from scbench.base.canonical import sha256
from scbench.base.errors import HubError, ReleaseError
from scbench.freezing.copies import export_release
from scbench.freezing.verify import verify_anywhere
from scbench.release.load import find_release
from scbench.release.manifest import MANIFEST, REFERENCES

DATA = "data/enumerate_edges.parquet"
REPO = "org/scbench"


def pack(root: Path, path: Path, prefix: str = "") -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted(root.rglob("*")):
            if file.is_file():
                archive.write(file, prefix + file.relative_to(root).as_posix())
    return path


@pytest.mark.parametrize("prefix", ["", "1.0.0/", "a folder/"])
def test_zip_archive_works_like_a_folder(sound, tmp_path, prefix):
    release = find_release(str(pack(sound, tmp_path / "release.zip", prefix)))
    folder = find_release(str(sound))
    assert release.manifest == folder.manifest
    assert release.instances() == folder.instances()
    assert release.references() == folder.references()
    assert [path.name for path in tmp_path.iterdir()] == ["release.zip"]
    export_release(release, tmp_path / "out")
    assert verify_anywhere(str(tmp_path / "release.zip")) == ()
    assert find_release(str(tmp_path / "out")).instances() == folder.instances()


@pytest.mark.parametrize("name", [DATA, REFERENCES, "README.md", "croissant.json"])
def test_file_changed_in_an_archive_is_refused_by_name(copy, tmp_path, name):
    data = bytearray((copy / name).read_bytes())
    data[len(data) // 2] ^= 1
    (copy / name).write_bytes(data)
    path = pack(copy, tmp_path / "release.zip")
    with pytest.raises(ReleaseError, match=rf"{name} was changed after it was frozen"):
        find_release(str(path)).read(name)
    assert any(line.startswith(f"{name}: ") for line in verify_anywhere(str(path)))


def test_missing_and_foreign_files_of_an_archive_are_named(copy, tmp_path):
    (copy / DATA).unlink()
    (copy / "extra.txt").write_text("x")
    path = pack(copy, tmp_path / "release.zip")
    with pytest.raises(ReleaseError, match=rf"{DATA}: not in the archive"):
        find_release(str(path)).instances()
    problems = verify_anywhere(str(path))
    assert "extra.txt: the manifest does not list this file" in problems
    assert f"{DATA}: missing" in problems


def add(path: Path, name: str, data: bytes = b"x") -> None:
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr(name, data)


@pytest.mark.parametrize(
    "name", ["../evil", "/etc/evil", "a/../../evil", "C:\\evil", "..\\evil"]
)
def test_names_that_lead_elsewhere_are_only_named(sound, tmp_path, name):
    path = pack(sound, tmp_path / "release.zip")
    add(path, name)
    release = find_release(str(path))
    assert len(release.instances()) == 14
    export_release(release, tmp_path / "out")
    assert len(verify_anywhere(str(path))) == 1
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["out", "release.zip"]
    assert not list(tmp_path.rglob("*evil*"))
    assert not Path("/etc/evil").exists()


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_duplicate_name_is_refused(sound, tmp_path):
    path = pack(sound, tmp_path / "release.zip")
    add(path, DATA)
    with pytest.raises(ReleaseError, match=f"contains '{DATA}' twice"):
        find_release(str(path))


def test_decompression_bomb_is_not_expanded(copy, forge, tmp_path, monkeypatch):
    (copy / REFERENCES).write_bytes(bytes(30_000_000))
    path = pack(copy, tmp_path / "release.zip")
    assert path.stat().st_size < 200_000
    read = []
    original = zipfile.ZipExtFile.read

    def listen(self, n=-1):
        data = original(self, n)
        read.append(len(data))
        return data

    monkeypatch.setattr(zipfile.ZipExtFile, "read", listen)
    with pytest.raises(ReleaseError, match="was changed after it was frozen"):
        find_release(str(path)).references()
    assert max(read) < 100_000


@pytest.mark.parametrize("tops", [[], ["a/", "b/"], ["", "a/"], ["a/b/"], ["x"]])
def test_archive_must_contain_one_release(sound, tmp_path, tops):
    path = tmp_path / "release.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("README.md", "x")
        for top in tops:
            archive.write(sound / MANIFEST, top + MANIFEST)
    with pytest.raises(
        ReleaseError, match=r"contains (no|2) releases; .* one MANIFEST\.json"
    ):
        find_release(str(path))


def test_damaged_archives_are_explained(sound, tmp_path):
    path = pack(sound, tmp_path / "release.zip")
    whole = path.read_bytes()
    rng = random.Random(5)
    refused = 0
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(rng.choice([1, 5, 50])):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.3:
            data = data[: rng.randrange(len(data))]
        path.write_bytes(data)
        try:
            release = find_release(str(path))
            for name in release.manifest.files:
                release.read(name)
        except ReleaseError:
            refused += 1
    assert refused > 20


def fill(hub, sound: Path) -> str:
    """Put a release on a Hub without scbench's publishing code; return the commit."""
    paths = [path for path in sound.rglob("*") if path.is_file()]
    files = {path.relative_to(sound).as_posix(): path.read_bytes() for path in paths}
    hub.objects |= {sha256(data): data for data in files.values()}
    repo = hub.add_repo(REPO)
    repo.tags["v0.0.1"] = repo.commit(files, "by hand")
    return repo.tags["v0.0.1"]


def test_release_on_the_hub_is_fetched_once(hub, sound, monkeypatch):
    sha = fill(hub, sound)
    release = find_release(f"{REPO}@v0.0.1")
    assert release.instances() == find_release(str(sound)).instances()
    asked = len(hub.log)
    assert find_release(f"{REPO}@v0.0.1").version == "0.0.1"
    assert find_release(f"{REPO}@{sha}").version == "0.0.1"
    assert len(hub.log) == asked
    assert find_release(f"{REPO}@main").version == "0.0.1"
    assert len(hub.log) > asked
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    assert find_release(f"{REPO}@v0.0.1").references() == release.references()
    assert find_release(f"{REPO}@main").version == "0.0.1"


def test_folder_here_never_replaces_a_release_on_the_hub(
    hub, sound, tmp_path, monkeypatch
):
    fill(hub, sound)
    monkeypatch.chdir(tmp_path)
    here = tmp_path / f"{REPO}@v0.0.1"
    shutil.copytree(sound, here)
    assert here != find_release(f"{REPO}@v0.0.1").root
    assert find_release(f"./{REPO}@v0.0.1").root.resolve() == here
    assert find_release(str(here)).root == here


def test_incomplete_snapshot_is_completed(hub, sound):
    fill(hub, sound)
    root = find_release(f"{REPO}@v0.0.1").root
    (root / DATA).unlink()
    shutil.rmtree(root / "schemas")
    assert verify_anywhere(f"{REPO}@v0.0.1") == ()


def test_failing_hub_is_reported(hub, sound):
    fill(hub, sound)
    hub.fail("GET", "/revision/", 503, times=9)
    with pytest.raises(HubError, match=r"internal error \(HTTP 503\)"):
        find_release(f"{REPO}@v0.0.1")
    hub.faults.clear()
    hub.fail("GET", "/objects/", "drop", times=99)
    with pytest.raises(HubError, match="connection to the Hub"):
        find_release(f"{REPO}@v0.0.1")
