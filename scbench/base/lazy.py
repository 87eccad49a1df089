"""Lazy imports of a package's names."""

import sys
from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any


def lazy_lookup(
    package: str, homes: Mapping[str, Sequence[str]], submodules: Sequence[str] = ()
) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package whose names are imported when first used.

    Editors and mypy get the names from imports under ``TYPE_CHECKING`` in the package.

    Args:
        package: its name.
        homes: names by the module that defines them.
        submodules: submodules of the package, which can be used without a separate import.
    """
    home_of = {name: module for module, names in homes.items() for name in names}

    def lookup(name: str) -> Any:  # noqa: ANN401  (whatever the name means)
        if name in submodules:
            return import_module(f"{package}.{name}")
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        value = getattr(import_module(home_of[name]), name)
        # Later lookups find the name without this function.
        setattr(sys.modules[package], name, value)
        return value

    return lookup
