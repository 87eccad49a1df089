"""Starting a command: streams that may be missing, signals that end it, failures nobody foresaw."""

import codecs
import gc
import os
import signal
import sys
import traceback
from types import FrameType

import typer

from scbench.cli.console import FAILED, INTERRUPTED, hush, say

# What schedulers and closed terminals send; they end a command as Ctrl-C does.
_ENDING = [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
]
_PLAIN = "scbench.plain"
_LIKE = {
    "\u2500": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\u2212": "-",
    "\u2026": "...",
    "\u00d7": "x",
    "\u00b1": "+-",
}
_received: list[int] = []


def start(app: typer.Typer, name: str) -> None:
    """Run a command line, and exit.

    Exit codes are the command's; 4 for a failure that it did not foresee, and 128 plus the number
    of the signal that ended it.

    Args:
        app: of commands.
        name: of the program, for its messages.
    """
    _open_streams()
    # Pydantic would search everything installed for plugins of others, which have no say here.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    for ending in _ENDING:
        if signal.getsignal(ending) is signal.SIG_DFL:  # nohup ignores one of them
            signal.signal(ending, _end)
    code: int | str | None = 0
    try:
        app(prog_name=name)
    except SystemExit as exited:
        code = exited.code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BaseException as error:  # noqa: BLE001  (libraries in Rust have panics of their own)
        traceback.print_exc()
        say(
            f"error: {name} failed in a way it should not ({type(error).__name__}); "
            "please report it with the lines above"
        )
        code = FAILED
    if code == INTERRUPTED and _received:
        code = 128 + _received[0]
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        hush()
    gc.freeze()  # the interpreter would look for garbage among all that is left: 0.1 s
    sys.exit(code)


def _end(number: int, _: FrameType | None) -> None:
    _received.append(number)
    # What is closed now takes its time; another of these must not disturb it.
    for ending in _ENDING:
        signal.signal(ending, signal.SIG_IGN)
    raise KeyboardInterrupt


def _open_streams() -> None:
    """Make all three standard streams usable, whatever is printed on them."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # The lowest free number is the one that is missing.
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, "r" if number == 0 else "w", closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=_PLAIN)


def _plainer(error: UnicodeError) -> tuple[str | bytes, int]:
    """Stand in for what a stream cannot hold: like signs for ours, escapes for all others."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    plain = "".join(_LIKE.get(sign, sign) for sign in text)
    return plain.encode("ascii", "backslashreplace").decode(), error.end


codecs.register_error(_PLAIN, _plainer)
