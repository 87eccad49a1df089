"""Reading untrusted archives.

If any entry is not allowed (a path outside the archive, a link, a device, a duplicate name, too
many or too large files), nothing is read. Otherwise only the files of a submission are copied,
under fixed names and up to their size limits.
"""

import io
import os
import stat
import tarfile
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import IO, NamedTuple

from scbench.base.errors import (
    PredictionsError,
    ScbenchError,
    machine_fault,
    printable,
)
from scbench.formats.predictions import UNPACKING_ERRORS, unpacked_stream
from scbench.leaderboard.findings import Finding, finding
from scbench.leaderboard.submission_files import (
    MOST_BYTES_OF,
    MOST_PACKED,
    Opened,
    kind_of,
    missing_files,
    refusal_of,
)
from scbench.machine.files import open_regular

ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst")

# Maximum number of entries in an archive; a submission has a handful of files.
_MOST_ENTRIES = 100
# A tar file may contain the predictions and all other files.
_MOST_TAR = 2 * MOST_PACKED
# Deflate compresses at most about 1030 to 1: a higher ratio means a forged directory.
_MOST_RATIO = 1100
# Predictions compress by 5 to 50 to 1.
_SUSPICIOUS_RATIO = 200
# The ratio is not checked for entries with fewer bytes.
_LEAST_SIZE = 1000
_CHUNK = 2**20
# Methods of compression in zip files. Others, such as LZMA, may need gigabytes of memory.
_ZIP_METHODS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}

# Errors that the libraries raise for damaged archives.
_BROKEN = (
    ValueError,
    RuntimeError,
    zipfile.BadZipFile,
    tarfile.TarError,
    PredictionsError,
    *UNPACKING_ERRORS,
)
_TAR_KINDS = {
    tarfile.SYMTYPE: "symbolic link",
    tarfile.LNKTYPE: "hard link",
    tarfile.DIRTYPE: "folder",
    tarfile.REGTYPE: "file",
    tarfile.AREGTYPE: "file",
}


class TooLargeError(ScbenchError):
    """An archive has too many entries or too many bytes."""


class Entry(NamedTuple):
    """One entry of an archive.

    Attributes:
        name: as it is in the archive.
        kind: "file", "folder", or another kind.
        size: claimed size in bytes.
        open: opens its content.
        packed_size: claimed compressed size in bytes, if the format has this field.
        encrypted: whether a password is needed.
    """

    name: str
    kind: str
    size: int
    open: Callable[[], IO[bytes]]
    packed_size: int | None = None
    encrypted: bool = False

    @property
    def label(self) -> str:
        """The name for messages."""
        return printable(self.name[:200])


def open_archive(path: Path, scratch: Path) -> Opened:
    """Copy the files of a submission from an archive into an empty folder.

    Raises:
        OSError: the machine refuses a resource, such as space for the copies.
    """
    try:
        status = path.stat()
        kind = kind_of(status.st_mode)
    except OSError:
        kind = "broken link"
    if kind != "file":
        return Opened(path, findings=[finding("odd_submission", kind=kind)])
    size = status.st_size
    if size > MOST_PACKED:
        problem = finding(
            "too_large",
            label="the archive",
            size=size,
            limit=MOST_PACKED,
            todo="remove files or compress it better",
        )
        return Opened(path, findings=[problem])
    try:
        if path.suffix == ".zip":
            with (
                open_regular(path) as packed,
                zipfile.ZipFile(FrugalFile(packed)) as archive,
            ):
                return copy_files(path, list(zip_entries(archive)), scratch)
        # Decompressed first, because a compressed tar file cannot be read out of order.
        plain = scratch / "content.tar"
        with unpacked_stream(open_regular(path)) as stream:
            write_at_most(_MOST_TAR, stream, plain, "the unpacked archive")
        with (
            plain.open("rb") as file,
            tarfile.open(fileobj=FrugalFile(file), mode="r:") as tar,
        ):
            return copy_files(path, list(tar_entries(tar)), scratch)
    except TooLargeError as error:
        problem = finding("archive_bomb", reason=error)
    except _BROKEN as error:
        if machine_fault(error):
            raise
        lines = str(error).splitlines() or [type(error).__name__]
        problem = finding("bad_archive", reason=printable(lines[0][:200]))
    return Opened(path, findings=[problem])


def zip_entries(archive: zipfile.ZipFile) -> Iterator[Entry]:
    """Yield the entries of a zip file's directory.

    Raises:
        TooLargeError: there are too many entries.
        ValueError: an entry is compressed with a method that we do not unpack.
    """
    infos = archive.infolist()
    check_count(len(infos))
    for info in infos:
        if info.compress_type not in _ZIP_METHODS:
            name = printable(info.orig_filename[:100])
            raise ValueError(f"{name} is not compressed with Deflate")
        mode = info.external_attr >> 16
        kind = "file"
        if stat.S_IFMT(mode):
            kind = kind_of(mode)
        elif info.orig_filename.endswith("/"):
            # Programs that do not set modes mark folders by name.
            kind = "folder"
        yield Entry(
            info.orig_filename,
            kind,
            info.file_size,
            partial(archive.open, info),
            info.compress_size,
            encrypted=bool(info.flag_bits & 1),
        )


class FrugalFile(io.BufferedReader):
    """A file that refuses large reads.

    Headers of tar files may claim any size, and the directory of a zip file, which is read at
    once, may have millions of entries.
    """

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(io.FileIO(file.fileno(), closefd=False))

    def read(self, size: int | None = -1, /) -> bytes:
        """Return the next bytes, at most `_CHUNK`.

        Raises:
            TooLargeError: more bytes are requested.
        """
        if size is None or size == -1:
            # The end of a zip file is read without a size.
            size = os.fstat(self.fileno()).st_size - self.tell()
        if not 0 <= size <= _CHUNK:
            raise TooLargeError(f"a header in the archive claims {size:,} bytes")
        return super().read(size)


def tar_entries(tar: tarfile.TarFile) -> Iterator[Entry]:
    """Yield the entries of a tar file.

    Raises:
        TooLargeError: there are too many entries.
    """
    for count, member in enumerate(tar, 1):
        check_count(count)
        kind = _TAR_KINDS.get(member.type, "device or pipe")
        if member.issparse():
            kind = "sparse file"
        # `tar -cf x.tar .` writes "." and puts "./" before each name.
        name = member.name.removeprefix("./")
        if name != "." or not member.isdir():
            yield Entry(name, kind, member.size, partial(open_member, tar, member))


def open_member(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    """Open the content of a tar file's entry.

    Raises:
        ValueError: the entry has no content.
    """
    file = tar.extractfile(member)
    if file is None:
        raise ValueError(f"{member.name} has no content")
    return file


def check_count(count: int) -> None:
    """Refuse an archive with too many entries.

    Raises:
        TooLargeError: there are too many entries.
    """
    if count > _MOST_ENTRIES:
        raise TooLargeError(f"the archive has more than {_MOST_ENTRIES} entries")


def copy_files(path: Path, entries: Sequence[Entry], scratch: Path) -> Opened:
    """Copy the entries of an archive at a path; if one is not allowed, copy none."""
    findings = [*filter(None, map(forgery_in, entries))]
    findings += repeated_names(entries)
    if findings:
        return Opened(path, findings=findings)
    by_name = without_top_folder(entries)
    for name, entry in by_name:
        refusal = refusal_of(name.rstrip("/"), entry.kind, entry.size)
        if refusal:
            findings.append(refusal)
    findings += missing_files(name for name, _ in by_name)
    if findings:
        return Opened(path, findings=findings)
    files = {}
    for name, entry in by_name:
        # All names were checked against the permitted ones, so the copy stays in the
        # folder.
        files[name] = scratch / name
        with entry.open() as source:
            write_at_most(MOST_BYTES_OF[name], source, files[name], name)
    return Opened(path, files)


def forgery_in(entry: Entry) -> Finding | None:
    """Return the reason for rejecting an entry; None if it is valid."""
    name = entry.name
    label = entry.label
    is_file_named_as_folder = name.endswith("/") and entry.kind == "file"
    if is_file_named_as_folder or not is_safe_path(name):
        return finding("unsafe_path", label=label)
    if entry.kind not in {"file", "folder"}:
        return finding("archived_link", label, label=label, kind=entry.kind)
    if entry.encrypted:
        return finding("encrypted", label, label=label)
    if entry.packed_size is not None and entry.size > _LEAST_SIZE:
        ratio = entry.size / max(entry.packed_size, 1)
        limit = _MOST_RATIO if entry.size < _CHUNK else _SUSPICIOUS_RATIO
        if ratio > limit:
            return finding("suspicious_ratio", label, label=label, ratio=ratio)
    return None


def is_safe_path(name: str) -> bool:
    """Return whether a path stays inside the folder to which it is unpacked, on any system."""
    # Windows separates folders with backslashes, and drives with a colon.
    if not name.isprintable() or "\\" in name or ":" in name:
        return False
    parts = name.rstrip("/").split("/")
    # An empty part comes from "//", or from "/" at the start.
    return {"", ".", ".."}.isdisjoint(parts)


def repeated_names(entries: Iterable[Entry]) -> Iterator[Finding]:
    """Yield a finding for each duplicate name, ignoring case."""
    earlier_names: set[str] = set()
    for entry in entries:
        name = entry.name.rstrip("/").casefold()
        if name in earlier_names:
            yield finding("duplicate_entry", label=entry.label)
        earlier_names.add(name)


def without_top_folder(entries: Sequence[Entry]) -> list[tuple[str, Entry]]:
    """Return entries with their common top folder, if any, removed from their names.

    The entry of that folder is left out.
    """
    tops = {entry.name.partition("/")[0] for entry in entries}
    files = [entry for entry in entries if entry.kind == "file"]
    prefix = ""
    if len(tops) == 1 and all("/" in entry.name for entry in files):
        prefix = f"{tops.pop()}/"
    by_name = []
    for entry in entries:
        if entry.kind == "folder" and entry.name.rstrip("/") + "/" == prefix:
            continue
        by_name.append((entry.name.removeprefix(prefix), entry))
    return by_name


def write_at_most(limit: int, source: IO[bytes], path: Path, label: str) -> None:
    """Copy a stream to a file, up to a limit, whatever size it claims.

    Raises:
        TooLargeError: the stream has more bytes than the limit.
    """
    with path.open("wb") as file:
        while chunk := source.read(_CHUNK):
            if file.tell() + len(chunk) > limit:
                raise TooLargeError(f"{label} has more than {limit:,} bytes")
            file.write(chunk)
