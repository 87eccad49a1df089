"""The files of a submission: permitted names, kinds and sizes.

Names and sizes are checked before anything is read. Only files of known names are opened, and
nothing in them is executed.
"""

import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from scbench.base.errors import did_you_mean, printable
from scbench.leaderboard.findings import Finding, finding

ABOUT = "submission.yaml"
CLAIMED = "claimed.json"
PREDICTIONS = ("predictions.jsonl", "predictions.jsonl.gz", "predictions.jsonl.zst")
# Maximum bytes of a predictions file as sent. Repository hosts accept no larger files.
MOST_PACKED = 100_000_000
# The files that a submission may have, with the limit of each in bytes. A
# submission.yaml usually has one or two thousand bytes; a file above its limit is not
# read.
MOST_BYTES_OF: Mapping[str, int] = {
    ABOUT: 64 * 1024,
    CLAIMED: 1_000_000,
    "README.md": 1_000_000,
    **dict.fromkeys(PREDICTIONS, MOST_PACKED),
}
# Files written by grading. People include them when they submit the folder of a run.
_OUR_FILES = {
    "receipt.json",
    "results.parquet",
    "summary.json",
    "report.html",
    "graded",
}


class PredictionsFile(NamedTuple):
    """The predictions of a submission: the file's name in it, and the path to read."""

    name: str
    path: Path


@dataclass(frozen=True, slots=True)
class Opened:
    """A submission whose files can be read.

    Attributes:
        path: the folder or archive, as the user named it.
        files: path of each permitted file, by name.
        findings: the errors in names, kinds and sizes.
    """

    path: Path
    files: Mapping[str, Path] = field(default_factory=dict)
    findings: Sequence[Finding] = ()

    @property
    def predictions(self) -> PredictionsFile | None:
        """The predictions, if there is exactly one such file."""
        names = [name for name in PREDICTIONS if name in self.files]
        if len(names) != 1:
            return None
        return PredictionsFile(names[0], self.files[names[0]])

    def where(self, name: str) -> str:
        """Return the path of one of its files for messages; without a name, its own path."""
        path = self.path / name if name else self.path
        return path.as_posix()


def kind_of(mode: int) -> str:
    """Return the kind of an entry by its mode: a file, or another kind of entry."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISLNK(mode):
        return "symbolic link"
    if stat.S_ISDIR(mode):
        return "folder"
    return "device or pipe"


def refusal_of(name: str, kind: str, size: int) -> Finding | None:
    """Return the reason to refuse an entry of a submission; None if it may be read.

    Args:
        name: its name inside the submission.
        kind: see `kind_of`.
        size: in bytes.
    """
    # Names are untrusted: they may be long or contain terminal control codes.
    label = printable(name[:200])
    if "link" in kind:
        return finding("linked_file", label, label=label, kind=kind)
    if kind not in {"file", "folder"}:
        return finding("unlike_file", label, label=label, kind=kind)
    if name not in MOST_BYTES_OF:
        todo = advice_on_name(name)
        return finding("unexpected_file", label, label=label, kind=kind, todo=todo)
    if kind == "folder":
        return finding("folder_for_file", label, label=label)
    limit = MOST_BYTES_OF[name]
    if size <= limit:
        return None
    todo = "make it smaller"
    if name == PREDICTIONS[0]:
        todo = "compress it with zstd or gzip"
    return finding("too_large", label, label=label, size=size, limit=limit, todo=todo)


def advice_on_name(name: str) -> str:
    """Return advice on a file whose name is not permitted."""
    if name in _OUR_FILES:
        return "remove it; the maintainers grade the submission and write this file themselves"
    return did_you_mean(name, MOST_BYTES_OF).strip() or (
        f"remove it; a submission has {ABOUT}, predictions.jsonl (or .gz, .zst), and "
        f"optionally {CLAIMED} and README.md"
    )


def missing_files(names: Iterable[str]) -> Iterator[Finding]:
    """Yield findings about missing and duplicate files, given the names in a submission."""
    present = set(names)
    if ABOUT not in present:
        yield finding("no_about", ABOUT)
    candidates = [name for name in PREDICTIONS if name in present]
    if not candidates:
        yield finding("no_predictions", PREDICTIONS[0])
    if len(candidates) > 1:
        yield finding(
            "two_predictions",
            candidates[1],
            count=len(candidates),
            names=", ".join(candidates),
        )
