"""What the README shows is what its commands print."""

import json
import re
from collections import defaultdict
from pathlib import Path

import scbench
from scbench.freezing.example import example_predictions
from scbench.release.load import find_release

README = (Path(__file__).resolve().parents[2] / "README.md").read_text("utf-8")


def test_the_sample_output_is_of_the_sample_predictions():
    rows = [json.loads(line) for line in example_predictions(find_release())]
    output = re.search(r"```text\n(.*?)```", README, re.DOTALL)[1]
    release = find_release()
    floors, weights, heights = release.floors(), release.weights(), defaultdict(list)
    light = {
        task for task, r in release.manifest.tasks.items() if r.bucket == "axiomatic"
    }
    for row in rows:
        task = row["id"].partition("/")[0]
        if (
            row["model"] == "sloppy"
            and task in light
            and row.get("status") != "blocked"
        ):
            score = (
                scbench.score(row["id"], row.get("answer", row.get("response"))) or 0
            )
            floor = floors.get(row["id"], 0)
            heights[task].append(
                max((score - floor) / (1 - floor), 0) if floor < 1 else None
            )
    present = {task: [u for u in us if u is not None] for task, us in heights.items()}
    total = sum(weights[task] for task in present)
    expected = (
        sum(weights[task] * sum(us) / len(us) for task, us in present.items()) / total
    )
    line = next(line for line in output.splitlines() if line.startswith("sloppy"))
    assert line.split()[6] == f"{100 * expected:.1f}*"
