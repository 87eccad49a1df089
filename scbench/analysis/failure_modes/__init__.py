"""Why answers score low: an optional diagnosis after grading, which never changes a score."""
