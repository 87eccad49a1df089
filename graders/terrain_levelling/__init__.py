"""Grades how much blasts enlarge the largest flat region.

PyBullet simulates the blasts one after the other. Other engines give other numbers, and
PyBullet's depend on the kind of machine. So each verdict contains the engine and the
machine's fingerprint.
"""

from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.base.progress import beat
from scbench.base.wording import counted
from scbench.graders.shared.checklist import Checklist, brief
from scbench.graders.terrain_levelling.blast_simulation import (
    blast_cell,
    blast_work,
    engine,
    fingerprint,
    largest_flat,
    machine_facts,
)
from scbench.schemas.terrain_levelling import MAX_BLASTS, Answer, Blast, Params

__all__ = [
    "CHECKS",
    "VERSION",
    "End",
    "fingerprint",
    "grade",
    "machine_facts",
    "simulate",
]
VERSION = 2

CHECKS = {
    "count": "The plan has no more blasts than allowed.",
    "grid": "Every blast is in a cell of the map.",
    "positive": "Every blast has a depth above 0.",
    "depth": "No blast is deeper than the height of its cell just before the blast.",
    "level": "The largest flat region has grown enough for a score of 1.",
}

# Maximum work for one plan, see `blast_work`: up to 250 s of CPU time if every ball
# falls into a deep pit; rolling balls need a fifth of that.
MAX_WORK = 20_000
# Decimals of heights in the metrics.
_DECIMALS = 4


class Start(NamedTuple):
    """The map of an instance before any blast."""

    heights: tuple[float, ...]
    flat: tuple[int, ...]
    """Cells of the largest flat region."""
    gain: float
    """Gain in flat cells that scores 1."""


class End(NamedTuple):
    """The map after some blasts."""

    heights: Sequence[float]
    simulated: int
    """Number of blasts."""
    lost: int
    """Balls that left the map."""
    work: float
    """See `blast_work`."""
    stopped: tuple[str, str] | None
    """The check that the next blast fails, and why; None if every blast was simulated."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the gain in flat cells over the gain that scores 1, or 0 if a blast breaks a rule.

    Raises:
        CannotGrade: PyBullet is not installed.
    """
    engine()
    n = len(params.heights)
    start = start_of(params)
    blasts = answer.blasts
    checks = Checklist(CHECKS)
    wrong = f"The plan has {counted(len(blasts), 'blast')}; the limit is {params.max_blasts}."
    checks.expect("count", len(blasts) <= params.max_blasts, wrong)
    checks.forbid(
        "grid",
        [i for i, blast in enumerate(blasts) if not is_on_map(blast, n)],
        lambda i: (
            f"Blast {i} (counting from 0) is at x = {brief(blasts[i].x)}, "
            f"y = {brief(blasts[i].y)}; both must be in 0..{n - 1}."
        ),
    )
    checks.forbid(
        "positive",
        [i for i, blast in enumerate(blasts) if blast.z <= 0],
        lambda i: (
            f"Blast {i} (counting from 0) has depth {blasts[i].z}; it must be above 0."
        ),
    )
    end = simulate(n, blasts, End(start.heights, 0, 0, 0.0, None))
    if end.stopped is None:
        checks.expect("depth", True, "")
    else:
        check_id, wrong = end.stopped
        # The other rules are already checked.
        if check_id in {"depth", "resource_limit"}:
            checks.expect(check_id, False, wrong, blast=end.simulated)
        why = f"The simulation stopped before blast {end.simulated} (counting from 0)."
        skipped = ("level",) if check_id == "depth" else ("depth", "level")
        checks.skip(skipped, why)
    legal = checks.all_passed

    flat = largest_flat(end.heights, n, params.flat_tolerance)
    gain = len(flat) - len(start.flat)
    score = 1.0
    if start.gain > 0:
        score = min(1.0, max(0.0, gain / start.gain))
    if end.stopped is None:
        wrong = (
            f"The largest flat region changed from {len(start.flat)} to {len(flat)} cells; a score "
            f"of 1 requires a gain of {start.gain:g}."
        )
        checks.expect("level", score == 1, wrong)
    heights = [round(height, _DECIMALS) for height in end.heights]
    return checks.partial(
        score if legal else 0.0,
        **engine().facts,
        fingerprint=fingerprint(),
        blasts=len(blasts),
        simulated=end.simulated,
        balls_lost=end.lost,
        flat_before=len(start.flat),
        flat_after=len(flat),
        gain_wanted=start.gain,
        region_before=_map_rows(start.flat, n),
        region_after=_map_rows(flat, n),
        heights_after=[heights[i : i + n] for i in range(0, n * n, n)],
    )


@lru_cache(maxsize=64)
def start_of(params: Params) -> Start:
    """Return the map of an instance, cached for further answers to it."""
    n = len(params.heights)
    heights = tuple(chain(*params.heights))
    flat = tuple(largest_flat(heights, n, params.flat_tolerance))
    # The gain cannot be larger than the number of cells that are not flat yet.
    gain = min(params.share * n * n, n * n - len(flat))
    return Start(heights, flat, gain)


def is_on_map(blast: Blast, n: int) -> bool:
    """Whether a blast is at a cell of a map of n x n cells."""
    return 0 <= blast.x < n and 0 <= blast.y < n


def simulate(n: int, blasts: Sequence[Blast], before: End) -> End:
    """Simulate blasts in order on n x n cells, up to the first that breaks a rule.

    The first ``before.simulated`` blasts of the plan are skipped: ``before`` is the map after them.
    """
    heights = list(before.heights)
    if len(blasts) > MAX_BLASTS:
        wrong = f"The plan has more than {MAX_BLASTS:,} blasts, so none was simulated."
        return End(heights, 0, before.lost, before.work, ("resource_limit", wrong))
    work = before.work
    lost = before.lost
    for i, blast in enumerate(blasts[before.simulated :], before.simulated):
        stopped = broken_rule(i, blast, n, heights)
        if stopped is None:
            work += blast_work(blast.z)
            if work > MAX_WORK:
                wrong = (
                    f"Up to blast {i} (counting from 0), the sum of m + (m/20)^4 is {work:.0f}; "
                    f"the limit is {MAX_WORK:,}."
                )
                stopped = ("resource_limit", wrong)
        if stopped is not None:
            return End(heights, i, lost, work, stopped)
        lost += blast_cell(heights, n, blast.x, blast.y, blast.z)
        # Shows that a long simulation is running.
        beat(i + 1, len(blasts))
    return End(heights, len(blasts), lost, work, None)


def broken_rule(
    i: int, blast: Blast, n: int, heights: Sequence[float]
) -> tuple[str, str] | None:
    """Return the check that blast i fails on these heights, and the reason; None if it passes."""
    if not is_on_map(blast, n):
        return "grid", ""
    x = blast.x
    y = blast.y
    z = blast.z
    if z <= 0:
        return "positive", ""
    height = heights[y * n + x]
    if z > height:
        wrong = (
            f"Blast {i} (counting from 0) has depth {z} at x = {x}, y = {y}, where the height is "
            f"{height:.12g} at that time."
        )
        return "depth", wrong
    return None


def _map_rows(cells: Sequence[int], n: int) -> list[str]:
    """Return the map as one string per row, with # at these cells."""
    inside = set(cells)
    marks = ["#" if cell in inside else "." for cell in range(n * n)]
    return ["".join(marks[i : i + n]) for i in range(0, n * n, n)]
