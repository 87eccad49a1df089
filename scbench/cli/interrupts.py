"""Ctrl-C while the commands are imported.

This module imports almost nothing itself.
"""

import os
import signal
from types import FrameType


def make_interrupts_quiet() -> None:
    """Let Ctrl-C end this process without a message, until `restore_interrupts`."""
    # Shells start background jobs with SIGINT ignored; keep ignoring it there.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end_quietly)


def restore_interrupts() -> None:
    """Let Ctrl-C raise KeyboardInterrupt again."""
    if signal.getsignal(signal.SIGINT) is end_quietly:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def end_quietly(_number: int, _frame: FrameType | None) -> None:
    """End this process. Only imports have run, so nothing needs closing."""
    # The exit code that shells give to Ctrl-C.
    os._exit(128 + signal.SIGINT)
