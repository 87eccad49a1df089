"""The config pictures: instance data in pixels, and no other change."""

import json
import re

import pytest
from pixel_model import reader_of

from scbench.base.model import picture_id, plain_id, style_of
from scbench.builders.delaunay_triangulation.stability import is_stable
from scbench.catalog import MANIFOLDS, all_tasks
from scbench.graders.shared.plane_geometry import triangulate
from scbench.release.load import find_release

PICTURED = [
    task
    for task in all_tasks().values()
    if task.bucket != MANIFOLDS and task.builder.styles()
]
# Pictures of a task that are read back.
MANY = 12
UNORDERED = ("walls", "food", "blocked", "forbidden_cells")

OF_RULES = {
    "voxel_grid_projection": r"exactly \d+ (?:different|cells)|the digit \d|"
    r"remainder \d+|divided by \d+",
    "hyper_snake": r"L / \d+|(?<=0.98 x )\d+|\d+ is the number|[Ss]o \d+ cells|"
    r"because (the box has )?\d+ cells|more than \d+ cells",
    "terrain_levelling": r"at most [\d.]+(?= blasts|,)|has\n\d+ cells|there are \d+|"
    r"plan - \d+\) / [\d.]+",
    "tetrahedra_shadow_projection": r"at most \d+ copies|more than \d+ copies|\) / [\d.]+",
    "csg_union": r"At most \d+ are allowed|a mesh of \d+ triangles never|"
    r"\(B is 0 here, so any inner wall makes the score 0\.\)",
    "half_subdivision_neighbours": r"depth \d+: axis",
    "polynomial_curve_fitting": r"f, as written, is at most \d+",
}
"""Numbers in a prompt with pictures that depend on the instance: the amounts required."""


def normal(params):
    """Return parameters with all unordered lists sorted."""
    changed = {name: sorted(params[name]) for name in UNORDERED if name in params}
    return json.loads(json.dumps(params | changed))


def read(row):
    """Return the instance that the second reader gets from its prompt and pixels alone."""
    return normal(reader_of(row.task)(row.prompt, row.images))


@pytest.fixture(scope="module")
def release():
    return find_release("4.0.0")


@pytest.fixture(scope="module")
def rows(release):
    return release.pictures().instances()


@pytest.mark.parametrize("task", PICTURED, ids=str)
def test_reader_of_pixels_recovers_an_instance(task, rows):
    of_task = [row for row in rows.values() if row.task == task.id]
    small = min(of_task, key=lambda row: (sum(map(len, row.images)), row.id))
    for row in [
        small,
        *[r for r in of_task if r.id == f"{plain_id(small.id)}-picture-symbols"],
    ]:
        assert read(row) == normal(json.loads(row.params)), row.id


@pytest.mark.parametrize("task", PICTURED, ids=str)
def test_reader_of_pixels_recovers_many_instances(task, rows):
    of_task = [row for row in rows.values() if row.task == task.id]
    # A spread over the list and the ladder.
    step = -(-len(of_task) // MANY)
    for row in of_task[::step]:
        assert read(row) == normal(json.loads(row.params)), row.id


def test_picture_rows_differ_only_in_prompt_images_and_id(release, rows):
    plain = {**release.instances(), **release.ladder().instances()}
    for row_id, row in rows.items():
        changed = {"id", "prompt", "images", "content_hash"}
        assert row.model_dump(exclude=changed) == plain[plain_id(row_id)].model_dump(
            exclude=changed
        )
        assert row_id == picture_id(plain_id(row_id), style_of(row_id))
        assert row.images


@pytest.mark.parametrize("task", PICTURED, ids=str)
def test_numbers_in_a_picture_are_not_in_the_text(task, rows):
    """All prompts of a task contain the same numbers: those of its rules."""
    numbers = {}
    for row in (row for row in rows.values() if row.task == task.id):
        text = re.sub(OF_RULES.get(task.id, "$^"), "", row.prompt)
        kind = [
            style_of(row.id),
            "cube" in text,
            "L / " in row.prompt,
            "0.98" in text,
            "turned" in text,
        ]
        kind += [
            "Turning by" in text,
            "divided by m + 1" in text,
            "more triangles" in text,
        ]
        numbers.setdefault(str(kind), set()).add(
            tuple(re.findall(r"\d+(?:\.\d+)?", text))
        )
    assert all(len(lists) == 1 for lists in numbers.values()), numbers


def test_triangulations_stay_valid_if_points_move(rows):
    """Points move to corners of their squares, in 64 patterns."""
    for row in rows.values():
        if row.task != "delaunay_triangulation":
            continue
        points = [
            (round(1000 * x), round(1000 * y))
            for x, y in json.loads(row.params)["points"]
        ]
        assert is_stable(points, 2)
        right = {frozenset(t) for t in triangulate(points)[0]}
        for turn in range(64):
            moves = [
                ((turn * (i + 3) // 7 % 2) * 4 - 2, (turn * (i + 5) // 3 % 2) * 4 - 2)
                for i in range(len(points))
            ]
            moved = [
                (x + dx, y + dy) for (x, y), (dx, dy) in zip(points, moves, strict=True)
            ]
            assert {frozenset(t) for t in triangulate(moved)[0]} == right
    assert not is_stable([(0, 0), (100, 0), (100, 100), (0, 103)], 2)
