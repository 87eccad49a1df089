"""Set the address of the repository in the links of the package.

::

    python tools/set_repository.py https://github.com/acme/scbench

Run it once before publishing the package; until then, the links contain a placeholder. Package
indexes show these links next to the README.
"""

import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
# This link is the address itself; other links begin with the address.
SOURCE = "Source"


def with_repository(text: str, address: str) -> str:
    """Return the text of pyproject.toml with this address of the repository."""
    current = tomllib.loads(text)["project"]["urls"][SOURCE]
    return text.replace(f'"{current}', f'"{address.rstrip("/")}')


if __name__ == "__main__":
    if len(sys.argv) != 2 or not sys.argv[1].startswith("https://"):
        sys.exit("usage: python tools/set_repository.py https://HOST/OWNER/NAME")
    PROJECT.write_text(
        with_repository(PROJECT.read_text("utf-8"), sys.argv[1]), "utf-8"
    )
