"""The reward function for TRL, called by the trainer's own code."""

import ast
import sys
from itertools import islice
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest
from stored_replies import installed, stored_replies

import scbench
from scbench.base.errors import PredictionsError
from scbench.catalog import get_task
from scbench.reward import for_trl, packed, unpacked


@pytest.fixture(scope="module")
def call(pytestconfig):
    """A function that calls a reward function like ``GRPOTrainer._calculate_rewards``.

    The trainer cannot be imported without torch, so the lines that make the arguments, and the call
    itself, are taken from its source.
    """
    folder = installed(pytestconfig.cache.mkdir("packages"), "trl==1.16.0", "--no-deps")
    source = (folder / "trl" / "trainer" / "grpo_trainer.py").read_text("utf-8")
    (method,) = (
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.name == "_calculate_rewards"
    )
    begin = next(
        i
        for i, node in enumerate(method.body)
        if ast.unparse(node).startswith("keys =")
    )
    end = next(
        i
        for i, node in enumerate(method.body)
        if "async_funcs_info" in ast.unparse(node)
    )
    (called,) = (
        node
        for node in ast.walk(method)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) == "reward_func"
        and node.keywords
        if "completion_ids" in ast.unparse(node)
    )
    arguments = compile(ast.Module(method.body[begin:end], []), "trl", "exec")
    expression = compile(ast.Expression(called), "trl", "eval")

    def make(inputs, completions, log=None):
        trainer = SimpleNamespace(
            state="state",
            environments=None,
            _log_completion_extra=print,
            _log_metric=log,
        )
        space = {"self": trainer, "inputs": inputs, "completions": completions}
        space |= {"prompts": [one["prompt"] for one in inputs], "reward_func": for_trl}
        space["completion_ids_list"] = [[1]] * len(inputs)
        exec(arguments, space)  # noqa: S102  (the trainer's own lines)
        return eval(expression, space)  # noqa: S307

    return make


def test_text_and_message_completions_get_the_same_scores_as_the_command(call):
    replies = stored_replies()
    inputs = [{"prompt": "Q", "id": row_id, "difficulty": "easy"} for row_id in replies]
    texts = [one.text for one in replies.values()]
    talks = [
        [
            {"role": "assistant", "content": None, "tool_calls": []},
            {"role": "tool", "content": "{}"},
            {"role": "assistant", "content": text},
        ]
        for text in texts
    ]
    logged = []
    scores = [one.score for one in replies.values()]
    assert call(inputs, texts, lambda *pair: logged.append(pair)) == scores
    assert logged == [("scbench_scored", 1.0)]
    assert call(inputs, talks, lambda *_: None) == scores
    assert call(inputs, [[{"role": "tool", "content": "x"}]] * len(inputs)) == [
        0.0
    ] * len(inputs)


def test_fresh_instances_are_passed_in_a_column(call):
    first, second = scbench.generate("arithmetic", count=2, seed=3, length=3)
    inputs = [
        {"prompt": "Q", "id": first.id, "instance": packed(first)},
        {"prompt": "Q", "id": "two_segments/00", "instance": None},
        {"prompt": "Q", "id": second.id, "instance": packed(second)},
    ]
    right = stored_replies()["two_segments/00"].text
    given = [scbench.score(first, "Answer: 4"), 1.0, scbench.score(second, "Answer: 5")]
    assert call(inputs, ["Answer: 4", right, "Answer: 5"]) == given


def test_ungradable_completions_are_none_and_counted(call):
    here = [float(i % 5 == 0) for i in range(16)]
    program = {
        "fileContents": "print(1)",
        "fileType": "Python Generating STL",
        "transform": here,
    }
    answer = str({"parts": [program]}).replace("'", '"')
    logged = []
    inputs = [
        {"prompt": "Q", "id": "interlocking_parts/00"},
        {"prompt": "Q", "id": "maze_3d/00"},
    ]
    assert call(inputs, [answer, "no"], lambda *pair: logged.append(pair)) == [
        None,
        0.0,
    ]
    assert logged == [("scbench_scored", 0.5)]


def test_data_set_without_ids_is_refused(call):
    with pytest.raises(PredictionsError, match="neither a column 'id'"):
        call([{"prompt": "Q"}], ["x"])
    with pytest.raises(PredictionsError, match="not an instance"):
        call([{"prompt": "Q", "instance": "[]"}], ["x"])


def test_example_on_the_page_fits_the_trainer(monkeypatch):
    page = Path(__file__).parents[2] / "docs" / "environments.md"
    (block,) = (
        part
        for part in page.read_text("utf-8").split("```python\n")
        if "from trl" in part
    )
    made = {}
    trl = ModuleType("trl")
    trl.GRPOTrainer = lambda _, **given: made.update(given)
    monkeypatch.setitem(sys.modules, "trl", trl)
    exec(block.partition("```")[0], {})  # noqa: S102
    rows = [*islice(made["train_dataset"], 2)]
    prompts, texts = [row["prompt"] for row in rows], ["I think", "nothing"]
    given = [row["instance"] for row in rows]
    assert made["reward_funcs"](prompts, texts, instance=given) == [0.0, 0.0]
    trial = made["environment_factory"]()
    assert "You have 3 attempts." in trial.reset(**rows[0])
    assert "no readable answer" in trial.reply("Hm.")
    assert trial.get_reward() == 0
    stream = scbench.stream(["maze_3d", "two_segments"], curriculum=True, seed=1)
    row = next(stream)
    assert unpacked(given[0]).content_hash == row.content_hash
    assert trial.reply(right(row)).endswith("The trial is over.")
    assert trial.get_reward() == 1
    assert made["reward_funcs"](
        prompts[:1], texts[:1], instance=given[:1], environments=[trial]
    ) == [None]


def right(instance):
    task = get_task(instance.task)
    return task.builder().target(
        task.params_model.model_validate_json(instance.all_params)
    )
