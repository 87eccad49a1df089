"""What everything stands on: the model of the data, errors, canonical JSON, seeds, intervals."""

__version__ = "3.0.0"
