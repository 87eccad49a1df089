"""Opening submissions: folders, and archives of them."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scbench.base.errors import PredictionsError, ScbenchError
from scbench.leaderboard.archives import ARCHIVES, open_archive
from scbench.leaderboard.submission_files import (
    ABOUT,
    Opened,
    kind_of,
    missing_files,
    refusal_of,
)


@contextmanager
def open_submission(path: Path) -> Iterator[Opened]:
    """Open a folder, or an archive by its suffix.

    The files of an archive are copied; the copies are removed when the block ends.

    Raises:
        PredictionsError: there is no such folder or archive.
    """
    if path.is_dir():
        yield open_folder(path)
        return
    if not path.is_file():
        raise PredictionsError(
            f"no submission at {path}: name a folder that contains {ABOUT}, or an archive of it"
        )
    with tempfile.TemporaryDirectory(prefix="scbench-submission-") as scratch:
        yield open_archive(path, Path(scratch))


def open_folder(folder: Path) -> Opened:
    """Return the files of a submission's folder that may be read, and the errors in the others."""
    files = {}
    findings = []
    for entry in sorted(folder.iterdir()):
        # The status of a link itself, so that no link is followed.
        status = entry.lstat()
        refusal = refusal_of(entry.name, kind_of(status.st_mode), status.st_size)
        if refusal:
            findings.append(refusal)
        else:
            files[entry.name] = entry
    # A file that is refused is not reported as missing, too.
    names = [*files, *(refusal.file for refusal in findings)]
    findings += missing_files(names)
    return Opened(folder, files, findings)


def submissions_in(folder: Path) -> list[Path]:
    """Return the folders and archives in a folder of submissions, by name, without hidden ones.

    Raises:
        ScbenchError: it is not a folder.
    """
    if not folder.is_dir():
        raise ScbenchError(f"{folder} is not a folder")
    return sorted(
        path
        for path in folder.iterdir()
        if not path.name.startswith(".")
        and (path.is_dir() or path.name.endswith(ARCHIVES))
    )
