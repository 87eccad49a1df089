"""The client, in the place where OpenEnv expects it."""

from scbench.integrations.openenv import SpatialClient

__all__ = ["SpatialClient"]
