"""The system calls that a child may make, as a filter for Linux (seccomp), by list of what may be.

A call that is not on a list is answered with an error: "not permitted" if it is older than Linux
5.1, "not known" if it is younger, upon which C libraries do the same in an older way. Calls that
nobody makes by mistake and that reach deep into the kernel end the process instead, as do calls
from another architecture's table. Source: man 2 seccomp; numbers from the kernel's unistd.h.
"""

import errno
import platform
import struct
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

_FUNCTION, _PROGRAM, _FATAL = (
    Path(__file__).with_name("system_calls.txt").read_text("ascii").split("\n\n")
)
"""What every child may call; what programs may call besides, as functions have no use for files and
processes; and what ends the process: each name with its number on x86_64 and on aarch64."""
_PRCTL, _IOCTL, _PRLIMIT = (157, 167), (16, 29), (302, 261)
_CLONE, _SOCKETPAIR, _SENDTO, _KEYCTL = (56, 220), (53, 199), (44, 206), (250, 219)

# Of prctl: tell PR_GET_DUMPABLE and PR_GET_NO_NEW_PRIVS, name threads and memory.
_OPTIONS = (3, 15, 16, 39, 0x53564D41)
# Of ioctl: is it a terminal, how large, how much to read, block, close on exec, copy a
# file.
_REQUESTS = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x40049409)
# Flags of clone that make namespaces.
_NEW_NAMESPACES = 0x7E020000
_UNIX = 1

# Column in the tables above, and what the kernel calls the architecture.
_ARCHITECTURES: Mapping[str, tuple[int, int]] = {
    "x86_64": (0, 0xC000003E),
    "aarch64": (1, 0xC00000B7),
}
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_YOUNG, _FOREIGN = 424, 0x40000000
"""The first number of Linux 5.1, from which on all architectures number alike; the bit of x32."""

Instruction = tuple[int, int, int, int]


@cache
def filter_program(*, for_program: bool, machine: str = "") -> bytes:
    """Return the filter as the kernel takes it (struct sock_filter), empty if there is none here.

    It is for a program that we were given, or for a function of ours; the machine is as
    ``platform.machine`` says it, by default this one.
    """
    here = sys.platform == "linux" and struct.calcsize("P") == 8
    calls = _ARCHITECTURES.get(machine or (platform.machine() if here else ""))
    if calls is None:
        return b""
    column, architecture = calls
    return b"".join(
        struct.pack("=HBBI", *it)
        for it in _instructions(column, architecture, for_program)
    )


def keyctl_number() -> int | None:
    """Return the number of keyctl here, which no C library offers; None if unknown."""
    calls = _ARCHITECTURES.get(platform.machine()) if sys.platform == "linux" else None
    return _KEYCTL[calls[0]] if calls else None


def _instructions(
    column: int,
    architecture: int,
    program: bool,  # noqa: FBT001
) -> Iterator[Instruction]:
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _EQUAL, 1, 0, architecture
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    yield _AT_LEAST, 0, 1, _FOREIGN
    yield _RETURN, 0, 0, _KILL
    for number in _call_numbers(
        _FUNCTION + "," + _PROGRAM if program else _FUNCTION, column
    ):
        yield from _answer_call(number, _ALLOW)
    for number in _call_numbers(_FATAL, column):
        yield from _answer_call(number, _KILL)
    yield from _checked_call(_PRCTL[column], _one_of(0, _OPTIONS))
    yield from _checked_call(_IOCTL[column], _one_of(1, _REQUESTS), errno.ENOTTY)
    yield from _checked_call(_PRLIMIT[column], _one_of(0, (0,)))
    if program:
        flags: list[Instruction] = [_argument(0), (_ANY_BIT, 1, 0, _NEW_NAMESPACES)]
        yield from _checked_call(_CLONE[column], [*flags, (_RETURN, 0, 0, _ALLOW)])
        yield from _checked_call(_SOCKETPAIR[column], _one_of(0, (_UNIX,)))
        # Over what is connected already, not to an address.
        nowhere: list[Instruction] = [
            _argument(4),
            (_EQUAL, 0, 3, 0),
            _argument(4, high=True),
        ]
        nowhere += [(_EQUAL, 0, 1, 0), (_RETURN, 0, 0, _ALLOW)]
        yield from _checked_call(_SENDTO[column], nowhere)
    yield _AT_LEAST, 0, 1, _YOUNG
    yield _RETURN, 0, 0, _ERROR | errno.ENOSYS
    yield _RETURN, 0, 0, _ERROR | errno.EPERM


def _call_numbers(table: str, column: int) -> Iterator[int]:
    for entry in table.split(","):
        number = entry.split()[1 + column]
        if number != "-":
            yield int(number)


def _answer_call(number: int, action: int) -> Iterator[Instruction]:
    yield _EQUAL, 0, 1, number
    yield _RETURN, 0, 0, action


def _argument(place: int, *, high: bool = False) -> Instruction:
    """Load half of an argument; both architectures put the lower half first."""
    return _LOAD, 0, 0, _ARGUMENTS + 8 * place + 4 * high


def _one_of(place: int, values: tuple[int, ...]) -> list[Instruction]:
    """Allow the call if an argument, which the kernel takes as 32 bits, is one of these."""
    return [
        _argument(place),
        *(it for value in values for it in _answer_call(value, _ALLOW)),
    ]


def _checked_call(
    number: int, check: list[Instruction], refusal: int = errno.EPERM
) -> Iterator[Instruction]:
    """Let a check allow a call; what it lets through is refused."""
    yield _EQUAL, 0, len(check) + 1, number
    yield from check
    yield _RETURN, 0, 0, _ERROR | refusal
