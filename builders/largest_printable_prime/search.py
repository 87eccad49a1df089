"""An exhaustive search for the longest prime that can be printed.

The top of a tower is described by the poses that its last digit can have; whole groups are appended
to it. Among tops that lead back to each other, groups can follow in many orders, but each only
once. So their number and the longest path through all other tops bound the groups that can still
follow. Lengths are tried from that bound downwards, and numbers of one length from the largest
downwards. So the result is proved to be the longest, and it is the largest of its length.
"""

from collections.abc import Generator, Hashable, Iterator
from functools import lru_cache
from itertools import product
from typing import NamedTuple

from scbench.base.errors import GenerationError, WorkSpentError
from scbench.builders.largest_printable_prime.towers import Tower, poses_of, tallest
from scbench.graders.largest_printable_prime import (
    HEIGHTS,
    is_prime,
    rests,
)
from scbench.graders.largest_printable_prime.poses import Pose, Stand
from scbench.schemas.largest_printable_prime import Params

# Maximum number of groups appended plus numbers tested in one search.
WORK = 40_000
_FLAT = HEIGHTS[Stand.FLAT]
# All poses that the last digit can have, given the digits below it. Each pose has the greatest
# height of the tower above that of flat digits, capped at the target height.
Top = frozenset[tuple[Pose, int]]


class SearchResult(NamedTuple):
    """The longest prime, its tallest tower, and a composite number that looks as good, if any."""

    number: str
    tower: Tower
    composite: str


class Way(NamedTuple):
    """Digits that can be put on a top, and the number of the resulting top."""

    text: str
    top: int


@lru_cache(maxsize=64)
def longest_prime(params: Params, work: int = WORK) -> SearchResult:
    """Return the largest of the longest primes; the length in the parameters has no effect.

    Args:
        params: the rules.
        work: number of steps after which the search gives up. It does not change the result.

    Raises:
        GenerationError: there is no such prime, or finding it takes too much work.
    """
    graph = Graph(params, work)
    composite = ""
    for length in range(graph.longest(), 0, -1):
        for number in graph.numbers(length):
            if is_prime(number):
                standing = tallest(params, number)
                tower = standing.tower if standing else []
                return SearchResult(number, tower, composite)
            composite = composite or number
    raise GenerationError("no prime can be printed as a tower of this height")


def greedy_number(params: Params) -> str:
    """Append the largest possible group each time, as long as there is one.

    Groups are then removed from the end until appending another group makes the number prime and
    tall enough; the largest such group is used. The result is empty if there is no such group.
    """
    graph = Graph(params)
    target = round(10 * params.target_height_mm)
    groups: list[str] = []
    choices = [graph.leads(params.group)]
    while True:
        unused = [way for way in choices[-1] if way.text not in groups]
        if not unused:
            break
        groups.append(unused[0].text)
        choices.append(graph.ways[unused[0].top])
    for end in range(len(groups), -1, -1):
        start = "".join(groups[:end])
        for text, _ in choices[end]:
            number = start + text
            is_too_long = len(number) > (params.max_digits or len(number))
            if is_too_long or text in groups[:end] or not is_prime(number):
                continue
            standing = tallest(params, number)
            if standing is not None and standing.height > target:
                return number
    return ""


class Graph:
    """Tops of towers, by number, and the groups that lead from one top to another.

    Sets of groups are numbers with a bit for each group. Tops that lead back to each other form a
    part of the graph. A part is named after its smallest top, its home.

    Attributes:
        ways: for each top, the groups that can follow, the largest first.
    """

    def __init__(self, params: Params, work: int = WORK) -> None:
        self._params = params
        self._limit = work
        self._target = round(10 * params.target_height_mm)
        self._poses = []
        for digit in range(10):
            bodies = [body for _, body in poses_of(params, digit)]
            self._poses.append(bodies)
        self._digits = [digit for digit in range(9, -1, -1) if self._poses[digit]]
        # All tops reached so far, with their numbers.
        self._tops: list[Top] = []
        self._numbers: dict[Top, int] = {}
        self._afters: dict[tuple[Top | None, int], Top] = {}
        self._leads = {n: self._ways_on(None, n) for n in range(1, params.group + 1)}
        self.ways: list[list[Way]] = []
        # Groups can lead to new tops, which are appended while the loop runs over the list.
        for top in self._tops:
            self.ways.append(self._ways_on(top, params.group))
        texts = sorted({way.text for ways in self.ways for way in ways})
        self._bit = {text: 1 << i for i, text in enumerate(texts)}
        self._find_parts()
        self._join_parts()
        self._bounds: dict[tuple[int, int], int] = {}
        self._work = 0

    def leads(self, length: int) -> list[Way]:
        """Return the first groups of this length, the largest first."""
        return [way for way in self._leads[length] if way.text[0] != "0"]

    def longest(self) -> int:
        """Return a length that no number exceeds."""
        longest = 0
        for length, ways in self._leads.items():
            for _, top in ways:
                groups = self._bound(self._home[top], 0)
                longest = max(longest, length + self._params.group * groups)
        return min(longest, self._params.max_digits or longest)

    def numbers(self, length: int) -> Iterator[str]:
        """Yield the numbers of a length that make a tall enough tower, the largest first.

        Numbers divisible by 2, 3 or 5 are omitted, including 2, 3 and 5 themselves.

        Raises:
            WorkSpentError: the search takes too long.
        """
        size = self._params.group
        count, first = divmod(length - 1, size)
        first += 1
        for text, top in self.leads(first):
            # A first group with fewer digits is a separate group.
            used = self._bit.get(text, 0) if first == size else 0
            yield from self._extend(text, top, count, used, set())

    def _ways_on(self, top: Top | None, length: int) -> list[Way]:
        """Return the digits that can follow on a top or the table, and the resulting tops."""
        ends: list[tuple[str, Top | None]] = [("", top)]
        for _ in range(length):
            longer: list[tuple[str, Top | None]] = []
            for text, before in ends:
                for digit in self._digits:
                    after = self._after(before, digit)
                    if after:
                        longer.append((text + str(digit), after))
            ends = longer
        ways = []
        for text, end in ends:
            if end is None:
                continue
            if end not in self._numbers:
                self._numbers[end] = len(self._tops)
                self._tops.append(end)
            ways.append(Way(text, self._numbers[end]))
        return ways

    def _after(self, top: Top | None, digit: int) -> Top:
        """Return the top after putting a digit on a top or the table; empty if impossible."""
        cached = self._afters.get((top, digit))
        if cached is not None:
            return cached
        best: dict[Pose, int] = {}
        for body in self._poses[digit]:
            below = [0]
            if top is not None:
                below = [surplus for lower, surplus in top if rests(body, lower)]
            if below:
                extra = HEIGHTS[body.stand] - _FLAT
                # Tops that differ only beyond the target height count as one.
                best[body] = min(max(below) + extra, self._target)
        return self._afters.setdefault((top, digit), frozenset(best.items()))

    def _find_parts(self) -> None:
        """Find the home of every top, and the groups that can follow anywhere after it."""
        count = len(self.ways)
        reach = [{way.top for way in ways} for ways in self.ways]
        # Warshall's algorithm: allow ways through one more top each time.
        for middle, top in product(range(count), range(count)):
            if middle in reach[top]:
                reach[top] |= reach[middle]
        self._ahead = [0] * count
        self._home = list(range(count))
        for top in range(count):
            for after in (top, *reach[top]):
                for text, _ in self.ways[after]:
                    self._ahead[top] |= self._bit[text]
                if top in reach[after]:
                    self._home[top] = min(self._home[top], after)

    def _join_parts(self) -> None:
        """Collect the groups inside every part, and those from one part to another."""
        self._inner = dict.fromkeys(self._home, 0)
        across: dict[tuple[int, int], int] = {}
        for top, ways in enumerate(self.ways):
            own_home = self._home[top]
            for text, to in ways:
                next_home = self._home[to]
                if own_home == next_home:
                    self._inner[own_home] |= self._bit[text]
                else:
                    across[own_home, next_home] = (
                        across.get((own_home, next_home), 0) | self._bit[text]
                    )
        # Groups that could be counted twice on one path: groups inside several parts, and groups
        # that are the only way from one part to another.
        self._shared = 0
        once = 0
        for groups in self._inner.values():
            self._shared |= once & groups
            once |= groups
        # The parts after each part, with the group that leads there if it is the only one, else 0.
        self._next: dict[int, list[tuple[int, int]]] = {home: [] for home in self._home}
        for (own_home, next_home), groups in across.items():
            only = groups if groups.bit_count() == 1 else 0
            self._shared |= only
            self._next[own_home].append((next_home, only))

    def _bound(self, home: int, used: int) -> int:
        """Return an upper bound on the number of groups that can still follow."""
        used &= self._ahead[home]
        if (home, used) in self._bounds:
            return self._bounds[home, used]
        spent = used & self._shared
        results: dict[tuple[int, int], int] = {}

        def most_from(home: int, passed: int) -> int:
            """Return the most groups possible in a part and after it; shared groups count once."""
            key = home, passed
            if key in results:
                return results[key]
            inner = self._inner[home]
            again = (passed & ~spent & inner).bit_count()
            passed |= inner & self._shared
            beyond = 0
            for there, bit in self._next[home]:
                if not spent & bit:
                    step = 0 if passed & bit else 1
                    beyond = max(beyond, step + most_from(there, passed | bit))
            results[key] = (inner & ~used).bit_count() - again + beyond
            return results[key]

        return self._bounds.setdefault((home, used), most_from(home, spent))

    def _extend(
        self, number: str, top: int, count: int, used: int, dead: set[Hashable]
    ) -> Generator[str, None, bool]:
        """Yield the extensions of a number, and return whether there was one.

        Args:
            number: the digits so far.
            top: the top of their tower.
            count: number of groups to append.
            used: the groups of the number.
            dead: keys of searches that yielded nothing.
        """
        remainder = int(number) % 3
        if count == 0:
            extra = max(surplus for _, surplus in self._tops[top])
            if _FLAT * len(number) + extra <= self._target:
                return False
            # Most multiples of 2, 3 and 5 need no test for primality.
            if number[-1] in "024568" or remainder == 0:
                return False
            self._count_work()
            yield number
            return True
        if self._bound(self._home[top], used) < count:
            return False
        # The order in which groups were used affects neither the groups that can follow nor the
        # remainder of the number divided by 3, which depends only on the sum of the digits.
        key = (top, count, remainder, used & self._ahead[top])
        if key in dead:
            return False
        some = False
        for text, to in self.ways[top]:
            bit = self._bit[text]
            if used & bit:
                continue
            self._count_work()
            longer = number + text
            if (yield from self._extend(longer, to, count - 1, used | bit, dead)):
                some = True
        if not some:
            dead.add(key)
        return some

    def _count_work(self) -> None:
        self._work += 1
        if self._work > self._limit:
            raise WorkSpentError("the search for the longest prime takes too long")
