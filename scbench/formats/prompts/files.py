"""Request lines in files that the provider takes: none with too many lines or bytes."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path

from scbench.base.errors import PredictionsError
from scbench.formats.prompts.forms import Limits
from scbench.formats.prompts.requests import Request

LEFT_OUT = "left-out.jsonl"
NEEDS_VISION = "the prompt has a picture, and was left out by --no-images"


def write_files(lines: Iterable[bytes], folder: Path, limits: Limits) -> list[Path]:
    """Write lines to ``prompts-001.jsonl`` and on, and return the files.

    Args:
        lines: each with its line break.
        folder: is made if it is not there.
        limits: of one file.

    Raises:
        PredictionsError: the folder holds such files already, or a line alone is too long.
    """
    folder.mkdir(parents=True, exist_ok=True)
    held = sorted([*folder.glob("prompts-*.jsonl"), *folder.glob(LEFT_OUT)])
    if held:
        raise PredictionsError(f"{held[0]} is there already; name another --out, or move it away")
    paths = []
    for number, block in enumerate(blocks(lines, limits), 1):
        path = folder / f"prompts-{number:03d}.jsonl"
        with path.open("xb") as stream:
            stream.writelines(block)
        paths.append(path)
    return paths


def blocks(lines: Iterable[bytes], limits: Limits) -> Iterator[Iterator[bytes]]:
    """Yield lines as files take them: each block is to be read before the next is asked for.

    Raises:
        PredictionsError: a line alone is longer than a file may be.
    """
    rest = iter(lines)
    first = next(rest, None)

    def block() -> Iterator[bytes]:
        nonlocal first
        count = size = 0
        while first is not None and count < limits.lines and size + len(first) <= limits.bytes:
            count, size = count + 1, size + len(first)
            yield first
            first = next(rest, None)

    while first is not None:
        if len(first) > limits.bytes:
            raise PredictionsError(
                f"a request of {len(first):,} bytes; the provider takes {limits.bytes:,} in a file"
            )
        yield block()


def write_left_out(left: Iterable[Request], path: Path) -> None:
    """Write which requests were not made, as lines that `scbench-grade` counts as ``not_run``.

    They name no model: providers give it a longer name than it was asked by, and these lines are to
    belong to the same run as the replies.
    """
    with path.open("x", encoding="utf-8") as stream:
        for request in left:
            line = {
                "custom_id": request.key.custom_id,
                "status": "not_run",
                "error": NEEDS_VISION,
            }
            stream.write(json.dumps(line) + "\n")
