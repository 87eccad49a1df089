"""Pictures on the card: drawn at the build, listed with hashes, redrawn to verify."""

import pytest

from scbench.base import __version__
from scbench.freezing.proofs import installed_version
from scbench.freezing.verify import verify_release
from scbench.release.manifest import CARD, MANIFEST, picture_file
from scbench.report.picture import LOOK

EDGES, SHIKAKU = map(picture_file, ("enumerate_edges", "shikaku_rectangles"))


def test_replaced_picture_is_found_although_its_hash_fits(copy, forge):
    (copy / EDGES).write_bytes((copy / SHIKAKU).read_bytes())
    assert any(problem.startswith(f"{EDGES}: ") for problem in verify_release(copy))
    forge(copy)
    assert f"{EDGES}: differs from the redrawn picture" in verify_release(copy)


def test_removed_picture_is_missed(copy, forge):
    (copy / EDGES).unlink()
    forge(copy)
    problems = verify_release(copy)
    assert (
        f"{MANIFEST}: does not list {EDGES}, though it lists other pictures" in problems
    )
    assert f"{CARD}: differs from the newly written file" in problems


def test_foreign_picture_is_not_part_of_a_release(copy, forge):
    (copy / "gallery" / "maze_3d.png").write_bytes(b"x")
    forge(copy)
    problem = (
        f"{MANIFEST}: lists gallery/maze_3d.png, "
        "which is not part of a release of these tasks"
    )
    assert problem in verify_release(copy)


@pytest.mark.parametrize("key", ["package_version", "vl-convert-python", "pictures"])
def test_picture_of_another_version_is_known_by_its_hash(copy, forge, key):
    (copy / EDGES).write_bytes((copy / SHIKAKU).read_bytes())

    def older(record: dict) -> None:
        place = record if key == "package_version" else record["libraries"]
        assert place[key] in {__version__, installed_version(key), LOOK}
        place[key] = "0.0.1"

    forge(copy, older)
    # The card names the versions, so it differs; the picture is not among the problems.
    assert not [problem for problem in verify_release(copy) if "gallery" in problem]
