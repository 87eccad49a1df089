"""Limits that are too low are refused in one sentence."""

import _thread
import re
import subprocess
import sys
import threading

import pytest

from scbench.base.errors import MachineError
from scbench.machine import limits


@pytest.fixture(autouse=True)
def fresh():
    """Forget earlier checks."""
    limits.check_limits.cache_clear()
    yield
    limits.check_limits.cache_clear()


def test_this_machine_has_enough():
    before = threading.active_count()
    limits.check_limits()
    assert threading.active_count() == before


def test_number_of_threads_grows_with_the_processors_up_to_a_limit(monkeypatch):
    numbers = []
    monkeypatch.setattr(
        limits, "startable_threads", lambda most: numbers.append(most) or most
    )
    for count in (1, 2, 8, 256):
        monkeypatch.setattr(limits, "processors", lambda count=count: count)
        limits.check_limits()
        limits.check_limits.cache_clear()
    assert numbers[0] < numbers[1] < numbers[2] == numbers[3] < 100


def test_too_few_threads_are_named(monkeypatch):
    start = _thread.start_new_thread
    started = []

    def start_if_allowed(function, arguments):
        if len(started) == 3:
            raise RuntimeError("can't start new thread")
        started.append(start(function, arguments))

    monkeypatch.setattr(_thread, "start_new_thread", start_if_allowed)
    with pytest.raises(
        MachineError, match="only 3 more processes or threads"
    ) as caught:
        limits.check_limits()
    assert "`ulimit -u`" in str(caught.value)


def test_threads_are_counted_with_small_stacks_that_later_threads_do_not_get():
    usual_stack = threading.stack_size()
    assert [limits.startable_threads(most) for most in (0, 1, 5)] == [0, 1, 5]
    assert threading.stack_size() == usual_stack


def test_small_address_space_is_not_blamed_on_threads():
    program = (
        "import resource\n"
        "from scbench.machine.limits import startable_threads\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({2**28}, {2**28}))\n"
        "print(startable_threads(32))"
    )
    command = [sys.executable, "-P", "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == "32\n"


@pytest.mark.parametrize(
    ("name", "check", "message"),
    [
        ("RLIMIT_NOFILE", limits.check_limits, "may open only 63 files"),
        ("RLIMIT_AS", limits.check_memory, "only 5.9e-08 GiB of address space"),
    ],
)
def test_low_soft_limit_is_named(monkeypatch, name, check, message):
    number = getattr(limits.resource, name)
    unlimited = limits.resource.RLIM_INFINITY
    soft_limits = {number: 63}
    monkeypatch.setattr(
        limits.resource,
        "getrlimit",
        lambda limit: (soft_limits.get(limit, unlimited), unlimited),
    )
    with pytest.raises(MachineError, match=re.escape(message)):
        check()
    soft_limits[number] = unlimited
    check()


def test_command_names_the_limit_before_it_imports_its_libraries():
    # Libraries that cannot start threads end the process, or blame the files that they read.
    program = (
        "import _thread, atexit, sys\n"
        "from scbench.cli.main import run\n"
        "def refuse(*_):\n"
        '    raise RuntimeError("can\'t start new thread")\n'
        "_thread.start_new_thread = refuse\n"
        "atexit.register(lambda: print('polars' in sys.modules))\n"
        "sys.argv = ['scbench', 'tables', 'results']\n"
        "run()"
    )
    command = [sys.executable, "-P", "-c", program]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 4
    assert done.stderr.startswith("error: this user may start only 0 more processes")
    assert "`ulimit -u`" in done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stdout == "False\n"


def test_limits_are_unknown_on_systems_without_them(monkeypatch):
    monkeypatch.setattr(limits, "HAS_LIMITS", False)
    monkeypatch.setattr(limits, "resource", None)
    limits.check_limits()
    limits.check_memory()
    limits.limit_memory(1)


def test_memory_limit_stays_below_the_hard_one():
    hard = 3 * 2**30
    program = (
        "import resource\n"
        "from scbench.machine.limits import limit_memory\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({hard}, {hard}))\n"
        "limit_memory(2**40)\n"
        "print(*resource.getrlimit(resource.RLIMIT_AS))"
    )
    command = [sys.executable, "-P", "-c", program]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout.split() == [str(hard), str(hard)]
