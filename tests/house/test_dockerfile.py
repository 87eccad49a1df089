"""The image for grading: what a linter would say of its Dockerfile; CI builds it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LINES = re.sub(r"\\\n\s*", "", (ROOT / "Dockerfile").read_text("utf-8")).splitlines()
STEPS = [line.partition(" ")[::2] for line in LINES if line and not line.startswith("#")]
RULES = {
    "every base has a version": all(
        re.match(r"\S+:(?!latest)\S+", text) for name, text in STEPS if name == "FROM"
    ),
    "it does not run as root": [text for name, text in STEPS if name == "USER"] == ["grader"],
    "the user stays until the end": [name for name, _ in STEPS][-4:]
    == ["USER", "WORKDIR", "ENTRYPOINT", "CMD"],
    "commands are lists": all(
        re.fullmatch(r'\[".*"\]', text) for name, text in STEPS if name in {"ENTRYPOINT", "CMD"}
    ),
    "folders are absolute": all(text[0] == "/" for name, text in STEPS if name == "WORKDIR"),
    "pip keeps no cache": all(
        "--no-cache-dir" in text for name, text in STEPS if name == "RUN" and "pip " in text
    ),
    "nothing is fetched but packages": not any(
        re.search(r"\b(ADD|curl|wget|sudo|apt-get)\b", f"{name} {text}") for name, text in STEPS
    ),
}


@pytest.mark.parametrize("rule", RULES)
def test_rules(rule):
    assert RULES[rule]


def test_what_is_copied_is_there_and_enough():
    """The second stage installs from wheels alone, so no network is needed later."""
    chosen = [
        line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1] == "!"
    ]
    assert all((ROOT / name).exists() for name in chosen)
    assert {"scbench", "builders", "graders", "releases", "dataset_card"} <= {*chosen}
    assert any("--no-index" in text for name, text in STEPS if name == "RUN")
