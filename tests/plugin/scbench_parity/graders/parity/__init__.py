"""Judges parity, or misbehaves on demand."""

import os
import signal
import time

from scbench_parity.schemas.parity import Answer, Params

from scbench.errors import CannotGrade
from scbench.graders.shared.checklist import Checklist
from scbench.model import Verdict
from scbench.progress import beat

VERSION = 1
CHECKS = {"parity": "The bit is the parity of the string."}


def refuse_to_start(*_: object) -> None:
    """Stand in for a worker's start that fails."""
    os._exit(9)


def grade(params: Params, answer: Answer) -> Verdict:
    """Return 1 for the right bit, unless the answer's mood says otherwise."""
    match answer.mood:
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
            time.sleep(4)
        case "cannot":
            raise CannotGrade("the engine for this mood is not installed")
    checks = Checklist(CHECKS)
    right = params.bits.count("1") % 2
    checks.expect("parity", answer.bit == right, f"The parity is {right}, not {answer.bit}.")
    return checks.binary()
