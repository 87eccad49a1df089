"""The system call filter, run here like in the kernel, for both architectures."""

import errno
import re
import struct
from pathlib import Path

import pytest

from scbench.machine.sandbox import system_calls
from scbench.machine.sandbox.system_calls import filter_program

ALLOWED, KILLED = 0x7FFF0000, 0x80000000
DENIED, UNKNOWN, NO_TERMINAL = (
    0x50000 | number for number in (errno.EPERM, errno.ENOSYS, errno.ENOTTY)
)
MACHINES = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
I386 = 0x40000003


def answer(machine, number, *arguments, for_program=True, architecture=None):
    """The filter's answer to a call."""
    padded = (*arguments, *[0] * 6)[:6]
    architecture = architecture or MACHINES[machine]
    data = struct.pack("=IIQ6Q", number, architecture, 0, *padded)
    code = filter_program(for_program=for_program, machine=machine)
    place = loaded = 0
    while True:
        what, yes, no, value = struct.unpack_from("=HBBI", code, 8 * place)
        place += 1
        if what == 0x20:
            (loaded,) = struct.unpack_from("=I", data, value)
        elif what == 0x06:
            return value
        else:
            test = {0x15: loaded == value, 0x35: loaded >= value, 0x45: loaded & value}[
                what
            ]
            place += yes if test else no


def numbers(table, machine):
    column = 1 + list(MACHINES).index(machine)
    found = [entry.split()[column] for entry in table.split(",")]
    return {int(number) for number in found if number != "-"}


@pytest.mark.parametrize("for_program", [True, False])
@pytest.mark.parametrize("machine", MACHINES)
def test_only_listed_calls_are_allowed(machine, for_program):
    listed = numbers(system_calls._FUNCTION, machine)
    if for_program:
        listed |= numbers(system_calls._PROGRAM, machine)
        listed |= {
            it[machine == "aarch64"]
            for it in (system_calls._CLONE, system_calls._SENDTO)
        }
    listed.add(system_calls._PRLIMIT[machine == "aarch64"])
    through = {
        number
        for number in range(1000)
        if answer(machine, number, for_program=for_program) == ALLOWED
    }
    assert through == listed
    killed = {number for number in range(1000) if answer(machine, number) == KILLED}
    assert killed == numbers(system_calls._FATAL, machine)


@pytest.mark.parametrize("machine", MACHINES)
def test_functions_open_and_start_nothing(machine):
    names = {"open", "openat", "execve", "fork", "vfork", "kill", "pipe2", "mkdirat"}
    for entry in system_calls._PROGRAM.split(","):
        if entry.split()[0] in names:
            for number in numbers(entry, machine):
                assert answer(machine, number) == ALLOWED
                assert answer(machine, number, for_program=False) == DENIED
    assert (
        answer(machine, system_calls._CLONE[machine == "aarch64"], for_program=False)
        == DENIED
    )


@pytest.mark.parametrize("machine", MACHINES)
@pytest.mark.parametrize(
    ("call", "arguments", "expected"),
    [
        ("_CLONE", (17,), ALLOWED),  # SIGCHLD: fork
        ("_CLONE", (0x3D0F00,), ALLOWED),  # a thread
        *[("_CLONE", (1 << bit | 17,), DENIED) for bit in (17, 25, 26, 27, 28, 29, 30)],
        ("_PRCTL", (15,), ALLOWED),
        ("_PRCTL", (1,), DENIED),
        ("_PRCTL", (22, 2), DENIED),
        ("_IOCTL", (1, 0x5401), ALLOWED),
        (
            "_IOCTL",
            (4, 0x40049409, 3),
            ALLOWED,
        ),  # of Python 3.14, which takes no ENOTTY for it
        ("_IOCTL", (1, 0x5412), NO_TERMINAL),
        (
            "_IOCTL",
            (1, 0x5412 | 1 << 32),
            NO_TERMINAL,
        ),  # the kernel takes the lower half
        ("_PRLIMIT", (0, 7), ALLOWED),
        ("_PRLIMIT", (1, 7), DENIED),
        ("_SOCKETPAIR", (1,), ALLOWED),
        ("_SOCKETPAIR", (30,), DENIED),
        ("_SENDTO", (3, 1, 1, 0, 0), ALLOWED),
        ("_SENDTO", (3, 1, 1, 0, 1), DENIED),
        ("_SENDTO", (3, 1, 1, 0, 1 << 32), DENIED),
    ],
)
def test_some_calls_depend_on_their_arguments(machine, call, arguments, expected):
    number = getattr(system_calls, call)[machine == "aarch64"]
    assert answer(machine, number, *arguments) == expected


@pytest.mark.parametrize("machine", MACHINES)
def test_newer_calls_look_unknown_so_that_libraries_use_older_ones(machine):
    assert answer(machine, 435) == UNKNOWN  # clone3
    assert answer(machine, 2000) == UNKNOWN


def test_calls_of_other_architectures_end_the_process():
    assert answer("x86_64", 20, architecture=I386) == KILLED
    assert answer("x86_64", 0, architecture=MACHINES["aarch64"]) == KILLED
    assert answer("x86_64", 0x40000000) == KILLED  # x32


@pytest.mark.parametrize(
    ("machine", "header"),
    [
        ("x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
        ("aarch64", "/usr/include/asm-generic/unistd.h"),
    ],
)
def test_numbers_match_the_kernel(machine, header):
    if not Path(header).exists():
        pytest.skip("the kernel's headers are not installed (Debian: linux-libc-dev)")
    text = Path(header).read_text("utf-8")
    known = dict(re.findall(r"#define __NR(?:3264)?_(\w+)\s+(\d+)", text))
    aliases = {"newfstatat": "fstatat", "fadvise64": "fadvise64"}
    tables = (system_calls._FUNCTION, system_calls._PROGRAM, system_calls._FATAL)
    for entry in ",".join(tables).split(","):
        name, *columns = entry.split()
        number = columns[list(MACHINES).index(machine)]
        expected = known.get(name, known.get(aliases.get(name, name), "-"))
        assert (name, number) == (name, expected)
