"""What several benchmarks use."""

import runpy
from pathlib import Path

import pytest

LOAD = Path(__file__).resolve().parents[2] / "tools" / "load.py"


@pytest.fixture(scope="session")
def load():
    """The functions of the script that grades files of millions."""
    return runpy.run_path(str(LOAD))
