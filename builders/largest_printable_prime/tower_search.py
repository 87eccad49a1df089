"""The longest prime that can be printed as a tower: an exhaustive search over groups of digits.

The top of a tower is known by the poses that its last digit can have; whole groups are appended to
it. Between tops that lead back to each other groups can follow in many orders, but each only once,
so their number and the longest way through the rest bound what can still follow. Lengths are tried
from that bound down, and numbers of one length from the largest down; so the result is proved to be
the longest, and it is the largest of its length.
"""

from collections.abc import Generator, Hashable, Iterator
from functools import reduce
from itertools import product
from operator import or_
from typing import NamedTuple

from scbench.base.errors import GenerationError, WorkSpentError
from scbench.graders.largest_printable_prime import HEIGHTS, Pose, Stand, is_prime, pose, rests
from scbench.schemas.largest_printable_prime import Orientation, Params

Top = frozenset[tuple[Pose, int]]
"""All poses that the last digit can have, given the digits below it, each with the greatest height
that the tower can have beyond that of flat digits, but no more than the target height."""

Tower = list[tuple[int, Orientation]]

_WORK = 40_000
"""Groups that one search may append, and numbers that it may test."""
_FLAT = HEIGHTS[Stand.FLAT]
_ORDER: tuple[Orientation, ...] = (
    "flat",
    "flippedX",
    "flippedY",
    "rotate180Z",
    "rotate90Y",
    "rotate90X",
)


class SearchResult(NamedTuple):
    """What a search ends with.

    Attributes:
        number: the longest prime, and the largest of its length.
        candidates: numbers tested for primality; the last of them is the prime.
        first: the first of them, a composite number unless it is the only one.
    """

    number: str
    candidates: int
    first: str


def longest_prime(params: Params) -> SearchResult:
    """Search; what the parameters say is the best length is not looked at.

    Raises:
        GenerationError: there is no such prime, or too much work to find it.
    """
    graph = _Graph(params)
    candidates = 0
    first = ""
    for length in range(graph.longest(), 0, -1):
        for number in graph.numbers(length):
            candidates += 1
            first = first or number
            if is_prime(number):
                return SearchResult(number, candidates, first)
    raise GenerationError("no prime can be printed as a tower of this height")


def greedy_number(params: Params) -> str:
    """Return what comes of taking the largest next group each time, as long as there is one.

    Groups are then taken away from the end until one other group, the largest that does it, makes
    the number a prime and tall enough; the result is empty if that never happens.
    """
    graph = _Graph(params)
    groups: list[str] = []
    choices = [graph.leads(params.group)]
    while ways := [way for way in choices[-1] if way[0] not in groups]:
        text, top = ways[0]
        groups.append(text)
        choices.append(graph.ways[top])
    for end in range(len(groups), -1, -1):
        for text, _ in choices[end]:
            number = "".join(groups[:end]) + text
            if len(number) > (params.max_digits or len(number)) or text in groups[:end]:
                continue
            tower = tallest(params, number) if is_prime(number) else None
            if tower is not None and tower[1] > round(10 * params.target_height_mm):
                return number
    return ""


def _poses(params: Params, digit: int) -> list[tuple[Orientation, Pose]]:
    if digit not in params.digits:
        return []
    allowed = [name for name in _ORDER if name in params.orientations]
    candidates = [(name, pose(digit, name, params.segments[digit])) for name in allowed]
    return [(name, body) for name, body in candidates if body is not None]


def tallest(params: Params, number: str) -> tuple[Tower, int] | None:
    """Return the digits in the poses that make the tallest tower, flat ones where it is equal.

    Returns:
        The tower and its height in tenths of a millimetre; None if there is no such tower.
    """
    return _pose_all(params, number, 1)


def lowest(params: Params, number: str) -> tuple[Tower, int] | None:
    """Return the digits in the poses that make the lowest tower, see `tallest`."""
    return _pose_all(params, number, -1)


class _Layer(NamedTuple):
    height: int
    name: Orientation
    lower: Pose | None


def _pose_all(params: Params, number: str, sign: int) -> tuple[Tower, int] | None:
    layers: list[dict[Pose, _Layer]] = []
    for text in number:
        layer: dict[Pose, _Layer] = {}
        for name, body in _poses(params, int(text)):
            below: list[tuple[int, Pose | None]] = [(0, None)]
            if layers:
                below = [(at.height, low) for low, at in layers[-1].items() if rests(body, low)]
            if below and body not in layer:
                under, low = max(below, key=lambda item: sign * item[0])
                layer[body] = _Layer(under + HEIGHTS[body.stand], name, low)
        layers.append(layer)
    if not layers or not layers[-1]:
        return None
    here: Pose | None = max(layers[-1], key=lambda body: sign * layers[-1][body].height)
    height = layers[-1][here].height if here else 0
    tower: Tower = []
    for text, layer in zip(reversed(number), reversed(layers), strict=True):
        if here is not None:
            at = layer[here]
            tower.append((int(text), at.name))
            here = at.lower
    return tower[::-1], height


class _Graph:
    """Tops of towers, by number, and the groups that lead from each to others.

    Sets of groups are numbers with a bit for each group.

    Attributes:
        ways: for each top, groups as text with the top they lead to, the largest first.
    """

    def __init__(self, params: Params) -> None:
        self._params = params
        self._target = round(10 * params.target_height_mm)
        self._poses = {digit: [body for _, body in _poses(params, digit)] for digit in range(10)}
        self._tops: dict[Top, int] = {}
        self._afters: dict[tuple[Top | None, int], Top] = {}
        self.ways: list[list[tuple[str, int]]] = []
        self._work = 0
        self._leads = {n: self._strings(None, n) for n in range(1, params.group + 1)}
        pending = 0
        while pending < len(self._tops):
            self.ways.append(self._strings(list(self._tops)[pending], params.group))
            pending += 1
        self._top_at = list(self._tops)
        self._condense()

    def leads(self, length: int) -> list[tuple[str, int]]:
        """Return the first groups of this length, the largest first."""
        return [way for way in self._leads[length] if way[0][0] != "0"]

    def _strings(self, top: Top | None, length: int) -> list[tuple[str, int]]:
        """Return what can be put on a top, or on the table, and the tops that it leads to."""
        ends: list[tuple[str, Top | None]] = [("", top)]
        for _ in range(length):
            ends = [
                (text + str(digit), after)
                for text, before in ends
                for digit in range(9, -1, -1)
                if (after := self._after(before, digit))
            ]
        return [(text, self._tops.setdefault(end, len(self._tops))) for text, end in ends if end]

    def _after(self, top: Top | None, digit: int) -> Top:
        cached = self._afters.get((top, digit))
        if cached is not None:
            return cached
        best: dict[Pose, int] = {}
        for body in self._poses[digit]:
            extra = HEIGHTS[body.stand] - _FLAT
            below = (
                [0] if top is None else [surplus for lower, surplus in top if rests(body, lower)]
            )
            if below:
                best[body] = min(max(below) + extra, self._target)
        return self._afters.setdefault((top, digit), frozenset(best.items()))

    def _condense(self) -> None:
        """Find which tops lead back to each other, and the groups between those that do."""
        count = len(self.ways)
        reach = [{to for _, to in ways} for ways in self.ways]
        for middle, top in product(range(count), range(count)):
            if middle in reach[top]:
                reach[top] |= reach[middle]
        texts = sorted({text for ways in self.ways for text, _ in ways})
        self._bit = {text: 1 << i for i, text in enumerate(texts)}
        direct = [sum(self._bit[text] for text in {text for text, _ in ways}) for ways in self.ways]
        self._ahead = [
            reduce(or_, (direct[o] for o in reach[top]), direct[top]) for top in range(count)
        ]
        self._home = [
            min([top, *(o for o in reach[top] if top in reach[o])]) for top in range(count)
        ]
        self._inner = dict.fromkeys(self._home, 0)
        across: dict[tuple[int, int], int] = {}
        for top, ways in enumerate(self.ways):
            for text, to in ways:
                here, there = self._home[top], self._home[to]
                if here == there:
                    self._inner[here] |= self._bit[text]
                else:
                    across[here, there] = across.get((here, there), 0) | self._bit[text]
        # Groups that would be counted twice on one way: inner ones of several parts, and those that
        # are the only way from one part to another.
        only = {key: groups for key, groups in across.items() if groups.bit_count() == 1}
        once = self._shared = 0
        for groups in self._inner.values():
            self._shared |= once & groups
            once |= groups
        self._shared = reduce(or_, only.values(), self._shared)
        self._next: dict[int, list[tuple[int, int]]] = {home: [] for home in self._home}
        for here, there in across:
            self._next[here].append((there, only.get((here, there), 0)))
        self._bounds: dict[tuple[int, int], int] = {}

    def _bound(self, home: int, used: int) -> int:
        """Return a number of groups that cannot be exceeded from here on."""
        used &= self._ahead[home]
        if (home, used) in self._bounds:
            return self._bounds[home, used]
        spent = used & self._shared
        results: dict[tuple[int, int], int] = {}

        def after(home: int, passed: int) -> int:
            key = home, passed
            if key not in results:
                inner = self._inner[home]
                again = (passed & ~spent & inner).bit_count()
                passed |= inner & self._shared
                beyond = [
                    (not passed & bit) + after(there, passed | bit)
                    for there, bit in self._next[home]
                    if not spent & bit
                ]
                results[key] = (inner & ~used).bit_count() - again + max(beyond, default=0)
            return results[key]

        return self._bounds.setdefault((home, used), after(home, spent))

    def longest(self) -> int:
        """Return a length that no number exceeds."""
        length = max(
            (
                n + self._params.group * self._bound(self._home[top], 0)
                for n, ways in self._leads.items()
                for _, top in ways
            ),
            default=0,
        )
        return min(length, self._params.max_digits or length)

    def numbers(self, length: int) -> Iterator[str]:
        """Yield the numbers of a length that make a tall enough tower, the largest first.

        Those that 2, 3 or 5 divide, these three themselves included, are left out.

        Raises:
            WorkSpentError: the search takes too long.
        """
        size = self._params.group
        count, first = divmod(length - 1, size)
        first += 1
        for text, top in self.leads(first):
            used = self._bit.get(text, 0) if first == size else 0
            yield from self._extend(text, top, count, used, set())

    def _count(self) -> None:
        self._work += 1
        if self._work > _WORK:
            raise WorkSpentError("the search for the longest prime takes too long")

    def _extend(
        self, number: str, top: int, count: int, used: int, dead: set[Hashable]
    ) -> Generator[str, None, bool]:
        """Yield what a number can be extended to, and return whether there was anything."""
        if count == 0:
            extra = max(extra for _, extra in self._top_at[top])
            if _FLAT * len(number) + extra <= self._target:
                return False
            if number[-1] in "024568" or sum(map(int, number)) % 3 == 0:
                return False
            self._count()
            yield number
            return True
        if self._bound(self._home[top], used) < count:
            return False
        # In which order groups were used does not matter for what can follow, nor for the sum of
        # the digits, which decides whether 3 divides the number.
        key = (top, count, sum(map(int, number)) % 3, used & self._ahead[top])
        if key in dead:
            return False
        some = False
        for text, to in self.ways[top]:
            bit = self._bit[text]
            if used & bit:
                continue
            self._count()
            some |= yield from self._extend(number + text, to, count - 1, used | bit, dead)
        if not some:
            dead.add(key)
        return some
