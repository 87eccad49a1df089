"""Correlation of the levels of two runs that answered the same items."""

from collections.abc import Collection
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from scbench.analysis.climbs import Climb, Climbs
from scbench.analysis.levels import Fit
from scbench.base.intervals import Floats


class _Departures(NamedTuple):
    """Deviations of scores from both curves.

    Attributes:
        together: sum of the products of both deviations.
        possible: the sum if luck were identical.
    """

    together: float
    possible: float


@dataclass(frozen=True, slots=True)
class _Side:
    """One run on one task.

    Attributes:
        climb: answers of the run.
        curve: curve fitted to them.
        places: positions of the answers that both runs have.
    """

    climb: Climb
    curve: Fit
    places: list[int]

    def departures(self) -> Floats:
        """Return the shared scores minus the curve."""
        expected = self.curve.expected[self.places]
        departures: Floats = self.climb.answers.scores[self.places] - expected
        return departures

    def variances(self) -> Floats:
        """Return the variance of each shared score around the curve."""
        expected = self.curve.expected[self.places]
        return self.curve.dispersion * expected * (1 - expected)

    def information(self) -> Floats:
        """Return the information of each answer."""
        return self.curve.information()[self.climb.answers.places]


class SharedLuck:
    """The shared luck of two runs on some tasks: a correlation, and the number of answers.

    Args:
        all_climbs: climbs of all runs.
        first: position of one run.
        second: position of the other.
        tasks: tasks whose answers count; both runs have a level on each.
    """

    def __init__(
        self, all_climbs: Climbs, first: int, second: int, tasks: Collection[str]
    ) -> None:
        self.pairs = {task: _pair(all_climbs, first, second, task) for task in tasks}
        departures = [_departures(*pair) for pair in self.pairs.values()]
        together = sum(of_task.together for of_task in departures)
        possible = sum(of_task.possible for of_task in departures)
        self.correlation = 0.0
        if possible > 0:
            self.correlation = float(np.clip(together / possible, 0.0, 1.0))

    def shared(self, task: str) -> int:
        """Return the number of a task's answers that both runs have."""
        return len(self.pairs[task][0].places)

    def of(self, task: str) -> float:
        """Return the correlation of the two levels on a task.

        Answers count in proportion to their information about a level. An answer that only one run
        has, or that informs only one level, is not shared.
        """
        first, second = self.pairs[task]
        first_all = first.information()
        second_all = second.information()
        total = float(np.sqrt(first_all.sum() * second_all.sum()))
        if total > 0:
            products = first_all[first.places] * second_all[second.places]
            return self.correlation * float(np.sqrt(products).sum()) / total
        return 0.0


def _pair(
    all_climbs: Climbs, first: int, second: int, task: str
) -> tuple[_Side, _Side]:
    """Return both runs on a task, with the positions of their common answers."""
    first_climb = all_climbs.climbs[first][task]
    second_climb = all_climbs.climbs[second][task]
    in_second = {name: place for place, name in enumerate(second_climb.names)}
    first_places = []
    second_places = []
    for place, name in enumerate(first_climb.names):
        if name in in_second:
            first_places.append(place)
            second_places.append(in_second[name])
    return (
        _Side(first_climb, all_climbs.fits[first][task], first_places),
        _Side(second_climb, all_climbs.fits[second][task], second_places),
    )


def _departures(first: _Side, second: _Side) -> _Departures:
    together = float(first.departures() @ second.departures())
    possible = float(np.sqrt(first.variances() * second.variances()).sum())
    return _Departures(together, possible)
