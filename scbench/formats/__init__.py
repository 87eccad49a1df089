"""Predictions in, prompts out, and the files of other programs, both ways."""
