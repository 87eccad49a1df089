"""A model that reads pixels plays the config pictures by `scbench run`."""

import polars as pl
import pytest
from inspect_model import ITS_WARNINGS, MODEL, without_waiting
from loopback import Loopback
from pixel_model import reply
from typer.testing import CliRunner

pytest.importorskip("inspect_ai", reason="extra [inspect]")

from scbench.cli.main import app
from scbench.release.load import find_release

pytestmark = ITS_WARNINGS


def played(tmp_path, *options):
    with without_waiting(), Loopback(reply) as model:
        call = ["run", MODEL, "-M", "max_retries=0", "--base-url", model.url, "--quiet"]
        done = CliRunner().invoke(
            app, [*call, "--out", str(tmp_path / "out"), *options]
        )
    assert (done.exit_code, done.stderr) == (0, "")
    return pl.read_parquet(tmp_path / "out" / "results.parquet")


def test_every_picture_is_read_and_answered_at_full_score(tmp_path):
    rows = played(tmp_path, "--tasks", "pictures")
    assert rows.filter(pl.col("score") != 1)["id"].to_list() == []
    assert rows["status"].unique().to_list() == ["answered"]
    assert set(rows["id"]) == {*find_release("4.0.0").pictures().instances()}
