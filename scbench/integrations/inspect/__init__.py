"""The benchmark as tasks of Inspect: ``inspect eval scbench/spatial --model ...``."""
