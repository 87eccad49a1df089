"""Limits that are too low are refused in one sentence."""

import subprocess
import sys
import threading

import pytest

from scbench.base.errors import MachineError
from scbench.machine import limits


@pytest.fixture(autouse=True)
def fresh():
    """Forget what was checked before."""
    limits.check_limits.cache_clear()
    yield
    limits.check_limits.cache_clear()


def test_this_machine_has_enough():
    before = threading.active_count()
    limits.check_limits()
    assert threading.active_count() == before


def test_the_number_of_threads_grows_with_the_processors_up_to_a_limit(monkeypatch):
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
    before = threading.active_count()
    start = threading.Thread.start

    def start_if_allowed(thread):
        if threading.active_count() >= before + 3:
            raise RuntimeError("can't start new thread")
        start(thread)

    monkeypatch.setattr(threading.Thread, "start", start_if_allowed)
    with pytest.raises(
        MachineError, match="only 3 more processes or threads"
    ) as caught:
        limits.check_limits()
    assert "`ulimit -u`" in str(caught.value)
    assert threading.active_count() == before


def test_a_command_names_the_limit_before_it_imports_its_libraries():
    # Libraries that cannot start threads end the process, or blame the files that they read.
    program = (
        "import atexit, sys, threading\n"
        "from scbench.cli.main import run\n"
        "def refuse(thread):\n"
        '    raise RuntimeError("can\'t start new thread")\n'
        "threading.Thread.start = refuse\n"
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


def test_the_limit_of_memory_stays_below_the_hard_one():
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
