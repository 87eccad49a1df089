"""Objects that Inspect finds under ``scbench/`` through the entry point group."""

from scbench.integrations.inspect.scorer import by_bucket, outcome
from scbench.integrations.inspect.tasks import TASKS, loop, trial

__all__ = ["TASKS", "by_bucket", "loop", "outcome", "trial"]
