"""Every release in the repository is what the builders make today, and loads from the root."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from scbench.release.card import render_loader
from scbench.release.load import find_release, installed_releases
from scbench.release.verify import verify_release

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_every_release_in_the_repository_is_sound():
    folders = sorted((ROOT / "releases").glob("*/MANIFEST.json"))
    assert folders
    for manifest in folders:
        assert verify_release(manifest.parent) == ()


def test_the_package_carries_the_releases_of_the_repository():
    assert set(installed_releases()) == {
        path.parent.name for path in (ROOT / "releases").glob("*/MANIFEST.json")
    }


def test_the_loader_points_at_the_newest_release():
    release = find_release()
    card = (ROOT / "scbench" / "README.md").read_text("utf-8")
    assert card == render_loader(release.manifest, f"../releases/{release.version}/")


@pytest.mark.slow
def test_load_dataset_scbench_works_literally_from_the_root(tmp_path):
    code = (
        "from datasets import load_dataset\n"
        "rows = load_dataset('scbench')['test']\n"
        "task = load_dataset('releases/1.0.0', 'delaunay_triangulation')['test']\n"
        "print(len(rows), len(task), sum(rows['scores']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "HF_HOME": str(tmp_path), "HF_HUB_OFFLINE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.split() == ["277", "25", "285"], done.stderr
