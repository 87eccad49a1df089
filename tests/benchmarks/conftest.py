"""Shared fixtures of the benchmarks, and the table of comparisons."""

from typing import NamedTuple

import pytest

RATIOS = pytest.StashKey[list["Ratio"]]()


def pytest_collection_modifyitems(config, items):
    """Skip tests that only time other programs, unless timing is on."""
    is_timed = config.getoption("benchmark_enable") or config.getoption(
        "benchmark_only"
    )
    if not is_timed:
        items[:] = [item for item in items if not item.get_closest_marker("beside")]


class Ratio(NamedTuple):
    """Seconds of our code and another program for the same work, timed alternately in one run."""

    name: str
    other: str
    ours: float
    theirs: float


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
            ratio.name,
            ratio.other,
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
    if seconds >= 1:
        return f"{seconds:.3g} s"
    if seconds >= 1e-3:
        return f"{seconds * 1e3:.3g} ms"
    return f"{seconds * 1e6:.3g} us"
