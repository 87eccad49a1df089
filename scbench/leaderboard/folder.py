"""The files of a submission: a folder or an archive of one is opened, begun, or packed.

Names and sizes are looked at before anything is read, only files of known names are ever opened,
and nothing in them is run. An archive is not unpacked by its own names: if one of its entries is
not allowed (a path that leads elsewhere, a link, a device, a name that occurs twice, too much of
anything), nothing is read; otherwise the few files that belong to a submission are copied, under
names of our own and never beyond their caps. Packed, the same folder gives the same bytes.
"""

import gzip
import io
import json
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, Any

import zstandard

from scbench.base.data import packaged_toml
from scbench.base.errors import (
    PredictionsError,
    ResultsError,
    ScbenchError,
    did_you_mean,
    printable,
)
from scbench.formats.predictions import open_predictions
from scbench.leaderboard.findings import Finding, finding
from scbench.leaderboard.submission import MOST_BYTES, Submission
from scbench.machine.files import write_whole

ABOUT = "submission.yaml"
CLAIMED = "claimed.json"
PREDICTIONS = ("predictions.jsonl", "predictions.jsonl.gz", "predictions.jsonl.zst")
# Bytes of a predictions file as it is sent. Hosts of repositories take no larger files.
MOST_PACKED = 100_000_000
# The files that a submission may have, and how many bytes each.
MOST_BYTES_OF: Mapping[str, int] = {
    ABOUT: MOST_BYTES,
    CLAIMED: 1_000_000,
    "README.md": 1_000_000,
    **dict.fromkeys(PREDICTIONS, MOST_PACKED),
}
_OURS = {"receipt.json", "results.parquet", "summary.json", "report.html", "graded"}

_MOST_ENTRIES = 100
_MOST_TAR = 2 * MOST_PACKED
# Deflate cannot pack better than about 1030 to 1: who claims more has forged the
# directory.
_MOST_RATIO = 1100
# Text of predictions packs by 5 to 50 to 1.
_SUSPICIOUS = 200
_CHUNK = 2**20
_BROKEN = (OSError, EOFError, ValueError, RuntimeError, zlib.error, zstandard.ZstdError)
_BROKEN_ZIP = (*_BROKEN, zipfile.BadZipFile, NotImplementedError)
_BROKEN_TAR = (*_BROKEN, tarfile.TarError)
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst")
_EARLIEST = (1980, 1, 1, 0, 0, 0)
PACKED = (".zip", ".tar.gz", ".tar.zst")


_TAR_KINDS = {
    tarfile.SYMTYPE: "symbolic link",
    tarfile.LNKTYPE: "hard link",
    tarfile.DIRTYPE: "folder",
    tarfile.REGTYPE: "file",
    tarfile.AREGTYPE: "file",
}
# Values that go without saying.
_UNSAID: Mapping[str, Any] = {"tools": [], "links": {}, "tasks": "spatial"}
_RESERVED = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


def kind_of(mode: int) -> str:
    """Return what a mode says an entry is: a file, or the name of what it is instead."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISLNK(mode):
        return "symbolic link"
    return "folder" if stat.S_ISDIR(mode) else "device or pipe"


def refused(name: str, kind: str, size: int) -> Finding | None:
    """Return why an entry may not be read, if so."""
    label = printable(name[:200])
    if kind not in {"file", "folder"}:
        return finding(
            "linked_file" if "link" in kind else "unlike_file",
            label,
            label=label,
            kind=kind,
        )
    if name not in MOST_BYTES_OF:
        todo = did_you_mean(name, MOST_BYTES_OF).strip() or (
            f"remove it; a submission has {ABOUT}, predictions.jsonl (or .gz, .zst), and if you "
            f"like {CLAIMED} and README.md"
        )
        if name in _OURS:
            todo = (
                "remove it: the maintainers grade anew, and write such files themselves"
            )
        return finding("unexpected_file", label, label=label, kind=kind, todo=todo)
    if kind == "folder":
        return finding("folder_for_file", label, label=label)
    limit = MOST_BYTES_OF[name]
    if size > limit:
        todo = (
            "pack it with zstd or gzip" if name == PREDICTIONS[0] else "make it smaller"
        )
        return finding(
            "too_large", label, label=label, size=size, limit=limit, todo=todo
        )
    return None


def missing(names: Iterable[str]) -> Iterator[Finding]:
    """Yield what is missing among the names of a submission's files."""
    present = set(names)
    if ABOUT not in present:
        yield finding("no_about", ABOUT)
    candidates = [name for name in PREDICTIONS if name in present]
    if not candidates:
        yield finding("no_predictions", PREDICTIONS[0])
    if len(candidates) > 1:
        words = {"count": len(candidates), "names": ", ".join(candidates)}
        yield finding("two_predictions", candidates[1], **words)


class _TooLargeError(ScbenchError):
    """There is more in an archive than may be."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of an archive."""

    name: str  #: as the archive has it.
    kind: str  #: file, folder, or what else.
    size: int  #: bytes it claims to have.
    open: Callable[[], IO[bytes]]  #: gives its content.
    packed: int | None = None  #: bytes it takes in the archive, where that can be told.
    secret: bool = False  #: whether it is encrypted.


def unpack(path: Path, scratch: Path) -> tuple[dict[str, Path], tuple[Finding, ...]]:
    """Copy a submission's files to an empty folder; return where, and what is wrong with it."""
    packed = path.stat().st_size
    if packed > MOST_PACKED:
        words = {"label": "the archive", "size": packed, "limit": MOST_PACKED}
        return {}, (finding("too_large", todo="send less, or pack it better", **words),)
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive:
                return _take_files(list(_zip_entries(archive)), scratch)
        plain = scratch / "content.tar"
        with open_predictions(str(path)) as packed_tar:
            _write_at_most(_MOST_TAR, packed_tar, plain, "unpacked, the archive")
        with (
            plain.open("rb") as file,
            tarfile.open(fileobj=_Frugal(file), mode="r:") as tar,
        ):
            return _take_files(list(_tar_entries(tar)), scratch)
    except _TooLargeError as error:
        return {}, (finding("archive_bomb", reason=error),)
    except (*_BROKEN_ZIP, *_BROKEN_TAR, PredictionsError) as error:
        why = printable((str(error).splitlines() or [type(error).__name__])[0][:200])
        return {}, (finding("bad_archive", reason=why),)


def _zip_entries(archive: zipfile.ZipFile) -> Iterator[_Entry]:
    infos = archive.infolist()
    _check_count(len(infos))
    for info in infos:
        mode = info.external_attr >> 16
        # Programs that know no modes write none: then it is a file, or a folder by its name.
        by_name = "folder" if info.orig_filename.endswith("/") else "file"
        kind = kind_of(mode) if mode & 0o170000 else by_name
        yield _Entry(
            info.orig_filename,
            kind,
            info.file_size,
            partial(archive.open, info),
            info.compress_size,
            bool(info.flag_bits & 1),
        )


class _Frugal(io.BufferedReader):
    """A file that refuses to be read in large pieces: headers of tar files say how large."""

    def __init__(self, file: IO[bytes]) -> None:
        super().__init__(io.FileIO(file.fileno(), closefd=False))

    def read(self, size: int | None = -1, /) -> bytes:
        if size is None or not 0 <= size <= _CHUNK:
            raise _TooLargeError(f"a header of the archive claims {size:,} bytes")
        return super().read(size)


def _write_at_most(limit: int, source: IO[bytes], path: Path, name: str) -> None:
    with path.open("wb") as file:
        while chunk := source.read(_CHUNK):
            if file.tell() + len(chunk) > limit:
                raise _TooLargeError(f"{name} has more than {limit:,} bytes")
            file.write(chunk)


def _tar_entries(tar: tarfile.TarFile) -> Iterator[_Entry]:
    for count, member in enumerate(tar, 1):
        _check_count(count)
        kind = "sparse file" if member.issparse() else _TAR_KINDS.get(member.type)
        name = member.name.removeprefix("./")  # how `tar -cf x.tar .` writes them
        if name == "." and member.isdir():
            continue
        yield _Entry(
            name, kind or "device or pipe", member.size, partial(_extract, tar, member)
        )


def _extract(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    file = tar.extractfile(member)
    if file is None:
        raise ValueError(f"{member.name} has no content")
    return file


def _check_count(count: int) -> None:
    if count > _MOST_ENTRIES:
        raise _TooLargeError(f"the archive has more than {_MOST_ENTRIES} entries")


def _take_files(
    entries: list[_Entry], scratch: Path
) -> tuple[dict[str, Path], tuple[Finding, ...]]:
    findings = [*filter(None, map(_forged, entries))]
    findings += _repeated_names(entry.name for entry in entries)
    if findings:
        return {}, tuple(findings)
    files = [entry for entry in entries if entry.kind == "file"]
    tops = {entry.name.partition("/")[0] for entry in entries}
    inside = len(tops) == 1 and all("/" in entry.name for entry in files)
    prefix = f"{tops.pop()}/" if inside else ""
    renamed = [(entry.name.removeprefix(prefix), entry) for entry in entries]
    renamed = [
        (name, e) for name, e in renamed if name.rstrip("/") + "/" not in {prefix, "/"}
    ]
    refusals = (
        refused(name.rstrip("/"), entry.kind, entry.size) for name, entry in renamed
    )
    wrong = [*filter(None, refusals)]
    wrong += missing([name for name, _ in renamed])
    if wrong:
        return {}, tuple(wrong)
    return {name: _copy_entry(name, entry, scratch) for name, entry in renamed}, ()


def _copy_entry(name: str, entry: _Entry, scratch: Path) -> Path:
    """Copy an entry to a file called by one of the few names that a submission's files have."""
    target = scratch / name
    with entry.open() as source:
        _write_at_most(MOST_BYTES_OF[name], source, target, name)
    return target


def _repeated_names(names: Iterable[str]) -> Iterator[Finding]:
    """Yield names that occur twice, at least on systems that ignore case."""
    earlier: set[str] = set()
    for name in names:
        folded = name.rstrip("/").casefold()
        if folded in earlier:
            yield finding("duplicate_entry", label=printable(name[:200]))
        earlier.add(folded)


def _forged(entry: _Entry) -> Finding | None:
    """Return why an entry is no part of an honest archive, if so."""
    name, label = entry.name, printable(entry.name[:200])
    parts = name.rstrip("/").split("/")
    if (
        not name.isprintable()
        or "\\" in name
        or ":" in name
        or any(part in {"", ".", ".."} for part in parts)
    ):
        return finding("unsafe_path", label=label)
    if entry.kind not in {"file", "folder"}:
        return finding("archived_link", label, label=label, kind=entry.kind)
    if entry.secret:
        return finding("encrypted", label, label=label)
    if entry.packed is not None and entry.size > 1000:
        ratio = entry.size / max(entry.packed, 1)
        if ratio > (_MOST_RATIO if entry.size < _CHUNK else _SUSPICIOUS):
            return finding("suspicious_ratio", label, label=label, ratio=ratio)
    return None


@dataclass(frozen=True, slots=True)
class Opened:
    """A submission whose files can be read."""

    path: Path  #: of the folder or archive, as the user named it.
    #: where to read each file that may be read, by its name.
    files: Mapping[str, Path] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()  #: what is wrong with names, kinds and sizes.

    @property
    def predictions(self) -> tuple[str, Path] | None:
        """Name and place of the predictions, if there is exactly one such file."""
        candidates = [
            (name, self.files[name]) for name in PREDICTIONS if name in self.files
        ]
        return candidates[0] if len(candidates) == 1 else None

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
    return files, (
        *findings,
        *missing([*files, *(refusal.file for refusal in findings)]),
    )


def about_text(about: Submission) -> str:
    """Return the text of a ``submission.yaml``, with a comment where one helps."""
    record = about.model_dump(mode="json", exclude_none=True)
    lines = []
    for key, comment in packaged_toml("scbench.leaderboard", "about.toml").items():
        value = record.get(key)
        if value is None or (key in _UNSAID and value == _UNSAID[key]):
            continue
        lines += [f"# {comment}"] if comment else []
        if isinstance(value, dict) and value:
            lines += [
                f"{key}:",
                *(f"  {json_text(k)}: {json_text(v)}" for k, v in value.items()),
            ]
        else:
            lines.append(f"{key}: {json_text(value)}")
    return "\n".join(lines) + "\n"


def json_text(value: Any) -> str:  # noqa: ANN401
    """Return a JSON value as YAML takes it, too; plain words without quotes."""
    if (
        isinstance(value, str)
        and value.isidentifier()
        and value.lower() not in _RESERVED
    ):
        return value
    return json.dumps(value, ensure_ascii=False)


def write_about(folder: Path, about: Submission) -> Path:
    """Write ``submission.yaml`` into a folder, which is made if it is not there.

    Raises:
        ResultsError: there is such a file already, or it cannot be written.
    """
    path = folder / ABOUT
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if path.exists() or path.is_symlink():
            raise ResultsError(f"{path} exists; edit it, or remove it first")
        write_whole(path, lambda part: part.write_text(about_text(about), "utf-8"))
    except OSError as error:
        raise ResultsError(f"cannot write {path}: {error.strerror}") from None
    return path


def pack(opened: Opened, out: Path) -> None:
    """Pack the files of a submission into an archive, by the suffix of its name.

    Raises:
        ResultsError: the suffix is of no archive, or it cannot be written.
    """
    if not out.name.endswith(PACKED):
        raise ResultsError(f"{out} is no archive's name; end it in {', '.join(PACKED)}")
    top = opened.path.resolve().name.partition(".")[0] or "submission"
    contents = {
        f"{top}/{name}": opened.files[name].read_bytes()
        for name in MOST_BYTES_OF
        if name in opened.files
    }
    data = (
        _zip_bytes(contents)
        if out.suffix == ".zip"
        else _tar_bytes(contents, out.suffix)
    )
    try:
        write_whole(out, lambda part: part.write_bytes(data))
    except OSError as error:
        raise ResultsError(f"cannot write {out}: {error.strerror}") from None


def _zip_bytes(contents: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            info = zipfile.ZipInfo(name, _EARLIEST)
            info.external_attr = 0o100644 << 16
            info.create_system = 3
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return file.getvalue()


def _tar_bytes(contents: Mapping[str, bytes], suffix: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in contents.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o644
            archive.addfile(info, io.BytesIO(data))
    if suffix == ".zst":
        return zstandard.ZstdCompressor(level=10).compress(file.getvalue())
    return gzip.compress(file.getvalue(), 9, mtime=0)
