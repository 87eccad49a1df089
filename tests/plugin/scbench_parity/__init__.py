"""A tiny task from another package: is the number of ones even or odd?

Its grader misbehaves if the answer asks for it, which real graders must survive: see `moods`.
"""

from scbench.catalog import Task

TASK = Task("parity", "Parity", "planning", "binary", package="scbench_parity")
