"""What pictures say in legends and captions, from ``words.toml``."""

import tomllib
from functools import cache
from importlib.resources import files


@cache
def _tables() -> dict[str, dict[str, dict[str, str]]]:
    return tomllib.loads(files("scbench.report.pictures").joinpath("words.toml").read_text("utf-8"))


def texts(name: str) -> dict[str, str]:
    """Return one table, such as ``csg_union.faults``: words by check id, role or kind, in order."""
    task, use = name.split(".")
    return _tables()[task][use]
