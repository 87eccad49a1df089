"""The client, at the place where OpenEnv looks for it."""

from scbench.integrations.openenv import SpatialClient

__all__ = ["SpatialClient"]
