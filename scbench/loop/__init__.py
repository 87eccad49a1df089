"""Models in a loop with graders and simulators: retry, probe and act (docs/environments.md)."""

from scbench.base.model import Setup
from scbench.loop.environment import Environment, Step, TraceError, grade_line, replay
from scbench.loop.games import playable

__all__ = [
    "Environment",
    "Setup",
    "Step",
    "TraceError",
    "grade_line",
    "playable",
    "replay",
]
