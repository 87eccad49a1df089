"""Fuzz all code that reads untrusted bytes: readers, extraction, formulas, STL, and every grader.

::

    python tools/fuzz.py                           # every target, 5,000 executions each
    python tools/fuzz.py line response --runs 200000
    python tools/fuzz.py answer:csg_union --seconds 60 --seed 7
    python tools/fuzz.py answers --runs 2000       # every answer:TASK
    python tools/fuzz.py line --replay INPUT       # run one input again, with the full traceback

If atheris is installed, coverage guides the inputs; otherwise, or with --plain, they are seeded
mutations, the same every time. Each target runs in a separate process that must not write files,
open sockets or start processes, and has limited memory. The parent process watches it: an execution
that hangs or kills its process is a finding like any other.

Exit codes: 0 no findings, 1 findings, 2 wrong usage.
"""

import argparse
import contextlib
import json
import mmap
import os
import random
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

# CPU time that one execution may take, in seconds; the wall-clock limit is twelve times as long.
SECONDS = 10.0
# Bytes of address space that one execution may add, as for a worker of scbench-grade.
MEMORY = 4 * 2**30
# Maximum number of processes that a target may kill.
_DEATHS = 20
# Maximum number of characters of an input that are printed.
_MAX_LENGTH = 160
# Size of a slate, and of its two numbers, in bytes.
_SLATE = 2**20
_HEAD = 16
# Targets other than answers.
_NAMES = (
    "line",
    "response",
    "formula",
    "stl",
    "import",
    "archive",
    "document",
    "manifest",
)
# Flags for libFuzzer. This program watches time and memory, because libFuzzer's own clock mistakes
# a busy machine for a hang.
_FLAGS = (
    "-timeout=3600",
    "-rss_limit_mb=0",
    "-verbosity=0",
    "-detect_leaks=0",
    "-reload=0",
    "-len_control=20",
)


class Finding(NamedTuple):
    """One way to make a target fail.

    Attributes:
        place: exception and line of code, which identify a finding.
        message: the last lines of the traceback.
        data: the input.
    """

    place: str
    message: str
    data: bytes


class Slate:
    """Memory that a fuzzing process shares with its parent: a count and the current input.

    The parent reads it even if the process dies.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SLATE)

    def write(self, count: int, data: bytes) -> None:
        """Record an input before it is tried."""
        content = data[: _SLATE - _HEAD]
        head = count.to_bytes(8, "little") + len(content).to_bytes(8, "little")
        self._memory[: _HEAD + len(content)] = head + content

    @property
    def count(self) -> int:
        """The number of inputs tried so far."""
        return int.from_bytes(self._memory[:8], "little")

    @property
    def data(self) -> bytes:
        """The current input."""
        size = int.from_bytes(self._memory[8:_HEAD], "little")
        return self._memory[_HEAD : _HEAD + size]


def main() -> int:
    """Fuzz the named targets, print a table, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all by default")
    parser.add_argument(
        "--runs", type=int, default=5000, help="executions of each target"
    )
    parser.add_argument(
        "--seconds", type=float, default=3600, help="time limit for each target"
    )
    parser.add_argument("--seed", type=int, default=0, help="seed of the inputs")
    parser.add_argument("--plain", action="store_true", help="do not use atheris")
    parser.add_argument(
        "--save", type=Path, metavar="DIR", help="folder for the input of each finding"
    )
    parser.add_argument(
        "--replay", type=Path, metavar="INPUT", help="try one input again"
    )
    options = parser.parse_args()
    names = target_names(options.targets, parser)
    if options.replay:
        return replay(names[0], options.replay)
    print(
        f"{'target':34} {'executions':>10} {'per second':>10} {'findings':>8}",
        flush=True,
    )
    total = 0
    total_findings = 0
    for name in names:
        count, seconds, findings = fuzz(name, options)
        total += count
        total_findings += len(findings)
        print(
            f"{name:34} {count:>10,} {count / seconds:>10,.0f} {len(findings):>8}",
            flush=True,
        )
        for i, finding in enumerate(findings):
            print(f"\n{finding.place}: {finding.message}")
            print(f"input: {finding.data!r:.{_MAX_LENGTH}}")
            if options.save:
                options.save.mkdir(parents=True, exist_ok=True)
                path = options.save / f"{name.replace(':', '-')}-{options.seed}-{i}"
                path.write_bytes(finding.data)
                print(f"saved as {path}", flush=True)
    print(f"{'in all':34} {total:>10,} {'':>10} {total_findings:>8}")
    return 1 if total_findings else 0


def target_names(
    requested: Sequence[str], parser: argparse.ArgumentParser
) -> list[str]:
    """Return the requested targets; ``answers`` means those of all tasks, and no name means all."""
    from scbench.catalog import available_tasks  # noqa: PLC0415  (graders must not load yet)

    ours = [task for task in available_tasks() if task.package == "scbench"]
    of_tasks = [f"answer:{task.id}" for task in ours]
    available = [*_NAMES, *of_tasks]
    names: list[str] = []
    for word in requested:
        if word == "answers":
            names += of_tasks
        elif word in available:
            names.append(word)
        else:
            parser.error(
                f"no target {word!r}; there are: {', '.join(available)}, answers"
            )
    return names or available


# This process starts others and collects their findings.


def fuzz(name: str, options: argparse.Namespace) -> tuple[int, float, list[Finding]]:
    """Fuzz one target in separate processes; return the executions, seconds and findings."""
    slate = Slate()
    findings: dict[str, Finding] = {}
    start = time.monotonic()
    for _ in range(_DEATHS):
        if slate.count >= options.runs or time.monotonic() > start + options.seconds:
            break
        status = fuzz_in_child(name, options, slate, findings)
        if os.WIFSIGNALED(status):
            # The current input killed the process; another one continues after that input.
            number = os.WTERMSIG(status)
            note = " (hung)" if number == signal.SIGKILL else ""
            place = f"killed by {signal.Signals(number).name}{note}"
            findings.setdefault(place, Finding(place, place, slate.data))
        elif os.WEXITSTATUS(status):
            raise SystemExit(f"{name}: the target cannot be fuzzed, see above")
        else:
            break
    return slate.count, time.monotonic() - start, list(findings.values())


def fuzz_in_child(
    name: str, options: argparse.Namespace, slate: Slate, findings: dict[str, Finding]
) -> int:
    """Fuzz a target in a fork until it ends; add its findings, and return its exit status."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
        corpus = Path(folder, "corpus")
        corpus.mkdir()
        listen, out = os.pipe()
        child = os.fork()
        if child == 0:
            code = 70
            try:
                os.close(listen)
                fuzz_here(name, options, slate, out, corpus)
                code = 0
            except SystemExit as error:
                code = int(error.code or 0)
            except BaseException:  # noqa: BLE001  (a fork must never return to the caller)
                traceback.print_exc()
            finally:
                os._exit(code)
        os.close(out)
        for line in lines_of(child, listen, slate):
            note = json.loads(line)
            finding = Finding(
                note["place"], note["message"], bytes.fromhex(note["data"])
            )
            findings.setdefault(finding.place, finding)
        _, status = os.waitpid(child, 0)
    return status


def lines_of(child: int, pipe: int, slate: Slate) -> Sequence[bytes]:
    """Read the lines of a process until it ends; kill it if an execution exceeds the limit."""
    output = b""
    last_count = slate.count
    since: float | None = None
    with os.fdopen(pipe, "rb", 0) as stream:
        while True:
            ready, _, _ = select.select([stream], [], [], 1.0)
            if ready:
                piece = stream.read(65_536)
                if not piece:
                    return output.splitlines()
                output += piece
            count = slate.count
            # Before the first execution, the target is still being prepared.
            if count != last_count or count == 0:
                last_count = count
                since = time.monotonic()
            elif since is not None and time.monotonic() - since > 12 * SECONDS:
                os.kill(child, signal.SIGKILL)


# A separate process tries the inputs.


def fuzz_here(
    name: str, options: argparse.Namespace, slate: Slate, out: int, corpus: Path
) -> None:
    """Fuzz one target in this process; write each finding as a line to a pipe."""
    sys.dont_write_bytecode = True
    tempfile.tempdir = str(corpus.parent)
    is_guided = not options.plain and find_spec("atheris") is not None
    target = make_target(name, is_guided=is_guided)
    import fuzz_guard  # noqa: PLC0415  (next to this file)

    places: set[str] = set()
    start = slate.count

    def once(data: bytes) -> None:
        slate.write(slate.count + 1, data)
        fuzz_guard.limit_memory(MEMORY)
        finding = attempt(target.run, data)
        if finding is not None and finding.place not in places:
            places.add(finding.place)
            note = finding._asdict() | {"data": data.hex()}
            os.write(out, json.dumps(note).encode() + b"\n")

    prepare(target, target.seeds)
    if is_guided:
        fuzz_guided(target, options, once, corpus, start)
        return
    from fuzz_inputs import mutated_bytes  # noqa: PLC0415

    deadline = time.monotonic() + options.seconds
    rng = random.Random(f"{name} {options.seed} {start}")  # noqa: S311  (no cryptography)
    pool = list(target.seeds)
    while slate.count < options.runs and time.monotonic() < deadline:
        if rng.random() < 0.1:
            data = rng.randbytes(rng.randrange(80))
        else:
            data = mutated_bytes(rng, rng.choice(pool), target.tokens, target.max_bytes)
            # Some mutations are mutated again.
            if len(pool) < 200 and rng.random() < 0.05:
                pool.append(data)
        once(data)


def make_target(name: str, *, is_guided: bool) -> Any:  # noqa: ANN401  (of another module)
    """Return a target; if it is guided, the modules that it imports record their coverage."""
    with contextlib.ExitStack() as stack:
        if is_guided:
            import atheris  # noqa: PLC0415  (optional)

            # It prints a message about every module.
            nowhere = stack.enter_context(Path(os.devnull).open("w"))
            stack.enter_context(contextlib.redirect_stderr(nowhere))
            stack.enter_context(atheris.instrument_imports(include=["scbench"]))
        import fuzz_targets  # noqa: PLC0415  (after coverage is set up)

        return fuzz_targets.make(name)


def prepare(target: Any, seeds: Sequence[bytes]) -> None:  # noqa: ANN401
    """Install the guard, and try the seeds, so that first imports are not blamed on an input."""
    import fuzz_guard  # noqa: PLC0415

    scratch = tempfile.gettempdir() if target.scratch else None
    fuzz_guard.install(target.children, scratch)
    for seed in seeds:
        with contextlib.suppress(Exception):
            target.run(seed)


def fuzz_guided(
    target: Any,  # noqa: ANN401
    options: argparse.Namespace,
    once: Callable[[bytes], None],
    corpus: Path,
    start: int,
) -> None:
    """Fuzz with inputs that coverage guides. This ends the process."""
    import atheris  # noqa: PLC0415  (optional)

    for i, seed in enumerate(target.seeds):
        (corpus / f"{i:03d}").write_bytes(seed)
    words = []
    for token in target.tokens:
        escaped = "".join(f"\\x{byte:02x}" for byte in token)
        words.append(f'"{escaped}"\n')
    dictionary = corpus.with_suffix(".dict")
    dictionary.write_text("".join(words) or '"0"')
    flags = [
        f"-runs={options.runs - start}",
        f"-seed={options.seed + start + 1}",
        f"-max_total_time={int(options.seconds)}",
        f"-max_len={target.max_bytes}",
        f"-dict={dictionary}",
    ]
    with Path(os.devnull).open("w") as nowhere:
        # libFuzzer writes directly to the descriptor.
        os.dup2(nowhere.fileno(), 2)
    atheris.Setup([sys.argv[0], *flags, *_FLAGS, str(corpus)], once)
    atheris.Fuzz()


def attempt(run: Any, data: bytes, seconds: float = SECONDS) -> Finding | None:  # noqa: ANN401
    """Run a target on an input under the guard; return the finding, if there is one."""
    from fuzz_guard import ChildrenSpentError, watched  # noqa: PLC0415  (next to this file)

    try:
        with watched(seconds):
            run(data)
    except ChildrenSpentError:
        return None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (any error is a finding)
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{type(error).__name__} in {Path(last.filename).name}:{last.lineno}"
        trace = "".join(traceback.format_exception(error)[-6:])
        return Finding(place, trace.encode(errors="replace").decode()[-3000:], data)
    return None


def replay(name: str, path: Path) -> int:
    """Run one input again, in this process."""
    import fuzz_guard  # noqa: PLC0415

    sys.dont_write_bytecode = True
    target = make_target(name, is_guided=False)
    prepare(target, target.seeds[:1])
    with fuzz_guard.watched(SECONDS):
        target.run(path.read_bytes())
    print("nothing wrong")
    return 0


if __name__ == "__main__":
    sys.exit(main())
