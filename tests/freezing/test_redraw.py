"""Verifying generated folders: with the base seed, with a wrong one, and without any."""

import json
import shutil
from pathlib import Path

import pytest
from folders import edit_row, forge, rewrite

from scbench.base.errors import ExperimentError, ReleaseError
from scbench.catalog import get_task
from scbench.freezing.experiment import experiment_of
from scbench.freezing.freeze import build_release
from scbench.freezing.fresh_folder import generate_folder
from scbench.freezing.tables import read_table
from scbench.freezing.verify import verify_release
from scbench.release.manifest import MANIFEST

DATA = "data/arithmetic.parquet"
EXPERIMENT = {
    "seed": 0xABCDEF_0123_4567_89AB,
    "task": [
        {"id": "arithmetic", "count": 6, "grid": {"length": [4, 8]}},
        {"id": "boolean", "count": 80, "length": 3, "max_depth": 0, "prob_negation": 0},
    ],
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> dict[str, Path]:
    """The same cases with a public and with a private seed, and those of another private seed."""
    home = tmp_path_factory.mktemp("redraw")
    kinds = {
        "public": {},
        "private": {"private": True},
        "other": {"private": True, "seed": 4},
    }
    for name, change in kinds.items():
        generate_folder(experiment_of(EXPERIMENT | change), home / name)
    return {name: home / name for name in kinds}


@pytest.fixture
def copy(folders, tmp_path):
    def copy(kind: str) -> Path:
        return Path(shutil.copytree(folders[kind], tmp_path / kind))

    return copy


@pytest.mark.parametrize("workers", [1, 2])
def test_sound_folder_has_no_problems(folders, workers):
    steps = []
    assert verify_release(folders["public"], steps.append, workers=workers) == ()
    assert "drawn items" in steps
    assert verify_release(folders["private"], workers=workers) == ()
    assert (
        verify_release(folders["private"], seed=EXPERIMENT["seed"], workers=workers)
        == ()
    )


def test_wrong_seed_is_one_problem_and_not_one_for_each_row(folders):
    problems = verify_release(folders["private"], seed=4)
    assert problems == (f"{MANIFEST}: the given seed does not produce these rows",)
    problems = verify_release(folders["public"], seed=4)
    seed = EXPERIMENT["seed"]
    assert problems == (
        f"{MANIFEST}: experiment.seed is {seed}, but another seed was given",
    )


def edit_point(rows: list[dict]) -> None:
    rows[3]["point"] = json.dumps({**json.loads(rows[3]["point"]), "length": 5})


FORGERIES = {
    "prompt edited": (
        lambda r: edit_row(r[3]),
        ":arithmetic/03 differs from the builder's in prompt, content_hash",
    ),
    "seed gone": (
        lambda r: r[2].update(seed=None),
        "row 2 has no seed, or a point that is not in the exp",
    ),
    "point not drawn at": (
        edit_point,
        "row 3 has no seed, or a point that is not in the experiment",
    ),
    "point no JSON": (
        lambda r: r[3].update(point="{"),
        "row 3 has no seed, or a point",
    ),
    "point a list": (
        lambda r: r[3].update(point="[1]"),
        "row 3 has no seed, or a point",
    ),
    "row dropped": (lambda r: r[:-1], '5 rows at point {"division":false,"length":8'),
    "points swapped": (
        lambda r: r[6:] + r[:6],
        "the points are not in the order of the experim",
    ),
    "row repeated": (lambda r: [*r[:6], *r[6:7] * 2, *r[7:11]], ":arithmetic/06"),
    "params edited": (
        lambda r: r[0].update(params='{"expression":"1 + 1 + 1 + 1"}'),
        ":arithmetic/00 differs from the builder's in params",
    ),
}


@pytest.mark.parametrize("kind", FORGERIES)
def test_forged_rows_are_named_without_the_seed(copy, kind):
    change, message = FORGERIES[kind]
    root = copy("private")
    rewrite(root / DATA, change)
    forge(root)
    problems = verify_release(root)
    assert any(message in line for line in problems), problems
    assert not any("SHA-256" in line for line in problems)
    assert verify_release(root, seed=EXPERIMENT["seed"])


def test_cases_of_another_seed_are_found_only_with_the_seed(folders, copy):
    """A complete row of another draw looks valid unless the correct rows are known."""
    root = copy("private")
    foreign = read_table((folders["other"] / DATA).read_bytes()).to_pylist()
    rewrite(
        root / DATA,
        lambda rows: [*rows[:5], {**foreign[5], "id": rows[5]["id"]}, *rows[6:]],
    )
    problems = verify_release(root, seed=EXPERIMENT["seed"])
    assert any(
        ":arithmetic/05 differs from the builder's in prompt" in p for p in problems
    )


def test_forged_experiments_are_named(copy):
    def ask_for_less(record: dict) -> None:
        record["experiment"]["tasks"][0]["count"] = 5

    def ask_for_the_impossible(record: dict) -> None:
        record["experiment"]["tasks"][0]["grid"] = {"length": [4, 800]}

    def ask_for_thousands(record: dict) -> None:
        record["experiment"]["tasks"][0]["grid"] = {"length": list(range(1, 5000))}

    def ask_for_nobody(record: dict) -> None:
        record["experiment"]["tasks"][0]["id"] = "arithmetics"

    def hide_the_shortfall(record: dict) -> None:
        record["experiment"]["shortfalls"] = []

    def invent_a_shortfall(record: dict) -> None:
        record["experiment"]["shortfalls"][0]["got"] = 80

    for change, message in (
        (ask_for_less, 'rows at point {"division":false'),
        (ask_for_the_impossible, "length: must be at most 500; got 800"),
        (ask_for_thousands, "experiment: 4,401 more errors"),
        (ask_for_nobody, "unknown task 'arithmetics'"),
        (hide_the_shortfall, " instead of 80"),
        (
            invent_a_shortfall,
            "boolean has 80 of 80 items at a point where 80 were requested",
        ),
    ):
        root = copy("private")
        forge(root, change)
        problems = verify_release(root)
        assert any(message in line for line in problems), (message, problems)
        shutil.rmtree(root)

    root = copy("public")
    forge(root, lambda record: record["experiment"].update(seed=5))
    problems = verify_release(root)
    assert any(":arithmetic/00" in line for line in problems)


def test_frozen_release_must_contain_the_packages_own_manifolds(tmp_path):
    ours = experiment_of({"seed": 1, "task": [{"id": "boolean", "count": 3}]})
    manifest = build_release("0.0.1", tmp_path / "out", [], experiment=ours)
    assert not manifest.is_generated
    assert verify_release(tmp_path / "out") == (
        f"{MANIFEST}: experiment differs from this package's experiment for manifolds",
    )


def test_task_is_either_frozen_or_drawn(tmp_path):
    experiment = experiment_of({"seed": 1, "task": [{"id": "enumerate_edges"}]})
    with pytest.raises(ReleaseError, match="enumerate_edges has both a fixed list"):
        build_release(
            "0.0.1",
            tmp_path / "o",
            [get_task("enumerate_edges")],
            experiment=experiment,
        )
    seedless = experiment_of({"task": [{"id": "boolean"}]})
    with pytest.raises(ExperimentError, match="no seed: set one"):
        build_release("0.0.1", tmp_path / "x", [], experiment=seedless)
