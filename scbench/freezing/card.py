"""The dataset card and the leaderboard file of a release.

Both are rendered from the manifest and the texts in ``dataset_card/``.
"""

import json
import re
from bisect import bisect_right
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined, Template

from scbench.base.errors import ReleaseError
from scbench.base.model import LADDER, PICTURES, TERSE
from scbench.catalog import BUCKETS, Task, all_tasks
from scbench.release.about import (
    CITATION,
    DESCRIPTION,
    FIGURES,
    HOMEPAGE,
    KEYWORDS,
    TEXT_TASKS_CITATION,
    TITLE,
)
from scbench.release.manifest import (
    PAPER,
    REFERENCES,
    ExperimentRecord,
    Manifest,
    data_file,
    ladder_file,
    picture_file,
    pictures_file,
    terse_file,
)

_TEXTS = files("scbench.dataset_card")
# The beginning of the text about a task.
_ASKS = "**Asks for** "
# The Hub's size categories, and the numbers of instances that separate them.
_SIZE_CATEGORIES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M")
_SIZE_BOUNDS = (1_000, 10_000, 100_000, 1_000_000)


class _PlainDumper(yaml.SafeDumper):
    """Writes repeated values in full, because some readers of cards do not support YAML anchors."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        return True


def render_card(manifest: Manifest) -> str:
    """Return the card of a release.

    Raises:
        ReleaseError: a task has no text for the card.
    """
    catalog = all_tasks()
    tasks = [task_entry(manifest, catalog[task_id]) for task_id in manifest.tasks]
    body = _template("card.md.j2").render(
        manifest=manifest,
        tasks=tasks,
        drawn=drawn_tasks(manifest),
        ladder=ladder_tasks(manifest),
        description=DESCRIPTION,
        figures=FIGURES,
        homepage=HOMEPAGE,
        citation=CITATION,
        text_tasks_citation=TEXT_TASKS_CITATION,
    )
    return front_matter(manifest) + body


def task_entry(manifest: Manifest, task: Task) -> dict[str, Any]:
    """Return the values of a task for the template of the card."""
    # The first clause fits into a cell of a table.
    text = " ".join(_task_text(task).removeprefix(_ASKS).split())
    asks = re.split(r"(?<=[.?]) |; ", text, maxsplit=1)[0].removesuffix(".")
    picture = picture_file(task.id)
    return {
        "id": task.id,
        "title": task.title,
        "scoring": task.scoring,
        "record": manifest.tasks[task.id],
        "asks": asks.replace("|", "\\|"),
        "picture": picture if picture in manifest.files else "",
    }


def _task_text(task: Task) -> str:
    try:
        return task.card_text
    except OSError as error:
        raise ReleaseError(
            f"task {task.id}: the dataset card needs a text about it: {error.strerror}: "
            f"{error.filename}"
        ) from None


def drawn_tasks(manifest: Manifest) -> list[dict[str, Any]]:
    """Return the drawn tasks for the card: id, number of cases, and the values of parameters."""
    record = manifest.experiment
    if record is None:
        return []
    rows = []
    for task in record.task_ids:
        # Values of each parameter, over all blocks of the task.
        values: dict[str, list[str]] = {}
        for block in blocks_of(record, task):
            for name, value in parameters_of_block(block).items():
                values.setdefault(name, []).append(_plain_text(value))
            grid = block.get("grid") or {}
            # Manifests from other sources may contain anything here.
            if not isinstance(grid, dict):
                continue
            for name, choices in grid.items():
                choice_list = choices if isinstance(choices, list) else [choices]
                values.setdefault(name, []).extend(map(_plain_text, choice_list))
        parameters = []
        for name, texts in values.items():
            distinct = dict.fromkeys(texts)
            parameters.append(f"`{name}` {', '.join(distinct)}")
        task_record = manifest.tasks.get(task)
        rows.append(
            {
                "id": task,
                "cases": task_record.instances if task_record else 0,
                "parameters": "; ".join(parameters),
            }
        )
    return rows


def ladder_tasks(manifest: Manifest) -> list[dict[str, Any]]:
    """Return the tasks on the ladder for the card: measure, number of rungs, first and last."""
    record = manifest.ladder.experiment if manifest.ladder else manifest.experiment
    if record is None:
        return []
    rows = []
    for task, measure in record.measures.items():
        blocks = blocks_of(record, task)
        rows.append(
            {
                "id": task,
                "measure": measure,
                "rungs": len(blocks),
                "first": rung_text(blocks[0]),
                "last": rung_text(blocks[-1]),
            }
        )
    return rows


def blocks_of(record: ExperimentRecord, task: str) -> list[dict[str, Any]]:
    """Return the blocks of a task."""
    return [block for block in record.tasks if block["id"] == task]


def rung_text(block: Mapping[str, Any]) -> str:
    """Return the parameters of a rung in one line of Markdown."""
    texts = []
    for name, value in parameters_of_block(block, ("id", "count", "rung")).items():
        texts.append(f"`{name}` {_plain_text(value)}")
    return ", ".join(texts)


def parameters_of_block(
    block: Mapping[str, Any],
    other_keys: tuple[str, ...] = ("id", "count", "rung", "grid"),
) -> dict[str, Any]:
    """Return the parameter values of a block, without its other keys."""
    return {name: value for name, value in block.items() if name not in other_keys}


def _plain_text(value: object) -> str:
    """Return a value as text for a cell of a Markdown table."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text.replace("|", "\\|")


def _template(name: str) -> Template:
    # The environment is for plain text; we serve nothing from it as HTML.
    environment = Environment(  # noqa: S701
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(_TEXTS.joinpath(name).read_text("utf-8"))


def front_matter(manifest: Manifest, prefix: str = "") -> str:
    """Return the YAML header with which ``datasets`` finds the rows below the prefix."""
    categories = ["text-generation"]
    if manifest.pictures:
        categories.append("image-text-to-text")
    head = {
        "pretty_name": TITLE,
        "license": "mit",
        "language": ["en"],
        "task_categories": categories,
        "tags": list(KEYWORDS),
        "size_categories": [size_category(manifest.instances)],
        # Columns are described in the Parquet files, where ``datasets`` finds them.
        "configs": config_entries(manifest, prefix),
    }
    text = yaml.dump(head, Dumper=_PlainDumper, sort_keys=False, allow_unicode=True)
    return f"---\n{text}---\n"


def size_category(instances: int) -> str:
    """Return the Hub's category for a number of instances."""
    return _SIZE_CATEGORIES[bisect_right(_SIZE_BOUNDS, instances)]


def config_entries(manifest: Manifest, prefix: str) -> list[dict[str, Any]]:
    """Return the configs of a release, each with its files."""
    configs = {}
    for name, tasks in task_groups(manifest).items():
        configs[name] = [data_file(task) for task in tasks]
    if manifest.terse:
        configs[TERSE] = [terse_file(task) for task in manifest.terse]
    if manifest.pictures:
        configs[PICTURES] = [pictures_file(task) for task in manifest.pictures]
    if manifest.ladder:
        configs[LADDER] = [ladder_file(task) for task in manifest.ladder.tasks]
    configs["references"] = [REFERENCES]
    entries = []
    for name, paths in configs.items():
        entry: dict[str, Any] = {"config_name": name}
        if name == "default":
            # ``load_dataset`` uses this config if none is named.
            entry["default"] = True
        prefixed = [prefix + path for path in paths]
        entry["data_files"] = [{"split": "test", "path": prefixed}]
        entries.append(entry)
    return entries


def task_groups(manifest: Manifest) -> dict[str, list[str]]:
    """Return the tasks of each config with plain rows: ``default``, buckets, and each task."""
    groups = {"default": manifest.default_tasks}
    # In the order of the benchmark's tables; buckets of plugins follow.
    by_bucket: dict[str, list[str]] = {bucket: [] for bucket in BUCKETS}
    for task, record in manifest.tasks.items():
        by_bucket.setdefault(record.bucket, []).append(task)
    groups |= {bucket: tasks for bucket, tasks in by_bucket.items() if tasks}
    for task in manifest.tasks:
        groups[task] = [task]
    return groups


def render_eval(manifest: Manifest) -> str:
    """Return ``eval.yaml``, which makes the Hub show leaderboards of a data set."""
    ranked = manifest.default_records
    scores = {}
    for name, tasks in task_groups(manifest).items():
        # Leaderboards are for groups whose tasks are all graded by default.
        if name not in manifest.tasks and ranked.keys() >= {*tasks}:
            scores[name] = sum(ranked[task].scores for task in tasks)
    return _template("eval.yaml.j2").render(
        title=TITLE, description=DESCRIPTION, leaderboards=scores
    )


def paper_page() -> str:
    """Return the page on the differences from the paper."""
    return _TEXTS.joinpath(PAPER).read_text("utf-8")


def render_loader(manifest: Manifest, prefix: str) -> str:
    """Return a card that only refers to the files of a release at another path, the prefix."""
    return (
        front_matter(manifest, prefix)
        + f"""
With this file, `load_dataset("scbench")` called in the repository's root reads release
{manifest.version} from `{prefix}`. `scbench release build --loader` writes this file.
"""
    )
