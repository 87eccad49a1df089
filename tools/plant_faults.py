"""Measure how well the tests detect faults: plant faults in copies of the tree, one at a time.

::

    python tools/plant_faults.py faults.jsonl --touch        # first: find tests that run them
    python tools/plant_faults.py faults.jsonl                # then try about 300 faults; two hours
    python tools/plant_faults.py faults.jsonl --sample 40    # only the first 40 faults
    python tools/plant_faults.py faults.jsonl --suites deep  # then try survivors on the deep tests
    python tools/plant_faults.py faults.jsonl --list         # list the faults and what caught them

A fault is a changed operator, a changed constant, a dropped check or a swapped branch. Hashes of
their places determine which faults are planted, so everybody plants the same ones.

``--touch`` runs the quick suite once, with a probe at the place of each fault. It records, next to
the results, which tests evaluate the place, in their own process or in one that they start. A fault
is then tried only on those tests: first the tests of its module, then the cheapest ones, up to
`BUDGET_SECONDS` and `MOST_TESTS`. If no test is known to evaluate it (code that runs at import), it
is tried on all tests of its module. The deep suite consists of the deep tests in its folder. So the
program misses detections by more expensive tests, by tests that read the source, and by tests whose
processes an earlier test started. A fault reported as caught is really caught. Each result is
written immediately, and faults in the file are not tried again.
"""

import argparse
import ast
import hashlib
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
# Folders in which faults are planted.
FOLDERS = (
    "graders",
    "scbench/scoring",
    "scbench/grading",
    "scbench/analysis",
    "scbench/release",
    "scbench/leaderboard",
)
FAULTS = 300
SUITES = ["beside", "quick", "deep"]
# Maximum seconds and maximum number of tests of a suite for one fault.
BUDGET_SECONDS = 90
MOST_TESTS = 300
# Number of copies of the tree; each tries one fault at a time.
COPIES = 4
# Tests that run longer than this many seconds also count as having noticed the fault.
LIMIT_SECONDS = 900
# Maximum data of a process in bytes. Its address space is not limited, because the JavaScript
# engine that draws charts reserves 80 GB.
MEMORY_BYTES = 12 << 30
# Files that are not copied with the tree.
NOT_COPIED = shutil.ignore_patterns(
    ".git", ".venv", ".nox", "*_cache", "build", "__pycache__"
)
# A module for the copy, which records once which test evaluated which fault.
PROBE = """import os
_VISITS = set()
def hit(name):
    visit = (name, os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0])
    if visit not in _VISITS:
        _VISITS.add(visit)
        file = os.open({!r}, os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(file, ("%s %s\\n" % visit).encode())
        os.close(file)
"""
# The operator that replaces another one in a fault.
REPLACEMENTS: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
# A line of pytest's durations: seconds, part and test.
_DURATION = re.compile(r"^([\d.]+)s (?:call|setup|teardown) +(\S.*?) *$", re.MULTILINE)
# The first line of pytest's summary: the test that failed.
_FAILURE = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
# Exit code of pytest if all tests were deselected.
_NO_TESTS = 5
# A fault, the suites on which it was tried, and the test that caught it.
Record = dict[str, Any]


class Fault(NamedTuple):
    """A fault: some bytes of a file, and the text that replaces them."""

    path: str
    line: int
    kind: str
    start: int
    end: int
    before: str
    after: str

    @property
    def key(self) -> str:
        """The name of the fault, which also determines its place in the order."""
        return hashlib.sha256(repr((self.path, *self[2:])).encode()).hexdigest()[:16]


class Change(NamedTuple):
    """A kind of fault, the part of a program to replace, and its replacement."""

    kind: str
    part: ast.AST
    after: str


class Touched(NamedTuple):
    """The tests that evaluate each fault, by its key, and the duration of every test in seconds."""

    tests: dict[str, set[str]]
    seconds: dict[str, float]


def main() -> int:
    """Run the command line; return 1 if a fault survives."""
    options = read_options()
    results: Path = options.results
    log = results.with_suffix(".touched")
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY_BYTES, MEMORY_BYTES))
    records: dict[str, Record] = {}
    if results.exists():
        for line in results.read_text("utf-8").splitlines():
            record = json.loads(line)
            records[record["key"]] = record
    if not options.list:
        faults = choose_faults(options.sample)
        if options.touch:
            with tempfile.TemporaryDirectory() as folder:
                failed = touch(copy_of_tree(folder), faults, log)
                find_broken(copy_of_tree(folder), failed, log)
            return 0
        plant_all(faults, options.suites, touched_in(log), records, results)
    print(*report_lines(records), sep="\n")
    return int(any(not record["caught"] for record in records.values()))


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "results", type=Path, help="JSON Lines file to which results are added"
    )
    parser.add_argument(
        "--sample", type=int, default=FAULTS, help="number of faults to plant"
    )
    parser.add_argument(
        "--suites",
        nargs="+",
        choices=SUITES,
        default=SUITES[:2],
        help="suites to run, in this order",
    )
    parser.add_argument(
        "--touch",
        action="store_true",
        help="only find the tests that evaluate each fault",
    )
    parser.add_argument(
        "--list", action="store_true", help="plant nothing; print the results"
    )
    return parser.parse_args()


def copy_of_tree(folder: str) -> Path:
    """Copy the tree into a new subfolder of a folder, and return the copy."""
    tree = Path(tempfile.mkdtemp(dir=folder), "tree")
    shutil.copytree(ROOT, tree, symlinks=True, ignore=NOT_COPIED)
    return tree


def plant_all(
    faults: Sequence[Fault],
    suites: Sequence[str],
    touched: Touched,
    records: dict[str, Record],
    results: Path,
) -> None:
    """Try faults on suites on which they have not been tried; record the results in both places."""
    copies = Queue[Path]()

    def plant(fault: Fault) -> None:
        old = records.get(fault.key, {"caught": "", "suites": []})
        new_suites = [name for name in suites if name not in old.get("suites", ())]
        if old["caught"] or not new_suites:
            return
        tree = copies.get()
        record = attempt(tree, fault, new_suites, old["suites"], touched)
        copies.put(tree)
        records[fault.key] = record
        with results.open("a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
        place = f"{fault.path}:{fault.line} {fault.kind}"
        print(f"{place}: {record['caught'] or 'SURVIVES'}", flush=True)

    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(COPIES) as pool:
        for _ in range(COPIES):
            copies.put(copy_of_tree(folder))
        list(pool.map(plant, faults))


def report_lines(records: dict[str, Record]) -> Iterator[str]:
    """Yield the number of faults that each suite caught, and every survivor."""
    counts = Counter(record["caught"] or "nothing" for record in records.values())
    caught = len(records) - counts["nothing"]
    parts = [f"{count} by {name}" for name, count in counts.most_common()]
    yield f"{caught} of {len(records)} caught: {', '.join(parts)}"
    for record in records.values():
        if not record["caught"]:
            place = f"{record['path']}:{record['line']} {record['kind']}"
            yield f"{place}: {record['before']!r} -> {record['after']!r}"


# Faults


def choose_faults(count: int) -> list[Fault]:
    """Return the first faults in all folders, in the order of their hashes."""
    faults: list[Fault] = []
    for folder_name in FOLDERS:
        for path in sorted((ROOT / folder_name).rglob("*.py")):
            faults += faults_in(path)
    return sorted(faults, key=lambda fault: fault.key)[:count]


def faults_in(path: Path) -> Iterator[Fault]:
    """Yield all faults of a module, except those in types and decorators."""
    source = path.read_bytes()
    # The offset in bytes at which each line starts.
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    passive = passive_nodes(tree)
    for node in ast.walk(tree):
        if node in passive:
            continue
        for kind, part, after in changes(node):
            start = starts[part.lineno - 1] + part.col_offset
            end = starts[part.end_lineno - 1] + part.end_col_offset
            before = source[start:end].decode()
            name = path.relative_to(ROOT).as_posix()
            yield Fault(name, part.lineno, kind, start, end, before, after)


def passive_nodes(tree: ast.AST) -> set[ast.AST]:
    """Return the nodes of types, decorators and f-strings."""
    passive: set[ast.AST] = set()
    for node in ast.walk(tree):
        roots: list[ast.AST] = []
        for name in ("annotation", "returns", "decorator_list"):
            child = getattr(node, name, None)
            if isinstance(child, list):
                roots += child
            elif isinstance(child, ast.AST):
                roots.append(child)
        if isinstance(node, ast.JoinedStr):
            # A part of an f-string cannot be replaced on its own.
            roots.append(node)
        for root in roots:
            passive.update(ast.walk(root))
    return passive


def changes(node: ast.AST) -> Iterator[Change]:
    """Yield the possible faults of a node."""
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in REPLACEMENTS:
            changed: ast.AST = ast.Compare(left, [REPLACEMENTS[type(op)]()], [right])
            yield Change("operator", node, code_of(changed))
        case ast.BinOp(left, op, right) if type(op) in REPLACEMENTS:
            if not is_text(left) and not is_text(right):
                changed = ast.BinOp(left, REPLACEMENTS[type(op)](), right)
                yield Change("operator", node, code_of(changed))
        case ast.BoolOp(op, values):
            changed = ast.BoolOp(REPLACEMENTS[type(op)](), values)
            yield Change("operator", node, code_of(changed))
        case ast.UnaryOp(ast.Not(), operand):
            yield Change("operator", node, code_of(operand))
        case ast.Constant(bool() as value):
            yield Change("constant", node, repr(not value))
        case ast.Constant(int() as value):
            yield Change("constant", node, repr(value + 1))
        case ast.Constant(float() as value) if value:
            yield Change("constant", node, repr(value * 1.5))
        case ast.If(test, orelse=[_, *_]) | ast.IfExp(test):
            yield Change("branch", test, f"(not {code_of(test)})")
        case ast.If(test, body):
            if any(isinstance(part, ast.Raise | ast.Return) for part in body):
                yield Change("check", test, "False")
        case ast.Expr(ast.Call(ast.Attribute())):
            yield Change("check", node, "pass")


def code_of(node: ast.AST) -> str:
    """Return the source code of a node in brackets."""
    return f"({ast.unparse(ast.fix_missing_locations(node))})"


def is_text(node: ast.AST) -> bool:
    """Return whether a node is a text or another constant that is not a number."""
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, int | float)
    return isinstance(node, ast.JoinedStr)


# Tests that evaluate a fault


def touch(tree: Path, faults: Sequence[Fault], log: Path) -> list[str]:
    """Record the quick tests that evaluate the place of each fault, and the duration of tests.

    Returns:
        The tests that fail, most of them because of the probes.
    """
    (tree / "scbench" / "probe.py").write_text(PROBE.format(str(log.absolute())))
    # The start of each probe in a file, and the number of bytes that it adds.
    growth: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    # Go from the last fault in a file to the first, and from inner to outer at the same start.
    # So the start of a fault has not moved yet.
    for fault in sorted(faults, key=lambda each: (each.start, -each.end), reverse=True):
        path = tree / fault.path
        source = path.read_bytes()
        end = fault.end
        for place, size in growth[fault.path]:
            if place < fault.end:
                end += size
        call = f"(__import__('scbench.probe', fromlist=['hit']).hit({fault.key!r}) or ("
        probed = call.encode() + source[fault.start : end] + b"))"
        source = source[: fault.start] + probed + source[end:]
        try:
            compile(source, str(path), "exec")
        except SyntaxError:
            # A pattern in a match statement cannot contain a call.
            continue
        path.write_bytes(source)
        growth[fault.path].append((fault.start, len(probed) - (end - fault.start)))
    run = pytest(tree, "--durations=0", "--durations-min=0.01", "-vv", is_limited=False)
    log.with_suffix(".out").write_text(run.stdout, "utf-8")
    if run.returncode not in {0, 1}:
        print(run.stderr[-2000:], file=sys.stderr)
        sys.exit(f"pytest ended early, with exit code {run.returncode}")
    return _FAILURE.findall(run.stdout)


def find_broken(tree: Path, failed: Sequence[str], log: Path) -> None:
    """Record which of the failed tests also fail in a copy without probes."""
    broken: list[str] = []
    if failed:
        (tree / "names.txt").write_text("\n".join(failed), "utf-8")
        run = pytest(tree, "-n0", "@names.txt", is_limited=False)
        broken = _FAILURE.findall(run.stdout)
    log.with_suffix(".broken").write_text("\n".join(broken), "utf-8")


def touched_in(log: Path) -> Touched:
    """Return the tests and times that `touch` wrote, without tests that fail without a fault."""
    broken = set(log.with_suffix(".broken").read_text("utf-8").splitlines())
    tests: defaultdict[str, set[str]] = defaultdict(set)
    for line in log.read_text("utf-8").splitlines():
        key, _, test = line.partition(" ")
        if test and test not in broken:
            tests[key].add(test)
    seconds: defaultdict[str, float] = defaultdict(float)
    output = log.with_suffix(".out").read_text("utf-8")
    for duration, test in _DURATION.findall(output):
        seconds[test] += float(duration)
    return Touched(tests, seconds)


def tests_of_module(path: str) -> list[str]:
    """Return the tests of a module: those of its name and its package, or else of its folder."""
    parts = Path(path.removeprefix("scbench/")).with_suffix("").parts
    if parts[-1] == "__init__":
        parts = parts[:-1]
    names = [
        Path("tests", *parts[:i], f"test_{parts[i]}.py") for i in range(len(parts))
    ]
    names.append(Path("tests", *parts))
    mirrored = [str(name) for name in names if (ROOT / name).exists()]
    while not mirrored:
        parts = parts[:-1]
        folder = Path("tests", *parts)
        if (ROOT / folder).exists():
            mirrored = [str(folder)]
    return mirrored


# Detection


def attempt(
    tree: Path,
    fault: Fault,
    suites: Sequence[str],
    before: Sequence[str],
    touched: Touched,
) -> Record:
    """Plant a fault, run tests, and return the record of the result.

    Args:
        tree: the copy in which to plant it; it is restored afterwards.
        fault: the fault.
        suites: the suites to run, in this order.
        before: the suites on which it was tried before.
        touched: the tests that evaluate each fault.
    """
    tests = touched.tests.get(fault.key, set())
    record = {
        **fault._asdict(),
        "key": fault.key,
        "caught": "",
        "by": "",
        "touch": len(tests),
    }
    path = tree / fault.path
    source = path.read_bytes()
    status = path.stat()
    faulty = source[: fault.start] + fault.after.encode() + source[fault.end :]
    path.write_bytes(faulty)
    try:
        compile(faulty, str(path), "exec")
        # A unique modification time prevents stale bytecode from running.
        number = int(fault.key[:7], 16)
        os.utime(path, (number, number))
        for name in suites:
            arguments = suite_of(name, fault, tests, touched.seconds)
            if not arguments:
                continue
            (tree / "names.txt").write_text("\n".join(arguments), "utf-8")
            run = pytest(tree, "-x", "-n0", "@names.txt")
            # Below 0, a signal ended the process.
            if run.returncode > 0 and run.returncode != _NO_TESTS:
                failure = _FAILURE.search(run.stdout)
                by = (run.stdout + run.stderr).strip()[-200:]
                if failure:
                    by = failure[1]
                return {**record, "caught": name, "by": by, "code": run.returncode}
        return {**record, "suites": [*before, *suites]}
    finally:
        path.write_bytes(source)
        os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))


def suite_of(
    name: str, fault: Fault, tests: set[str], seconds: dict[str, float]
) -> list[str]:
    """Return the arguments for pytest that run a suite on a fault; empty if there are no tests."""
    beside = tests_of_module(fault.path)
    if name == "deep":
        return ["-m", "deep", str(Path(beside[0]).parent)]
    if name == "beside" and not tests:
        return beside
    cheapest = sorted(tests, key=lambda test: (seconds[test], test))
    is_near = name == "beside"
    return affordable(
        [test for test in cheapest if test.startswith(tuple(beside)) == is_near],
        seconds,
    )


def affordable(tests: list[str], seconds: dict[str, float]) -> list[str]:
    """Return the first, cheapest tests within the budget of a fault."""
    total = 0.0
    for i, test in enumerate(tests[:MOST_TESTS]):
        total += seconds[test]
        if total > BUDGET_SECONDS:
            # The test that exceeds the budget is still run.
            return tests[: i + 1]
    return tests[:MOST_TESTS]


def pytest(
    tree: Path, *arguments: str, is_limited: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run tests in a copy of the tree; a limited run is killed after `LIMIT_SECONDS` seconds."""
    limit = ("timeout", "--kill-after=9", str(LIMIT_SECONDS)) if is_limited else ()
    return subprocess.run(  # noqa: S603  (this Python, on tests of our own)
        [*limit, sys.executable, "-m", "pytest", "-q", "--no-header", *arguments],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


if __name__ == "__main__":
    # `--list | head` ends without an error message.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
