"""A small release, and submissions to it that tests can damage."""

import json
import random
import shutil
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import polars as pl
import pytest
from release_fixtures import public_keys_as_released

from scbench.base.canonical import sha256
from scbench.base.model import rung_of, task_of
from scbench.catalog import get_task
from scbench.freezing.freeze import build_release
from scbench.freezing.ladder import Ladder
from scbench.grading.rows.columns import column_types
from scbench.grading.workers.scheduler import WorkerLimits
from scbench.leaderboard.collect import Collected, collect
from scbench.leaderboard.folder import open_submission
from scbench.leaderboard.receipt import PredictionsOf, make_receipt, write_receipt
from scbench.leaderboard.submission import read_submission
from scbench.leaderboard.validate import Validated, release_finder, validate
from scbench.release.load import Release, find_release

TASKS = ("enumerate_edges", "classify_behaviour", "shikaku_rectangles")
ABOUT = """\
format: 1
model:
  name: Aurora
  version: "2026-01"
  id: aurora-large
organisation: Example Lab
date: 2026-01-02
release: {release}
setting: no_tools
sampling:
  temperature: 0.7
  effort: high
attempts: 1
contact: someone@example.org
outputs_licence: CC-BY-4.0
"""


@pytest.fixture(scope="session")
def small(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """A release of three quick tasks."""
    folder = tmp_path_factory.mktemp("small") / "0.0.1"
    build_release("0.0.1", folder, [get_task(task) for task in TASKS])
    return find_release(str(folder))


@pytest.fixture(scope="session")
def rungs() -> Ladder:
    """A ladder of eight rungs of one task."""
    steps = [{"points": 4 + rung} for rung in range(8)]
    table = {
        "delaunay_triangulation": {"measure": "points", "words": "more", "rungs": steps}
    }
    return Ladder.model_validate({"seed": 3, "count": 3, "tasks": table})


@pytest.fixture(scope="session")
def climbed(tmp_path_factory: pytest.TempPathFactory, rungs: Ladder) -> Release:
    """A frozen release with this ladder."""
    folder = tmp_path_factory.mktemp("climbed") / "0.0.3"
    tasks = [get_task("delaunay_triangulation")]
    with public_keys_as_released():
        build_release("0.0.3", folder, tasks, ladder=rungs.experiment())
    return find_release(str(folder))


def submit_climb(
    folder: Path, name: str, release: Release, most: int, tasks: str = "ladder"
) -> None:
    """Submit answers of a model that is correct up to a rung."""
    about = ABOUT.format(release="0.0.3").replace("Aurora", name) + f"tasks: {tasks}\n"
    lines = answers(release)
    for line in lines:
        if (rung_of(line["id"]) or 0) > most:
            line["answer"] = {"triangles": []}
    submit(folder, about, lines)


def answers(
    release: Release, tasks: Collection[str] = (), **more: object
) -> list[dict]:
    """A line for every instance of tasks (in the default config), with the reference answer."""
    tasks = tasks or release.manifest.default_tasks
    right = (
        ref
        for ref in release.references()
        if ref.kind == "reference" and task_of(ref.id) in tasks
    )
    head = {"model": "aurora-large", "setting": "no_tools"}
    return [
        {"id": ref.id, **head, "answer": json.loads(ref.answer), **more}
        for ref in right
    ]


def write_predictions(path: Path, lines: list[dict]) -> None:
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")


def submit(folder: Path, about: str, lines: list[dict]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "submission.yaml").write_text(about, "utf-8")
    write_predictions(folder / "predictions.jsonl", lines)


def collected(root: Path, release: Release) -> Collected:
    """Grade the submissions below a folder, without reports, into the site next to them."""
    places, finder = (root / "submissions", root / "site"), release_finder([release])
    return collect(*places, finder, WorkerLimits(1, 120, 0), reports=False)


@pytest.fixture(scope="session")
def kit() -> SimpleNamespace:
    """Functions that make and collect submissions."""
    makers = {"answers": answers, "write": write_predictions, "skilled": skilled}
    verbs = {"submit": submit, "climb": submit_climb, "collected": collected}
    return SimpleNamespace(about=ABOUT, **makers, **verbs)


@pytest.fixture(scope="session")
def _good(small: Release, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("good") / "aurora"
    submit(folder, ABOUT.format(release="0.0.1"), answers(small))
    return folder


@pytest.fixture
def entry(_good: Path, tmp_path: Path) -> SimpleNamespace:
    """A good submission in a separate folder, with functions that damage it."""
    folder = tmp_path / "submissions" / "aurora"
    folder.parent.mkdir()
    shutil.copytree(_good, folder)
    about, predictions = folder / "submission.yaml", folder / "predictions.jsonl"

    def lines(change: Callable[[list[dict]], object]) -> None:
        rows = [
            json.loads(line) for line in predictions.read_text("utf-8").splitlines()
        ]
        changed = change(rows)
        write_predictions(predictions, changed if isinstance(changed, list) else rows)

    def edit(old: str, new: str) -> None:
        text = about.read_text("utf-8")
        assert old in text
        about.write_text(text.replace(old, new), "utf-8")

    return SimpleNamespace(
        folder=folder, about=about, predictions=predictions, lines=lines, edit=edit
    )


@pytest.fixture
def check(small: Release) -> Iterator[Callable[[Path], Validated]]:
    """A function that validates a folder or archive against the small release.

    The copy of a folder stays until the test ends, so that it can be graded.
    """
    with ExitStack() as copies:

        def run(path: Path, *others: Release) -> Validated:
            finder = release_finder([small, *others])
            if path.is_dir():
                return validate(copies.enter_context(open_submission(path)), finder)
            with open_submission(path) as opened:
                return validate(opened, finder)

        yield run


@pytest.fixture(scope="session")
def synthetic() -> Callable[..., None]:
    """A function that writes submissions of made-up models with receipts of made-up scores.

    The scores of a model are drawn by its skill; everything else is as if it had been graded.
    """

    def make(root: Path, release: Release, models: dict[str, dict]) -> None:
        rows = [
            {
                "id": row.id,
                "task": row.task,
                "bucket": row.bucket,
                "subtask": row.subtask + i,
            }
            | {"instance_hash": row.content_hash, "release": release.version}
            | {
                "release_hash": release.manifest.rows_hash,
                "sample": 0,
                "failed_checks": [],
            }
            | {
                "checks": "[]",
                "metrics": "{}",
                "notes": [],
                "repairs": [],
                "reason": "",
            }
            | {"grader_version": get_task(row.task).grader_version, "line": 1}
            for row in release.instances(release.manifest.default_tasks).values()
            for i in range(row.scores)
        ]
        for name, model in models.items():
            folder, out = root / "submissions" / name, root / "site" / "graded" / name
            folder.mkdir(parents=True)
            out.mkdir(parents=True)
            text = ABOUT.format(release=release.version)
            text = text.replace("Aurora", json.dumps(model.get("model", name)))
            if model.get("setting") == "tools":
                text = text.replace("no_tools", "tools\ntools: [python]")
            text += model.get("more", "")
            (folder / "submission.yaml").write_text(text, "utf-8")
            # Long enough to take as much time to hash as a real one.
            write_predictions(
                folder / "predictions.jsonl", [{"id": name, "response": "x" * 10**6}]
            )
            rng = random.Random(f"{name} {model.get('seed', 0)}")
            scored = []
            for row in rows:
                score = model["scores"](row, rng)
                status = "blocked" if score is None else "answered"
                used = {"usage": json.dumps(model["usage"])} if "usage" in model else {}
                floor = model.get("floors", {}).get(row["id"], 0.0)
                result = {"status": status, "score": score, "floor": floor}
                scored.append(row | used | {"model": name} | result)
            frame = pl.DataFrame(
                [dict.fromkeys(column_types()) | row for row in scored],
                schema=column_types(),
            )
            frame.write_parquet(out / "results.parquet")
            data = (folder / "predictions.jsonl").read_bytes()
            about, _ = read_submission(text.encode(), "submission.yaml")
            assert about is not None
            receipt = make_receipt(
                about,
                release,
                frame,
                predictions=PredictionsOf(
                    file="predictions.jsonl",
                    bytes=len(data),
                    sha256=sha256(data),
                    content_sha256=sha256(data),
                    lines=1,
                ),
                submission_sha256=sha256(text),
            )
            write_receipt(out, receipt)

    return make


def skilled(skill: float) -> Callable[[dict, random.Random], float]:
    """Scores of a model with a given number of correct answers."""
    return lambda _, rng: float(rng.random() < skill)
