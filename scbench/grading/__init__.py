"""Grading a predictions file: chunks, workers, checkpoint, and the run itself."""
