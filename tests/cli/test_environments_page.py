"""Run the blocks of docs/environments.md unchanged."""

import json
import re
import shlex
from pathlib import Path

from scbench.catalog import available_tasks
from scbench.loop import playable
from scbench.release.load import find_release

PAGE = (Path(__file__).parents[2] / "docs" / "environments.md").read_text("utf-8")


def blocks(kind: str) -> list[str]:
    return re.findall(rf"^```{kind}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)


def test_table_lists_every_task_with_its_settings():
    rows = dict(re.findall(r"^\|`(\w+)`\*?\|([a-z, ]+)\|", PAGE, re.MULTILINE))
    tasks = [task.id for task in available_tasks() if task.package == "scbench"]
    assert [*rows] == tasks
    for setting in ("retry", "probe", "act"):
        of_setting = [name for name in playable(setting) if name in tasks]
        assert [name for name, words in rows.items() if setting in words] == of_setting


def test_plain_loop_plays_grades_and_makes_a_table(inside):
    *_, code = blocks("python")
    release = find_release()
    right = {
        ref.id: ref.answer for ref in release.references() if ref.kind == "reference"
    }
    prompts = {
        row.prompt: right[row.id]
        for row in release.instances(["two_segments"]).values()
    }
    replies_to = []

    def ask(messages):
        replies_to.append(messages[-1]["content"])
        assert [entry["role"] for entry in messages] == (["user", "assistant"] * 9)[
            : len(messages)
        ]
        (answer,) = (
            prompts[text] for text in prompts if messages[0]["content"].startswith(text)
        )
        return (
            answer
            if replies_to[-1].startswith("Answer 1 of 3: no readable answer")
            else "Let me see."
        )

    exec(code, {"ask": ask})  # noqa: S102  (it is the page's own)
    lines = [json.loads(line) for line in Path("trials.jsonl").read_text().splitlines()]
    assert len(lines) == 27
    assert sum(len(line["turns"]) for line in lines) == len(replies_to) == 54
    grade, turns = (
        shlex.split(line, comments=True) for line in blocks("sh")[0].splitlines()
    )
    assert grade[0] == "scbench-grade"
    assert inside("grade", *grade[1:]).returncode == 0
    done = inside(*turns[1:])
    assert re.search(
        r"two_segments +1 +0\.0 .*\n.*\n +2 +100\.0 +\+100\.0", done.stdout
    )
    assert "Scores by turn: my-model retry (attempts 3, disclose checks)" in done.stdout
