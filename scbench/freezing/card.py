"""The dataset card, the leaderboard file and the Croissant description of a release.

The first two are rendered from the manifest and ``dataset_card/``. The third has a record set for
each task and one for the references, in the vocabulary of Croissant 1.0.
"""

import json
from bisect import bisect_right
from collections.abc import Iterator, Mapping
from importlib.resources import files
from typing import Any

import yaml
from jinja2 import Environment, StrictUndefined, Template

from scbench.base.errors import ReleaseError
from scbench.base.model import LADDER, PICTURES, TERSE, Instance
from scbench.catalog import BUCKETS, Task, all_tasks
from scbench.freezing.tables import (
    INSTANCE_COLUMNS,
    LADDER_COLUMNS,
    PICTURE_COLUMNS,
    REFERENCE_COLUMNS,
    REFERENCE_MEANINGS,
)
from scbench.release.about import (
    CITATION,
    DESCRIPTION,
    HOMEPAGE,
    KEYWORDS,
    LICENCE,
    PUBLISHED,
    TEXT_TASKS_CITATION,
    TITLE,
)
from scbench.release.manifest import (
    PAPER,
    REFERENCES,
    Manifest,
    data_file,
    ladder_file,
    picture_file,
    pictures_file,
    terse_file,
)

_TEXTS = files("scbench.dataset_card")
# Begins the paragraph of a task's text that the card collects in a section of its own.
_CORRECTIONS = "**Against the paper.**"


_PARQUET = "application/x-parquet"
_TYPES = {
    "string": "sc:Text",
    "int32": "sc:Integer",
    "int64": "sc:Integer",
    "float64": "sc:Float",
    "images": "sc:ImageObject",
}
# The standard context in full: validators warn of any other.
_CONTEXT = json.loads(
    files(__package__).joinpath("croissant_context.json").read_bytes()
)


class _Plain(yaml.SafeDumper):
    """Writes what is repeated out in full: not every reader of cards knows YAML's anchors."""

    def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
        return True


def _groups(manifest: Manifest) -> dict[str, list[str]]:
    """Return the configs of a release but the references, each with its tasks."""
    buckets = [record.bucket for record in manifest.tasks.values()]
    by_bucket = {
        bucket: [
            task for task, record in manifest.tasks.items() if record.bucket == bucket
        ]
        for bucket in dict.fromkeys((*BUCKETS, *buckets))
    }
    return {
        "default": manifest.default_tasks,
        **{bucket: tasks for bucket, tasks in by_bucket.items() if tasks},
        **{task: [task] for task in manifest.tasks},
    }


def _card_configs(manifest: Manifest, prefix: str = "") -> list[dict[str, Any]]:
    configs = {
        name: list(map(data_file, tasks)) for name, tasks in _groups(manifest).items()
    }
    if manifest.terse:
        configs[TERSE] = list(map(terse_file, manifest.terse))
    if manifest.pictures:
        configs[PICTURES] = list(map(pictures_file, manifest.pictures))
    if manifest.ladder:
        configs[LADDER] = list(map(ladder_file, manifest.ladder.tasks))
    configs["references"] = [REFERENCES]
    return [
        {
            "config_name": name,
            **({"default": True} if name == "default" else {}),
            "data_files": [
                {"split": "test", "path": [prefix + path for path in paths]}
            ],
        }
        for name, paths in configs.items()
    ]


def _features(columns: Mapping[str, str]) -> list[dict[str, str]]:
    return [
        {"name": name, **({"list": "image"} if kind == "images" else {"dtype": kind})}
        for name, kind in columns.items()
    ]


def front_matter(manifest: Manifest, prefix: str = "") -> str:
    """Return the YAML head that tells ``datasets`` where the rows are, below the prefix."""
    rungs, drawn = _features(LADDER_COLUMNS), _features(PICTURE_COLUMNS)
    rows = rungs if manifest.is_ladder else _features(INSTANCE_COLUMNS)
    head = {
        "pretty_name": TITLE,
        "license": "mit",
        "language": ["en"],
        "task_categories": ["text-generation"],
        "tags": list(KEYWORDS),
        "size_categories": [_size_category(manifest.instances)],
        "configs": _card_configs(manifest, prefix),
        "dataset_info": [
            *({"config_name": name, "features": rows} for name in _groups(manifest)),
            *([{"config_name": TERSE, "features": rows}] if manifest.terse else []),
            *(
                [{"config_name": PICTURES, "features": drawn}]
                if manifest.pictures
                else []
            ),
            *([{"config_name": LADDER, "features": rungs}] if manifest.ladder else []),
            {"config_name": "references", "features": _features(REFERENCE_COLUMNS)},
        ],
    }
    text = yaml.dump(head, Dumper=_Plain, sort_keys=False, allow_unicode=True)
    return f"---\n{text}---\n"


def _size_category(instances: int) -> str:
    words = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M")
    return words[bisect_right((1_000, 10_000, 100_000, 1_000_000), instances)]


def _drawn_tasks(manifest: Manifest) -> list[dict[str, Any]]:
    """Return what was drawn of each task: its points, its cases, and the parameters that vary."""
    record = manifest.experiment
    rows = []
    for task in record.task_ids if record else ():
        blocks = (
            [block for block in record.tasks if block["id"] == task] if record else []
        )
        values: dict[str, dict[str, None]] = {}
        for block in blocks:
            grid = block.get("grid") or {}
            lists = grid if isinstance(grid, dict) else {}
            for name, value in block.items():
                if name not in {"id", "count", "rung", "grid"}:
                    values.setdefault(name, {})[_plain(value)] = None
            for name, several in lists.items():
                choices = several if isinstance(several, list) else [several]
                values.setdefault(name, {}).update(dict.fromkeys(map(_plain, choices)))
        parameters = "; ".join(
            f"`{name}` {', '.join(texts)}" for name, texts in values.items()
        )
        task_record = manifest.tasks.get(task)
        rows.append(
            {
                "id": task,
                "cases": task_record.instances if task_record else 0,
                "parameters": parameters,
            }
        )
    return rows


def _rungs(manifest: Manifest) -> list[dict[str, Any]]:
    """Return the ladder of each task: what rises, and the points of its ends."""
    record = manifest.ladder.experiment if manifest.ladder else manifest.experiment
    rows = []
    for task, measure in record.measures.items() if record else ():
        blocks = (
            [block for block in record.tasks if block["id"] == task] if record else []
        )
        first, last = (
            ", ".join(
                f"`{name}` {_plain(value)}"
                for name, value in block.items()
                if name not in {"id", "count", "rung"}
            )
            for block in (blocks[0], blocks[-1])
        )
        rows.append(
            {
                "id": task,
                "measure": measure,
                "rungs": len(blocks),
                "first": first,
                "last": last,
            }
        )
    return rows


def _plain(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text.replace("|", "\\|")


def render_card(manifest: Manifest) -> str:
    """Return the card of a release.

    Raises:
        ReleaseError: a task has no text for the card.
    """
    catalog = all_tasks()
    tasks = []
    for task_id, record in manifest.tasks.items():
        task = catalog[task_id]
        paragraphs = _task_text(task).split("\n\n")
        corrections = [text for text in paragraphs if text.startswith(_CORRECTIONS)]
        tasks.append(
            {
                "id": task_id,
                "title": task.title,
                "scoring": task.scoring,
                "record": record,
                "text": "\n\n".join(
                    text for text in paragraphs if text not in corrections
                ),
                "corrections": [
                    text.removeprefix(_CORRECTIONS).strip() for text in corrections
                ],
                "picture": picture_file(task_id)
                if picture_file(task_id) in manifest.files
                else "",
            }
        )
    body = _template("card.md.j2").render(
        manifest=manifest,
        tasks=tasks,
        drawn=_drawn_tasks(manifest),
        ladder=_rungs(manifest),
        description=DESCRIPTION,
        citation=CITATION,
        text_tasks_citation=TEXT_TASKS_CITATION,
    )
    return front_matter(manifest) + body


def render_eval(manifest: Manifest) -> str:
    """Return ``eval.yaml``, which makes the Hub show leaderboards of a data set."""
    ranked = manifest.default_records
    scores = {
        name: sum(ranked[task].scores for task in tasks)
        for name, tasks in _groups(manifest).items()
        if name not in manifest.tasks and ranked.keys() >= {*tasks}
    }
    return _template("eval.yaml.j2").render(
        title=TITLE, description=DESCRIPTION, leaderboards=scores
    )


def paper_page() -> str:
    """Return the page on what differs from the paper."""
    return _TEXTS.joinpath(PAPER).read_text("utf-8")


def _template(name: str) -> Template:
    # The environment is made for plain text; nothing here is served as HTML by us.
    environment = Environment(  # noqa: S701
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    return environment.from_string(_TEXTS.joinpath(name).read_text("utf-8"))


def _task_text(task: Task) -> str:
    try:
        return task.card_text
    except OSError as error:
        raise ReleaseError(
            f"task {task.id}: the dataset card needs a text on it: {error.strerror}: "
            f"{error.filename}"
        ) from None


def render_loader(manifest: Manifest, prefix: str) -> str:
    """Return a card that only points at a release elsewhere, to which the prefix leads."""
    return (
        front_matter(manifest, prefix)
        + f"""
With this file, `load_dataset("scbench")` called in the repository's root reads release
{manifest.version} from `{prefix}`. It is written by `scbench release build --loader`.
"""
    )


def render_croissant(manifest: Manifest) -> str:
    """Return the Croissant file of a release, from its manifest alone."""
    files = {data_file(task): task for task in manifest.tasks} | {
        REFERENCES: "references"
    }
    files |= {terse_file(task): f"{task}-{TERSE}" for task in manifest.terse}
    files |= {pictures_file(task): f"{task}-{PICTURES}" for task in manifest.pictures}
    rungs = manifest.ladder.tasks if manifest.ladder else ()
    files |= {ladder_file(task): f"{task}-{LADDER}" for task in rungs}
    present = {path: name for path, name in files.items() if path in manifest.files}
    value = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": "http://mlcommons.org/croissant/1.0",
        "name": TITLE,
        "alternateName": manifest.name,
        "description": f"{DESCRIPTION} Rows: {manifest.rows_hash}.",
        "version": manifest.version,
        "license": LICENCE,
        "url": HOMEPAGE,
        "datePublished": PUBLISHED,
        "creator": {"@type": "Organization", "name": "The scbench developers"},
        "keywords": list(KEYWORDS),
        "citeAs": CITATION,
        "isLiveDataset": False,
        "distribution": [_file(manifest, path) for path in present],
        "recordSet": [
            _record_set(
                path, name, on_rungs=manifest.is_ladder or path.startswith(f"{LADDER}/")
            )
            for path, name in present.items()
        ],
    }
    return json.dumps(value, indent=1, ensure_ascii=False) + "\n"


def _file(manifest: Manifest, path: str) -> dict[str, Any]:
    record = manifest.files[path]
    return {
        "@type": "cr:FileObject",
        "@id": path,
        "name": path,
        "contentUrl": path,
        "contentSize": f"{record.bytes} B",
        "encodingFormat": _PARQUET,
        "sha256": record.sha256,
    }


def _record_set(path: str, name: str, *, on_rungs: bool) -> dict[str, Any]:
    is_task = path != REFERENCES
    rows = LADDER_COLUMNS if on_rungs else INSTANCE_COLUMNS
    rows = PICTURE_COLUMNS if path.startswith(f"{PICTURES}/") else rows
    columns = rows if is_task else REFERENCE_COLUMNS
    meanings = {
        key: str(field.description) for key, field in Instance.model_fields.items()
    }
    meanings["rung"] = "of the ladder, from 1: higher ones are harder"
    meanings["style"] = "of its pictures: drawn, or symbols in place of filled cells"
    meanings["canary"] = REFERENCE_MEANINGS["canary"]
    key = ("id",) if is_task else ("id", "name")
    return {
        "@type": "cr:RecordSet",
        "@id": name,
        "name": name,
        "description": (
            f"Instances of {name}."
            if is_task
            else "Reference and counter-reference answers, to test graders with."
        ),
        "key": [{"@id": f"{name}/{column}"} for column in key],
        "field": list(
            _fields(path, name, columns, meanings if is_task else REFERENCE_MEANINGS)
        ),
    }


def _fields(
    path: str, name: str, columns: Mapping[str, str], meanings: Mapping[str, str]
) -> Iterator[dict[str, Any]]:
    for column, kind in columns.items():
        yield {
            "@type": "cr:Field",
            "@id": f"{name}/{column}",
            "name": column,
            "description": meanings[column],
            "dataType": _TYPES[kind],
            **({"repeated": True} if kind == "images" else {}),
            "source": {
                "fileObject": {"@id": path},
                "extract": {"column": column},
                **({"transform": {"jsonPath": "bytes"}} if kind == "images" else {}),
            },
        }
