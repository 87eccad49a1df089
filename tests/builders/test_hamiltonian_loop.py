"""Hamiltonian loop: the solver against plain search, the counterexamples, and the parameters."""

import re
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from scbench.base.errors import GenerationError
from scbench.base.seeding import Stream
from scbench.builders.hamiltonian_loop import (
    Space,
    TaskBuilder,
    could_have_loop,
    find_cover,
    find_loop,
)
from scbench.schemas.hamiltonian_loop import Params


def beside(cell):
    x, y = cell
    return {(x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)}


def has_loop(free):
    """Plain search from the first cell, without any reasoning."""
    start = min(free)

    def extend(path):
        if len(path) == len(free):
            return len(path) > 2 and start in beside(path[-1])
        return any(extend([*path, cell]) for cell in beside(path[-1]) & free - set(path))

    return extend([start])


def is_loop(cells, free):
    return (
        len(cells) == len(free)
        and set(cells) == free
        and all(b in beside(a) for a, b in pairwise([*cells, cells[0]]))
    )


@st.composite
def cell_sets(draw):
    width, height = draw(st.sampled_from([(3, 4), (4, 4), (5, 4), (6, 4)]))
    grid = list(product(range(width), range(height)))
    gaps = draw(st.sets(st.sampled_from(grid), max_size=6))
    return set(grid) - gaps


@settings(deadline=None)
@given(free=cell_sets(), seed=st.integers(0, 9))
def test_solver_finds_a_loop_exactly_where_plain_search_does(free, seed):
    loop = find_loop(free, Stream("plain", seed))
    assert (loop is not None) == has_loop(free)
    if loop is not None:
        assert is_loop(loop, free)


@settings(deadline=None)
@given(free=cell_sets(), seed=st.integers(0, 9))
def test_what_the_solver_rules_out_has_no_loop(free, seed):
    cover = find_cover(free, Stream("cover", seed))
    if cover is None or not could_have_loop(free):
        assert not has_loop(free)
    if cover is not None:
        for cell, partners in cover.items():
            assert len(partners) == 2
            assert partners <= beside(cell) & free
            assert all(cell in cover[partner] for partner in partners)


def test_quick_tests_say_no_for_each_of_their_reasons():
    square = {(x, y) for x in range(4) for y in range(4)}
    assert could_have_loop(square)
    assert not could_have_loop({(0, 0), (1, 0)})
    assert not could_have_loop(square - {(0, 0)})
    assert not could_have_loop(square - {(0, 1), (0, 2), (1, 3), (3, 2)})
    assert not could_have_loop(square | {(x + 9, y) for x, y in square})


def test_a_grid_without_a_loop_is_reported():
    with pytest.raises(GenerationError, match="no loop"):
        TaskBuilder().reference(Params(size=3, blocked=()))


# What the specification prints of subtask 9.


def picture(prompt):
    rows = re.findall(r"^ ?\d+ \|([ .X]+)$", prompt, re.MULTILINE)
    return "\n".join(row.replace(" ", "") for row in rows)


def test_picture_list_and_count_of_a_prompt_agree_with_the_instance():
    builder = TaskBuilder()
    instances = [builder.draw(Space(size=n), Stream("prompt", n)) for n in (4, 9, 10, 30)]
    for params in [item.params for item in builder.paper()] + instances:
        prompt = builder.prompt(params)
        free = params.size**2 - len(params.blocked)
        assert f"exactly {free} cells" in prompt
        assert f"{params.size} columns and {params.size} rows" in prompt
        if not params.blocked:
            assert "X" not in prompt
            continue
        lines = picture(prompt).split("\n")
        marked = {
            (x, y) for y, row in enumerate(lines, 1) for x, m in enumerate(row, 1) if m == "X"
        }
        assert marked == set(params.blocked)
        assert {len(row) for row in lines} == {len(lines)} == {params.size}
        cells_text = re.search(r"row by row: (.*)\.$", prompt, re.MULTILINE)[1]
        assert set(re.findall(r"\[(\d+), (\d+)\]", cells_text)) == {
            (str(x), str(y)) for x, y in params.blocked
        }


def draw(seed=0, **parameters):
    return TaskBuilder().draw(Space(**parameters), Stream("knobs", seed))


@pytest.mark.parametrize("share", [0.0, 0.05, 0.1, 0.15])
@pytest.mark.parametrize("obstacles", ["cells", "bars", "blocks", "corners", "mixed"])
def test_about_as_many_cells_are_blocked_as_wanted(share, obstacles):
    for seed in range(3):
        params = draw(seed, size=10, blocked=share, obstacles=obstacles)
        assert 100 * share - 4 <= len(params.blocked) <= 100 * share + 8


def groups(cells):
    remaining, components = set(cells), []
    while remaining:
        waiting = [remaining.pop()]
        group = set(waiting)
        while waiting:
            fresh = beside(waiting.pop()) & remaining
            remaining -= fresh
            group |= fresh
            waiting += fresh
        components.append(group)
    return components


def test_obstacles_have_their_shapes():
    blocks = draw(1, size=20, blocked=0.02, obstacles="blocks")
    assert [len(group) for group in groups(blocks.blocked)] == [4, 4]
    bars = draw(1, size=20, blocked=0.02, obstacles="bars")
    straight = [g for g in groups(bars.blocked) if 1 in {len({c[k] for c in g}) for k in (0, 1)}]
    assert any(len(group) > 1 for group in straight)
    corners = draw(1, size=20, blocked=0.1, obstacles="corners")
    cut = [g for g in groups(corners.blocked) if len(g) > 1]
    assert cut
    assert all(g & {(1, 1), (1, 20), (20, 1), (20, 20)} for g in cut)


@pytest.mark.parametrize("fill", [0.1, 0.5, 1.0])
def test_a_tree_of_blocks_has_its_share_of_the_grid(fill):
    params = draw(size=12, obstacles="tree", fill=fill)
    blocked = set(params.blocked)
    assert 144 - len(blocked) == 4 * round(36 * fill)
    corner = {((x + 1) // 2, (y + 1) // 2) for x, y in blocked}
    assert len(blocked) == 4 * len(corner)


@pytest.mark.parametrize(("size", "fill", "count"), [(13, 0.07, 12), (9, 0.35, 28), (6, 0.01, 4)])
def test_a_strip_has_its_share_of_the_grid_and_a_loop(size, fill, count):
    strips = [draw(seed, size=size, obstacles="strip", fill=fill) for seed in range(20)]
    assert all(size**2 - len(params.blocked) == count for params in strips)
    assert len({params.blocked for params in strips}) > 10
    assert all(len(TaskBuilder().reference(params).steps) == count for params in strips)


def test_impossible_points_are_refused_and_hopeless_ones_reported():
    with pytest.raises(ValidationError, match="even size"):
        Space(size=9, obstacles="tree")
    with pytest.raises(GenerationError, match="ask for fewer"):
        draw(size=12, blocked=0.25, obstacles="cells")
