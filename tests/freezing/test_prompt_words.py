"""What prompts of a release say is so: wordings that were wrong once."""

import json
import re

import pyarrow.parquet as pq
import pytest

from scbench.release.load import find_release

RELEASE = find_release().root


def prompts(folder, task):
    path = RELEASE / folder / f"{task}.parquet"
    return pq.read_table(path, columns=["id", "prompt"]).to_pylist() if path.exists() else []


def all_prompts():
    for folder in ("data", "ladder", "terse"):
        for path in sorted((RELEASE / folder).glob("*.parquet")):
            for row in prompts(folder, path.stem):
                yield folder, row["id"], row["prompt"]


def test_no_prompt_counts_one_thing_in_the_plural_or_repeats_an_empty_paragraph():
    faults = [
        (folder, name)
        for folder, name, prompt in all_prompts()
        if re.search(r"\bat least 1 (large |separate |different )*(column|voxel|lake)s\b", prompt)
        or "\n\n\n\n" in prompt
    ]
    assert faults == []


@pytest.mark.parametrize("task", ["svg_shapes", "letter_counting"])
def test_answers_of_text_tasks_are_spread(task):
    rows = pq.read_table(RELEASE / "references" / "references.parquet").to_pylist()
    answers = [row for row in rows if row["kind"] == "reference"]
    answers = [row for row in answers if row["id"].startswith(f"{task}/")]
    texts = [json.loads(row["answer"])["answer"] for row in answers]
    counts = {text: texts.count(text) for text in texts}
    if task == "svg_shapes":
        assert {*counts.values()} == {42}
    else:
        assert 0.04 * len(texts) < counts[0] < 0.15 * len(texts)
