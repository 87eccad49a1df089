"""Submissions to the leaderboard: checked, graded anew, and shown on a board."""
