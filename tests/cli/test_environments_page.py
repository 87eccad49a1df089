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
    instances = release.instances(["two_segments"])
    answers = {}
    for ref in release.references():
        if ref.kind == "reference" and ref.id in instances:
            answers[instances[ref.id].prompt] = ref.answer
    replies_to = []

    def ask(messages):
        """Reply without an answer first, then with the reference answer."""
        for place, entry in enumerate(messages):
            assert entry["role"] == ("user", "assistant")[place % 2]
        replies_to.append(messages[-1]["content"])
        if not replies_to[-1].startswith("Answer 1 of 3: no readable answer"):
            return "Let me see."
        first = messages[0]["content"]
        (prompt,) = (prompt for prompt in answers if first.startswith(prompt))
        return answers[prompt]

    exec(code, {"ask": ask})  # noqa: S102  (it is the page's own)
    lines = Path("trials.jsonl").read_text().splitlines()
    # 27 items, each solved in the second turn.
    assert len(lines) == 27
    turns = sum(len(json.loads(line)["turns"]) for line in lines)
    assert turns == len(replies_to) == 54
    grading, by_turn = blocks("sh")[0].splitlines()
    program, *words = shlex.split(grading, comments=True)
    assert program == "scbench-grade"
    assert inside("grade", *words).returncode == 0
    _, *words = shlex.split(by_turn, comments=True)
    done = inside(*words)
    rows = r"two_segments +1 +0\.0 .*\n.*\n +2 +100\.0 +\+100\.0"
    assert re.search(rows, done.stdout)
    assert "Scores by turn: my-model retry (attempts 3, disclose checks)" in done.stdout
