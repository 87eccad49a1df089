"""Attacks on the sandbox: each is refused, and later programs are judged normally.

The attacks are in ``attacks.py``. One program makes them all, in every kind of sandbox that works
on this machine; this module lists the expected outcome of each.
"""

import json
import os
import platform
from functools import cache
from pathlib import Path

import pytest

from scbench.machine import sandbox
from scbench.machine.sandbox import (
    ChildError,
    Limits,
    launch,
    run_python,
    system_calls,
)

KINDS = [
    name for name in sandbox.KINDS if name != "rlimits" and not sandbox.trouble(name)
]
LIMITS = Limits(seconds=600, memory=2**29, output=2**20, processes=6, files=2**20)
NUMBERS = {
    word.split()[0]: word.split()[1 + (platform.machine() == "aarch64")]
    for word in (
        system_calls._FATAL + ",clone 56 220,clone3 435 435,fsopen 430 430"
    ).split(",")
}
EXPECTED = {
    name: end
    for end, names in {
        "signal 31": """
            key_left key_read keyring traced_parent traced_itself memory_of_the_parent
            memory_of_the_parent_written bpf perf_events io_uring page_faults file_handle
            another_kernel kernel_module kernel_module_from_a_file calls_of_32_bits calls_of_x32
        """,
        "EPERM": """
            shared_memory_hoard memory_file_hoard message_queue semaphores nested_user_namespace
            cloned_user_namespace entering_a_namespace mount mounted_processes pivot_root chroot
            personality raised_limits_of_another raised_limits outliving_the_parent open_to_tracing
            socket_inet socket_inet6 socket_unix socket_netlink socket_packet socket_crypto
            socket_virtual_machine datagram_to_an_address device fifo
        """,
        "ENOSYS": "clone3_with_flags new_mount_calls",
        "ENOENT": "memory_through_proc terminal",
        "ENOTTY": "typed_into_the_terminal",
        "EFBIG": "sparse_file",
        "ENOSPC": "empty_files",
        "nothing": """
            handed_descriptors environment installed_packages signal_to_the_first_process
        """,
    }.items()
    for name in names.split()
}
ELSEWHERE = (
    {"calls_of_32_bits", "calls_of_x32"} if platform.machine() != "x86_64" else set()
)


@pytest.fixture(autouse=True)
def allowed(monkeypatch):
    monkeypatch.setattr(sandbox, "_allowed", True)


@cache
def ended(kind: str) -> dict[str, str]:
    """The outcome of each attack, by name."""
    os.environ["SCBENCH_ANYTHING"] = "hidden"
    try:
        source = Path(__file__).with_name("attacks.py").read_text("utf-8")
        numbers = f"NUMBERS = { ({name: int(number) for name, number in NUMBERS.items()})!r}\n"
        done = run_python(numbers.encode() + source.encode(), LIMITS, kind)
    finally:
        del os.environ["SCBENCH_ANYTHING"]
    assert done.code == 0, done.stderr.decode()
    return json.loads(done.stdout)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", sorted(EXPECTED.keys() - ELSEWHERE))
def test_attack_is_refused(kind, name):
    assert ended(kind)[name] == EXPECTED[name]


@pytest.mark.parametrize("kind", KINDS)
def test_every_attack_has_an_expected_outcome(kind):
    assert ended(kind).keys() == EXPECTED.keys() - ELSEWHERE


@pytest.mark.parametrize("kind", KINDS)
def test_attack_on_its_own_process_group_ends_nothing_else(kind):
    with pytest.raises(ChildError, match="signal 9"):
        run_python(b"import os; os.kill(0, 9)", LIMITS, kind)
    assert run_python(b"print(1)", LIMITS, kind).stdout == b"1\n"


@pytest.mark.parametrize(
    ("known", "first", "count"),
    [
        ("0 0 4294967295", 0x70000000, launch.USERS_EACH),
        ("0 100000 65536", 65534, 1),  # a container with few users
        ("0 1000 1", None, 1),  # with none but root
    ],
)
def test_children_of_root_are_separate_users_if_possible(
    monkeypatch, known, first, count
):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(Path, "read_text", lambda *_: f"  {known}\n")
    users = {launch.own_user() for _ in range(launch.USERS_EACH)}
    assert len(users) == count
    assert users == {first} or 0x70000000 <= min(users) <= max(users) < 0x80000000
