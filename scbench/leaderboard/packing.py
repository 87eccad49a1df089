"""Reproducible packing of submissions: the same files always give the same bytes."""

import gzip
import io
import stat
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

import zstandard

from scbench.base.errors import ResultsError
from scbench.leaderboard.submission_files import MOST_BYTES_OF, Opened
from scbench.machine.files import write_whole

PACKED = (".zip", ".tar.gz", ".tar.zst")
# Mode and date of all entries; zip files allow no earlier year.
_MODE = 0o644
_EARLIEST = (1980, 1, 1, 0, 0, 0)
# The system code of Unix, so that the mode is used.
_UNIX = 3


def pack(opened: Opened, out: Path) -> None:
    """Pack the files of a submission into an archive; its suffix sets the format.

    Raises:
        ResultsError: the suffix is not an archive's, or the archive cannot be written.
    """
    if not out.name.endswith(PACKED):
        raise ResultsError(
            f"{out} is not the name of an archive; use one of the suffixes {', '.join(PACKED)}"
        )
    top = opened.path.resolve().name.partition(".")[0] or "submission"
    contents = {}
    for name in MOST_BYTES_OF:
        if name in opened.files:
            contents[f"{top}/{name}"] = opened.files[name].read_bytes()
    pack_bytes = zip_bytes if out.suffix == ".zip" else tar_bytes
    data = pack_bytes(contents)
    if out.suffix == ".zst":
        data = zstandard.ZstdCompressor(level=10).compress(data)
    elif out.suffix == ".gz":
        # A modification time would change the bytes.
        data = gzip.compress(data, 9, mtime=0)
    try:
        write_whole(out, lambda part: part.write_bytes(data))
    except OSError as error:
        raise ResultsError(f"cannot write {out}: {error.strerror}") from None


def zip_bytes(contents: Mapping[str, bytes]) -> bytes:
    """Return a zip file of files by name."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            info = zipfile.ZipInfo(name, _EARLIEST)
            info.external_attr = (stat.S_IFREG | _MODE) << 16
            info.create_system = _UNIX
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return file.getvalue()


def tar_bytes(contents: Mapping[str, bytes]) -> bytes:
    """Return an uncompressed tar file of files by name."""
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in contents.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            info.mode = _MODE
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()
