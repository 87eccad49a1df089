"""Walk queries and moves, checked with a second implementation of the prompt's rules."""

import json
from itertools import product

import pytest

from scbench.base.seeding import Stream
from scbench.catalog import get_task
from scbench.graders.hyper_snake import grade
from scbench.graders.hyper_snake.actions import Move, Play
from scbench.graders.hyper_snake.queries import Walk
from scbench.graders.shared.interaction import QueryError
from scbench.schemas.hyper_snake import Answer, Params

BUILDER = get_task("hyper_snake").builder()
PAPER = [item.params for item in BUILDER.paper()]


def ask(params, path):
    return Walk.model_validate_json(
        json.dumps({"query": "walk", "path": path})
    ).observe(params)


def move(cells):
    return Move(action="move", cells=cells)


def one_step(a, b):
    if len(a) != len(b):
        return False
    return sum(abs(p - q) for p, q in zip(a, b, strict=True)) == 1


def cells_of(size):
    return list(product(*map(range, size)))


def random_box(rng):
    size = tuple(rng.between(1, 4) for _ in range(rng.between(1, 4)))
    cells = cells_of(size)
    rng.shuffle(cells)
    start, *others = cells
    wall_count = rng.between(0, len(cells) // 4)
    walls, free = others[:wall_count], others[wall_count:]
    food = free[: rng.between(0, 3)]
    return Params(size=size, start=start, walls=tuple(walls), food=tuple(food))


def random_path(rng, params):
    """Return a mostly legal walk, from the start or anywhere."""
    cells = cells_of(params.size)
    path = [rng.choice([params.start, rng.choice(cells)])]
    for _ in range(rng.between(0, 12)):
        legal = []
        for cell in cells:
            is_free = cell not in path and cell not in params.walls
            if is_free and one_step(cell, path[-1]):
                legal.append(cell)
        last = list(path[-1])
        last[rng.below(len(last))] += rng.between(-2, 2)
        path.append(rng.choice(legal or cells) if rng.chance(0.9) else tuple(last))
    return path


def legal_prefix(path, free):
    legal = []
    for cell in path:
        if cell not in free or cell in legal:
            break
        if legal and not one_step(legal[-1], cell):
            break
        legal.append(cell)
    return legal


def reachable_from(start, free):
    """Return the free cells that steps from a cell lead to, except the cell itself."""
    reached, waiting = {start}, [start]
    while waiting:
        here = waiting.pop()
        fresh = {cell for cell in free - reached if one_step(here, cell)}
        reached |= fresh
        waiting += fresh
    return reached - {start}


@pytest.mark.parametrize("seed", range(16))
def test_walk_query_follows_prompt_rules(seed):
    rng = Stream("walks asked for", seed)
    params = random_box(rng)
    path = random_path(rng, params)
    free = set(cells_of(params.size)) - set(params.walls)
    legal = legal_prefix(path, free)
    if not legal:
        with pytest.raises(QueryError, match="cell 0 of the path"):
            ask(params, path)
        return
    report = ask(params, path)
    if legal == path:
        assert report["wrong"] == ""
    else:
        assert report["wrong"].startswith(f"cell {len(legal)} of the path")
    end, unvisited = legal[-1], free - set(legal)
    assert (report["length"], report["end"]) == (len(legal), list(end))
    next_cells = sorted(cell for cell in unvisited if one_step(cell, end))
    assert sorted(map(tuple, report["next"])) == next_cells
    assert report["unvisited"] == len(unvisited)
    reached = reachable_from(end, unvisited)
    assert report["reachable"] == len(reached)
    left = [cell for cell in params.food if cell not in legal]
    assert report["food"]["first"] == [list(cell) for cell in left]
    assert report["food"]["reachable"] == len(reached & set(left))

    if path[0] == params.start:  # the grader agrees
        answer = Answer(path=tuple({"pos": cell} for cell in path))
        verdict = grade(params, answer)
        assert verdict.metrics["legal_prefix"] == len(legal)


@pytest.mark.parametrize("number", [0, 3])
def test_moves_add_up_to_graded_path(number):
    params = PAPER[number]
    expected = BUILDER.reference(params).model_dump(mode="json")
    path = [place["pos"] for place in expected["path"]]
    play, at = Play(params), 1
    assert play.look()["end"] == path[0]
    sizes = [1, 2, 5] + [100] * 30
    while at < len(path):
        assert not play.over
        size = sizes.pop(0)
        report = play.step(move(path[at : at + size]))
        at += size
        assert report == play.look()
    assert report["length"] == len(path)
    assert report["food"]["left"] == 0
    assert play.answer == expected
    assert grade(params, Answer.model_validate(play.answer)).score == 1


def test_illegal_move_changes_nothing():
    play = Play(Params(size=(2, 3), start=(0, 0), walls=((1, 1),), food=((1, 0),)))
    play.step(move([(0, 1)]))
    before = play.look()
    for cells, why in [
        ([(1, 1)], r"cell 2 of the path \(counting from 0\), \[1, 1\], is a wall"),
        ([(0, 0)], "was visited before"),
        ([(1, 2)], r"is not one step from \[0, 1\]"),
        ([(0, 2), (0, 3)], "cell 3 .* is outside the box"),
        ([(0, 2, 0)], "does not have 2 coordinates"),
        ([(0, -(10**300))], "beyond 10.9, is outside"),
    ]:
        with pytest.raises(QueryError, match=why):
            play.step(move(cells))
        assert play.look() == before
    assert not play.over
    play.step(move([(0, 2), (1, 2)]))
    assert play.over
    assert play.look()["next"] == []
