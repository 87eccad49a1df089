"""What the README shows is what its commands print."""

import json
import re
from pathlib import Path

import scbench
from scbench.freezing.example import example_predictions
from scbench.release.load import find_release

README = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")


def test_the_sample_line_scores_1():
    (line,) = re.findall(r"```json\n(.*)\n```", README)
    row = json.loads(line)
    assert scbench.score(row["id"], row["response"]) == 1


def test_the_items_with_images_are_those_it_names():
    pictured = [row.id for row in find_release().instances().values() if row.images]
    first, last = re.findall(r"Five prompts have images: `(.*)` to `/(.*)`;", README)[0]
    assert [pictured[0], pictured[-1].partition("/")[2], len(pictured)] == [first, last, 5]


def test_the_sample_output_is_of_the_sample_predictions():
    rows = [json.loads(line) for line in example_predictions(find_release())]
    output = re.search(r"```text\n(.*?)```", README, re.DOTALL)[1]
    light = {"topology_enumeration", "enumerate_edges", "classify_behaviour"}
    light |= {"half_subdivision_neighbours", "two_segments"}
    scores = [
        scbench.score(row["id"], row.get("answer", row.get("response"))) or 0
        for row in rows
        if row["model"] == "sloppy" and row["id"].partition("/")[0] in light
    ]
    answers = [line.split() for line in output.splitlines() if "sloppy" in line and "axiom" in line]
    assert answers[0][14] == f"{100 * sum(scores) / 75:.1f}"
