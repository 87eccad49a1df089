"""Blast queries and actions, checked with the plain simulation and the grader."""

import math

import pytest
from plain_blast import plain_blast

from scbench.base.seeding import Stream
from scbench.catalog import get_task
from scbench.graders.shared.interaction import QueryError
from scbench.graders.terrain_levelling import grade, queries
from scbench.graders.terrain_levelling.actions import Play, SetBlasts
from scbench.graders.terrain_levelling.queries import BlastHere
from scbench.schemas.terrain_levelling import Answer, Params

BUILDER = get_task("terrain_levelling").builder()
PAPER = [item.params for item in BUILDER.paper()]


def ask(params, blasts, **fields):
    return BlastHere.model_validate(
        {"query": "blast", "blasts": blasts} | fields
    ).observe(params)


def action(blasts, **fields):
    return SetBlasts.model_validate({"action": "blast", "blasts": blasts} | fields)


def hundredths(rows):
    return [" ".join(str(round(100 * height)) for height in row) for row in rows]


def ground(rows, **changes):
    fields = {
        "heights": rows,
        "flat_tolerance": 0.2,
        "share": 0.5,
        "max_blasts": 20_000,
    }
    return Params.model_validate(fields | changes)


@pytest.mark.parametrize("seed", range(12))
def test_blast_query_matches_plain_simulation(seed):
    rng = Stream("blasts asked for", seed)
    n = rng.between(3, 30)
    start = [[rng.between(-9, 90) / 10 for _ in range(n)] for _ in range(n)]
    rows, plan = [list(row) for row in start], []
    for _ in range(rng.between(1, 6)):
        x, y = rng.below(n), rng.below(n)
        if rows[y][x] > 0.1:
            z = min(rows[y][x], round(rng.uniform(0.1, 6), 2))
            plan.append({"x": x, "y": y, "z": z})
            plain_blast(rows, n, x, y, z)
    column, row = rng.below(n), rng.below(n)
    report = ask(ground(start), plan, corner=[column, row])
    window = [line[column : column + 24] for line in rows[row : row + 24]]
    assert report["heights"] == hundredths(window)
    assert (report["blasts"], report["corner"]) == (len(plan), [column, row])
    before, after = (math.fsum(map(math.fsum, lines)) for lines in (start, rows))
    assert report["lost"] == pytest.approx(before - after, abs=0.0051)


@pytest.mark.parametrize("sizes", [(1, 2, 0, 3), (30,), (7, 20)], ids=str)
def test_blasts_set_in_steps_equal_graded_plan(sizes):
    params = PAPER[0]
    blasts = BUILDER.reference(params).model_dump(mode="json")["blasts"][:30]
    play, at = Play(params), 0
    assert play.look()["heights"] == hundredths(params.heights)
    while at < len(blasts):
        for size in sizes:
            report = play.step(action(blasts[at : at + size]))
            at += size
    assert play.answer == {"blasts": blasts}
    answer = Answer.model_validate(play.answer)
    heights = queries.ground_after(params, answer.blasts)
    again = Play(params)
    queries._last.clear()
    assert again.step(action(blasts)) == report == play.look() == ask(params, blasts)
    rows = grade(params, answer).metrics["heights_after"]
    graded = [height for row in rows for height in row]
    assert [round(height, 4) for height in heights] == graded
    printed = " ".join(report["heights"]).split()
    assert printed == [str(round(100 * height)) for height in heights]


def test_list_with_a_bad_blast_is_rejected():
    play = Play(ground([[5, 8], [5, 2]], max_blasts=3))
    first = play.step(action([{"x": 1, "y": 0, "z": 2.5}]))
    for x, y, z, why in [
        (
            0,
            0,
            99,
            r"Blast 2 \(counting from 0\) has depth 99.0 at x = 0, y = 0, where",
        ),
        (
            2,
            0,
            1,
            r"blast 2 \(counting from 0\) is at x = 2, y = 0; both must be in 0..1",
        ),
        (0, -1, 1, r"blast 2 .* y = -1; both"),
        (10**60, 0, 1, "more than 30 digits"),
        (0, 0, 0, "it must be above 0"),
        (0, 0, -1e300, "it must be above 0"),
    ]:
        with pytest.raises(QueryError, match=why):
            play.step(action([{"x": 0, "y": 1, "z": 0.5}, {"x": x, "y": y, "z": z}]))
    assert play.look() == first
    with pytest.raises(QueryError, match="the plan has 4 blasts; the limit is 3"):
        play.step(action([{"x": 0, "y": 0, "z": 0.1}] * 3))
    with pytest.raises(QueryError, match=r"x and y in 0\.\.1"):
        play.step(action([{"x": 0, "y": 0, "z": 0.1}], corner=[0, 10**300]))
    assert not play.over
    play.step(action([{"x": 0, "y": 0, "z": 0.1}] * 2))
    assert play.over
    assert len(play.answer["blasts"]) == 3


@pytest.mark.parametrize(
    ("blasts", "cost"),
    [
        ([], 1),
        ([0.5] * 250, 1),
        ([0.5] * 251, 2),
        ([30] * 15, 22),
        ([1e300] * 2500, 3540),
    ],
    ids=["none", "hundred", "more", "deep", "hostile"],
)
def test_query_cost_grows_with_work(blasts, cost):
    listed = [{"x": 0, "y": 0, "z": z} for z in blasts]
    assert BlastHere(query="blast", blasts=listed).cost() == cost
    if len(blasts) <= 100:
        assert action(listed).cost() == cost
