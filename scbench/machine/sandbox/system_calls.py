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

_FUNCTION = """
brk 12 214, mmap 9 222, munmap 11 215, mprotect 10 226, mremap 25 216, madvise 28 233,
membarrier 324 283, futex 202 98, set_robust_list 273 99, get_robust_list 274 100,
set_tid_address 218 96, rseq 334 293, sched_yield 24 124, sched_getaffinity 204 123,
getcpu 309 168, gettid 186 178, getpid 39 172, getppid 110 173, rt_sigaction 13 134,
rt_sigprocmask 14 135, rt_sigreturn 15 139, rt_sigpending 127 136, rt_sigsuspend 130 133,
rt_sigtimedwait 128 137, sigaltstack 131 132, restart_syscall 219 128, pause 34 -, alarm 37 -,
setitimer 38 103, getitimer 36 102, clock_gettime 228 113, clock_getres 229 114,
clock_nanosleep 230 115, nanosleep 35 101, gettimeofday 96 169, time 201 -, times 100 153,
getrusage 98 165, read 0 63, write 1 64, readv 19 65, writev 20 66, pread64 17 67,
pwrite64 18 68, lseek 8 62, close 3 57, close_range 436 436, dup 32 23, dup2 33 -, dup3 292 24,
fcntl 72 25, fstat 5 80, newfstatat 262 79, poll 7 -, ppoll 271 73, select 23 -,
pselect6 270 72, getrandom 318 278, getrlimit 97 163, setrlimit 160 164, getuid 102 174,
geteuid 107 175, getgid 104 176, getegid 108 177, getresuid 118 148, getresgid 120 150,
getgroups 115 158, getpgid 121 155, getpgrp 111 -, getsid 124 156, getpriority 140 141,
uname 63 160, sysinfo 99 179, arch_prctl 158 -, exit 60 93, exit_group 231 94
"""
"""What every child may call: name, number on x86_64, number on aarch64."""
_PROGRAM = """
open 2 -, openat 257 56, creat 85 -, stat 4 -, lstat 6 -, statx 332 291, access 21 -,
faccessat 269 48, faccessat2 439 439, readlink 89 -, readlinkat 267 78, getdents 78 -,
getdents64 217 61, getcwd 79 17, chdir 80 49, fchdir 81 50, mkdir 83 -, mkdirat 258 34,
rmdir 84 -, unlink 87 -, unlinkat 263 35, rename 82 -, renameat 264 38, renameat2 316 276,
link 86 -, linkat 265 37, symlink 88 -, symlinkat 266 36, chmod 90 -, fchmod 91 52,
fchmodat 268 53, umask 95 166, utimensat 280 88, truncate 76 45, ftruncate 77 46,
fallocate 285 47, fsync 74 82, fdatasync 75 83, msync 26 227, flock 73 32, statfs 137 43,
fstatfs 138 44, fadvise64 221 223, copy_file_range 326 285, sendfile 40 71, preadv 295 69,
pwritev 296 70, listxattr 194 11, llistxattr 195 12, pipe 22 -, pipe2 293 59,
epoll_create 213 -, epoll_create1 291 20, epoll_ctl 233 21, epoll_wait 232 -,
epoll_pwait 281 22, eventfd2 290 19, recvfrom 45 207, shutdown 48 210, getsockname 51 204,
getsockopt 55 209, setsockopt 54 208, fork 57 -, vfork 58 -, execve 59 221, wait4 61 260,
waitid 247 95, kill 62 129, tkill 200 130, tgkill 234 131, setpgid 109 154, setsid 112 157,
sched_getscheduler 145 120, sched_getparam 143 121, sched_get_priority_max 146 125,
sched_get_priority_min 147 126
"""
"""What programs may call besides; functions have no use for files and processes."""
_FATAL = """
ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, kcmp 312 272, bpf 321 280,
perf_event_open 298 241, userfaultfd 323 282, io_uring_setup 425 425, io_uring_enter 426 426,
io_uring_register 427 427, add_key 248 217, request_key 249 218, keyctl 250 219,
open_by_handle_at 304 265, kexec_load 246 104, kexec_file_load 320 294, init_module 175 105,
finit_module 313 273, delete_module 176 106
"""
"""What ends the process."""
_PRCTL, _IOCTL, _PRLIMIT = (157, 167), (16, 29), (302, 261)
_CLONE, _SOCKETPAIR, _SENDTO, _KEYCTL = (56, 220), (53, 199), (44, 206), (250, 219)

_OPTIONS = (3, 15, 16, 39, 0x53564D41)
"""Of prctl: tell PR_GET_DUMPABLE and PR_GET_NO_NEW_PRIVS, name threads and memory."""
_REQUESTS = (0x5401, 0x802C542A, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451, 0x40049409)
"""Of ioctl: is it a terminal, how large, how much to read, block, close on exec, copy a file."""
_NEW_NAMESPACES = 0x7E020000
"""Flags of clone that make namespaces."""
_UNIX = 1

_ARCHITECTURES: Mapping[str, tuple[int, int]] = {
    "x86_64": (0, 0xC000003E),
    "aarch64": (1, 0xC00000B7),
}
"""Column in the tables above, and what the kernel calls the architecture."""
_LOAD, _EQUAL, _AT_LEAST, _ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NUMBER, _ARCHITECTURE, _ARGUMENTS = 0, 4, 16
_ALLOW, _ERROR, _KILL = 0x7FFF0000, 0x00050000, 0x80000000
_YOUNG, _FOREIGN = 424, 0x40000000
"""The first number of Linux 5.1, from which on all architectures number alike; the bit of x32."""

Instruction = tuple[int, int, int, int]


@cache
def filter_program(*, for_program: bool, machine: str = "") -> bytes:
    """Return the filter as the kernel takes it (struct sock_filter), empty if there is none here.

    Args:
        for_program: whether it is for a program that we were given, or for a function of ours.
        machine: as ``platform.machine`` says it; by default this one.
    """
    here = sys.platform == "linux" and struct.calcsize("P") == 8
    calls = _ARCHITECTURES.get(machine or (platform.machine() if here else ""))
    if calls is None:
        return b""
    column, architecture = calls
    return b"".join(
        struct.pack("=HBBI", *it) for it in _instructions(column, architecture, for_program)
    )


def keyctl_number() -> int | None:
    """Return the number of keyctl here, which no C library offers; None if unknown."""
    calls = _ARCHITECTURES.get(platform.machine()) if sys.platform == "linux" else None
    return _KEYCTL[calls[0]] if calls else None


def _instructions(column: int, architecture: int, program: bool) -> Iterator[Instruction]:  # noqa: FBT001
    yield _LOAD, 0, 0, _ARCHITECTURE
    yield _EQUAL, 1, 0, architecture
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER
    yield _AT_LEAST, 0, 1, _FOREIGN
    yield _RETURN, 0, 0, _KILL
    for number in _call_numbers(_FUNCTION + "," + _PROGRAM if program else _FUNCTION, column):
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
        nowhere: list[Instruction] = [_argument(4), (_EQUAL, 0, 3, 0), _argument(4, high=True)]
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
    return [_argument(place), *(it for value in values for it in _answer_call(value, _ALLOW))]


def _checked_call(
    number: int, check: list[Instruction], refusal: int = errno.EPERM
) -> Iterator[Instruction]:
    """Let a check allow a call; what it lets through is refused."""
    yield _EQUAL, 0, len(check) + 1, number
    yield from check
    yield _RETURN, 0, 0, _ERROR | refusal
