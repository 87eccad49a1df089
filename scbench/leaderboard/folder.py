"""Opening submissions (folders or archives)."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from scbench.base.errors import (
    PredictionsError,
    ScbenchError,
    machine_fault,
    printable,
)
from scbench.leaderboard.archives import (
    ARCHIVES,
    TooLargeError,
    open_archive,
    write_at_most,
)
from scbench.leaderboard.findings import Finding, finding
from scbench.leaderboard.submission_files import (
    ABOUT,
    MOST_BYTES_OF,
    Opened,
    kind_of,
    missing_files,
    refusal_of,
)


@contextmanager
def open_submission(path: Path) -> Iterator[Opened]:
    """Open a folder, or an archive by its suffix.

    The files are copied, so that they cannot change before they are read. The copies
    are removed when the block ends.

    Raises:
        PredictionsError: there is no such folder or archive.
    """
    if not os.path.lexists(path):
        raise PredictionsError(
            f"no submission at {path}: name a folder that contains {ABOUT}, or an archive of it"
        )
    with tempfile.TemporaryDirectory(prefix="scbench-submission-") as scratch:
        copy = copy_folder if path.is_dir() else open_archive
        yield copy(path, Path(scratch))


def copy_folder(folder: Path, scratch: Path) -> Opened:
    """Copy the permitted files of a submission's folder into an empty folder.

    Each file is opened once. Links and pipes are never followed, even if one replaces a
    file meanwhile.

    Raises:
        OSError: the machine refuses a resource, such as space for the copies.
    """
    files = {}
    findings = []
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        names = sorted(os.listdir(descriptor))  # noqa: PTH208  (paths could be of another folder)
        for name in names:
            refusal = copy_file(descriptor, name, scratch)
            if refusal:
                findings.append(refusal)
            else:
                files[name] = scratch / name
    finally:
        os.close(descriptor)
    # A refused file is not also reported as missing.
    findings += missing_files([*files, *(refusal.file for refusal in findings)])
    return Opened(folder, files, findings)


def copy_file(folder: int, name: str, scratch: Path) -> Finding | None:
    """Copy a file from an open folder; return the reason if it is refused.

    Raises:
        OSError: see `copy_folder`.
    """
    label = printable(name[:200])
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
        refusal = refusal_of(name, kind_of(status.st_mode), status.st_size)
        if refusal:
            return refusal
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        descriptor = os.open(name, flags, dir_fd=folder)
    except OSError as error:
        if machine_fault(error):
            raise
        return finding("unread_file", label, label=label, reason=error.strerror)
    with open(descriptor, "rb") as source:  # noqa: PTH123  (a descriptor)
        # The file may have been replaced, and it may still grow.
        kind = kind_of(os.fstat(descriptor).st_mode)
        refusal = refusal_of(name, kind, 0)
        if refusal:
            return refusal
        try:
            write_at_most(MOST_BYTES_OF[name], source, scratch / name, label)
        except TooLargeError:
            return refusal_of(name, kind, MOST_BYTES_OF[name] + 1)
    return None


def submissions_in(folder: Path) -> list[Path]:
    """Return the folders and archives in a folder of submissions, sorted; hidden ones are skipped.

    Raises:
        ScbenchError: the path is not a folder.
    """
    if not folder.is_dir():
        raise ScbenchError(f"{folder} is not a folder")
    return sorted(
        path
        for path in folder.iterdir()
        if not path.name.startswith(".")
        and (path.is_dir() or path.name.endswith(ARCHIVES))
    )
