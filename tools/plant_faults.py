"""How sharp the tests are: plant faults in copies of the tree, one at a time, and see who notices.

::

    python tools/plant_faults.py faults.jsonl --touch        # first: which quick tests come by them
    python tools/plant_faults.py faults.jsonl                # then some 300 faults; two hours
    python tools/plant_faults.py faults.jsonl --sample 40    # the first 40 of them
    python tools/plant_faults.py faults.jsonl --suites deep  # then survivors against the deep tests
    python tools/plant_faults.py faults.jsonl --list         # what was planted and by what caught

A fault is another operator, another constant, a check that is dropped or a branch that is swapped.
Which ones are planted follows from hashes of their places, so that everybody plants the same.

``--touch`` runs the quick suite once, with a probe where each fault would be: beside the results it
writes down which tests evaluate it, in this process or in one they start. A fault is then tried on
those alone, the ones beside its module first, then the cheapest, up to `BUDGET` seconds and `MOST`
tests; on all beside it where none is known to come by (what runs at an import). The deep tests are
those of its room. So it does not see what only a dearer test would notice, nor a test that reads
the source, nor one whose processes were started by an earlier test. What it calls caught is caught.
Each result is a line of the file at once, and what stands there is not tried again.
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
ROOMS = (
    "graders",
    "scbench/scoring",
    "scbench/grading",
    "scbench/analysis",
    "scbench/release",
    "scbench/leaderboard",
)
FAULTS = 300
SUITES = ["beside", "quick", "deep"]
# Most seconds and most tests of a suite for one fault.
BUDGET = 90
MOST = 300
# Copies of the tree, each of which tries one fault at a time.
COPIES = 4
# Seconds after which tests that do not end have noticed the fault, too.
LIMIT = 900
# Bytes of address space that a process may have.
MEMORY = 12 << 30
# Not copied with the tree.
AWAY = shutil.ignore_patterns(
    ".git", ".venv", ".nox", "*_cache", "build", "__pycache__"
)
# A module of the copy, which writes down once which test came by which fault.
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
# The operator that a fault puts in place of another.
OTHER: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip
# A line of pytest's durations: seconds, part and test.
_DURATION = re.compile(r"^([\d.]+)s (?:call|setup|teardown) +(\S.*?) *$", re.MULTILINE)
# The first line of its summary: the test that failed.
_FAILURE = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)
# Exit code of pytest where all tests were deselected.
_NO_TESTS = 5
# A fault with the suites it was tried on, and the test that caught it.
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
        """Its name, and its place in the order of all."""
        return hashlib.sha256(repr((self.path, *self[2:])).encode()).hexdigest()[:16]


class Change(NamedTuple):
    """A kind of fault, the part of a program to replace, and the text to replace it by."""

    kind: str
    part: ast.AST
    after: str


class Touched(NamedTuple):
    """The tests that come by each fault, by its key, and the seconds that every test takes."""

    tests: dict[str, set[str]]
    seconds: dict[str, float]


def main() -> int:
    """Run the command line; 1 if a fault survives."""
    options = read_options()
    results: Path = options.results
    log = results.with_suffix(".touched")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    records: dict[str, Record] = {}
    if results.exists():
        for line in results.read_text("utf-8").splitlines():
            record = json.loads(line)
            records[record["key"]] = record
    if not options.list:
        faults = chosen(options.sample)
        if options.touch:
            with tempfile.TemporaryDirectory() as folder:
                touch(copy_of_tree(folder), faults, log)
            return 0
        plant_all(faults, options.suites, touched_in(log), records, results)
    print(*table(records), sep="\n")
    return int(any(not record["caught"] for record in records.values()))


def read_options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "results", type=Path, help="JSON Lines, to which results are added"
    )
    parser.add_argument("--sample", type=int, default=FAULTS, help="how many to plant")
    parser.add_argument(
        "--suites",
        nargs="+",
        choices=SUITES,
        default=SUITES[:2],
        help="which run, in this order",
    )
    parser.add_argument(
        "--touch", action="store_true", help="only see which tests come by"
    )
    parser.add_argument(
        "--list", action="store_true", help="plant nothing, print the results"
    )
    return parser.parse_args()


def copy_of_tree(folder: str) -> Path:
    """Copy the tree into a new folder below one, and return the copy."""
    tree = Path(tempfile.mkdtemp(dir=folder), "tree")
    shutil.copytree(ROOT, tree, symlinks=True, ignore=AWAY)
    return tree


def plant_all(
    faults: Sequence[Fault],
    suites: Sequence[str],
    touched: Touched,
    records: dict[str, Record],
    results: Path,
) -> None:
    """Try faults on the suites that they were not tried on yet; add records to both."""
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


def table(records: dict[str, Record]) -> Iterator[str]:
    """Yield the number of faults that each suite caught, and every survivor."""
    counts = Counter(record["caught"] or "nothing" for record in records.values())
    caught = len(records) - counts["nothing"]
    parts = [f"{count} by {name}" for name, count in counts.most_common()]
    yield f"{caught} of {len(records)} caught: {', '.join(parts)}"
    for record in records.values():
        if not record["caught"]:
            place = f"{record['path']}:{record['line']} {record['kind']}"
            yield f"{place}: {record['before']!r} -> {record['after']!r}"


# Which faults are there?


def chosen(count: int) -> list[Fault]:
    """Return faults of all rooms, in the order of their hashes."""
    faults: list[Fault] = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            faults += faults_in(path)
    return sorted(faults, key=lambda fault: fault.key)[:count]


def faults_in(path: Path) -> Iterator[Fault]:
    """Yield all faults of a module, but those in types and imports."""
    source = path.read_bytes()
    # The bytes at which lines start.
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
    """Return the nodes of types, decorators and texts with values in them."""
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
            # A part of a text cannot be cut out of it.
            roots.append(node)
        for root in roots:
            passive.update(ast.walk(root))
    return passive


def changes(node: ast.AST) -> Iterator[Change]:
    """Yield the faults that a node can have."""
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in OTHER:
            changed: ast.AST = ast.Compare(left, [OTHER[type(op)]()], [right])
            yield Change("operator", node, code_of(changed))
        case ast.BinOp(left, op, right) if type(op) in OTHER:
            if not is_text(left) and not is_text(right):
                changed = ast.BinOp(left, OTHER[type(op)](), right)
                yield Change("operator", node, code_of(changed))
        case ast.BoolOp(op, values):
            changed = ast.BoolOp(OTHER[type(op)](), values)
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
    """Return the program text of a node, in brackets."""
    return f"({ast.unparse(ast.fix_missing_locations(node))})"


def is_text(node: ast.AST) -> bool:
    """Whether a node is a text or another constant that is no number."""
    if isinstance(node, ast.Constant):
        return not isinstance(node.value, int | float)
    return isinstance(node, ast.JoinedStr)


# Which tests come by a fault?


def touch(tree: Path, faults: Sequence[Fault], log: Path) -> None:
    """Write which quick tests evaluate the place of each fault, and how many seconds tests take."""
    (tree / "scbench" / "probe.py").write_text(PROBE.format(str(log.absolute())))
    # The starts of probes in each file, and the bytes that they add.
    growth: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    # From the last of a file to the first, and of those with the same start the inner first: so
    # the start of a fault is still where it was.
    for fault in sorted(faults, key=lambda it: (it.start, -it.end), reverse=True):
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
            # A pattern of a match statement cannot have a call.
            continue
        path.write_bytes(source)
        growth[fault.path].append((fault.start, len(probed) - (end - fault.start)))
    run = pytest(tree, "--durations=0", "--durations-min=0.01", "-vv", is_limited=False)
    log.with_suffix(".out").write_text(run.stdout, "utf-8")


def touched_in(log: Path) -> Touched:
    """Return the tests and times that `touch` wrote."""
    tests: defaultdict[str, set[str]] = defaultdict(set)
    for line in log.read_text("utf-8").splitlines():
        key, _, test = line.partition(" ")
        if test:
            tests[key].add(test)
    seconds: defaultdict[str, float] = defaultdict(float)
    out = log.with_suffix(".out")
    if out.exists():
        for duration, test in _DURATION.findall(out.read_text("utf-8")):
            seconds[test] += float(duration)
    return Touched(tests, seconds)


def mirrors(path: str) -> list[str]:
    """Return the tests beside a module: of its name and of its package, else of its folder."""
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


# Does a test notice?


def attempt(
    tree: Path,
    fault: Fault,
    suites: Sequence[str],
    before: Sequence[str],
    touched: Touched,
) -> Record:
    """Plant a fault, and return the record of who noticed it.

    Args:
        tree: the copy to plant it in, which is mended afterwards.
        fault: the fault.
        suites: the suites to run, in this order.
        before: the suites that it was tried on before.
        touched: the tests that come by faults.
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
        # A time of its own, so that nothing stale is run.
        number = int(fault.key[:7], 16)
        os.utime(path, (number, number))
        for name in suites:
            arguments = suite_of(name, fault, tests, touched.seconds)
            if not arguments:
                continue
            (tree / "names.txt").write_text("\n".join(arguments), "utf-8")
            run = pytest(tree, "-x", "-n0", "@names.txt")
            # Below 0, Python crashed.
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
    """Return the arguments for pytest that run a suite on a fault; none if it has no tests."""
    beside = mirrors(fault.path)
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
    """Return the first tests, which are the cheapest, within the budget of a fault."""
    total = 0.0
    for i, test in enumerate(tests[:MOST]):
        total += seconds[test]
        if total > BUDGET:
            # The one that goes beyond is run as well.
            return tests[: i + 1]
    return tests[:MOST]


def pytest(
    tree: Path, *arguments: str, is_limited: bool = True
) -> subprocess.CompletedProcess[str]:
    """Run tests in a copy of the tree; a limited run is killed if it does not end."""
    limit = ("timeout", "--kill-after=9", str(LIMIT)) if is_limited else ()
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
    # `--list | head` ends without a word.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main())
