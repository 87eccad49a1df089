"""Set the address of the repository in the links of the package.

::

    python tools/set_repository.py https://github.com/acme/scbench

Run it once before the package is published: until then, the links name a placeholder. Package
indexes show these links next to the README.
"""

import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
# The link that is the address itself; others begin with it.
SOURCE = "Source"


def with_repository(text: str, address: str) -> str:
    """Return pyproject.toml with another address of the repository."""
    current = tomllib.loads(text)["project"]["urls"][SOURCE]
    return text.replace(f'"{current}', f'"{address.rstrip("/")}')


if __name__ == "__main__":
    PROJECT.write_text(
        with_repository(PROJECT.read_text("utf-8"), sys.argv[1]), "utf-8"
    )
