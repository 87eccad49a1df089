"""Shared fixtures of the benchmarks, and the table of comparisons."""

from typing import NamedTuple

import pytest


def pytest_collection_modifyitems(config, items):
    """Skip tests that only time other programs, unless timing is on."""
    if not config.getoption("benchmark_enable") and not config.getoption(
        "benchmark_only"
    ):
        items[:] = [item for item in items if not item.get_closest_marker("beside")]


class Ratio(NamedTuple):
    """Seconds of our code and another program for the same work, timed alternately in one run."""

    what: str
    beside: str
    ours: float
    theirs: float


RATIOS = pytest.StashKey[list[Ratio]]()


@pytest.fixture
def versus(request):
    """Return a function that records a comparison: name, other program, our seconds, theirs."""
    ratios = request.config.stash.setdefault(RATIOS, [])
    return lambda *found: ratios.append(Ratio(*found))


def pytest_terminal_summary(terminalreporter, config):
    """Print all ratios as one table, in the format of docs/performance.md."""
    ratios = config.stash.get(RATIOS, [])
    if not ratios:
        return
    terminalreporter.section("ours compared with others")
    rows = [
        ("what", "compared with", "ours", "theirs", "ratio"),
        ("---", "---", "--:", "--:", "--:"),
    ]
    rows += [
        (
            ratio.what,
            ratio.beside,
            in_words(ratio.ours),
            in_words(ratio.theirs),
            f"{ratio.theirs / ratio.ours:.3g}",
        )
        for ratio in ratios
    ]
    for row in rows:
        terminalreporter.line(f"| {' | '.join(row)} |")


def in_words(seconds: float) -> str:
    """Write a time with three digits."""
    unit, size = next(
        (unit, size)
        for unit, size in (("s", 1), ("ms", 1e-3), ("us", 0))
        if seconds >= size
    )
    return f"{seconds / (size or 1e-6):.3g} {unit}"
