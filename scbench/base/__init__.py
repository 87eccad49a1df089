"""What everything stands on: the model of the data, errors, canonical JSON, seeds, intervals."""

__version__ = "2.1.0"
