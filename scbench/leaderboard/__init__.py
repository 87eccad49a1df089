"""Leaderboard submissions: validation, grading, and the board."""
