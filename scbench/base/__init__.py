"""The foundation: the data model, errors, canonical JSON, seeds, intervals."""

__version__ = "4.0.0"
