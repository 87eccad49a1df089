"""Builders reproduce the newest release, no release has changed, and each loads from the root."""

from pathlib import Path

import pytest
from commands import python

from scbench.base.errors import ReleaseError
from scbench.freezing.card import render_loader
from scbench.freezing.copies import verify_copy
from scbench.freezing.proofs import proofs_file
from scbench.freezing.verify import verify_release
from scbench.machine.limits import processors
from scbench.release.load import find_release, installed_releases

ROOT = Path(__file__).resolve().parents[2]
RELEASES = ROOT / "scbench" / "releases"

NEWEST = [*installed_releases()][-1]


def test_builders_reproduce_the_newest_release():
    # Each reference is judged once in a run of the tests, here or for its verdict's golden words.
    problems = verify_release(
        RELEASES / NEWEST, workers=processors(), proofs=proofs_file()
    )
    unjudged = [line for line in problems if "needs PyBullet" in line]
    assert [line for line in problems if line not in unjudged] == []
    for line in unjudged:
        raise ReleaseError(line)


@pytest.mark.parametrize("version", installed_releases())
def test_release_is_unchanged_since_freezing(version):
    """Only bytes are compared; the test above also rebuilds the newest release."""
    release = find_release(version)
    assert list(verify_copy(release.manifest, release.source)) == []
    assert release.manifest == release.manifest.sealed()


def test_loader_points_at_the_newest_release():
    release = find_release()
    card = (ROOT / "scbench" / "README.md").read_text("utf-8")
    assert card == render_loader(release.manifest, f"releases/{release.version}/")


def test_load_dataset_scbench_works_literally_from_the_root(tmp_path):
    folder = (
        "releases" if (ROOT / "releases").is_dir() else "scbench/releases"
    )  # an sdist
    code = (
        "from datasets import load_dataset\n"
        "rows = load_dataset('scbench')['test']\n"
        f"task = load_dataset('{folder}/{NEWEST}', 'delaunay_triangulation')['test']\n"
        f"texts = load_dataset('{folder}/{NEWEST}', 'manifolds')['test']\n"
        "print(len(rows), len(task), sum(rows['scores']), len(texts))"
    )
    output = python(code, cwd=ROOT, HF_HOME=tmp_path, HF_HUB_OFFLINE=1)
    manifest = find_release(NEWEST).manifest
    expected = [
        sum(record.instances for record in manifest.default_records.values()),
        manifest.tasks["delaunay_triangulation"].instances,
        sum(record.scores for record in manifest.default_records.values()),
        sum(
            manifest.tasks[name].instances
            for name in manifest.named_tasks(["manifolds"])
        ),
    ]
    assert output.split() == list(map(str, expected))
