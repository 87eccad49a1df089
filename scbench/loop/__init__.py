"""Models in a loop with graders and simulators: retry, probe and act (docs/environments.md)."""

from scbench.base.model import Setup
from scbench.loop.beginning import playable
from scbench.loop.environment import Environment, Step
from scbench.loop.replaying import TraceError, grade_line, replay

__all__ = [
    "Environment",
    "Setup",
    "Step",
    "TraceError",
    "grade_line",
    "playable",
    "replay",
]
