"""Models in a loop with graders and simulators: settings retry, probe and act (docs/loop.md)."""

from scbench.base.model import Setup
from scbench.loop.asking import playable
from scbench.loop.environment import Environment, Step, TraceError, grade_line, replay

__all__ = ["Environment", "Setup", "Step", "TraceError", "grade_line", "playable", "replay"]
