"""Programs that try to escape, hang, or overload the machine.

Every attack is bounded, so that a wall that fails costs at most 300 short-lived processes, 4 GiB or
a minute. Each kind of sandbox that this machine can put up is attacked.
"""

import ctypes
import json
import os
import shutil
import subprocess
import sys
import textwrap
import zlib
from dataclasses import replace
from pathlib import Path

import pytest
from bounds import until

from scbench.base.errors import CannotGrade
from scbench.machine import sandbox
from scbench.machine.sandbox import (
    ChildError,
    LimitError,
    Limits,
    SandboxError,
    call_script,
    conversation,
    launch,
    run_python,
)

FULL = [
    name for name in sandbox.KINDS if name != "rlimits" and not sandbox.trouble(name)
]
ALL = [*FULL, "rlimits"]
SMALL = Limits(seconds=600, memory=2**29, output=2**20, processes=6, files=2**20)
PR_SET_CHILD_SUBREAPER = 36

PEEK = """
import os
def attempt(path):
    try:
        return open(path, "rb").read(64).decode("latin-1")
    except OSError as error:
        return type(error).__name__
"""


@pytest.fixture(autouse=True)
def allowed(monkeypatch):
    monkeypatch.setattr(sandbox, "_allowed", True)


@pytest.fixture(params=FULL)
def full(request) -> str:
    return request.param


@pytest.fixture(params=ALL)
def kind(request) -> str:
    return request.param


def program(text: str, kind: str, limits: Limits = SMALL) -> str:
    done = run_python(textwrap.dedent(text).encode(), limits, kind)
    assert done.code == 0, done.stderr.decode()
    return done.stdout.decode()


@pytest.fixture
def function(tmp_path):
    """A function that calls the ``main`` of a source text in a sandbox."""

    def call(text: str, kind: str, data: bytes = b"", limits: Limits = SMALL) -> bytes:
        script = tmp_path / "script.py"
        script.write_text(textwrap.dedent(text), "utf-8")
        return call_script(script, data, limits, kind).stdout

    return call


@pytest.fixture(autouse=True, scope="module")
def keeps_orphans():
    """Make this process adopt orphaned processes below it."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    yield
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)


def alive(marker: str) -> list[str]:
    """Command lines with a marker, of running processes below this one."""
    lines: dict[int, str] = {}
    below: dict[int, list[int]] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (
                (folder / "cmdline")
                .read_bytes()
                .replace(b"\0", b" ")
                .decode(errors="replace")
            )
            parent = (folder / "stat").read_text().rpartition(")")[2].split()[1]
        except OSError:
            continue
        lines[int(folder.name)] = line
        below.setdefault(int(parent), []).append(int(folder.name))
    found, waiting = [], below.get(os.getpid(), [])
    while waiting:
        process = waiting.pop()
        waiting += below.get(process, [])
        found += [lines[process]] if marker in lines[process] else []
    return found


def gone(marker: str) -> bool:
    """Whether all processes with a marker end; left alone they outlast this wait."""
    until(lambda: not alive(marker))
    return True


# ---- Honest programs ----


def test_function_gets_its_data_and_returns_its_result(kind, function):
    source = (
        "import zlib\n"
        "def main(data):\n"
        "    print('noise')\n"
        "    return zlib.decompress(data)[::-1]"
    )

    data = bytes(range(256)) * 4000
    assert function(source, kind, zlib.compress(data)) == data[::-1]


@pytest.mark.skipif(sys.platform != "linux", reason="names of Linux")
def test_packages_of_a_function_get_the_libraries_of_the_system(kind, function):
    """Wheels of manifold3d search them in a folder that any user can create."""
    source = """
        with open("/proc/self/maps") as file:
            LOADED = file.read()
        def main(data):
            return b" ".join(name for name in data.split() if name.decode() in LOADED)
    """
    names = b"libdl libgcc_s libm libpthread libstdc++"
    assert function(source, kind, names) == names


def test_error_ends_a_program_with_its_code(full):
    assert run_python(b"raise SystemExit(7)", SMALL, full).code == 7
    assert run_python(b"1 / 0", SMALL, full).code == 1
    assert run_python(b"not python at all", SMALL, full).code == 1


def test_each_run_finds_an_empty_folder(full):
    text = "import os\nprint(os.listdir('.'))\nopen('left', 'w').close()"
    assert program(text, full) == program(text, full) == "['program.py']\n"


def test_honest_programs_work(full):
    text = """
    import asyncio, concurrent.futures, datetime, os, random, resource, select, shutil, signal
    import socket, sqlite3, subprocess, sys, tarfile, tempfile, threading, time, uuid
    from pathlib import Path

    async def later():
        await asyncio.sleep(0.001)
        return await asyncio.to_thread(lambda: 3)

    def deep(n):
        return 0 if n == 0 else 1 + deep(n - 1)

    assert asyncio.run(later()) == 3
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        assert list(pool.map(abs, [-1, 2])) == [1, 2]
    sys.setrecursionlimit(10**6)
    resource.setrlimit(resource.RLIMIT_STACK, resource.getrlimit(resource.RLIMIT_STACK))
    threading.stack_size(2**26)
    threading.Thread(target=deep, args=[10_000]).start()
    words = [sys.executable, "-c", "print(6 * 7)"]
    for options in ({}, {"close_fds": False}, {"start_new_session": True}):
        assert subprocess.run(words, capture_output=True, **options).stdout == b"42\\n"
    subprocess.run(words, stdout=subprocess.DEVNULL, check=True)
    folder = Path(tempfile.mkdtemp())
    (folder / "a").write_text("x" * 5000)
    shutil.copy2(folder / "a", folder / "b")
    shutil.copytree(folder, "tree")
    with tarfile.open("all.tgz", "w:gz") as archive:
        archive.add("tree")
    shutil.rmtree("tree")
    base = sqlite3.connect("base")
    base.execute("pragma journal_mode=wal")
    base.execute("create table t(x)")
    base.commit()
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.setitimer(signal.ITIMER_REAL, 0.001)
    time.sleep(0.01)
    one, two = socket.socketpair()
    one.sendall(b"x")
    assert select.select([two], [], [], 1)[0] and two.recv(1) == b"x"
    random.random(), uuid.uuid1(), datetime.datetime.now().astimezone(), os.isatty(1), os.times()
    print("all")
    """
    limits = Limits(seconds=600, memory=2**30, output=2**20, processes=20, files=2**24)
    assert program(text, full, limits) == "all\n"


# ---- Permissions ----


def test_programs_are_refused_unless_allowed(monkeypatch):
    monkeypatch.setattr(sandbox, "_allowed", False)
    with pytest.raises(CannotGrade, match="--allow-code"):
        run_python(b"print(1)", SMALL)
    sandbox.allow_code(True)
    assert sandbox._allowed


def test_programs_never_run_behind_rlimits_alone():
    with pytest.raises(CannotGrade, match="bubblewrap"):
        run_python(b"print(1)", SMALL, "rlimits")


def test_failed_sandbox_setup_is_an_error_and_nothing_runs(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    script = tmp_path / "script.py"
    script.write_text(
        f"open({str(tmp_path / 'ran')!r}, 'w')\ndef main(data): return b''", "utf-8"
    )
    with pytest.raises(SandboxError, match="bwrap"):
        call_script(script, b"", SMALL, "bubblewrap")
    assert not (tmp_path / "ran").exists()


def test_sandbox_works_with_packages_installed_next_to_the_interpreter(
    full, tmp_path, monkeypatch
):
    """As after ``pip install`` outside a virtual environment, for example in a container."""
    library = tmp_path / "lib"
    package = library / "python3/dist-packages/scbench"
    folder = package / "machine/sandbox"
    shutil.copytree(Path(launch.__file__).parent, folder)
    files = [*launch._interpreter_files(), str(library)]
    monkeypatch.setattr(launch, "_interpreter_files", lambda: files)
    monkeypatch.setattr(launch, "__file__", str(folder / "launch.py"))
    monkeypatch.setattr(launch, "_CHILD", folder / "child.py")
    assert str(package.parent) in launch.program_job()["hidden"]
    # The child may be in sight, nothing else of ours.
    text = f"""
    import pathlib
    print([f.name for f in pathlib.Path({str(library)!r}).rglob("*") if f.is_file()])
    """
    assert program(text, full).strip() in ("[]", "['child.py']")


# ---- Files ----


@pytest.mark.parametrize(
    "path",
    [
        "{secret}",
        "/etc/passwd",
        "/proc/self/environ",
        "/proc/1/environ",
        "../../../etc/passwd",
        "/.old",
    ],
)
def test_no_file_outside_can_be_read(full, tmp_path, path):
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret", "utf-8")
    text = PEEK + f"print(attempt({path.format(secret=secret)!r}))"
    assert program(text, full).strip() in {"FileNotFoundError", "PermissionError"}


def test_links_and_handles_lead_nowhere(full, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret", "utf-8")
    text = PEEK + textwrap.dedent(f"""
    os.symlink({str(secret)!r}, "link")
    print(attempt("link"))
    os.symlink("/", "root")
    print(attempt("root" + {str(secret)!r}))
    try:
        os.link("/dev/null", "hard")
    except OSError:
        print("no hard link")
    for number in range(3, 64):
        try:
            os.fstat(number)
            print("open descriptor", number)
        except OSError:
            pass
    """)
    assert program(text, full).split("\n")[:3] == ["FileNotFoundError"] * 2 + [
        "no hard link"
    ]
    assert "open descriptor" not in program(text, full)


def test_nothing_can_be_written_outside(full, tmp_path):
    tmp_path.chmod(0o777)
    text = f"""
    import os, sys
    for path in ("/x", {str(tmp_path / "x")!r}, "/tmp/x", "/dev/shm/x", os.__file__, "/usr/lib/x"):
        try:
            open(path, "ab").write(b"x")
            print("wrote", path)
        except OSError:
            pass
    """
    assert program(text, full) == ""
    assert list(tmp_path.iterdir()) == []


def test_function_cannot_open_anything(kind, function, tmp_path):
    secret = tmp_path / "secret.txt"
    secret.write_text("the secret", "utf-8")
    source = f"""
    import os, socket, json
    def main(data):
        said = []
        for attempt in (
            lambda: open({str(secret)!r}),
            lambda: open("/etc/passwd"),
            lambda: open("/tmp/new", "w"),
            lambda: os.listdir("/"),
            lambda: socket.socket(),
            lambda: os.pipe(),
            lambda: __import__("wave"),
        ):
            try:
                attempt()
                said.append("open")
            except (OSError, ImportError) as error:
                said.append("closed")
        return json.dumps(said).encode()
    """
    assert json.loads(function(source, kind)) == ["closed"] * 7


# ---- Processes ----


def test_fork_bomb_is_small_and_short(full):
    text = """
    import os, time
    made = 0
    for _ in range(300):
        try:
            if os.fork() == 0:
                time.sleep(1234)
                os._exit(0)
            made += 1
        except OSError:
            break
    print(made)
    """
    assert int(program(text, full)) <= SMALL.processes + 2
    assert gone("program.py")


def test_function_cannot_fork(kind, function):
    source = """
    import os
    def main(data):
        try:
            if os.fork() == 0:
                os._exit(0)
            return b"forked"
        except OSError:
            return b"refused"
    """
    message = function(source, kind, limits=Limits(seconds=600))
    assert message == b"refused"


def test_children_do_not_outlive_the_program(full):
    text = """
    import os, sys
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    code = f"import os, time; os.write({writing}, b'x'); time.sleep(1234)  # leaver"
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            os.execv(sys.executable, [sys.executable, "-S", "-c", code])
        os._exit(0)
    os.read(reading, 1)
    print("left")
    """
    assert program(text, full).strip() == "left"
    assert gone("# leaver")


def test_no_process_outside_can_be_seen_or_ended(full):
    text = f"""
    import os, signal
    try:
        os.kill({os.getpid()}, 0)
        print("seen")
    except (ProcessLookupError, PermissionError):
        print("unseen")
    try:
        os.kill(1, signal.SIGKILL)
    except PermissionError:
        pass
    try:
        os.kill(-1, signal.SIGTERM)
    except (ProcessLookupError, PermissionError):
        pass
    """
    done = run_python(textwrap.dedent(text).encode(), SMALL, full)
    assert done.stdout.split() in ([b"unseen"], [])  # its own signal may end it first


def test_no_privileges_are_left(full):
    text = """
    import ctypes, os
    libc = ctypes.CDLL(None, use_errno=True)
    print(os.geteuid() != 0 and os.getuid() != 0)
    print(libc.mount(b"none", b"/", b"tmpfs", 0, None) == -1)
    print(libc.unshare(0x00020000) == -1)
    print(libc.setuid(0) == -1 and libc.chroot(b".") == -1)
    print(libc.prctl(39, 0, 0, 0, 0) == 1)  # no new privileges
    """
    assert program(text, full).split() == ["True"] * 5


# ---- Limits ----


@pytest.mark.parametrize(
    "loop",
    [
        "while True: pass",
        "import time\nwhile True: time.sleep(1)",
        (
            "import signal, time\n"
            "for n in set(signal.valid_signals()) - {signal.SIGKILL, signal.SIGSTOP}:\n"
            "    signal.signal(n, signal.SIG_IGN)\n"
            "while True: time.sleep(0.1)"
        ),
        "import os, time\nos.close(1)\nos.close(2)\nos.close(0)\ntime.sleep(1234)",
        "import os, time\nos.setsid() if os.getpid() != os.getsid(0) else 0\ntime.sleep(1234)",
    ],
    ids=["busy", "asleep", "deaf", "mute", "own session"],
)
def test_endless_program_is_stopped(full, loop):
    with pytest.raises(ChildError, match="within 1 s"):
        run_python(loop.encode(), Limits(seconds=1, memory=2**29, processes=3), full)
    assert gone("program.py")


def test_endless_function_is_stopped(kind, function):
    with pytest.raises(ChildError, match="within 1 s"):
        function(
            "def main(data):\n    while True: pass", kind, limits=Limits(seconds=1)
        )
    assert gone("sandbox/child.py")


def test_flood_of_output_is_cut_off(full):
    text = b"import sys\nwhile True: sys.stdout.write('x' * 100_000)"
    done = run_python(text, SMALL, full)
    assert done.flooded
    assert len(done.stdout) == SMALL.output
    assert gone("program.py")


def test_flood_of_errors_is_cut_off(full):
    text = b"import sys\nwhile True: sys.stderr.write('x' * 100_000)"
    done = run_python(text, replace(SMALL, errors=2**20), full)
    assert done.flooded
    assert not done.stdout
    assert len(done.stderr) == 4096
    assert gone("program.py")


@pytest.mark.parametrize(
    ("waiting", "running", "kind_of_error"),
    [
        # Asleep; in a loop; in as many loops as it may start; on a machine that runs others.
        (0.0, 0.1, LimitError),
        (10.0, 50.0, LimitError),
        (60.0, 60.0, LimitError),
        (55.0, 5.0, ChildError),
    ],
)
def test_starved_child_is_a_machine_failure(
    monkeypatch, waiting, running, kind_of_error
):
    time_used = conversation.ProcessorTime(running, waiting)
    monkeypatch.setattr(conversation, "processor_time", lambda _: time_used)
    error = conversation.deadline_error(1, Limits(seconds=60))
    assert type(error) is kind_of_error
    assert "within 60 s" in str(error)


@pytest.mark.skipif(sys.platform != "linux", reason="read from /proc")
def test_cpu_time_includes_all_child_processes():
    # The loop is a grandchild.
    words = [sys.executable, "-c", "while True: pass"]
    source = f"import subprocess; subprocess.run({words!r})"
    with subprocess.Popen(
        [sys.executable, "-c", source], start_new_session=True
    ) as child:
        try:
            until(lambda: conversation.processor_time(child.pid).running > 1)
        finally:
            os.killpg(child.pid, 9)


def test_memory_balloon_is_stopped(full):
    text = """
    held = []
    try:
        for _ in range(64):
            held.append(bytearray(2**26))
    except MemoryError:
        held.clear()
        print("burst")
    """
    assert program(text, full).strip() == "burst"


def test_function_has_a_memory_limit_too(kind, function):
    source = (
        "def main(data):\n    return bytes(len([bytearray(2**26) for _ in range(64)]))"
    )
    with pytest.raises(ChildError, match="MemoryError"):
        function(source, kind)


@pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux ends children with their parent"
)
def test_children_die_with_the_process_that_started_them(kind, tmp_path):
    script = tmp_path / "orphan.py"
    script.write_text("import time\ndef main(data):\n    time.sleep(1234)\n", "utf-8")
    code = (
        "import sys\nfrom pathlib import Path\n"
        "from scbench.machine.sandbox import Limits, call_script\n"
        f"call_script(Path({str(script)!r}), b'', Limits(), {kind!r})"
    )
    parent = subprocess.Popen([sys.executable, "-c", code])
    until(lambda: alive(str(script)))
    parent.kill()
    parent.wait()
    assert gone(str(script))
