"""A Linux filter (seccomp) with the system calls that a child may make.

A call that is not on a list is answered with an error: "not permitted" for calls older
than Linux 5.1, and "not known" for newer ones, so that C libraries fall back to older
calls. Dangerous calls that ordinary programs never make end the process, as do calls
from another architecture's table. Source: man 2 seccomp; numbers from the kernel's
unistd.h.
"""

import errno
import platform
import struct
import sys
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple


class Instruction(NamedTuple):
    """An instruction of the filter, struct sock_filter."""

    code: int
    if_true: int
    """Instructions to skip if a test succeeds."""
    if_false: int
    """Instructions to skip if it fails."""
    operand: int


class Architecture(NamedTuple):
    """A processor architecture."""

    column: int
    """Column of the architecture in the tables of numbers."""
    audit_number: int
    """The kernel's number for it."""


class Numbers(NamedTuple):
    """The number of a call on each architecture."""

    x86_64: int
    aarch64: int


# Constants come after their types.

# Calls allowed to every child, additional calls for programs (functions need no files
# or processes), and calls that end the process. Each name has its number on x86_64 and
# on aarch64.
_FUNCTION, _PROGRAM, _FATAL = (
    Path(__file__).with_name("system_calls.txt").read_text("ascii").split("\n\n")
)
# Calls that are allowed with some arguments.
_PRCTL = Numbers(157, 167)
_IOCTL = Numbers(16, 29)
_PRLIMIT = Numbers(302, 261)
_CLONE = Numbers(56, 220)
_SOCKETPAIR = Numbers(53, 199)
_SENDTO = Numbers(44, 206)
_KEYCTL = Numbers(250, 219)

# prctl: read PR_GET_DUMPABLE and PR_GET_NO_NEW_PRIVS, name threads and memory.
_OPTIONS = (3, 15, 16, 39, 0x53564D41)
# ioctl: terminal checks and size, readable bytes, blocking, close on exec, file copies.
_REQUESTS = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x40049409)
# Flags of clone that make namespaces.
_NEW_NAMESPACES = 0x7E020000
# The family of sockets within the machine.
_UNIX = 1

_ARCHITECTURES: Mapping[str, Architecture] = {
    "x86_64": Architecture(0, 0xC000003E),
    "aarch64": Architecture(1, 0xC00000B7),
}
# Instruction codes.
_LOAD = 0x20
_EQUAL = 0x15
_AT_LEAST = 0x35
_ANY_BIT = 0x45
_RETURN = 0x06
# Places in struct seccomp_data, in bytes.
_NUMBER = 0
_ARCHITECTURE = 4
_ARGUMENTS = 16
# Answers to a call; an error has its number in the lower bits.
_ALLOW = 0x7FFF0000
_ERROR = 0x00050000
_KILL = 0x80000000
# The first call number of Linux 5.1; from there on all architectures use the same
# numbers.
_YOUNG = 424
# The bit that marks calls of x32, a second table on x86_64.
_FOREIGN = 0x40000000


@cache
def filter_program(*, for_program: bool, machine: str = "") -> bytes:
    """Return the filter in the kernel's form (struct sock_filter); empty if unsupported.

    Args:
        for_program: whether the filter is for an untrusted program or for one of our
            functions.
        machine: name as in ``platform.machine``; by default this machine.
    """
    is_linux = sys.platform == "linux" and struct.calcsize("P") == 8
    if not machine and is_linux:
        machine = platform.machine()
    architecture = _ARCHITECTURES.get(machine)
    if architecture is None:
        return b""
    instructions = _instructions(architecture, for_program=for_program)
    return b"".join(struct.pack("=HBBI", *step) for step in instructions)


def keyctl_number() -> int | None:
    """Return the number of keyctl, which C libraries do not wrap; None if unknown."""
    if sys.platform != "linux":
        return None
    architecture = _ARCHITECTURES.get(platform.machine())
    return _KEYCTL[architecture.column] if architecture else None


def _instructions(
    architecture: Architecture, *, for_program: bool
) -> list[Instruction]:
    """Return the filter; for each call, the kernel runs it from the top until it answers."""
    column = architecture.column
    steps = [
        Instruction(_LOAD, 0, 0, _ARCHITECTURE),
        Instruction(_EQUAL, 1, 0, architecture.audit_number),
        _answer(_KILL),
        Instruction(_LOAD, 0, 0, _NUMBER),
        Instruction(_AT_LEAST, 0, 1, _FOREIGN),
        _answer(_KILL),
    ]
    allowed = _call_numbers(_FUNCTION, column)
    if for_program:
        allowed += _call_numbers(_PROGRAM, column)
    for number in allowed:
        steps += _if_equal(number, _ALLOW)
    for number in _call_numbers(_FATAL, column):
        steps += _if_equal(number, _KILL)
    steps += _checked_call(_PRCTL[column], _one_of(0, _OPTIONS))
    steps += _checked_call(_IOCTL[column], _one_of(1, _REQUESTS), errno.ENOTTY)
    # Only limits of this process, which has the number 0.
    steps += _checked_call(_PRLIMIT[column], _one_of(0, (0,)))
    if for_program:
        no_namespaces = [
            _load_argument(0),
            Instruction(_ANY_BIT, 1, 0, _NEW_NAMESPACES),
            _answer(_ALLOW),
        ]
        steps += _checked_call(_CLONE[column], no_namespaces)
        steps += _checked_call(_SOCKETPAIR[column], _one_of(0, (_UNIX,)))
        # Only over connected sockets, not to an address: both halves of the address are
        # 0.
        no_address = [
            _load_argument(4),
            Instruction(_EQUAL, 0, 3, 0),
            _load_argument(4, high=True),
            Instruction(_EQUAL, 0, 1, 0),
            _answer(_ALLOW),
        ]
        steps += _checked_call(_SENDTO[column], no_address)
    steps += [
        Instruction(_AT_LEAST, 0, 1, _YOUNG),
        _answer(_ERROR | errno.ENOSYS),
        _answer(_ERROR | errno.EPERM),
    ]
    return steps


def _call_numbers(table: str, column: int) -> list[int]:
    """Return the numbers of the calls in a table that this architecture has."""
    numbers = []
    for entry in table.split(","):
        number = entry.split()[1 + column]
        if number != "-":
            numbers.append(int(number))
    return numbers


def _answer(action: int) -> Instruction:
    return Instruction(_RETURN, 0, 0, action)


def _if_equal(value: int, action: int) -> list[Instruction]:
    """Answer the call if the loaded number is this one."""
    return [Instruction(_EQUAL, 0, 1, value), _answer(action)]


def _load_argument(place: int, *, high: bool = False) -> Instruction:
    """Load half of an argument; both architectures put the lower half first."""
    offset = 8 * place + (4 if high else 0)
    return Instruction(_LOAD, 0, 0, _ARGUMENTS + offset)


def _one_of(place: int, values: Sequence[int]) -> list[Instruction]:
    """Allow the call if an argument, which the kernel takes as 32 bits, is one of these."""
    steps = [_load_argument(place)]
    for value in values:
        steps += _if_equal(value, _ALLOW)
    return steps


def _checked_call(
    number: int, check: list[Instruction], refusal: int = errno.EPERM
) -> list[Instruction]:
    """Allow a call if a check allows it; otherwise refuse it."""
    # Any other call skips the check and the refusal.
    skip = Instruction(_EQUAL, 0, len(check) + 1, number)
    return [skip, *check, _answer(_ERROR | refusal)]
