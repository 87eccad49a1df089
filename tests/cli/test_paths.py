from pathlib import Path

from typer.testing import CliRunner

from scbench.cli.main import app


def test_folders_that_other_tools_are_pointed_at():
    for name, present in (("lm-eval", "scbench.yaml"), ("verifiers", "pyproject.toml")):
        done = CliRunner().invoke(app, ["export", name])
        assert done.exit_code == 0
        assert (Path(done.output.strip()) / present).is_file()
