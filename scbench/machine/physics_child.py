"""The other end of `scbench.machine.physics`: for any Python from 3.9 on that has PyBullet.

It takes lists of doubles on standard input, hands each to ``roll`` of the file that it is started
with, and gives lists of doubles back: a list is its length and its numbers, each in eight bytes.
"""

import ctypes
import json
import os
import platform
import runpy
import signal
import sys
from array import array


def main() -> None:
    """Say in a line of JSON what computes here, or why nothing does; then answer until the end."""
    script, paths = sys.argv[1], json.loads(sys.argv[2])
    sys.path += [path for path in paths if path not in sys.path]
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is for the parent, which ends this
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(
            1, signal.SIGKILL
        )  # dies with its parent, whatever it is at
    # Libraries print while they are loaded and later; replies have a descriptor of their own.
    replies = os.fdopen(os.dup(1), "wb")
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    try:
        from importlib.metadata import version  # noqa: PLC0415  (its absence is a fault, too)

        roll = runpy.run_path(script)["roll"]
        facts = {"pybullet": version("pybullet"), "system": platform.system()}
        hello = {**facts, "machine": platform.machine()}
    except Exception as error:  # noqa: BLE001  (the parent says it)
        roll, hello = None, {"fault": f"{type(error).__name__}: {error}"[:300]}
    replies.write(json.dumps(hello).encode() + b"\n")
    replies.flush()
    requests = sys.stdin.buffer
    while roll and (head := requests.read(8)):
        numbers = array("d", requests.read(8 * int.from_bytes(head, "little")))
        result = array("d", roll(numbers.tolist()))
        replies.write(len(result).to_bytes(8, "little") + result.tobytes())
        replies.flush()


if __name__ == "__main__":
    main()
