"""Run mypy over the package as it installs.

The rooms builders/, graders/ and others stand beside scbench/ in the repository and below it once
installed. mypy follows neither, so lay the installed shape out in links and check that::

    python tools/typecheck.py [mypy options]
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BESIDE = ("builders", "dataset_card", "graders", "releases")


def main() -> int:
    """Lay out the links, run mypy, and return its exit code."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder, "scbench")
        package.mkdir()
        for entry in [*(ROOT / "scbench").iterdir(), *(ROOT / name for name in BESIDE)]:
            (package / entry.name).symlink_to(entry)
        command = [sys.executable, "-m", "mypy", "-p", "scbench", *sys.argv[1:]]
        command += ["--config-file", str(ROOT / "pyproject.toml")]
        command += ["--cache-dir", str(ROOT / ".mypy_cache")]
        return subprocess.run(command, cwd=folder, check=False).returncode  # noqa: S603


if __name__ == "__main__":
    sys.exit(main())
