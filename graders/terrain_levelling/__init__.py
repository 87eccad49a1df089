"""How much larger do these blasts make the largest flat region?

The blasts are simulated one after the other in PyBullet; nothing else gives the same numbers, and
PyBullet does only on the same kind of machine, so each verdict says what it was judged with, and
holds the fingerprint of the machine.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from scbench.base.model import Verdict
from scbench.base.progress import beat
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
    "grid": "Every blast is at a cell of the map.",
    "positive": "Every blast lowers its cell by more than 0.",
    "depth": "No blast goes deeper than its cell is high when its turn comes.",
    "level": "The largest flat region has grown by as much as a score of 1 takes.",
}

# Most work for one plan, see `blast_work`: at most 250 seconds of a processor, if every
# ball falls into a deep pit; one that rolls takes a fifth of that.
MAX_WORK = 20_000


class _Start(NamedTuple):
    heights: tuple[float, ...]
    flat: tuple[int, ...]
    gain: float


@lru_cache(maxsize=64)
def _frame(params: Params) -> _Start:
    """Return the map before any blast, its largest flat region, and the gain that scores 1."""
    n = len(params.heights)
    heights = tuple(height for row in params.heights for height in row)
    flat = tuple(largest_flat(heights, n, params.flat_tolerance))
    return _Start(heights, flat, min(params.share * n * n, n * n - len(flat)))


class End(NamedTuple):
    """What blasts leave."""

    heights: Sequence[float]
    simulated: int
    """Blasts that were."""
    lost: int
    """Balls that left the map."""
    work: float
    """See `blast_work`."""
    stopped: tuple[str, str] | None
    """The check that the next blast fails, and how; None if every blast was simulated."""


def grade(params: Params, answer: Answer) -> Verdict:
    """Return the gain in flat cells over the gain that is wanted, or 0 if a blast breaks a rule.

    Raises:
        CannotGrade: PyBullet is not installed.
    """
    engine()
    n, start, blasts = len(params.heights), _frame(params), answer.blasts
    checks = Checklist(CHECKS)
    checks.expect(
        "count",
        len(blasts) <= params.max_blasts,
        f"The plan has {len(blasts)} blasts; at most {params.max_blasts} are allowed.",
    )
    checks.forbid(
        "grid",
        [i for i, blast in enumerate(blasts) if not _on_map(blast, n)],
        lambda i: (
            f"Blast {i} (counted from 0) is at x = {brief(blasts[i].x)}, "
            f"y = {brief(blasts[i].y)}; "
            f"both must be in 0..{n - 1}."
        ),
    )
    checks.forbid(
        "positive",
        [i for i, blast in enumerate(blasts) if blast.z <= 0],
        lambda i: (
            f"Blast {i} (counted from 0) has depth {blasts[i].z}, which is not above 0."
        ),
    )
    end = simulate(n, blasts, End(start.heights, 0, 0, 0.0, None))
    if end.stopped is not None:
        check_id, wrong = end.stopped
        if check_id in {"depth", "resource_limit"}:
            checks.expect(check_id, False, wrong, blast=end.simulated)
        why = f"Only the blasts before number {end.simulated} (counted from 0) could be simulated."
        checks.skip(("level",) if check_id == "depth" else ("depth", "level"), why)
    else:
        checks.expect("depth", True, "")
    void = not checks.all_passed

    flat = largest_flat(end.heights, n, params.flat_tolerance)
    gain = len(flat) - len(start.flat)
    score = min(1.0, max(0.0, gain / start.gain)) if start.gain > 0 else 1.0
    if end.stopped is None:
        checks.expect(
            "level",
            score == 1,
            f"The largest flat region went from {len(start.flat)} to {len(flat)} cells; a score of "
            f"1 takes {start.gain:g} more than before.",
        )
    return checks.partial(
        0.0 if void else score,
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
        heights_after=[
            [round(height, 4) for height in end.heights[i : i + n]]
            for i in range(0, n * n, n)
        ],
    )


def _on_map(blast: Blast, n: int) -> bool:
    return 0 <= blast.x < n and 0 <= blast.y < n


def simulate(n: int, blasts: Sequence[Blast], before: End) -> End:
    """Set blasts one after the other on n x n cells, up to the first that breaks a rule.

    The first ``before.simulated`` of the whole plan are not set again; ``before`` is what they
    left.
    """
    heights = list(before.heights)
    work, lost = before.work, before.lost

    def end(done: int, check: str, wrong: str) -> End:
        return End(heights, done, lost, work, (check, wrong))

    if len(blasts) > MAX_BLASTS:
        wrong = (
            f"The plan has more than {MAX_BLASTS} blasts; none of them was simulated."
        )
        return end(0, "resource_limit", wrong)
    for i, blast in enumerate(blasts[before.simulated :], before.simulated):
        x, y, z = blast.x, blast.y, blast.z
        if not _on_map(blast, n):
            return end(i, "grid", "")
        if z <= 0:
            return end(i, "positive", "")
        height = heights[y * n + x]
        if z > height:
            wrong = (
                f"Blast {i} (counted from 0) goes {z} deep at x = {x}, y = {y}, where the ground "
                f"is {height:.12g} high by then."
            )
            return end(i, "depth", wrong)
        work += blast_work(z)
        if work > MAX_WORK:
            wrong = f"Blasts 0 to {i} throw up more balls than a plan may."
            return end(i, "resource_limit", wrong)
        lost += blast_cell(heights, n, x, y, z)
        beat(i + 1, len(blasts))
    return End(heights, len(blasts), lost, work, None)


def _map_rows(cells: Sequence[int], n: int) -> list[str]:
    """Return the map as one text a row, with # at these cells."""
    inside = set(cells)
    return [
        "".join("#" if y * n + x in inside else "." for x in range(n)) for y in range(n)
    ]
