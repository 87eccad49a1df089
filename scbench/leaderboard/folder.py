"""The files of a submission: which may be there, how large, and where they are read from.

A submission is a folder or an archive of one. Names and sizes are looked at before anything is
read, only files of known names are ever opened, and nothing in them is run.
"""

import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from scbench.errors import PredictionsError, did_you_mean, printable
from scbench.leaderboard.documents import MOST_BYTES
from scbench.leaderboard.findings import Finding

ABOUT = "submission.yaml"
CLAIMED = "claimed.json"
PREDICTIONS = ("predictions.jsonl", "predictions.jsonl.gz", "predictions.jsonl.zst")
MOST_PACKED = 100_000_000
"""Bytes of a predictions file as it is sent. Hosts of repositories take no larger files."""
MOST_BYTES_OF: Mapping[str, int] = {
    ABOUT: MOST_BYTES,
    CLAIMED: 1_000_000,
    "README.md": 1_000_000,
    **dict.fromkeys(PREDICTIONS, MOST_PACKED),
}
"""The files that a submission may have, and how many bytes each."""
ARCHIVES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst")
_OURS = {"receipt.json", "results.parquet", "summary.json", "report.html", "graded"}


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
    from scbench.leaderboard.archive import unpack  # noqa: PLC0415  (folders are the usual case)

    with tempfile.TemporaryDirectory(prefix="scbench-submission-") as scratch:
        yield Opened(path, *unpack(path, Path(scratch)))


def _in_folder(folder: Path) -> tuple[dict[str, Path], tuple[Finding, ...]]:
    files: dict[str, Path] = {}
    findings: list[Finding] = []
    for entry in sorted(folder.iterdir()):
        status = entry.lstat()
        wrong = unfit(entry.name, kind_of(status.st_mode), status.st_size)
        if wrong:
            findings.append(wrong)
        else:
            files[entry.name] = entry
    return files, (*findings, *lacking([*files, *(found.file for found in findings)]))


def kind_of(mode: int) -> str:
    """Return what a mode says an entry is: a file, or the name of what it is instead."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISLNK(mode):
        return "symbolic link"
    return "folder" if stat.S_ISDIR(mode) else "device or pipe"


def unfit(name: str, kind: str, size: int) -> Finding | None:
    """Return why an entry may not be read, if so."""
    shown = printable(name[:200])
    if kind not in {"file", "folder"}:
        todo = "replace it by the file itself" if "link" in kind else "remove it"
        return Finding("not_a_file", f"{shown} is a {kind}", todo, shown)
    if name not in MOST_BYTES_OF:
        todo = did_you_mean(name, MOST_BYTES_OF).strip() or (
            f"remove it; a submission has {ABOUT}, predictions.jsonl (or .gz, .zst), and if you "
            f"like {CLAIMED} and README.md"
        )
        if name in _OURS:
            todo = "remove it: the maintainers grade anew, and write such files themselves"
        what = "folder" if kind == "folder" else "file"
        return Finding("unexpected_file", f"no such {what} belongs here: {shown}", todo, shown)
    if kind == "folder":
        return Finding("not_a_file", f"{shown} is a folder", "put the file in its place", shown)
    most = MOST_BYTES_OF[name]
    if size > most:
        message = f"{shown} has {size:,} bytes; the limit is {most:,}"
        todo = "pack it with zstd or gzip" if name == PREDICTIONS[0] else "make it smaller"
        return Finding("too_large", message, todo, shown)
    return None


def lacking(names: Iterable[str]) -> Iterator[Finding]:
    """Yield what is missing among the names of a submission's files."""
    seen = set(names)
    if ABOUT not in seen:
        todo = "write one with `scbench submission init`"
        yield Finding("missing_file", f"there is no {ABOUT}", todo, ABOUT)
    found = [name for name in PREDICTIONS if name in seen]
    if not found:
        todo = "add predictions.jsonl, packed as .gz or .zst if it is large"
        yield Finding("missing_file", "there are no predictions", todo, PREDICTIONS[0])
    if len(found) > 1:
        message = f"there are {len(found)} predictions files: {', '.join(found)}"
        yield Finding("two_predictions", message, "keep the one that is to be graded", found[1])
