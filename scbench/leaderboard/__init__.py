"""Submissions to the leaderboard: checked, graded again, and shown on a board."""
