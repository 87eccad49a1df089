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
    return len(a) == len(b) and sum(abs(p - q) for p, q in zip(a, b, strict=True)) == 1


def random_box(rng):
    size = tuple(rng.between(1, 4) for _ in range(rng.between(1, 4)))
    cells = list(product(*map(range, size)))
    rng.shuffle(cells)
    walls = cells[1 : 1 + rng.between(0, len(cells) // 4)]
    food = cells[1 + len(walls) :][: rng.between(0, 3)]
    return Params(size=size, start=cells[0], walls=tuple(walls), food=tuple(food))


def random_path(rng, params):
    """Return a mostly legal walk, from the start or anywhere."""
    cells = list(product(*map(range, params.size)))
    path = [rng.choice([params.start, rng.choice(cells)])]
    for _ in range(rng.between(0, 12)):
        legal = [c for c in cells if one_step(c, path[-1]) and c not in path]
        legal = [c for c in legal if c not in params.walls] or cells
        last = list(path[-1])
        last[rng.below(len(last))] += rng.between(-2, 2)
        path.append(rng.choice(legal) if rng.chance(0.9) else tuple(last))
    return path


@pytest.mark.parametrize("seed", range(16))
def test_walk_query_follows_prompt_rules(seed):
    rng = Stream("walks asked for", seed)
    params = random_box(rng)
    path = random_path(rng, params)
    free = set(product(*map(range, params.size))) - set(params.walls)
    legal = []
    for cell in path:
        if (
            cell not in free
            or cell in legal
            or (legal and not one_step(legal[-1], cell))
        ):
            break
        legal.append(cell)
    if not legal:
        with pytest.raises(QueryError, match="cell 0 of the path"):
            ask(params, path)
        return
    report = ask(params, path)
    assert (report["wrong"] == "") == (legal == path)
    assert report["wrong"] == "" or report["wrong"].startswith(
        f"cell {len(legal)} of the path"
    )
    assert (report["length"], report["end"]) == (len(legal), list(legal[-1]))
    assert sorted(map(tuple, report["next"])) == sorted(
        cell for cell in free - set(legal) if one_step(cell, legal[-1])
    )
    assert report["unvisited"] == len(free) - len(legal)
    reached, grown = set(), {legal[-1]}
    while grown - reached:
        reached |= grown
        grown = {b for b in free - set(legal) if any(one_step(a, b) for a in reached)}
    reached.discard(legal[-1])
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
    for size in (1, 2, 5, *[100] * 30):
        if at < len(path):
            assert not play.over
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
