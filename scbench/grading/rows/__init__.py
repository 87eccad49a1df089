"""Chunks, parsed lines, coverage, and the rows and columns of the results."""
