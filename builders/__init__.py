"""Builders make instances: the paper's list, fresh seeded ones, and a reference answer for each."""
