"""Towers of digits that read as a prime: prompts, fresh rules, and an exhaustive solver.

The top of a tower is known by the poses that its last digit can have; whole groups are appended to
it. Between tops that lead back to each other groups can follow in many orders, but each only once,
so their number and the longest way through the rest bound what can still follow. Lengths are tried
from that bound down, and numbers of one length from the largest down; so the result is proved to be
the longest, and it is the largest of its length.
"""

from collections.abc import Generator, Hashable, Iterator, Mapping
from functools import lru_cache, reduce
from itertools import pairwise, product
from operator import or_
from typing import Literal, NamedTuple, get_args

from pydantic import JsonValue, model_validator

from scbench.base.errors import GenerationError, WorkSpentError
from scbench.base.seeding import Stream
from scbench.builders.shared.builder import (
    Builder,
    Point,
    data_file,
    parameter,
    plain,
    under,
)
from scbench.graders.largest_printable_prime import (
    HEIGHTS,
    MAX_DIGITS,
    Pose,
    Stand,
    is_prime,
    pose,
    rests,
)
from scbench.schemas.largest_printable_prime import Answer, Orientation, Params

_TRIES = 40
# Searches of one draw that may take too long; each is some two seconds.
_LONG_SEARCHES = 10
_STANDARD = (
    "abcdef", "bc", "abdeg", "abcdg", "bcfg", "acdfg", "acdefg", "abc", "abcdefg", "abcdfg",
)  # fmt: skip
_TAILLESS = tuple(
    {6: "cdefg", 9: "abcfg"}.get(digit, shape) for digit, shape in enumerate(_STANDARD)
)
_SHORT_FACTOR = 0.9
_PAPER_LARGEST = "888999996969699696669666333377777711111171"
Tower = list[tuple[int, Orientation]]
_SAMPLES: tuple[tuple[Tower, str], ...] = (
    ([(1, "flat"), (7, "rotate90Y")], "a 7 on its long side on a flat 1."),
    (
        [(3, "flat"), (3, "rotate90Y"), (1, "rotate90X")],
        "on a flat 3, another on its long side, and on one of its points an upright 1.",
    ),
)

# All poses that the last digit can have, given the digits below it, each with the
# greatest height that the tower can have beyond that of flat digits, but no more than
# the target height.
Top = frozenset[tuple[Pose, int]]
# Groups that one search may append, and numbers that it may test.
_WORK = 40_000
_FLAT = HEIGHTS[Stand.FLAT]

_FLAT_ONES: tuple[Orientation, ...] = ("flat", "flippedX", "flippedY", "rotate180Z")
_ORDER: tuple[Orientation, ...] = (*_FLAT_ONES, "rotate90Y", "rotate90X")


class Space(Point):
    """Parameters of fresh rules."""

    group: int = parameter(3, "digits per group that may not repeat", ge=2, le=4)
    digits: int = parameter(
        7, "how many digits may be used; which is drawn", ge=4, le=10
    )
    forbidden: int = parameter(
        1, "how many of the six orientations may not be used", ge=0, le=4
    )
    font: Literal["standard", "tailless"] = parameter(
        "standard", "whether 6 and 9 have their outer bar"
    )
    min_height_mm: float = parameter(
        20.0, "least target height; more is harder", ge=0.0, le=150.0
    )
    max_height_mm: float = parameter(70.0, "largest target height", ge=0.0, le=150.0)
    max_digits: int | None = parameter(
        None, "most digits that the number may have, if limited", ge=4, le=200
    )
    greedy: float = parameter(
        1.0,
        "most digits of a greedily built prime, as a share of those of the longest",
        gt=0,
        le=1,
    )

    @model_validator(mode="after")
    def _in_order(self) -> "Space":
        if self.min_height_mm > self.max_height_mm:
            raise ValueError("min_height_mm is above max_height_mm")
        return self


class TaskBuilder(Builder[Params, Answer, Space]):
    """Rules for towers of which the longest prime is known."""

    task = "largest_printable_prime"
    version = 4
    form = '{"numberSequence": [{"digit": digit, "orientation": "name"}, ...]}'
    extremes = ({"max_digits": 20},)

    def words(self, params: Params) -> dict[str, object]:
        """Return the digits, their orientations and the limits."""
        meanings = data_file(__package__, "orientations.json")
        size = params.group
        up, down, ones, zeros = "1234"[:size], "4321"[-size:], "1" * size, "0" * size
        return {
            "shapes": "\n".join(
                f"{i}: {' '.join(s)}" for i, s in enumerate(params.segments)
            ),
            "orientations": "\n".join(
                f"- {name}: {text}." for name, text in meanings.items()
            ),
            "allowed": _allowed(params),
            "group": size,
            "examples": f"So {up},{down},{up} is forbidden, while {up},{ones},{up[1:]}1 "
            f"and\n  {up},{zeros},{zeros[1:]}1,{up[1:]}0 are fine.",
            "short": "8" * (size - 1),
            "full": "8" * size,
            "limit": ""
            if params.max_digits is None
            else f"- It has at most {params.max_digits} digits.\n",
            "height": plain(params.target_height_mm),
            "best": params.best_digits,
            "factor": plain(params.short_factor),
            "most": MAX_DIGITS,
            "sample": _samples(params),
        }

    def reference(self, params: Params) -> Answer:
        """Search all towers, the longest first."""
        return Answer.model_validate(_sequence(_longest_prime(params).tower))

    def counter_references(self, params: Params) -> Mapping[str, JsonValue]:
        """Return towers with one fault each, and the holes of older graders."""
        number, tower, composite = _longest_prime(params)
        towers: dict[str, Tower | None] = {
            "nothing": [],
            "last_digit_left_out": tower[:-1],
            "first_digit_left_out": tower[1:],
            "zero_in_front": [(0, "flat"), *tower],
            "last_group_repeated": [*tower, *tower[-params.group :]],
            "eight_upright_below": [(8, "rotate90X"), *tower],
            "spire_of_upright_digits": [*tower, (7, "rotate90X"), (3, "rotate90Y")],
            "flat_one_on_upright_one": [*tower, (1, "rotate90X"), (1, "flat")],
            "composite": _tower(params, composite) if composite else None,
            "greedy": _tower(params, greedy_number(params)),
            "all_named_flat": _unless_it_stands(params, tower, "flat"),
            "all_on_their_side": _unless_it_stands(params, tower, "rotate90Y"),
        }
        if params.best_digits > len(_PAPER_LARGEST):
            towers["largest_of_the_paper"] = _tower(params, _PAPER_LARGEST)
        low = lowest(params, number)
        if low is not None and low[1] <= round(10 * params.target_height_mm):
            towers["lying_down"] = low[0]
        answers: dict[str, JsonValue] = {
            name: _sequence(tower)
            for name, tower in towers.items()
            if tower is not None
        }
        items: list[JsonValue] = [_digit_entry(digit, name) for digit, name in tower]
        wrong: dict[str, list[JsonValue]] = {
            "plain_digits": [int(digit) for digit in number],
            "whole_number_as_one_digit": [_digit_entry(int(number), "flat")],
            "strings": [_digit_entry(str(digit), name) for digit, name in tower],
            "negative": [_digit_entry(-9, "flat"), *items[1:]],
            "fraction": [_digit_entry(8.5, "flat"), *items[1:]],
            "unknown_orientation": [_digit_entry(8, "upright"), *items[1:]],
            "without_orientation": [{"digit": digit} for digit, _ in tower],
        }
        if any(digit == 1 for digit, _ in tower):
            wrong["booleans"] = [
                _digit_entry(digit == 1 or digit, name) for digit, name in tower
            ]
        answers |= under("numberSequence", wrong)
        if "booleans" in answers:
            # Python holds True for equal to 1; the key, which is ignored, tells the two apart.
            answers["booleans"] = {
                "numberSequence": wrong["booleans"],
                "booleans": True,
            }
        answers["no_list"] = {}
        answers["bare_list"] = items
        answers["bare_number"] = number
        answers["number_for_list"] = {"numberSequence": number}
        return answers

    def baselines(self, params: Params) -> Mapping[str, JsonValue]:
        """Return the tower of the largest next group each time, cut back to a prime."""
        tower = _tower(params, greedy_number(params))
        return {"largest group each time": _sequence(tower)} if tower else {}

    def measure(self, params: Params) -> float:
        """Return how many digits the longest prime has, each of which is a choice."""
        return params.best_digits

    def draw(self, point: Space, rng: Stream) -> Params:
        """Draw digits, orientations and a height until a search shows the longest prime.

        Rules are thrown away if always taking the largest next group leads to a longest prime too.

        Raises:
            GenerationError: nothing in 40 draws.
            WorkSpentError: the same, or sooner, after searches that took too long.
        """
        long = 0
        for _ in range(_TRIES):
            digits = sorted(rng.sample(range(10), point.digits))
            forbidden = rng.sample(get_args(Orientation)[1:], point.forbidden)
            tenths = rng.between(
                round(10 * point.min_height_mm), round(10 * point.max_height_mm)
            )
            params = Params(
                segments=_STANDARD if point.font == "standard" else _TAILLESS,
                digits=tuple(digits),
                orientations=tuple(
                    o for o in get_args(Orientation) if o not in forbidden
                ),
                group=point.group,
                max_digits=point.max_digits,
                target_height_mm=tenths / 10,
                short_factor=_SHORT_FACTOR,
                best_digits=1,
            )
            try:
                number = _longest_prime(params).number
            except WorkSpentError:
                long += 1
                if long == _LONG_SEARCHES:
                    break
                continue
            except GenerationError:
                continue
            greedy = len(greedy_number(params))
            room = greedy < len(number) and greedy <= point.greedy * len(number)
            if room and len(number) > 2 * point.group:
                return params.model_copy(update={"best_digits": len(number)})
        failure = GenerationError if long < 3 else WorkSpentError
        raise failure(
            f"no rules of which the longest prime is known in at most {_TRIES} draws; ask for "
            "more digits, a lower tower, fewer forbidden orientations, or a limit to the digits"
        )


class _Longest(NamedTuple):
    """The longest prime, its tallest tower, and a composite number that looks as good, or none."""

    number: str
    tower: Tower
    composite: str


def _longest_prime(params: Params) -> _Longest:
    return _cached_search(params.model_copy(update={"best_digits": 1}))


@lru_cache(maxsize=64)
def _cached_search(params: Params) -> _Longest:
    result = longest_prime(params)
    composite = result.first if result.candidates > 1 else ""
    return _Longest(result.number, _tower(params, result.number) or [], composite)


def _tower(params: Params, number: str) -> Tower | None:
    result = tallest(params, number)
    return result[0] if result else None


def _unless_it_stands(params: Params, tower: Tower, name: Orientation) -> Tower | None:
    """Return a tower with all its digits turned so; None if all can be printed where they are."""
    poses = [pose(digit, name, params.segments[digit]) for digit, _ in tower]
    stands = all(
        lower is not None and upper is not None and rests(upper, lower)
        for lower, upper in pairwise(poses)
    )
    return None if stands else [(digit, name) for digit, _ in tower]


def _allowed(params: Params) -> str:
    """Return the paragraph on what may not be used; empty if everything may be."""
    parts: list[str] = []
    if len(params.digits) < 10:
        parts.append(
            f"Only these digits may be used: {', '.join(map(str, params.digits))}."
        )
    orientations = data_file(__package__, "orientations.json")
    missing = [name for name in orientations if name not in params.orientations]
    if missing:
        parts.append(f"These orientations may not be used: {', '.join(missing)}.")
    return "\n".join(parts) + "\n\n" if parts else ""


def _samples(params: Params) -> str:
    """Return the example towers that these rules allow."""
    lines = [
        f"- {''.join(str(digit) for digit, _ in tower)}: {text}"
        for tower, text in _SAMPLES
        if all(d in params.digits and o in params.orientations for d, o in tower)
    ]
    return "\n".join(["Examples of towers:\n", *lines]) + "\n\n" if lines else ""


def _digit_entry(digit: JsonValue, orientation: str) -> dict[str, JsonValue]:
    return {"digit": digit, "orientation": orientation}


def _sequence(tower: Tower) -> dict[str, JsonValue]:
    return {"numberSequence": [_digit_entry(digit, name) for digit, name in tower]}


class SearchResult(NamedTuple):
    """The longest prime, the largest of its length, how many numbers were tested, and the first."""

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
                below = [
                    (at.height, low)
                    for low, at in layers[-1].items()
                    if rests(body, low)
                ]
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
        self._poses = {
            digit: [body for _, body in _poses(params, digit)] for digit in range(10)
        }
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
        return [
            (text, self._tops.setdefault(end, len(self._tops)))
            for text, end in ends
            if end
        ]

    def _after(self, top: Top | None, digit: int) -> Top:
        cached = self._afters.get((top, digit))
        if cached is not None:
            return cached
        best: dict[Pose, int] = {}
        for body in self._poses[digit]:
            extra = HEIGHTS[body.stand] - _FLAT
            below = (
                [0]
                if top is None
                else [surplus for lower, surplus in top if rests(body, lower)]
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
        direct = [
            sum(self._bit[text] for text in {text for text, _ in ways})
            for ways in self.ways
        ]
        self._ahead = [
            reduce(or_, (direct[o] for o in reach[top]), direct[top])
            for top in range(count)
        ]
        self._home = [
            min([top, *(o for o in reach[top] if top in reach[o])])
            for top in range(count)
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
        only = {
            key: groups for key, groups in across.items() if groups.bit_count() == 1
        }
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
                results[key] = (
                    (inner & ~used).bit_count() - again + max(beyond, default=0)
                )
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
            some |= yield from self._extend(
                number + text, to, count - 1, used | bit, dead
            )
        if not some:
            dead.add(key)
        return some
