"""Command-line tests of ``scbench prompts``."""

import json
import sys

import pytest
from commands import run


def lines(done) -> list[dict]:
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_all_items_are_written_and_items_that_need_vision_are_named(inside):
    done = inside("prompts")
    lines_out = lines(done)
    assert len(lines_out) == 277
    assert sum(bool(line["images"]) for line in lines_out) == 5
    assert "5 of 277 prompts with images: polynomial_curve_fitting/04" in done.stderr


def test_no_images_lists_the_items_left_out(inside, tmp_path):
    done = inside(
        "prompts",
        "--tasks",
        "polynomial_curve_fitting",
        "--no-images",
        "--out",
        "out",
        "--format",
        "openai-chat",
        "--model",
        "M",
        "--samples",
        2,
    )
    assert done.returncode == 0, done.stderr
    assert "5 of 9 prompts left out because they have images" in done.stderr
    sent = (tmp_path / "out" / "prompts-001.jsonl").read_text().splitlines()
    omitted = [
        json.loads(line)
        for line in (tmp_path / "out" / "left-out.jsonl").read_text().splitlines()
    ]
    assert (len(sent), len(omitted)) == (8, 10)
    assert omitted[0]["custom_id"] == "polynomial_curve_fitting-04"
    assert {line["status"] for line in omitted} == {"not_run"}
    assert "image" not in "".join(sent)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--format", "openai-chat"), "needs --model"),
        (("--format", "anthropic", "--model", "M"), "add --max-output-tokens"),
        (("--ids", "nowhere"), "cannot read ids from nowhere"),
        (("--ids", "-"), "contains no ids"),
    ],
)
def test_impossible_request_is_refused_in_one_line(inside, args, message):
    done = inside("prompts", *args)
    assert done.returncode == 2
    assert message in done.stderr
    assert done.stdout == ""


def test_base_install_is_enough(tmp_path):
    """Neither the libraries of extras nor a provider's SDK is imported."""
    code = (
        "import sys; from scbench.cli.exchange import prompts; prompts(tasks='two_segments');"
        "print(*{name.partition('.')[0] for name in sys.modules}, file=sys.stderr)"
    )
    done = run(sys.executable, "-c", code, code=0, cwd=tmp_path)
    loaded = set(done.stderr.split())
    assert "polars" in loaded
    assert not loaded & {
        "datasets",
        "huggingface_hub",
        "pyarrow",
        "openai",
        "anthropic",
        "google",
    }
