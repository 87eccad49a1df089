"""Opening a submission: a folder, or an archive of one, whose files can then be read.

Only files of known names are ever opened (see `scbench.leaderboard.files`).
"""

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from scbench.base.errors import PredictionsError
from scbench.leaderboard.archive import unpack
from scbench.leaderboard.files import ABOUT, PREDICTIONS, kind_of, missing, refused
from scbench.leaderboard.findings import Finding

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst")


@dataclass(frozen=True, slots=True)
class Opened:
    """A submission whose files can be read.

    Attributes:
        path: of the folder or archive, as the user named it.
        files: where to read each file that may be read, by its name.
        findings: what is wrong with names, kinds and sizes.
    """

    path: Path
    files: Mapping[str, Path] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()

    @property
    def predictions(self) -> tuple[str, Path] | None:
        """Name and place of the predictions, if there is exactly one such file."""
        found = [(name, self.files[name]) for name in PREDICTIONS if name in self.files]
        return found[0] if len(found) == 1 else None

    def where(self, name: str) -> str:
        """Return what to call one of its files in messages."""
        return (self.path / name).as_posix() if name else self.path.as_posix()


@contextmanager
def open_submission(path: Path) -> Iterator[Opened]:
    """Open a folder, or an archive by its suffix; copies of its files last as long as this does.

    Raises:
        PredictionsError: there is no such folder or archive.
    """
    if path.is_dir():
        yield Opened(path, *_in_folder(path))
        return
    if not path.is_file():
        raise PredictionsError(
            f"no submission at {path}: name a folder with a {ABOUT} in it, or an archive of one"
        )
    with tempfile.TemporaryDirectory(prefix="scbench-submission-") as scratch:
        yield Opened(path, *unpack(path, Path(scratch)))


def _in_folder(folder: Path) -> tuple[dict[str, Path], tuple[Finding, ...]]:
    files: dict[str, Path] = {}
    findings: list[Finding] = []
    for entry in sorted(folder.iterdir()):
        status = entry.lstat()
        wrong = refused(entry.name, kind_of(status.st_mode), status.st_size)
        if wrong:
            findings.append(wrong)
        else:
            files[entry.name] = entry
    return files, (*findings, *missing([*files, *(found.file for found in findings)]))
