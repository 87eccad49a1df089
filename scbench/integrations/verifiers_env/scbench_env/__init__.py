"""The Spatial Competence Benchmark as an environment of verifiers."""

from scbench.integrations.verifiers import SpatialEnv, SpatialHarness, SpatialTaskset

__all__ = ["SpatialEnv", "SpatialHarness", "SpatialTaskset"]
