"""Checks whether the sniper sees anybody.

Rays from the sniper's eye through the centre of every pixel of a picture decide this. People
overlap if their boxes overlap. The paper graded a picture from a camera moved to fit the scene;
here, that picture is only for comparison.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from scbench.base.model import Verdict
from scbench.base.wording import counted
from scbench.graders.hide_and_seek.ray_casting import (
    Camera,
    Floats,
    Mask,
    camera,
    fit_camera,
    picture,
    pixels_of_box,
)
from scbench.graders.shared.checklist import Checklist
from scbench.graders.shared.sentences import with_total
from scbench.schemas.hide_and_seek import Answer, Params

# Builders and pictures cast rays, too.
__all__ = [
    "CHECKS",
    "TOLERANCE",
    "VERSION",
    "Camera",
    "boxes",
    "fit_camera",
    "fitted_view_pixels",
    "grade",
    "picture",
    "pixels_of_box",
    "true_camera",
]

VERSION = 2

CHECKS = {
    "count": "The required number of people is placed.",
    "distance": "Everybody is within the allowed distance from the origin.",
    "people_apart": "No two people overlap.",
    "clear_of_building": "Nobody overlaps the building.",
    "hidden": "The sniper sees nobody.",
}

# The tolerance of every limit, in metres.
TOLERANCE = 1e-9
# Answers with more people are not graded: time grows with the square of their number.
MAX_PEOPLE = 2000
# Maximum number of people named in a sentence.
_NAMED = 10
# Maximum length of a list in details and metrics.
_MAX_PAIRS = 50
_MAX_PLACES = 2000


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 minus the penalty for every pixel that shows a person; 0 if a rule is broken."""
    count = len(answer.people)
    checks = Checklist(CHECKS)
    if count > MAX_PEOPLE:
        return checks.too_large(
            f"The answer places {count} people; at most {MAX_PEOPLE} are graded."
        )
    places = [person.xy for person in answer.people]
    xy = np.array(places, dtype=np.float64).reshape(-1, 2)
    people = counted(count, "person", "people")
    fault_of_count = f"The answer places {people} instead of {params.people}."
    checks.expect("count", count == params.people, fault_of_count)
    with np.errstate(over="ignore", under="ignore"):
        limit = (params.max_distance + TOLERANCE) ** 2
        far = xy[:, 0] * xy[:, 0] + xy[:, 1] * xy[:, 1] > limit
        fault = f"is more than {params.max_distance:g} m from the origin"
        _forbid_people(checks, "distance", far, fault)
        judge_overlap(checks, xy, params)
    # Distance from the origin, along x and y, within which people would overlap the building.
    sizes = np.add(params.building, params.person)
    reach = sizes[:2] / 2 - TOLERANCE
    inside = np.asarray((np.abs(xy) <= reach).all(axis=1))
    _forbid_people(checks, "clear_of_building", inside, "overlaps the building")
    legal = checks.all_passed
    # People who are too far away are left out of the picture.
    near = np.nonzero(~far)[0]
    figures = judge_view(checks, params, xy, near)
    pixels = figures["visible_pixels"]
    score = round(max(0.0, 1.0 - params.penalty_per_pixel * pixels), 9)
    return checks.partial(score if legal else 0.0, **figures)


def _forbid_people(checks: Checklist, check_id: str, mask: Mask, fault: str) -> None:
    people = np.nonzero(mask)[0].tolist()
    checks.forbid(
        check_id,
        people,
        lambda i: with_total(f"Person {i} {fault}", len(people), "people"),
    )


def judge_overlap(checks: Checklist, xy: Floats, params: Params) -> None:
    """Check that no two people overlap."""
    width, depth, _ = params.person
    gap_x = np.abs(xy[:, None, 0] - xy[None, :, 0])
    gap_y = np.abs(xy[:, None, 1] - xy[None, :, 1])
    overlap = (gap_x < width - TOLERANCE) & (gap_y < depth - TOLERANCE)
    first, second = np.nonzero(np.triu(overlap, 1))
    if not len(first):
        checks.forbid("people_apart", (), str)
        return
    pairs = np.stack([first, second], axis=1)[:_MAX_PAIRS].tolist()
    first_person, second_person = pairs[0]
    checks.expect(
        "people_apart",
        False,
        with_total(
            f"People {first_person} and {second_person} overlap", len(first), "pairs"
        ),
        count=len(first),
        offenders=pairs,
    )


def judge_view(
    checks: Checklist, params: Params, xy: Floats, near: NDArray[np.intp]
) -> dict[str, Any]:
    """Check that the sniper sees none of the people with these indices; return the metrics."""
    # For every pixel, the position in ``near`` of the visible person, or a negative
    # number.
    person_of = picture(true_camera(params), *boxes(params, xy[near])) - 1
    rows, columns = np.nonzero(person_of >= 0)
    people = person_of[rows, columns]
    counts = np.bincount(people)
    visible = [[int(near[i]), int(counts[i])] for i in np.flatnonzero(counts)]
    pixels = len(people)
    numbers = ", ".join(str(i) for i, _ in visible[:_NAMED])
    dots = ", ..." if len(visible) > _NAMED else ""
    noun = "number" if len(visible) == 1 else "numbers"
    wrong = (
        f"The sniper sees {counted(len(visible), 'person', 'people')} in "
        f"{counted(pixels, 'pixel')}: {noun} {numbers}{dots}."
    )
    checks.expect(
        "hidden", pixels == 0, wrong, people=len(visible), pixels=pixels, seen=visible
    )
    pixel_places = np.stack([columns, rows, near[people]], axis=1)[:_MAX_PLACES]
    return {
        "visible_pixels": pixels,
        "visible_people": visible,
        "visible_places": pixel_places.tolist(),
    }


@lru_cache(maxsize=64)
def true_camera(params: Params) -> Camera:
    """Return the camera at the sniper's eye."""
    return camera(params.sniper, params.look_at, params.field_of_view, params.image)


def boxes(params: Params, xy: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper corners of the building, then those of the people."""
    width, depth, height = params.person
    half = np.array((width, depth, 0.0)) / 2
    feet = np.hstack([xy, np.zeros((len(xy), 1))])
    wall_x, wall_y, roof = params.building
    low = np.vstack([(-wall_x / 2, -wall_y / 2, 0.0), feet - half])
    high = np.vstack([(wall_x / 2, wall_y / 2, roof), feet + half + (0, 0, height)])
    return low, high


def fitted_view_pixels(params: Params, xy: Floats) -> int:
    """Return the number of pixels that show people in the paper's picture.

    It affects no score and takes longer than the verdict, so it is computed only for
    pictures.
    """
    low, high = boxes(params, xy)
    paper_camera = fit_camera(true_camera(params), low.min(axis=0), high.max(axis=0))
    return int((picture(paper_camera, low, high) > 0).sum())
