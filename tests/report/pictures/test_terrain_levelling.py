"""Blasts: the plan, its effects, and the blasts that invalidate it."""

import pytest
from drawn_parts import rings

from scbench.base.model import Check, Verdict
from scbench.catalog import get_task
from scbench.report.picture import draw_of
from scbench.schemas.terrain_levelling import Answer, Params

TASK = "terrain_levelling"
GROUND = Params(
    heights=((3.0, 1.0, 1.0), (5.0, 2.0, 1.1), (4.0, 2.0, 1.2)),
    flat_tolerance=0.2,
    share=0.5,
    max_blasts=10,
)


def judged(params, blasts, **changed):
    """A verdict of the grader's form, for drawing without the engine."""
    metrics = {
        "flat_before": 4,
        "flat_after": 6,
        "gain_wanted": 4.5,
        "simulated": len(blasts),
        "region_before": [".##", "..#", "..#"],
        "region_after": [".##", ".##", ".##"],
        "heights_after": [[3.0, 1.0, 1.0], [2.0, 1.2, 1.1], [4.0, 1.2, 1.2]],
    }
    return Verdict(0.44, (Check("level", False, "not yet"),), metrics | changed)


def picture_of(blasts, *checks, params=GROUND):
    listed = [{"x": x, "y": y, "z": z} for x, y, z in blasts]
    answer = Answer.model_validate({"blasts": listed})
    verdict = judged(params, blasts)
    score = 0.0 if checks else verdict.score
    verdict = Verdict(score, (*checks, *verdict.checks), verdict.metrics)
    return draw_of(get_task(TASK))(params, answer, (verdict,))


def test_plan_and_its_effects(golden, shapes):
    picture = picture_of([(0, 1, 3.0), (1, 1, 0.5)])
    plan, after, change = (panel.view for panel in picture.panels[:3])
    golden(f"{TASK}-right", change, "What changed.")
    radii = {}
    for circle in shapes(plan, "circle", "answer"):
        place = (float(circle.get("cx")), float(circle.get("cy")))
        radii[place] = float(circle.get("r"))

    def radius_at(*place):
        x, y = plan.at(place)
        return radii[round(x, 2), round(y, 2)]

    # The first blast is six times as deep as the second.
    assert radius_at(0.5, 1.5) > radius_at(1.5, 1.5)
    region, *_ = shapes(after, "path", "right")
    assert region.get("d").count("M") == 6
    lower = "".join(path.get("d") for path in shapes(change, "path", "c3"))
    x, y = change.at((0, 1))
    assert f"M{x:g} {round(y, 2):g}h" in lower
    assert "changed from 4 to 6 cells. Score 0.44." in picture.caption
    assert "cells of the largest flat region: 6; at least 8.5" in picture.panels[-1].alt


def test_blast_that_is_too_deep_is_ringed_in_place(golden, shapes):
    check = Check("depth", False, "too deep", {"blast": 1})
    picture = picture_of([(0, 1, 3.0), (2, 0, 30.0)], check)
    plan = picture.panels[0].view
    golden(f"{TASK}-wrong", plan, "A blast is too deep.")
    (ring,) = rings(shapes(plan, "circle", "wrong"))
    assert ring == pytest.approx(plan.at((2.5, 0.5)), abs=0.01)
    assert (
        "breaks a rule: a blast deeper than the height of its cell" in picture.caption
    )


def test_real_verdict_is_drawn(drawn):
    picture = drawn(TASK, {"blasts": [{"x": 3, "y": 4, "z": 2.5}]})
    assert "1 blast; the largest flat region changed from 5 to" in picture.caption
    titles = [panel.title for panel in picture.panels]
    assert titles[:3] == ["the plan", "after the blasts", "what changed"]
    # Without blasts this panel would be empty.
    unchanged = drawn(TASK, {"blasts": []})
    assert "what changed" not in [panel.title for panel in unchanged.panels]
