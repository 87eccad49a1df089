"""Ways to misbehave, for a grader that is asked to."""

import os
import signal
import time
from pathlib import Path

from scbench.base.errors import CannotGrade
from scbench.base.progress import beat


def refuse_to_start(*_: object) -> None:
    """Stand in for a worker's start that fails."""
    os._exit(9)


def wait_at(gate: str) -> None:
    """Wait until there is a file."""
    while not Path(gate).exists():
        time.sleep(0.02)


def misbehave(mood: str) -> None:
    """Hang, die, fail, swell or dawdle; return if the mood is none."""
    name, _, gate = mood.partition(" ")
    match name:
        case "hang":
            while True:
                time.sleep(1)
        case "spin":
            while True:
                pass
        case "die":
            os.kill(os.getpid(), signal.SIGKILL)
        case "exit":
            os._exit(7)
        case "raise":
            raise RuntimeError("this grader fails")
        case "balloon":
            hoard = []
            while True:
                hoard.append(bytearray(2**26))
        case "slow":
            time.sleep(0.02)
        case "step":
            beat(3, 7)
            wait_at(gate)
        case "gate":
            wait_at(gate)
        case "cannot":
            raise CannotGrade("the engine for this mood is not installed")
