"""The dataset card, rendered from the manifest and the texts in ``dataset_card/``."""

from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined

from scbench.catalog import BUCKETS, Task, all_tasks
from scbench.errors import ReleaseError
from scbench.release.manifest import REFERENCES, Manifest, data_file

_TEXTS = files("scbench.dataset_card")


def _configs(manifest: Manifest, prefix: str = "") -> list[dict[str, Any]]:
    """Return the configs of a release: default, one per bucket, one per task, references."""
    held = [record.bucket for record in manifest.tasks.values()]
    by_bucket = {
        bucket: [task for task, record in manifest.tasks.items() if record.bucket == bucket]
        for bucket in dict.fromkeys((*BUCKETS, *held))
    }
    groups: Mapping[str, Sequence[str]] = {
        "default": list(manifest.tasks),
        **{bucket: tasks for bucket, tasks in by_bucket.items() if tasks},
        **{task: [task] for task in manifest.tasks},
    }
    configs = {name: [data_file(task) for task in tasks] for name, tasks in groups.items()}
    configs["references"] = [REFERENCES]
    return [
        {
            "config_name": name,
            **({"default": True} if name == "default" else {}),
            "data_files": [{"split": "test", "path": [prefix + path for path in paths]}],
        }
        for name, paths in configs.items()
    ]


def front_matter(manifest: Manifest, prefix: str = "") -> str:
    """Return the YAML head that tells the ``datasets`` library where the rows are.

    Args:
        manifest: of the release.
        prefix: what to put before each path, if the card does not lie in the release's folder.
    """
    head = {
        "pretty_name": "Spatial Competence Benchmark",
        "license": "mit",
        "language": ["en"],
        "task_categories": ["text-generation"],
        "tags": ["spatial-reasoning", "benchmark", "verifiable", "geometry"],
        "size_categories": ["n<1K"],
        "configs": _configs(manifest, prefix),
    }
    return f"---\n{yaml.safe_dump(head, sort_keys=False, allow_unicode=True)}---\n"


def render_card(manifest: Manifest) -> str:
    """Return the card of a release.

    Raises:
        ReleaseError: a task has no text for the card.
    """
    tasks = all_tasks()
    # The environment is made for plain Markdown; nothing here is served as HTML by us.
    environment = Environment(  # noqa: S701
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    template = environment.from_string(_TEXTS.joinpath("card.md.j2").read_text("utf-8"))
    body = template.render(
        manifest=manifest,
        tasks=[
            {
                "id": task_id,
                "title": tasks[task_id].title,
                "scoring": tasks[task_id].scoring,
                "record": record,
                "text": _task_text(tasks[task_id]),
            }
            for task_id, record in manifest.tasks.items()
        ],
    )
    return front_matter(manifest) + body


def _task_text(task: Task) -> str:
    try:
        return task.card_text
    except OSError as error:
        raise ReleaseError(
            f"task {task.id}: the dataset card needs a text on it: {error.strerror}: "
            f"{error.filename}"
        ) from None


def render_loader(manifest: Manifest, prefix: str) -> str:
    """Return a card that only points at a release elsewhere.

    Args:
        manifest: of the release.
        prefix: path from the card's folder to the release, ending in a slash.
    """
    return (
        front_matter(manifest, prefix)
        + f"""
With this file, `load_dataset("scbench")` called in the repository's root reads release
{manifest.version} from `{prefix}`. It is written by `scbench release build --loader`.
"""
    )
