"""Which files a submission may have, how large, and of which kind.

Names and sizes are looked at before anything is read, and nothing in the files is run.
"""

import stat
from collections.abc import Iterable, Iterator, Mapping

from scbench.base.errors import did_you_mean, printable
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
_OURS = {"receipt.json", "results.parquet", "summary.json", "report.html", "graded"}


def kind_of(mode: int) -> str:
    """Return what a mode says an entry is: a file, or the name of what it is instead."""
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISLNK(mode):
        return "symbolic link"
    return "folder" if stat.S_ISDIR(mode) else "device or pipe"


def refused(name: str, kind: str, size: int) -> Finding | None:
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


def missing(names: Iterable[str]) -> Iterator[Finding]:
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
