"""The card: its numbers come from the manifest, and its head tells datasets where the rows are."""

import re
from pathlib import Path

import pytest
import yaml

from scbench.catalog import get_task, paper_tasks
from scbench.freezing.card import front_matter, render_card, render_eval
from scbench.freezing.frozen_manifest import make_manifest
from scbench.freezing.frozen_task import freeze_task
from scbench.freezing.prompt_pictures import picture_parts
from scbench.release.about import FIGURES
from scbench.release.load import find_release
from scbench.release.manifest import (
    CANARY,
    EVAL,
    Manifest,
    picture_file,
)
from scbench.release.sources import read_manifest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def manifest(sound) -> Manifest:
    return read_manifest(sound)


def head(text: str) -> dict:
    _, front, _ = text.split("---\n", 2)
    return yaml.safe_load(front)


def with_record(manifest: Manifest, task_id: str, **changes: object) -> Manifest:
    record = manifest.tasks[task_id].model_copy(update=changes)
    return manifest.model_copy(update={"tasks": {**manifest.tasks, task_id: record}})


def test_numbers_come_from_the_manifest(manifest):
    changed = with_record(
        manifest, "enumerate_edges", instances=1234, scores=5678
    ).model_copy(
        update={
            "version": "7.8.9",
            "package_version": "4.5.6",
            "rows_hash": "f" * 64,
            "libraries": {"pyarrow": "11.22"},
            "references": manifest.references.model_copy(
                update={"references": 4321, "counter_references": 8765}
            ),
        }
    )
    card = render_card(changed)
    assert "release 7.8.9" in card
    assert "2 tasks, 1240 items and 5684 scores" in card
    assert (
        "| axiomatic | work out what follows from stated rules | 1 | 1234 | 5678 |"
        in card
    )
    assert "| Enumerate Edges<br>`enumerate_edges` | the pairs of sides" in card
    assert "| 1234 (5678 scores) | binary | 0.00 |" in card
    assert "4321 reference answers" in card
    assert "8765 counter-references" in card
    assert f"Rows: `{'f' * 64}`" in card
    assert "scbench 4.5.6 (pyarrow 11.22)" in card
    assert "--release 7.8.9" in card


def test_card_shows_request_and_picture_of_every_task(whole):
    manifest = read_manifest(whole)
    card = render_card(manifest)
    for task in map(get_task, manifest.tasks):
        text = task.card_text.removeprefix("**Asks for** ")
        (row,) = re.findall(rf"^\| {re.escape(task.title)}<br>.*", card, re.MULTILINE)
        name, asks, items, scoring, floor, picture = row.split(" |")[:6]
        assert name == f"| {task.title}<br>`{task.id}`"
        assert len(asks) > 20
        assert text.startswith(asks.strip())
        record = manifest.tasks[task.id]
        assert int(items.split()[0]) == record.instances
        assert scoring.strip() == task.scoring
        assert float(floor) == pytest.approx(record.floor.mean, abs=0.005)
        assert f'src="{picture_file(task.id)}"' in picture
    assert f"\n    {CANARY}\n" in card


def test_card_is_short():
    """A reviewer reads it in minutes; the details are on the documentation pages."""
    body = render_card(find_release().manifest).split("---\n", 2)[2]
    assert len(body.split()) < 3200


def test_categories_name_images_if_there_are_any(manifest):
    assert head(render_card(manifest))["task_categories"] == [
        "text-generation",
        "image-text-to-text",
    ]
    plain = manifest.model_copy(update={"pictures": {}})
    assert head(render_card(plain))["task_categories"] == ["text-generation"]


def test_withdrawn_instances_are_in_a_table(manifest):
    assert "No item of this release is withdrawn." in render_card(manifest)
    reasons = {"enumerate_edges/03": "two sides | one \\ name"}
    card = render_card(manifest.model_copy(update={"withdrawn": reasons}))
    assert "| `enumerate_edges/03` | two sides \\| one \\\\ name |" in card
    assert "--exclude-withdrawn" in card
    assert "No item" not in card
    assert "\n\n\n" not in card


def test_leaderboards_cover_the_whole_and_buckets(sound, manifest):
    text = (sound / EVAL).read_text("utf-8")
    assert text == render_eval(manifest)
    board = yaml.safe_load(text)
    assert board["evaluation_framework"] == "harbor"
    assert board["name"] == "Spatial Competence Benchmark"
    assert board["description"]
    assert board["tasks"] == [
        {"id": name, "config": name, "split": "test"}
        for name in ("default", "axiomatic", "constructive")
    ]
    assert "test  # 14 scores" in text


def test_card_of_a_single_task_and_of_a_preview():
    part = freeze_task(get_task("shikaku_rectangles"))
    card = render_card(
        make_manifest("0.0.1", [part], {}, pictured=picture_parts([part]))
    )
    assert "preview" not in card
    assert "**This is a preview.**" in render_card(make_manifest("0.0.1a1", [part], {}))
    assert "This release has 1 task, 6 items and 6 scores." in card
    assert [c["config_name"] for c in head(card)["configs"]] == [
        "default", "constructive", "shikaku_rectangles", "terse", "pictures", "references",
    ]  # fmt: skip


def test_citation_file_names_the_authors_of_the_card():
    text = Path(__file__).parents[2].joinpath("CITATION.cff").read_text("utf-8")
    paper, text_tasks = yaml.safe_load(text)["references"]
    assert [author["family-names"] for author in paper["authors"]] == ["Vira", "Harris"]
    assert (paper["title"], paper["year"], paper["month"]) == (
        "Spatial Competence Benchmark", 2026, 3,
    )  # fmt: skip
    assert text_tasks["title"] == "ReasonScape"


def test_card_first_states_that_scores_are_not_comparable_with_the_paper(
    manifest, sound
):
    assert "Scores are not comparable with the tables of the paper" in render_card(
        manifest
    )
    page = (sound / "paper.md").read_text("utf-8")
    assert page.split("\n")[2].startswith(
        "Scores on this benchmark are not comparable with the tables"
    )
    page = page.partition("\n## ")[0]
    rows = re.findall(r"^\| (\w+) \|", page, re.MULTILINE)[1:]
    assert rows == [task.id for task in paper_tasks()], "one line for each task"
    for task, count in re.findall(
        r"^\| (\w+) \| the paper's (\d+)", page, re.MULTILINE
    ):
        assert len(get_task(task).builder().paper()) == int(count)


def test_figures_have_the_words_of_the_docs(manifest):
    page = (ROOT / "docs" / "statistics.md").read_text("utf-8")
    card = render_card(manifest)
    for meaning in FIGURES.values():
        assert meaning in page
        assert meaning in card


def test_head_is_short(whole):
    head = front_matter(read_manifest(whole))
    assert len(head) < 12_000
