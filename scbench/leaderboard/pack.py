"""Starting a submission, and packing one: the same folder gives the same bytes."""

import io
import json
import tarfile
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import zstandard

from scbench.base.errors import ResultsError
from scbench.leaderboard.files import ABOUT, MOST_BYTES_OF
from scbench.leaderboard.folder import Opened
from scbench.leaderboard.submission import Submission
from scbench.machine.files import write_whole

_EARLIEST = (1980, 1, 1, 0, 0, 0)
PACKED = (".zip", ".tar.gz", ".tar.zst")

_ORDER: Mapping[str, str] = {
    "format": "",
    "model": "as it is to stand on the board; version tells set-ups of one model apart",
    "organisation": "who submits it",
    "date": "when the answers were made",
    "release": "release of the benchmark that was answered",
    "tasks": "spatial, manifolds for the board of the text tasks, or ladder for that of levels",
    "setting": "no_tools or tools",
    "tools": "tools that were offered",
    "sampling": "all parameters as they were sent",
    "attempts": "answers per instance, as samples 0 to attempts - 1",
    "contact": "someone who can be asked",
    "links": "paper, code, weights, homepage",
    "outputs_licence": "licence of the predictions",
    "notes": "",
}


def about_text(about: Submission) -> str:
    """Return the text of a ``submission.yaml``, with a comment where one helps."""
    record = about.model_dump(mode="json", exclude_none=True)
    lines = []
    for key, comment in _ORDER.items():
        value = record.get(key)
        if value is None or (key in _UNSAID and value == _UNSAID[key]):
            continue
        lines += [f"# {comment}"] if comment else []
        if isinstance(value, dict) and value:
            lines += [f"{key}:", *(f"  {json_text(k)}: {json_text(v)}" for k, v in value.items())]
        else:
            lines.append(f"{key}: {json_text(value)}")
    return "\n".join(lines) + "\n"


def json_text(value: Any) -> str:  # noqa: ANN401
    """Return a JSON value as YAML takes it, too; plain words without quotes."""
    if isinstance(value, str) and value.isidentifier() and value.lower() not in _TAKEN:
        return value
    return json.dumps(value, ensure_ascii=False)


_UNSAID: Mapping[str, Any] = {"tools": [], "links": {}, "tasks": "spatial"}
"""Values that go without saying."""
_TAKEN = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"}


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
    data = _zip(contents) if out.suffix == ".zip" else _tar(contents, out.suffix)
    try:
        write_whole(out, lambda part: part.write_bytes(data))
    except OSError as error:
        raise ResultsError(f"cannot write {out}: {error.strerror}") from None


def _zip(contents: Mapping[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in contents.items():
            info = zipfile.ZipInfo(name, _EARLIEST)
            info.external_attr = 0o100644 << 16
            info.create_system = 3
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, data)
    return file.getvalue()


def _tar(contents: Mapping[str, bytes], suffix: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, data in contents.items():
            info = tarfile.TarInfo(name)
            info.size, info.mode = len(data), 0o644
            archive.addfile(info, io.BytesIO(data))
    if suffix == ".zst":
        return zstandard.ZstdCompressor(level=10).compress(file.getvalue())
    import gzip  # noqa: PLC0415  (rarely wanted)

    return gzip.compress(file.getvalue(), 9, mtime=0)
