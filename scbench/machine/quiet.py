"""Importing libraries that print while they are loaded: what we print is for users alone."""

import os
from importlib import import_module
from types import ModuleType


def quiet_import(name: str) -> ModuleType:
    """Import a module with standard error shut, below Python as well.

    Raises:
        ImportError: it cannot be imported.
    """
    try:
        saved = os.dup(2)
    except OSError:  # there is none to shut
        return import_module(name)
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 2)
        os.close(nowhere)
        return import_module(name)
    finally:
        os.dup2(saved, 2)
        os.close(saved)
