"""The answers of runs on ladders, by task, and their shares of readable replies."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from scbench.analysis.ceilings import Ceiling, fit_ceiling, share_read
from scbench.analysis.curves import Answers
from scbench.analysis.levels import Fit, fit
from scbench.analysis.matrix import Matrix
from scbench.base.intervals import Floats
from scbench.base.model import rung_of
from scbench.catalog import MANIFOLDS, get_task
from scbench.grading.means import Block

# Share of the ladder that must have a score before scores can contradict a ceiling.
_FITTED = 0.5


@dataclass(frozen=True, slots=True)
class Climb:
    """The answers of one run on the ladder of a task.

    Attributes:
        answers: answers with a score.
        names: instance id of each.
        expected: answers expected on each rung, counting each sample, shape (top,).
        read: share of readable samples of each answer.
    """

    answers: Answers
    names: Sequence[str]
    expected: Floats
    read: Floats


@dataclass(frozen=True, slots=True)
class Climbs:
    """All runs on all ladders.

    Attributes:
        matrix: the scores.
        climbs: climbs by run, then by task.
        fits: fits by run, then by task, for tasks with at least one score that is
            informative about the level.
        ceilings: by run, then by task: share of readable replies, fitted over all
            spatial tasks together, or all text tasks.
        drifts: by run, then by task: how far levels move, down and up, at the ends of
            the ceiling's interval.
    """

    matrix: Matrix
    climbs: Sequence[Mapping[str, Climb]]
    fits: Sequence[Mapping[str, Fit]]
    ceilings: Sequence[Mapping[str, float]]
    drifts: Sequence[Mapping[str, tuple[float, float]]]

    def drift(self, run: int, tasks: Collection[str]) -> tuple[float, float]:
        """Return how far the mean level of some tasks moves, down and up, with the ceiling."""
        down, up = np.mean([self.drifts[run][task] for task in tasks], axis=0)
        return max(0.0, float(down)), max(0.0, float(up))


def climb_of(block: Block, run: int) -> Climb:
    """Return the answers of a run on the ladder of a task.

    Samples and the scores of one answer are averaged; rows without a score are left
    out.
    """
    rungs = np.array([rung_of(name) or 0 for name in block.names])
    top = int(rungs.max())
    is_scored = (block.counts[:, run] > 0).astype(float)
    scores = np.where(is_scored > 0, block.item_means[:, run], 0.0)
    floors = np.where(is_scored > 0, np.nan_to_num(block.floors[:, run]), 0.0)
    by_answer = block.per_answer(np.column_stack([is_scored, scores, floors]))
    counts, score_sums, floor_sums = by_answer.T
    answered = np.flatnonzero(counts)
    n = counts[answered]
    answers = Answers(
        rungs=rungs[answered].astype(float),
        scores=score_sums[answered] / n,
        floors=floor_sums[answered] / n,
        top=top,
    )
    requested = np.flatnonzero(block.per_answer(block.rows[:, run]))
    by_rung = np.bincount(rungs[requested] - 1, minlength=top)
    return Climb(
        answers,
        names=[block.names[i] for i in answered.tolist()],
        expected=by_rung.astype(float),
        read=block.readable[answered, run],
    )


def families(tasks: Iterable[str]) -> list[list[str]]:
    """Return the spatial and the text tasks, which have separate levels, without empty lists."""
    spatial: list[str] = []
    text: list[str] = []
    for name in tasks:
        family = text if get_task(name).bucket == MANIFOLDS else spatial
        family.append(name)
    return [names for names in (spatial, text) if names]


def ceilings_of(of_run: Mapping[str, Climb]) -> dict[str, Ceiling]:
    """Return the share of a run's replies that are readable, by task; see `families`."""
    ceilings: dict[str, Ceiling] = {}
    for names in families(of_run):
        ceiling = shared_ceiling([of_run[name] for name in names])
        ceilings |= dict.fromkeys(names, ceiling)
    return ceilings


def shared_ceiling(climbs: Sequence[Climb]) -> Ceiling:
    """Return the share of readable replies among a run's answers to some tasks.

    Scores are used if at least half of the ladder is answered. With fewer answers near
    the level, a ceiling cannot be distinguished from a level.
    """
    scored = sum(len(climb.names) for climb in climbs)
    share = share_read(sum(int(climb.read.sum()) for climb in climbs), scored)
    # Replies on rungs above the level may be cut off.
    easy_read = 0
    easy = 0
    for climb in climbs:
        level = fit(climb.answers, 0, ceiling=share.value).level.value
        is_easy = climb.answers.rungs <= level
        easy_read += int(climb.read[is_easy].sum())
        easy += int(is_easy.sum())
    easy_share = share_read(easy_read, easy)
    expected = sum(climb.expected.sum() for climb in climbs)
    if scored < _FITTED * expected:
        return easy_share
    return fit_ceiling([climb.answers for climb in climbs], easy_share)
