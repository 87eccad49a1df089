"""Tables of texts and values that stand in files beside the modules which use them."""

import tomllib
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def packaged_toml(package: str, name: str) -> dict[str, Any]:
    """Return what a TOML file in a package holds; it is read once, and is not to be changed."""
    return tomllib.loads(files(package).joinpath(name).read_text("utf-8"))
