"""The version of the package: below everything, so that any module may ask for it."""

__version__ = "2.1.0"
