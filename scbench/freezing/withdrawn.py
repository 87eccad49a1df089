"""Instances that were found to be wrong after a release, with the reasons."""

import json
import tomllib
from pathlib import Path

from scbench.base.errors import ReleaseError


def read_withdrawn(path: Path) -> dict[str, str]:
    """Read which instances are withdrawn, and why.

    Args:
        path: TOML or JSON file (by its ending) of instance ids, each with a reason::

            "two_segments/07" = "its frame is drawn with one side missing"

    Raises:
        ReleaseError: the file cannot be read, or a reason is not one line of text.
    """
    try:
        text = path.read_text("utf-8")
        reasons = json.loads(text) if path.suffix == ".json" else tomllib.loads(text)
    except OSError as error:
        raise ReleaseError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        kind = "JSON" if path.suffix == ".json" else "TOML"
        raise ReleaseError(f"{path} is not {kind}: {error}") from None
    if not isinstance(reasons, dict):
        raise ReleaseError(f"{path} must hold instance ids, each with a reason")
    for name, reason in reasons.items():
        if not (isinstance(reason, str) and reason.strip() and reason.isprintable()):
            raise ReleaseError(
                f"{path}: {name[:200]!r} needs a reason, as one line of text; quote ids, as in "
                '"two_segments/07" = "why"'
            )
    return {name: reason.strip() for name, reason in reasons.items()}
