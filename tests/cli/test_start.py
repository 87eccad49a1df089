"""Commands under odd conditions: streams, names, limits, unknown files, failures."""

import errno
import json
import os
import pty
import resource
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest
import typer
from commands import run

from scbench.base.errors import ResultsError, refused
from scbench.cli.console import reported_errors
from scbench.cli.start import start

GRADE = Path(sys.executable).parent / "scbench-grade"

HANGUP = """
import sys, time, typer
from scbench.cli.console import reported_errors, say
from scbench.cli.start import start

app = typer.Typer()

@app.command()
def talk():
    with reported_errors():
        while True:
            say("still here")
            if not {quiet}:
                print("still here", flush=True)
            time.sleep({pause})

start(app, "talk")
"""


EXIT = """
import atexit, os, signal, sys, typer
from scbench.cli import start

app = typer.Typer()

@app.command()
def command():
    raise typer.Exit(3)

# The modules may be gone when it is called.
def send(kill=os.kill, process=os.getpid(), number=signal.{name}):
    kill(process, number)

class Last:
    def __del__(self, send=send):
        send()

def run_app(*arguments):
    code = run_original(*arguments)
    send()
    return code

{moment}
start.start(app, "command")
"""

# A folder that all users of a machine share.
SHARED = "/var/tmp"  # noqa: S108  (only a folder of our own is made in it)
# Moments after the end of a command at which a signal arrives.
MOMENTS = {
    "last": "sys.last_one = Last()",
    "exit": "start.gc.freeze = lambda: atexit.register(send)",
    "twice": "start.gc.freeze = lambda: [atexit.register(send) for _ in range(2)]",
    "end": "run_original = start.run_app; start.run_app = run_app",
}


@pytest.fixture(autouse=True)
def _signals_of_tests(monkeypatch):
    """Undo what `start` does in this process."""
    monkeypatch.setattr("atexit.register", lambda *_, **__: None)
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    handlers = {number: signal.getsignal(number) for number in numbers}
    yield
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.fixture
def grade(parity_release, write_lines, tmp_path, inside):
    """A function that grades four lines into a folder; with options, in a separate process."""
    lines = [
        {"id": f"parity/{i:02d}", "model": "m\u4e2d", "answer": {"bit": i % 2}}
        for i in range(4)
    ]
    path = write_lines(*lines)

    def run(*more, predictions=path, out=tmp_path / "out", **options):
        args = [
            predictions,
            "--release",
            parity_release.root,
            "--tasks",
            "parity",
            "--out",
            out,
        ]
        if not options:
            return inside(*args, *more, name="scbench-grade")
        options = {"capture_output": True, "text": True} | options
        return subprocess.run(
            [GRADE, *args, *more], check=False, errors="replace", **options
        )

    run.path = path
    return run


@pytest.mark.parametrize("number", [0, 1])
def test_stream_may_be_closed(grade, tmp_path, number):
    done = grade(preexec_fn=lambda: os.close(number))
    assert done.returncode == 0
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["exit_code"] == 0
    assert ("parity" in done.stdout) == (number != 1)


def test_characters_the_terminal_cannot_show_are_escaped(grade):
    done = grade(env=os.environ | {"PYTHONIOENCODING": "ascii"})
    assert done.returncode == 0
    assert r"m\u4e2d" in done.stdout
    assert "-----" in done.stdout


@pytest.mark.parametrize(
    ("limit", "value", "words"),
    [
        (resource.RLIMIT_NOFILE, 20, "raise the limit with `ulimit -n 1024`"),
        (resource.RLIMIT_FSIZE, 64, "a file reached the size limit (see ulimit -f)"),
        (resource.RLIMIT_AS, 2**30, "may use only 1 GiB of address space"),
    ],
    ids=["files", "size", "memory"],
)
def test_machine_limit_gives_one_sentence(grade, limit, value, words):
    done = grade(preexec_fn=lambda: resource.setrlimit(limit, (value, value)))
    assert done.returncode == 4
    assert words in done.stderr
    assert done.stderr.startswith("error: ")
    assert done.stderr.count("\n") == 1


def test_deleted_working_folder_is_named(grade, tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()

    def enter():
        os.chdir(gone)
        gone.rmdir()

    done = grade(preexec_fn=enter)
    assert done.returncode == 2
    assert done.stderr == (
        "error: the working folder cannot be used (No such file or directory); change "
        "to another folder\n"
    )


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_unreadable_working_folder_is_named(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(0o700)
    program = (
        "import os, sys\n"
        "from scbench.cli.start import check_working_folder\n"
        "os.chdir(sys.argv[1]); os.setuid(54321); check_working_folder()"
    )
    command = [sys.executable, "-P", "-c", program, closed]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    assert done.returncode == 2
    assert "cannot be used (Permission denied)" in done.stderr


@pytest.mark.parametrize(
    ("number", "code"), [(errno.ENOSPC, 4), (errno.EDQUOT, 4), (errno.EACCES, 2)]
)
def test_full_disk_is_not_wrong_usage(number, code):
    error = ResultsError("cannot write x")
    error.__context__ = OSError(number, os.strerror(number))
    with pytest.raises(typer.Exit) as ending, reported_errors():
        raise error
    assert ending.value.exit_code == code


def test_ctrl_c_while_a_class_is_made_does_not_crash(capsys):
    def app(**_):
        raise RuntimeError("Error calling __set_name__") from KeyboardInterrupt()

    with pytest.raises(SystemExit) as ending:
        start(app, "scbench")
    assert ending.value.code == 130
    assert "Traceback" not in capsys.readouterr().err


def test_unrelated_plugins_are_not_loaded(grade, tmp_path):
    about = tmp_path / "other-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: other\nVersion: 1\n")
    (about / "entry_points.txt").write_text("[pydantic]\nother = other_plugin:plugin\n")
    (tmp_path / "other_plugin.py").write_text("import os\nos.abort()\n")
    assert grade(env=os.environ | {"PYTHONPATH": str(tmp_path)}).returncode == 0


def test_zero_threads_mean_the_default_number(grade):
    environment = os.environ | {"POLARS_MAX_THREADS": "0"}
    assert grade(env=environment).returncode == 0


READ_RESULTS = """
import sys
import scbench
scbench.read_results(sys.argv[1]).lazy().group_by("task").len().collect(engine="streaming")
"""


@pytest.mark.skipif(not os.access(SHARED, os.W_OK), reason="no /var/tmp")
def test_link_of_another_user_removes_no_folder(grade, tmp_path):
    """Polars removes old folders, which are named by numbers, in a place that all users share."""
    name = f"scbench-test-{os.getpid()}"
    shared = Path(SHARED, f"polars-{name}")
    kept = tmp_path / "mine" / "999999999" / "kept"
    kept.mkdir(parents=True)
    shared.mkdir()
    try:
        (shared / "spill").symlink_to(tmp_path / "mine")
        environment = os.environ | {"USER": name}
        environment.pop("POLARS_OOC_SPILL_DIR", None)
        assert grade(env=environment).returncode == 0
        # A program that uses the package, too.
        program = [sys.executable, "-c", READ_RESULTS, str(tmp_path / "out")]
        subprocess.run(program, env=environment, check=True)
    finally:
        shutil.rmtree(shared)
    assert kept.exists()


def test_unknown_files_with_our_former_names_are_kept(grade, tmp_path):
    out = tmp_path / "out"
    (out / "parts").mkdir(parents=True)
    (out / "parts" / "mine").write_text("x")
    (out / "journal.jsonl").write_text("x")
    assert grade("--restart").returncode == 0
    assert (out / "parts" / "mine").read_text() == "x"
    assert (out / "journal.jsonl").read_text() == "x"


def test_predictions_are_not_overwritten(grade, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    of_run = out / "problems.jsonl"
    of_run.write_bytes(grade.path.read_bytes())
    done = grade(predictions=of_run)
    assert done.returncode == 2
    assert "is the predictions file and would be overwritten" in done.stderr
    (out / "results.parquet").mkdir()
    assert "results.parquet is a folder" in grade().stderr


def test_unknown_report_is_kept_and_ours_is_rewritten(grade, tmp_path):
    out = tmp_path / "out"
    page = out / "report.html"
    assert grade("--report").returncode == grade("--report").returncode == 0
    page.write_text("<p>my thesis</p>")
    done = grade("--report")
    assert done.returncode == 2
    assert "report.html is not a report by scbench" in done.stderr
    assert page.read_text() == "<p>my thesis</p>"
    assert grade().returncode == 0, "without a report nothing is in the way"


@pytest.mark.parametrize(
    "error", [ValueError("odd"), KeyboardInterrupt(), BaseException("panic")]
)
def test_unexpected_failure_has_its_own_exit_code(error, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["scbench-test"])
    app = typer.Typer(pretty_exceptions_enable=False)

    @app.command()
    def fail() -> None:
        raise error

    with pytest.raises(SystemExit) as exited:
        start(app, "scbench-test")
    if isinstance(error, KeyboardInterrupt):
        assert exited.value.code == 130
    else:
        assert exited.value.code == 4
        assert "please report this bug with the lines above" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("line", "notes"),
    [("show csg_union/12", 1), ("generate csg_union", 0)],
)
def test_nothing_is_reported_as_leaked_at_exit(command, line, notes):
    """Objects of manifold3d are freed when the interpreter exits."""
    done = command("scbench", *line.split(), process=True)
    assert done.returncode == 0
    assert done.stdout
    assert "leaked" not in done.stderr
    assert len(done.stderr.splitlines()) == notes


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.parametrize("pause", [0, 0.2])
@pytest.mark.parametrize("redirected", [False, True])
def test_closed_terminal_ends_a_command_with_129(quiet, pause, redirected, tmp_path):
    code = HANGUP.format(quiet=quiet, pause=pause)
    pid, master = pty.fork()
    if not pid:
        if redirected:
            os.dup2(os.open(tmp_path / "out", os.O_WRONLY | os.O_CREAT), 1)
        os.execv(sys.executable, [sys.executable, "-c", code])  # noqa: S606
    assert b"still here" in os.read(master, 4096)
    os.close(master)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 129


@pytest.mark.parametrize(
    ("entry", "module"),
    [("scbench", "scbench.cli.main"), ("scbench_grade", "scbench.cli.grade")],
)
def test_interrupting_the_first_imports_prints_nothing(tmp_path, entry, module):
    program = (
        "import os, signal, sys\n"
        "from scbench.cli import entry\n"
        "class Interrupter:\n"
        "    def find_spec(self, name, path, target=None):\n"
        f"        if name == {module!r}: os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupter())\n"
        f"entry.{entry}()"
    )
    done = run(sys.executable, "-P", "-c", program, cwd=tmp_path, code=130)
    assert (done.stdout, done.stderr) == ("", "")


def test_interrupted_command_still_closes_its_files(tmp_path):
    program = (
        "import os, signal, typer\n"
        "from scbench.cli.interrupts import make_interrupts_quiet\n"
        "make_interrupts_quiet()\n"
        "from scbench.cli.start import start\n"
        "app = typer.Typer()\n"
        "@app.command()\n"
        "def command():\n"
        "    try: os.kill(os.getpid(), signal.SIGINT)\n"
        "    finally: print('closed')\n"
        "start(app, 'command')"
    )
    done = run(sys.executable, "-P", "-c", program, cwd=tmp_path, code=130)
    assert "Traceback" not in done.stderr
    assert done.stdout.startswith("closed")


@pytest.mark.parametrize(
    ("moment", "name"),
    [
        ("end", "SIGTERM"),
        ("end", "SIGINT"),
        ("exit", "SIGINT"),
        ("twice", "SIGTERM"),
        ("last", "SIGHUP"),
    ],
)
def test_signals_during_exit_keep_an_exit_code(tmp_path, moment, name):
    program = EXIT.format(moment=MOMENTS[moment], name=name)
    of_signal = 128 + signal.Signals[name]
    code = of_signal if moment in {"twice", "end"} else 3
    done = run(sys.executable, "-P", "-c", program, cwd=tmp_path, code=code)
    assert (done.stdout, done.stderr) == ("", "")


@pytest.mark.parametrize("words", [["--out", ""], ["--out="]], ids=["word", "equals"])
def test_empty_out_is_not_the_working_folder(grade, tmp_path, words):
    before = sorted(tmp_path.rglob("*"))
    done = run(GRADE, grade.path, *words, cwd=tmp_path, code=2)
    assert done.stderr == "error: --out is empty; give a folder or a file\n"
    assert sorted(tmp_path.rglob("*")) == before


def test_library_panic_without_threads_names_the_limit():
    error = BaseException(
        "cannot start: Os { code: 11, kind: WouldBlock, message: ... }"
    )
    assert refused(error) == "too many processes or threads (see ulimit -u)"
