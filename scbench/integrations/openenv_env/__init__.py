"""The Spatial Competence Benchmark as an environment of OpenEnv."""

from scbench.integrations.openenv import Reply, Shown, SpatialClient

__all__ = ["Reply", "Shown", "SpatialClient"]
