"""Integrations: other evaluation tools run the benchmark, and our graders score it."""
