"""Fuzzing targets and their inputs: choices drawn from bytes, mutations of bytes and of JSON.

Everything is derived from the bytes. So a generator of interesting bytes, seeded or guided by
coverage, also finds interesting choices and mutations.
"""

import copy
import json
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

T = TypeVar("T")

# Values that replace others.
HOSTILE: tuple[Any, ...] = (
    None,
    True,
    False,
    0,
    -0.0,
    -1,
    1,
    2,
    0.5,
    1e-9,
    1e-300,
    5e-324,
    1e9,
    1e15,
    1e154,
    1e300,
    2**31,
    2**53,
    2**63,
    2**64,
    -(2**63) - 1,
    10**30,
    10**400,
    10**5000,
    1.7976931348623157e308,
    "",
    "x",
    " ",
    "0",
    "\0",
    "\ud800",
    "\u202e",
    "\u200b",
    "\ufeff",
    "e\u0301",
    "💥",
    "A" * 300,
    "nan",
    "inf",
    "1e999",
    "٣",
    "1_000",
    "0x10",
    "%s%n",
    "\n",
    "</answer>",
    "../../etc/passwd",
    [],
    {},
    [[]],
    [{}],
    [None],
    {"": None},
    {"answer": 1},
    [[[[[[[[]]]]]]]],
    [0] * 400,
)


@dataclass(frozen=True)
class Target:
    """A function to fuzz, and its first inputs.

    Attributes:
        run: function of any bytes; it raises if something is wrong.
        seeds: useful first inputs.
        tokens: pieces of the input's language.
        max_bytes: length of the longest input worth trying.
        children: total number of isolated child processes that it may start.
        scratch: whether it may write in the folder of temporary files.
    """

    run: Callable[[bytes], None]
    seeds: Sequence[bytes]
    tokens: Sequence[bytes] = ()
    max_bytes: int = 4096
    children: int = 0
    scratch: bool = False


class Choices:
    """Choices drawn from bytes in order; after the last byte, all choices are 0."""

    def __init__(self, data: bytes) -> None:
        self._data = data
        self._at = 0

    def below(self, n: int) -> int:
        """Return a number from 0 to n - 1."""
        size = max(1, ((n - 1).bit_length() + 7) // 8)
        piece = self._data[self._at : self._at + size]
        self._at += size
        return int.from_bytes(piece, "little") % n

    def pick(self, items: Sequence[T]) -> T:
        """Return one of the items."""
        return items[self.below(len(items))]

    @property
    def spent(self) -> bool:
        """Whether all bytes have been used."""
        return self._at >= len(self._data)

    @property
    def remainder(self) -> bytes:
        """The bytes that have not been used yet."""
        return self._data[self._at :]


def mutated_bytes(
    rng: random.Random, data: bytes, tokens: Sequence[bytes], limit: int
) -> bytes:
    """Return bytes after one to eight edits: flips, cuts, copies, numbers or tokens."""
    piece = bytearray(data)
    for _ in range(1 << rng.randrange(4)):
        at = rng.randrange(len(piece) + 1)
        end = min(len(piece), at + (1 << rng.randrange(9)))
        match rng.randrange(8):
            case 0 if at < len(piece):
                piece[at] ^= 1 << rng.randrange(8)
            case 1 if at < len(piece):
                piece[at] = rng.choice(b"\x00\x01\x7f\x80\xff\n \"\\'[]{}(),:-+.0919eE")
            case 2:
                del piece[at:end]
            case 3:
                piece[at:at] = piece[at:end] * (1 << rng.randrange(5))
            case 4:
                target = rng.randrange(len(piece) + 1)
                piece[target:target] = piece[at:end]
            case 5:
                piece[at:at] = rng.randbytes(1 << rng.randrange(4))
            case 6:
                number = rng.choice((-1, 0, 2**63, 1e308, 1e-320, 10**19))
                piece[at:at] = str(number).encode()
            case _ if tokens:
                # The token, usually once, replaces some bytes or is inserted before them.
                token = rng.choice(tokens)
                times = rng.choice((1, 1, 1, 40))
                piece[at : rng.choice((at, end))] = token * times
    return bytes(piece[:limit])


def mutated_json(value: Any, choices: Choices) -> Any:  # noqa: ANN401  (JSON)
    """Return a JSON value after one to four edits of its structure, each at a random place."""
    box = [copy.deepcopy(value)]
    for _ in range(1 + choices.below(4)):
        _edit(box, choices)
    return box[0] if box else None


def _edit(box: list[Any], choices: Choices) -> None:
    """Change the value at a random place in a box."""
    parent, key = _random_place(box, choices)
    if key is None:
        return
    value = parent[key]
    match choices.below(12):
        case 0:
            del parent[key]
        case 1 if isinstance(parent, list):
            parent.insert(key, copy.deepcopy(value))
        case 2 if isinstance(parent, list) and len(parent) < 200:
            parent[key:key] = [value] * (1 << choices.below(10))
        case 3:
            target, at = _random_place(box, choices)
            parent[key] = copy.deepcopy(target[at]) if at is not None else None
        case 4 if isinstance(parent, list):
            partner = choices.below(len(parent))
            parent[key], parent[partner] = parent[partner], parent[key]
        case 5 if isinstance(value, list):
            value.reverse()
        case 6 if isinstance(value, list | str):
            parent[key] = value[: choices.below(len(value) + 1)]
        case 7:
            wrapped = ([value], {"answer": value}, {str(key): value}, "[[0, 1, 2]]")
            parent[key] = choices.pick(wrapped)
        case 8 if isinstance(parent, dict):
            names = ("", "x", str(key).upper(), f"{key} ", "\ud800", "answer")
            parent[choices.pick(names)] = value
        case 9 | 10 | 11 if type(value) in {int, float}:
            parent[key] = _number_near(value, choices)
        case 9 | 10 | 11 if isinstance(value, str) and value:
            parent[key] = _respelt(value, choices)
        case _:
            parent[key] = copy.deepcopy(choices.pick(HOSTILE))


def _random_place(box: list[Any], choices: Choices) -> tuple[Any, Any]:
    """Return a container and a key in it; the key is None if the container is empty."""
    parent: Any = box
    key: Any = 0
    if not box:
        return box, None
    while isinstance(parent[key], list | dict) and parent[key] and choices.below(8):
        parent = parent[key]
        keys = list(parent) if isinstance(parent, dict) else range(len(parent))
        key = choices.pick(keys)
    return parent, key


def _number_near(value: float, choices: Choices) -> float:
    """Return a number near to or far from another, or the same number in another form."""
    step = choices.pick((1, -1, 0.5, 1e-3, -1e-6, 1e-9, -1e-12, 10, -1000, 10**9, 3e-7))
    match choices.below(6):
        case 0:
            return -value
        case 1 if abs(value) < 1e290:
            return value * choices.pick((2, 10, 1e6, 1e-6, 1 + 1e-9, 0.1))
        case 2:
            return float(value) if abs(value) < 1e300 else 0
        case 3 if abs(value) < 1e15:
            return round(value)
        case _ if abs(value) < 1e290:
            return value + step
        case _:
            return value


def _respelt(text: str, choices: Choices) -> str:
    """Return a text in which something new replaces a part, or is inserted before it."""
    at = choices.below(min(len(text), 65_536))
    end = at + 1 + choices.below(64)
    new = choices.pick(
        ("", " ", "\n", "0", "1", "-", "9" * 40, "A", "B", "\0", "\ud800", "(", ")", "*", "**", "/",
         "x", "y", "1e308", "e", ".", ",", text[at:end] * 20, text[::-1][:200], "²", "İ", "\u2028")
    )  # fmt: skip
    return text[:at] + new + text[choices.pick((at, end)) :]


def as_line(value: Any) -> bytes:  # noqa: ANN401  (JSON)
    """Return a JSON value as the bytes of a line; infinities and lone surrogates are allowed."""
    return json.dumps(value).encode()


def check_text(text: str, limit: int) -> None:
    """Check that a message can be shown."""
    assert len(text) <= limit, "a message is too long to be shown"
    assert text.isprintable(), "a message could steer a terminal"
    text.encode()
