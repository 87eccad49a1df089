"""Commands name a missing extra before they start to work."""

import sys
from importlib.util import find_spec

import pytest
from typer.testing import CliRunner

from scbench.cli import grade, main
from scbench.cli.console import NEEDS

EXTRAS = {
    "report x": "report", "gallery x": "report",
    "show two_segments/07 --reference --out x.png": "report", "grade x.jsonl --report": "report",
    "cost x --plot x.svg": "report", "items x --plot x.svg": "report",
    "tables x --plot x.svg": "report", "ladder x --plot x.svg": "report",
    "manifolds x --parameter length --plot x.svg": "report",
    "failure-modes shares x --results x --plot x.svg": "report",
    "run openai-api/local/x": "inspect", "submission init x": "leaderboard",
    "submission validate x": "leaderboard", "submission grade x": "leaderboard",
    "submission pack x": "leaderboard", "leaderboard build x": "leaderboard",
    "release build 9.9.9": "build", "release verify": "build",
    "release publish 4.0.0 --to x": "build", "generate arithmetic --out x": "build",
    "generate ladder --private --out x": "build", "tasks --release org/name@v1": "hub",
}  # fmt: skip


@pytest.fixture
def without(monkeypatch):
    """Hide libraries from imports."""

    def hide(*names: str) -> None:
        def looked_up(name, package=None):
            return None if name in names else find_spec(name, package)

        monkeypatch.setattr("importlib.util.find_spec", looked_up)
        for name in names:
            monkeypatch.setitem(sys.modules, name, None)

    return hide


@pytest.mark.parametrize(("line", "extra"), EXTRAS.items())
def test_missing_extra_is_named_first(line, extra, without, tmp_path, monkeypatch):
    """The last imported library is hidden; the named files do not exist."""
    monkeypatch.chdir(tmp_path)
    library = (
        "vl_convert" if "--plot" in line else NEEDS[extra][0 if extra == "hub" else -1]
    )
    without(library)
    done = CliRunner().invoke(main.app, line.split())
    assert done.exit_code == 2
    needs = f"error: {library} is not installed; run `pip install 'scbench[{extra}]'`\n"
    assert done.stderr == needs
    assert done.stdout == ""  # no seed either
    assert list(tmp_path.iterdir()) == []


def test_clusters_need_their_library(without, tmp_path):
    (tmp_path / "x.jsonl").write_text('{"id": "two_segments/07", "answer": {}}\n')
    without("dask", "distributed")
    line = [
        tmp_path / "x.jsonl",
        "--cluster",
        "tcp://127.0.0.1:1",
        "--out",
        tmp_path / "out",
    ]
    done = CliRunner().invoke(grade.app, [str(word) for word in line])
    assert "run `pip install 'scbench[cluster]'`" in done.stderr
    assert done.exit_code == 2
