"""A model that reads pixels plays the config pictures with `scbench run`."""

from collections import defaultdict

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


def test_pictures_of_every_task_are_read_and_answered_at_full_score(tmp_path):
    """Three of each task; `test_prompt_pictures.py` reads more of them, without a run."""
    by_task = defaultdict(list)
    for row in find_release("4.0.0").pictures().instances().values():
        by_task[row.task].append(row.id)
    chosen = [row_id for ids in by_task.values() for row_id in sample_of(ids)]
    (tmp_path / "ids.txt").write_text("\n".join(chosen))
    rows = played(tmp_path, "--tasks", "pictures", "--ids", str(tmp_path / "ids.txt"))
    rows = rows.filter(pl.col("status") != "missing")  # those that were not chosen
    assert rows.filter(pl.col("score") != 1)["id"].to_list() == []
    assert rows["status"].unique().to_list() == ["answered"]
    assert set(rows["id"]) == {*chosen}


def sample_of(ids):
    """Return the first, middle and last of some ids."""
    return [ids[0], ids[len(ids) // 2], ids[-1]]
