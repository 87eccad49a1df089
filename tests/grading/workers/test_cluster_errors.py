"""Messages about jobs that failed on a cluster, tested without one."""

import pytest

from scbench.grading.workers import cluster


@pytest.mark.parametrize(
    ("message", "line"),
    [
        ("lost\nand more", "lost"),
        ("", "ValueError"),
        ("x" * 200, "x" * 200),
        ("x" * 201, "x" * 200),
    ],
)
def test_error_is_one_line_of_at_most_200_characters(message, line):
    assert cluster.error_line(ValueError(message)) == line
