"""TOML files of texts and values, stored next to the modules that use them."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def packaged_toml(package: str, name: str) -> dict[str, Any]:
    """Return the contents of a TOML file in a package. They are cached: do not change them."""
    return tomllib.loads(files(package).joinpath(name).read_text("utf-8"))
