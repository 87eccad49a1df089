"""The child's side of `scbench.machine.physics`, for any Python from 3.9 with PyBullet.

It reads lists of doubles from standard input, passes each to the function ``roll`` of a
given file, and writes lists of doubles back. A list is its length followed by its
numbers, eight bytes each.
"""

import ctypes
import json
import os
import platform
import runpy
import signal
import sys
from array import array

# An option of prctl(2).
_SET_PARENT_DEATH_SIGNAL = 1


def main() -> None:
    """Write a JSON line that describes the engine or its absence; then answer requests."""
    script = sys.argv[1]
    paths = json.loads(sys.argv[2])
    sys.path += [path for path in paths if path not in sys.path]
    # The parent handles Ctrl-C and ends this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    if sys.platform == "linux":
        # This process dies with its parent, whatever it is doing.
        ctypes.CDLL(None).prctl(_SET_PARENT_DEATH_SIGNAL, signal.SIGKILL)
    # Libraries print to standard output, so replies use a separate descriptor.
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    roll = None
    try:
        from importlib.metadata import version  # noqa: PLC0415  (its absence is a fault, too)

        roll = runpy.run_path(script)["roll"]
        hello = {
            "pybullet": version("pybullet"),
            "system": platform.system(),
            "machine": platform.machine(),
        }
    except Exception as error:  # noqa: BLE001  (the parent reports it)
        roll = None
        hello = {"fault": f"{type(error).__name__}: {error}"[:300]}
    replies.write(json.dumps(hello).encode() + b"\n")
    replies.flush()
    if roll is None:
        return
    requests = sys.stdin.buffer
    head = requests.read(8)
    while head:
        size = int.from_bytes(head, "little")
        numbers = array("d", requests.read(8 * size))
        result = array("d", roll(numbers.tolist()))
        replies.write(len(result).to_bytes(8, "little") + result.tobytes())
        replies.flush()
        head = requests.read(8)


if __name__ == "__main__":
    main()
