"""Writing ``submission.yaml``, with a comment above each key that needs one."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from scbench.base.data import packaged_toml
from scbench.base.errors import ResultsError
from scbench.leaderboard.submission import Submission
from scbench.leaderboard.submission_files import ABOUT
from scbench.machine.files import write_whole

# Defaults that are left out of the file.
_DEFAULTS: Mapping[str, Any] = {"tools": [], "links": {}, "tasks": "spatial"}
# YAML reads these words as null or booleans unless they are quoted.
_RESERVED = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def write_about(folder: Path, about: Submission) -> Path:
    """Write ``submission.yaml`` into a folder, which is created if necessary.

    Raises:
        ResultsError: the file already exists, or it cannot be written.
    """
    path = folder / ABOUT
    try:
        folder.mkdir(parents=True, exist_ok=True)
        # A broken link counts as missing, but would be replaced.
        if path.exists() or path.is_symlink():
            raise ResultsError(f"{path} already exists; edit it, or remove it first")
        write_whole(path, lambda part: part.write_text(about_text(about), "utf-8"))
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror}") from None
    return path


def about_text(about: Submission) -> str:
    """Return the text of a ``submission.yaml``."""
    record = about.model_dump(mode="json", exclude_none=True)
    lines = []
    for key, comment in packaged_toml("scbench.leaderboard", "about.toml").items():
        value = record.get(key)
        if value is None or value == _DEFAULTS.get(key):
            continue
        if comment:
            lines.append(f"# {comment}")
        if isinstance(value, dict) and value:
            lines.append(f"{key}:")
            for name, part in value.items():
                lines.append(f"  {yaml_text(name)}: {yaml_text(part)}")
        else:
            lines.append(f"{key}: {yaml_text(value)}")
    return "\n".join(lines) + "\n"


def yaml_text(value: Any) -> str:  # noqa: ANN401
    """Return a value as JSON, which is valid YAML; plain words are not quoted."""
    if (
        isinstance(value, str)
        and value.isidentifier()
        and value.lower() not in _RESERVED
    ):
        return value
    return json.dumps(value, ensure_ascii=False)
