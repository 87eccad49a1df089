"""What tests of all rooms share."""

import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def real_rows() -> list[tuple[dict, dict]]:
    """Real model answers, each with the score a right grader gives; skips where there are none."""
    folder = ROOT.parent / "shared" / "real"
    if not folder.is_dir():
        pytest.skip("the folder of real answers is not beside this checkout")
    predictions, expected = (
        [json.loads(line) for line in (folder / name).read_text("utf-8").splitlines()]
        for name in ("predictions.jsonl", "expected.jsonl")
    )
    return list(zip(predictions, expected, strict=True))
