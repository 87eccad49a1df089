"""Models in a loop with graders and simulators: settings retry, probe and act (docs/loop.md)."""

from scbench.loop.asking import playable
from scbench.loop.environment import Environment, Step
from scbench.loop.replay import TraceError, grade_line, replay
from scbench.trace import Setup

__all__ = ["Environment", "Setup", "Step", "TraceError", "grade_line", "playable", "replay"]
