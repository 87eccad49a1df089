"""Experiments and the folders generated from them."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scbench.freezing.experiment import Experiment, experiment_of
from scbench.freezing.fresh_folder import generate_folder

SEED = 0x5EED_0F_A11_0F_7415_F01D
"""Long enough to be in no file by chance."""


def mixed(seed: int | None = SEED, *, private: bool = False) -> Experiment:
    """Text and spatial tasks, one with images, a point that falls short, and repeated cases."""
    return experiment_of(
        {
            "seed": seed,
            "private": private,
            "task": [
                {"id": "arithmetic", "count": 30, "grid": {"length": [3, 9], "max_depth": [0, 2]}},
                # Without brackets both points give the same 72 texts, so the second runs out.
                {"id": "boolean", "count": 50, "length": 3, "max_depth": 0, "prob_negation": 0,
                 "grid": {"prob_open": [0.1, 0.9]}},
                {"id": "polynomial_curve_fitting", "count": 2, "size": 48, "smoothing": 4},
                {"id": "delaunay_triangulation", "count": 4, "points": 6},
            ],
        }
    )  # fmt: skip


@pytest.fixture(scope="session")
def experiment() -> Experiment:
    return mixed()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory, experiment) -> Path:
    """The folder generated from the mixed experiment. Do not change it."""
    out = tmp_path_factory.mktemp("generated") / "folder"
    generate_folder(experiment, out)
    return out


@pytest.fixture(scope="session")
def private_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same with a private seed. Do not change it."""
    out = tmp_path_factory.mktemp("private") / "folder"
    generate_folder(mixed(private=True), out)
    return out


@pytest.fixture(scope="session", name="mixed")
def _mixed() -> Callable[..., Experiment]:
    return mixed


@pytest.fixture(scope="session")
def seed() -> int:
    return SEED
