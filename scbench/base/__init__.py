"""The foundation: the data model, errors, canonical JSON, seeds, intervals."""

__version__ = "3.0.0"
