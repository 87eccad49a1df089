"""Fuzz what meets untrusted bytes: readers, extraction, formulas, STL, and every grader.

::

    python tools/fuzz.py                           # every target, 5,000 executions each
    python tools/fuzz.py line response --runs 200000
    python tools/fuzz.py answer:csg_union --seconds 60 --seed 7
    python tools/fuzz.py answers --runs 2000       # every answer:TASK
    python tools/fuzz.py line --replay INPUT       # one input again, with the whole traceback

Where atheris is installed, inputs are guided by coverage; elsewhere, or with --plain, they are
seeded mutations, the same every time. Each target runs in a process of its own, which may write no
file, open no socket and start no process, has a limit on its memory, and is watched from outside:
an execution that hangs or kills its process is a finding like any other.

Exit codes: 0 nothing found, 1 findings, 2 wrong usage.
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
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

# What one execution may take, of the processor's time; twelve times as much of the
# clock's.
SECONDS = 10.0
# Bytes of address space that one execution may add: what a worker of scbench-grade has.
MEMORY = 4 * 2**30
_DEATHS = 20
_MAX_LENGTH = 160
_SLATE = 2**20


class Finding(NamedTuple):
    """One way to make a target fail.

    Attributes:
        place: exception and line of code, which tells findings apart.
        message: what was said, with the last lines of the traceback.
        data: the input.
    """

    place: str
    message: str
    data: bytes


class Slate:
    """What a fuzzing process leaves its parent, even if it dies: a count and the input at hand."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _SLATE)

    def write(self, count: int, data: bytes) -> None:
        """Note an input before it is tried."""
        content = data[: _SLATE - 16]
        self._memory[:16] = count.to_bytes(8, "little") + len(content).to_bytes(
            8, "little"
        )
        self._memory[16 : 16 + len(content)] = content

    @property
    def count(self) -> int:
        """Number of inputs tried so far."""
        return int.from_bytes(self._memory[:8], "little")

    @property
    def data(self) -> bytes:
        """The input at hand."""
        return self._memory[16 : 16 + int.from_bytes(self._memory[8:16], "little")]


def attempt(run: Any, data: bytes, seconds: float = SECONDS) -> Finding | None:  # noqa: ANN401
    """Run a target on an input in its sandbox; return what went wrong."""
    from fuzz_guard import ChildrenSpentError, watched  # noqa: PLC0415  (beside this file)

    try:
        with watched(seconds):
            run(data)
    except ChildrenSpentError:
        return None
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # noqa: BLE001  (whatever it is, it was found)
        frames = traceback.extract_tb(error.__traceback__)
        last = frames[-1]
        place = f"{type(error).__name__} in {Path(last.filename).name}:{last.lineno}"
        trace = "".join(traceback.format_exception(error)[-6:])
        return Finding(place, trace.encode(errors="replace").decode()[-3000:], data)
    return None


def _fuzz(
    name: str, options: argparse.Namespace, slate: Slate, out: int, corpus: str
) -> None:
    """Fuzz one target in this process."""
    import fuzz_guard  # noqa: PLC0415

    sys.dont_write_bytecode = True
    tempfile.tempdir = str(Path(corpus).parent)
    guided = not options.plain and find_spec("atheris") is not None
    if guided:
        import atheris  # noqa: PLC0415  (optional)

        with _silenced(), atheris.instrument_imports(include=["scbench"]):
            import fuzz_targets  # noqa: PLC0415

            target = fuzz_targets.make(name)
    else:
        import fuzz_targets  # noqa: PLC0415

        target = fuzz_targets.make(name)
    fuzz_guard.install(target.children, tempfile.tempdir if target.scratch else None)
    for seed in target.seeds:  # what is imported or opened once is no act of the input
        with contextlib.suppress(Exception):
            target.run(seed)
    kinds: set[str] = set()
    start = slate.count

    def once(data: bytes) -> None:
        slate.write(slate.count + 1, data)
        fuzz_guard.limit_memory(MEMORY)
        finding = attempt(target.run, data)
        if finding is not None and finding.place not in kinds:
            kinds.add(finding.place)
            note = {
                "place": finding.place,
                "message": finding.message,
                "data": data.hex(),
            }
            os.write(out, json.dumps(note).encode() + b"\n")

    deadline = time.monotonic() + options.seconds
    if guided:
        for i, seed in enumerate(target.seeds):
            Path(corpus, f"{i:03d}").write_bytes(seed)
        words = Path(corpus).with_suffix(".dict")
        escaped = (
            "".join(f"\\x{byte:02x}" for byte in token) for token in target.tokens
        )
        words.write_text("".join(f'"{token}"\n' for token in escaped) or '"0"')
        flags = [f"-runs={options.runs - start}", f"-seed={options.seed + start + 1}"]
        flags += [
            f"-max_total_time={int(options.seconds)}",
            f"-max_len={target.max_bytes}",
        ]
        # Time and memory are watched here: its own clock takes a busy machine for a hang.
        flags += ["-timeout=3600", "-rss_limit_mb=0", "-verbosity=0", f"-dict={words}"]
        flags += ["-detect_leaks=0", "-reload=0", "-len_control=20"]
        with Path(os.devnull).open("w") as nowhere:  # what libFuzzer says of itself
            os.dup2(nowhere.fileno(), 2)
        atheris.Setup([sys.argv[0], *flags, corpus], once)
        atheris.Fuzz()  # does not return
    rng = random.Random(f"{name} {options.seed} {start}")  # noqa: S311  (no cryptography)
    pool = list(target.seeds)
    from fuzz_inputs import mutated_bytes  # noqa: PLC0415

    while slate.count < options.runs and time.monotonic() < deadline:
        if rng.random() < 0.1:
            data = rng.randbytes(rng.randrange(80))
        else:
            data = mutated_bytes(rng, rng.choice(pool), target.tokens, target.max_bytes)
            if len(pool) < 200 and rng.random() < 0.05:
                pool.append(data)
        once(data)


@contextlib.contextmanager
def _silenced() -> Iterator[None]:
    """Keep what atheris says of every module it instruments from the terminal."""
    with Path(os.devnull).open("w") as nowhere, contextlib.redirect_stderr(nowhere):
        yield


def fuzz(name: str, options: argparse.Namespace) -> tuple[int, float, list[Finding]]:
    """Fuzz one target in processes of its own; return executions, seconds, findings."""
    slate, findings = Slate(), dict[str, Finding]()
    began = time.monotonic()
    deadline = began + options.seconds
    for _ in range(_DEATHS):
        before = slate.count
        if before >= options.runs or time.monotonic() > deadline:
            break
        with tempfile.TemporaryDirectory(prefix="fuzz-") as folder:
            corpus = Path(folder, "corpus")
            corpus.mkdir()
            listen, out = os.pipe()
            child = os.fork()
            if child == 0:
                code = 70
                try:
                    os.close(listen)
                    _fuzz(name, options, slate, out, str(corpus))
                    code = 0
                except SystemExit as error:
                    code = int(error.code or 0)
                except BaseException:  # noqa: BLE001  (a fork must never go back up)
                    traceback.print_exc()
                finally:
                    os._exit(code)
            os.close(out)
            for line in _followed(child, listen, slate):
                note = json.loads(line)
                place = note["place"]
                findings.setdefault(
                    place, Finding(place, note["message"], bytes.fromhex(note["data"]))
                )
            _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            place = f"killed by {signal.Signals(os.WTERMSIG(status)).name}"
            place += " (hung)" if os.WTERMSIG(status) == signal.SIGKILL else ""
            findings.setdefault(place, Finding(place, place, slate.data))
        elif os.WEXITSTATUS(status):
            raise SystemExit(f"{name}: the target cannot be fuzzed, see above")
        else:
            break
    return slate.count, time.monotonic() - began, list(findings.values())


def _followed(child: int, pipe: int, slate: Slate) -> Sequence[bytes]:
    """Read what a process says until it ends; kill it if one execution hangs beyond recall."""
    output = b""
    last, since = slate.count, None
    with os.fdopen(pipe, "rb", 0) as stream:
        while True:
            if select.select([stream], [], [], 1.0)[0]:
                piece = stream.read(65_536)
                if not piece:
                    return output.splitlines()
                output += piece
            now = slate.count
            if (
                now != last or now == 0
            ):  # before the first, the target is still being prepared
                last, since = now, time.monotonic()
            elif since is not None and time.monotonic() - since > 12 * SECONDS:
                os.kill(child, signal.SIGKILL)


def _replay(name: str, path: Path) -> int:
    import fuzz_guard  # noqa: PLC0415
    import fuzz_targets  # noqa: PLC0415

    sys.dont_write_bytecode = True
    target = fuzz_targets.make(name)
    fuzz_guard.install(
        target.children, tempfile.gettempdir() if target.scratch else None
    )
    for seed in target.seeds[:1]:
        with contextlib.suppress(Exception):
            target.run(seed)
    with fuzz_guard.watched(SECONDS):
        target.run(path.read_bytes())
    print("nothing wrong")
    return 0


def _target_names(
    requested: Sequence[str], parser: argparse.ArgumentParser
) -> list[str]:
    """Return the targets meant; ``answers`` stands for every task's, nothing for all."""
    from scbench.catalog import available_tasks  # noqa: PLC0415  (graders must not load yet)

    tasks = [
        f"answer:{task.id}" for task in available_tasks() if task.package == "scbench"
    ]
    available = [
        "line",
        "response",
        "formula",
        "stl",
        "import",
        "archive",
        "document",
        "manifest",
    ]
    available += tasks
    names = [
        name for word in requested for name in (tasks if word == "answers" else [word])
    ]
    for name in names:
        if name not in available:
            parser.error(
                f"no target {name!r}; there are: {', '.join(available)}, answers"
            )
    return names or available


def main() -> int:
    """Fuzz the targets named, print a table, and return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all by default")
    parser.add_argument(
        "--runs", type=int, default=5000, help="executions of each target"
    )
    parser.add_argument(
        "--seconds", type=float, default=3600, help="most time for each target"
    )
    parser.add_argument(
        "--seed", type=int, default=0, help="another seed gives other inputs"
    )
    parser.add_argument("--plain", action="store_true", help="do not use atheris")
    parser.add_argument(
        "--save", type=Path, metavar="DIR", help="keep the input of each finding"
    )
    parser.add_argument(
        "--replay", type=Path, metavar="INPUT", help="try one input again"
    )
    options = parser.parse_args()
    names = _target_names(options.targets, parser)
    if options.replay:
        return _replay(names[0], options.replay)
    print(
        f"{'target':34} {'executions':>10} {'per second':>10} {'findings':>8}",
        flush=True,
    )
    total = findings = 0
    for name in names:
        count, seconds, by_message = fuzz(name, options)
        total, findings = total + count, findings + len(by_message)
        print(
            f"{name:34} {count:>10,} {count / seconds:>10,.0f} {len(by_message):>8}",
            flush=True,
        )
        for i, finding in enumerate(by_message):
            print(
                f"\n{finding.place}: {finding.message}\ninput: {finding.data!r:.{_MAX_LENGTH}}"
            )
            if options.save:
                options.save.mkdir(parents=True, exist_ok=True)
                path = options.save / f"{name.replace(':', '-')}-{options.seed}-{i}"
                path.write_bytes(finding.data)
                print(f"saved as {path}", flush=True)
    print(f"{'in all':34} {total:>10,} {'':>10} {findings:>8}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
