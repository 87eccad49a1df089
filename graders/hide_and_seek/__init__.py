"""Does the sniper see anybody?

Rays through the middles of the pixels of a picture taken from the sniper's eye decide; people
overlap if their boxes do. The picture that the paper graded, from a camera moved to fit the scene,
is for comparison.
"""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from scbench.base.model import Verdict
from scbench.graders.hide_and_seek.ray_casting import Camera, Floats, camera, fitted, picture
from scbench.graders.shared.checklist import Checklist
from scbench.schemas.hide_and_seek import Answer, Params

VERSION = 1

CHECKS = {
    "count": "Exactly as many people are placed as asked for.",
    "distance": "Everybody is within the allowed distance of the origin.",
    "people_apart": "No two people overlap.",
    "clear_of_building": "Nobody overlaps the building.",
    "hidden": "The sniper sees nobody.",
}

TOLERANCE = 1e-9
MAX_PEOPLE = 2000

_MAX_PAIRS = 50
_MAX_PLACES = 2000


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 less the penalty for every pixel that shows a person; 0 if a rule is broken."""
    count = len(answer.people)
    checks = Checklist(CHECKS)
    if count > MAX_PEOPLE:
        return checks.too_large(f"{count} people are placed; at most {MAX_PEOPLE} are judged.")
    xy = np.array([person.xy for person in answer.people], dtype=np.float64).reshape(-1, 2)
    wrong = f"{count} people are placed instead of {params.people}."
    legal = checks.expect("count", count == params.people, wrong)
    with np.errstate(over="ignore", under="ignore"):
        far = xy[:, 0] * xy[:, 0] + xy[:, 1] * xy[:, 1] > (params.max_distance + TOLERANCE) ** 2
        legal &= checks.forbid(
            "distance",
            np.nonzero(far)[0].tolist(),
            lambda i: (
                f"{int(far.sum())} people are more than {params.max_distance:g} m from the origin; "
                f"the first is person {i}."
            ),
        )
        legal &= _check_people(checks, xy, params)
    reach = [(b + p) / 2 - TOLERANCE for b, p in zip(params.building, params.person, strict=True)]
    inside = np.nonzero((np.abs(xy) <= reach[:2]).all(axis=1))[0].tolist()
    fault = "people overlap the building"
    legal &= checks.forbid_many("clear_of_building", inside, fault, lambda i: f"is person {i}")
    # People who are too far away are left out of the picture, wherever they are.
    near = np.nonzero(~far)[0]
    person_of = _person_pixels(params, xy[near])
    pixels = int((person_of >= 0).sum())
    visible = [
        [int(near[i]), int(n)] for i, n in enumerate(np.bincount(person_of[person_of >= 0])) if n
    ]
    wrong = f"{len(visible)} people show, on {pixels} pixels" + (
        f"; the first is person {visible[0][0]}." if visible else "."
    )
    checks.expect("hidden", pixels == 0, wrong, people=len(visible), pixels=pixels)
    rows, columns = np.nonzero(person_of >= 0)
    where = zip(
        columns.tolist(), rows.tolist(), near[person_of[rows, columns]].tolist(), strict=True
    )
    return checks.partial(
        round(max(0.0, 1.0 - params.penalty_per_pixel * pixels), 9) if legal else 0.0,
        visible_pixels=pixels,
        visible_people=visible,
        visible_places=[list(place) for place, _ in zip(where, range(_MAX_PLACES), strict=False)],
    )


def _check_people(checks: Checklist, xy: Floats, params: Params) -> bool:
    """Record whether two people overlap."""
    width, depth, _ = params.person
    gap_x, gap_y = (np.abs(xy[:, None, axis] - xy[None, :, axis]) for axis in (0, 1))
    overlap = (gap_x < width - TOLERANCE) & (gap_y < depth - TOLERANCE)
    first, second = np.nonzero(np.triu(overlap, 1))
    if not len(first):
        return checks.forbid("people_apart", (), str)
    pairs = np.stack([first, second], axis=1)[:_MAX_PAIRS].tolist()
    return checks.expect(
        "people_apart",
        False,
        f"{len(first)} pairs of people overlap; the first is {pairs[0][0]} and {pairs[0][1]}.",
        count=len(first),
        offenders=pairs,
    )


@lru_cache(maxsize=64)
def true_camera(params: Params) -> Camera:
    """Return the camera at the sniper's eye."""
    return camera(params.sniper, params.look_at, params.field_of_view, params.image)


def boxes(params: Params, xy: Floats) -> tuple[Floats, Floats]:
    """Return lower and upper corners of the building, which comes first, and of people."""
    half = np.array((*params.person[:2], 0.0)) / 2
    feet = np.hstack([xy, np.zeros((len(xy), 1))])
    wall_x, wall_y, roof = params.building
    low = np.vstack([(-wall_x / 2, -wall_y / 2, 0.0), feet - half])
    high = np.vstack([(wall_x / 2, wall_y / 2, roof), feet + half + (0, 0, params.person[2])])
    return low, high


def _person_pixels(params: Params, xy: Floats) -> NDArray[np.int32]:
    """Return for every pixel the index of the person it shows, or a negative number."""
    return picture(true_camera(params), *boxes(params, xy)) - 1


def fitted_view_pixels(params: Params, xy: Floats) -> int:
    """Return how many pixels show people in the picture that the paper graded.

    It decides nothing and takes longer than the verdict, so it is made for pictures alone.
    """
    low, high = boxes(params, xy)
    paper_camera = fitted(true_camera(params), low.min(axis=0), high.max(axis=0))
    return int((picture(paper_camera, low, high) > 0).sum())
