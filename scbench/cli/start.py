"""The start and end of a command: streams that may be missing, signals, unexpected failures."""

import atexit
import codecs
import errno
import gc
import os
import signal
import sys
import traceback
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from types import FrameType

import typer

from scbench.base.errors import refused
from scbench.cli.console import FAILED, INTERRUPTED, USAGE, discard_output, say
from scbench.cli.interrupts import restore_interrupts

# Signals of schedulers and closed terminals, if the system has them. They end a command like
# Ctrl-C.
END_SIGNALS = [
    getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)
]
# Name of our handler for characters that a stream cannot encode.
PLAIN_HANDLER = "scbench.plain"
# ASCII forms of the non-ASCII characters in our texts.
ASCII_FORMS = {
    "\u2500": "-",
    "\u2013": "-",
    "\u2014": "-",
    "\u2212": "-",
    "\u2026": "...",
    "\u00d7": "x",
    "\u00b1": "+-",
}
# Numbers of the signals that have arrived.
_received: list[int] = []


def start(app: typer.Typer, name: str) -> None:
    """Run a command line, and exit.

    The exit code is the command's, 4 after an unexpected failure, or 128 plus the number of the
    signal that ended it.

    Args:
        app: app with the commands.
        name: name of the program, for its messages.
    """
    open_streams()
    check_working_folder()
    check_output_options(sys.argv)
    terminals = open_terminals()
    # Otherwise Pydantic would search all installed packages for plugins.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Inspect and trackers ask Git about the working folder. A stranger's `.git/config` could run
    # any command then, so Git must find no repository.
    os.environ["GIT_DIR"] = os.devnull
    # Polars panics at 0 threads, which means "automatic" elsewhere.
    if os.environ.get("POLARS_MAX_THREADS") == "0":
        del os.environ["POLARS_MAX_THREADS"]
    # Python restores the default handling of signals that have a handler in Python before it
    # frees all modules. This function is registered first, so it is called last.
    atexit.register(ignore_signals)
    try:
        for end_signal in END_SIGNALS:
            # Ignored signals stay ignored: nohup ignores SIGHUP.
            if signal.getsignal(end_signal) is signal.SIG_DFL:
                signal.signal(end_signal, interrupt)
        code = run_app(app, name, terminals)
        allow_one_signal()
    except KeyboardInterrupt:
        # The signal arrived just before or after the command.
        allow_one_signal()
        code = INTERRUPTED
    if code and open_terminals() < terminals:
        # The terminal was closed. Either the signal or an error from printing may arrive first.
        code = 128 + signal.SIGHUP
    elif code == INTERRUPTED and _received:
        code = 128 + _received[0]
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        discard_output()
    # Searching all loaded objects for garbage at exit would take 0.1 s. Objects of manifold3d must
    # be freed, because nanobind, which binds it, reports unfreed objects as leaks.
    if "manifold3d" not in sys.modules:
        gc.freeze()
    sys.exit(code)


def run_app(
    app: typer.Typer, name: str, terminals: AbstractSet[int]
) -> int | str | None:
    """Run a command line, and return its exit code; report unexpected failures.

    Args:
        app: app with the commands.
        name: name of the program, for its messages.
        terminals: the output descriptors that are terminals.
    """
    code: int | str | None = 0
    try:
        restore_interrupts()
        app(prog_name=name)
    except SystemExit as ending:
        code = ending.code
    except KeyboardInterrupt:
        code = INTERRUPTED
    except BaseException as error:  # noqa: BLE001  (libraries in Rust raise panics)
        # If a class is being created, Python 3.11 wraps the interruption in another error.
        is_interrupted = isinstance(error.__cause__, KeyboardInterrupt)
        code = INTERRUPTED if is_interrupted else FAILED
        is_expected = is_interrupted or is_hangup(error, terminals)
        with suppress(OSError):  # there may be nothing left to print on
            if not is_expected and refused(error):
                say(f"error: {refused(error)}")
            elif not is_expected:
                traceback.print_exc()
                say(
                    f"error: {name} crashed ({type(error).__name__}); please report this bug "
                    "with the lines above"
                )
    return code


def open_terminals() -> AbstractSet[int]:
    """Return which output descriptors are terminals; closed descriptors are not."""
    return {number for number in (1, 2) if os.isatty(number)}


def is_hangup(error: BaseException, terminals: AbstractSet[int]) -> bool:
    """Return whether an error comes from printing to a closed terminal."""
    is_output = isinstance(error, OSError) and error.errno == errno.EIO
    return is_output and open_terminals() < terminals


def open_streams() -> None:
    """Make all three standard streams usable, whatever is printed on them."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(number)
        except OSError:
            # Opening a file uses the lowest free number, which is the missing one.
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            mode = "r" if name == "stdin" else "w"
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        # Some streams that tests substitute cannot be reconfigured.
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors=PLAIN_HANDLER)


def check_working_folder() -> None:
    """End a command in a folder that was deleted, or that no worker process could enter."""
    try:
        os.stat(os.path.join(os.getcwd(), "."))  # noqa: PTH109, PTH116, PTH118  (Path drops the dot)
    except OSError as error:
        say(
            f"error: the working folder cannot be used ({error.strerror}); change to "
            "another folder"
        )
        sys.exit(USAGE)


def check_output_options(words: Sequence[str]) -> None:
    """End a command whose ``--out`` is empty, which would mean the working folder."""
    for word, next_word in zip(words, [*words[1:], None], strict=True):
        if word == "--out=" or (word == "--out" and next_word == ""):
            say("error: --out is empty; give a folder or a file")
            sys.exit(USAGE)


def interrupt(number: int, _: FrameType | None) -> None:
    """Record a signal, and end the command like Ctrl-C."""
    _received.append(number)
    # Closing files and workers takes time; another signal must not interrupt this.
    for end_signal in END_SIGNALS:
        signal.signal(end_signal, signal.SIG_IGN)
    raise KeyboardInterrupt


def allow_one_signal() -> None:
    """Keep the exit code if a signal arrives while this process exits.

    A second signal ends the process immediately, in case a thread never ends.
    """
    for number in (signal.SIGINT, *END_SIGNALS):
        # Ignored signals stay ignored.
        if callable(signal.getsignal(number)):
            signal.signal(number, let_pass)


def let_pass(_number: int, _frame: FrameType | None) -> None:
    """Ignore a signal, but let the next one end this process."""
    for number in (signal.SIGINT, *END_SIGNALS):
        if signal.getsignal(number) is let_pass:
            signal.signal(number, end_now)


def end_now(number: int, _frame: FrameType | None) -> None:
    """End this process with the exit code of a signal."""
    os._exit(128 + number)


def ignore_signals() -> None:
    """Ignore the signals that end a command, because its exit code is decided."""
    for number in (signal.SIGINT, *END_SIGNALS):
        signal.signal(number, signal.SIG_IGN)


def plain_characters(error: UnicodeError) -> tuple[str | bytes, int]:
    """Replace characters that a stream cannot encode with their ASCII form, or with escapes.

    This is a handler for `codecs.register_error`: it returns the replacement, and the position at
    which encoding continues.
    """
    if not isinstance(error, UnicodeEncodeError):
        raise error
    text = error.object[error.start : error.end]
    replacement = "".join(ASCII_FORMS.get(character, character) for character in text)
    return replacement.encode("ascii", "backslashreplace").decode(), error.end


codecs.register_error(PLAIN_HANDLER, plain_characters)
