"""Built packages have the contents of the repository and work by themselves.

Built without a network, from a copy: a build leaves folders behind, and must not find older ones.
"""

import shutil
import sys
import tarfile
import tomllib
from pathlib import Path
from types import SimpleNamespace

import commands
import pytest

import scbench
from tools import tool

ROOT = Path(__file__).resolve().parents[2]
LINKED = {path.name for path in (ROOT / "scbench").iterdir() if path.is_symlink()}
MOST_BYTES = 10_000_000
BUILD = "import sys; from setuptools import build_meta; build_meta.{}(sys.argv[1])"


def run(*command: object, cwd: Path, **env: str) -> str:
    return commands.run(*command, cwd=cwd, code=0, **env).stdout


def files(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def copy_repository(folder: Path) -> None:
    """Copy the files that belong to the repository, without leftovers next to them.

    Git lists them; without Git, as in an unpacked sdist, the list of setuptools does.
    """
    if (ROOT / ".git").exists():
        listed = run("git", "-c", "safe.directory=*", "ls-files", "-z", cwd=ROOT).split(
            "\0"
        )
    else:
        listed = (
            (ROOT / "scbench.egg-info" / "SOURCES.txt").read_text("utf-8").splitlines()
        )
    for path in (ROOT / name for name in listed if ".egg-info/" not in name):
        if path.is_symlink() or path.is_file():
            copy = folder / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, copy, follow_symlinks=False)


def as_in_the_sdist(name: str) -> str:
    """Return the place of a repository file in the sdist, where links are folders."""
    return f"scbench/{name}" if name.partition("/")[0] in LINKED else name


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The repository's files, the sdist made from them, and the wheel made from the sdist.

    Files by their names in the sdist, without the folder on top of it.
    """
    base = tmp_path_factory.mktemp("packages")
    copy_repository(base / "copy")
    repository = {
        as_in_the_sdist(name): data for name, data in files(base / "copy").items()
    }
    run(sys.executable, "-c", BUILD.format("build_sdist"), base, cwd=base / "copy")
    (sdist,) = base.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        for file in filter(tarfile.TarInfo.isfile, archive):
            (base / file.name).parent.mkdir(parents=True, exist_ok=True)
            (base / file.name).write_bytes(archive.extractfile(file).read())
    unpacked = base / sdist.name.removesuffix(".tar.gz")
    source = files(unpacked)
    run(sys.executable, "-c", BUILD.format("build_wheel"), base, cwd=unpacked)
    (wheel,) = base.glob("*.whl")
    shutil.unpack_archive(wheel, base / "installed", "zip")
    run(
        sys.executable,
        "-c",
        BUILD.format("build_wheel"),
        base / "copy",
        cwd=base / "copy",
    )
    (direct,) = (base / "copy").glob("*.whl")
    return SimpleNamespace(
        repository=repository,
        sdist=sdist,
        source=source,
        wheel=wheel,
        direct=direct,
        site=base / "installed",
        installed=files(base / "installed"),
    )


def test_sdist_equals_the_repository(built):
    made = {"PKG-INFO", "setup.cfg"}
    of_it = {
        name: data for name, data in built.source.items() if ".egg-info/" not in name
    }
    assert of_it.keys() - made == built.repository.keys() - made
    assert all(of_it[name] == data for name, data in built.repository.items())
    assert built.sdist.name == f"scbench-{scbench.__version__}.tar.gz"
    assert built.sdist.stat().st_size < MOST_BYTES


def test_wheel_contains_only_the_package(built):
    expected = {
        name: data
        for name, data in built.repository.items()
        if name.startswith("scbench/")
    }
    del expected["scbench/README.md"]  # is there for loading the checkout as a data set
    found = {
        name: data
        for name, data in built.installed.items()
        if ".dist-info/" not in name
    }
    assert found.keys() == expected.keys()
    assert found == expected
    assert built.wheel.stat().st_size < MOST_BYTES


def test_wheel_grades_by_itself(built, tmp_path):
    where = {"cwd": tmp_path, "PYTHONPATH": str(built.site)}
    code = "import scbench.cli.{0} as command; print(command.__file__); command.run()"
    lines = run(
        sys.executable, "-c", code.format("main"), "example", **where
    ).splitlines()
    assert lines[0].startswith(str(built.site))
    (tmp_path / "example.jsonl").write_text("\n".join(lines[1:]) + "\n", "utf-8")
    message = run(
        sys.executable,
        "-c",
        code.format("grade"),
        "example.jsonl",
        "--tasks",
        "two_segments",
        "--quiet",
        "--out",
        "out",
        **where,
    )
    assert message.startswith(str(built.site))
    assert (tmp_path / "out" / "results.parquet").is_file()


def test_links_of_the_package_follow_one_setting():
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    moved = tool("set_repository").with_repository(text, "https://example.org/a/b/")
    links = tomllib.loads(moved)["project"]["urls"]
    assert links.keys() >= {"Source", "Documentation", "Issues", "Changelog"}
    assert all(
        link == "https://example.org/a/b" or link.startswith("https://example.org/a/b/")
        for name, link in links.items()
        if name != "Homepage"
    )
    for name in ("Documentation", "Changelog"):
        assert (ROOT / links[name].partition("/blob/main/")[2]).is_file()
