from pathlib import Path

from typer.testing import CliRunner

from scbench.cli.main import app


def test_folders_that_other_tools_are_pointed_at():
    for name, present in (("lm-eval", "scbench.yaml"), ("verifiers", "pyproject.toml")):
        done = CliRunner().invoke(app, ["path", name])
        assert done.exit_code == 0
        assert (Path(done.output.strip()) / present).is_file()


def test_an_unknown_folder_names_those_that_are():
    done = CliRunner().invoke(app, ["path", "lighteval"])
    assert done.exit_code == 2
    assert "no folder 'lighteval'; there are lm-eval and verifiers" in done.output
