"""Builders create instances (the paper's list and new seeded ones) with reference answers."""
