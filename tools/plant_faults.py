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
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[1]
ROOMS = (
    "graders",
    "scbench/scoring",
    "scbench/grading",
    "scbench/analysis",
    "scbench/release",
)
ROOMS += ("scbench/leaderboard",)
FAULTS = 300
SUITES = ["beside", "quick", "deep"]
BUDGET, MOST = 90, 300
COPIES = 4
# Seconds after which tests that do not end have noticed the fault, too.
LIMIT = 900
MEMORY = 12 << 30
AWAY = shutil.ignore_patterns(
    ".git", ".venv", ".nox", "*_cache", "build", "__pycache__"
)
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
OTHER: dict[type, type] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.Div: ast.Mult,
    ast.FloorDiv: ast.Mult, ast.Mod: ast.FloorDiv, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitAnd: ast.BitOr, ast.BitOr: ast.BitAnd,
}  # fmt: skip


class Fault(NamedTuple):
    """A fault: which bytes of a file stand for what else."""

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


def changes(node: ast.AST) -> Iterator[tuple[str, ast.AST, str]]:
    """Yield the kinds of fault that a node can have: the part to replace, and by what."""
    match node:
        case ast.Compare(left, [op], [right]) if type(op) in OTHER:
            yield (
                "operator",
                node,
                _text(ast.Compare(left, [OTHER[type(op)]()], [right])),
            )
        case ast.BinOp(left, op, right) if type(op) in OTHER and not _is_text(
            left, right
        ):
            yield "operator", node, _text(ast.BinOp(left, OTHER[type(op)](), right))
        case ast.BoolOp(op, values):
            yield "operator", node, _text(ast.BoolOp(OTHER[type(op)](), values))
        case ast.UnaryOp(ast.Not(), operand):
            yield "operator", node, _text(operand)
        case ast.Constant(bool() as value):
            yield "constant", node, repr(not value)
        case ast.Constant(int() | float() as value) if isinstance(value, int) or value:
            yield (
                "constant",
                node,
                repr(value + 1 if isinstance(value, int) else value * 1.5),
            )
        case ast.If(test, orelse=[_, *_]) | ast.IfExp(test):
            yield "branch", test, f"(not {_text(test)})"
        case ast.If(test, body) if any(
            isinstance(part, ast.Raise | ast.Return) for part in body
        ):
            yield "check", test, "False"
        case ast.Expr(ast.Call(ast.Attribute())):
            yield "check", node, "pass"


def _text(node: ast.AST) -> str:
    return f"({ast.unparse(ast.fix_missing_locations(node))})"


def _is_text(*nodes: ast.AST) -> bool:
    kinds = (ast.Constant, ast.JoinedStr)
    return any(isinstance(it, kinds) and not isinstance(getattr(it, "value", ""), int | float)
               for it in nodes)  # fmt: skip


def faults_in(path: Path) -> Iterator[Fault]:
    """Yield all faults of a module, but in what only says how it is typed or imported."""
    source = path.read_bytes()
    starts = [0]
    for line in source.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    tree = ast.parse(source)
    passive = {
        part
        for node in ast.walk(tree)
        for field in ("annotation", "returns", "decorator_list")
        for child in _listed(getattr(node, field, None))
        for part in ast.walk(child)
    }
    passive |= {  # what stands in a text cannot be cut out of it
        part
        for node in ast.walk(tree)
        if isinstance(node, ast.JoinedStr)
        for part in ast.walk(node)
    }
    for node in ast.walk(tree):
        for kind, part, after in () if node in passive else changes(node):
            start = starts[part.lineno - 1] + part.col_offset
            end = starts[part.end_lineno - 1] + part.end_col_offset
            before = source[start:end].decode()
            name = path.relative_to(ROOT).as_posix()
            yield Fault(name, part.lineno, kind, start, end, before, after)


def _listed(value: object) -> list[ast.AST]:
    return (
        value
        if isinstance(value, list)
        else [value]
        if isinstance(value, ast.AST)
        else []
    )


def chosen(count: int) -> list[Fault]:
    """Return faults of all rooms, in the order of their hashes."""
    files = (path for room in ROOMS for path in sorted((ROOT / room).rglob("*.py")))
    return sorted(
        (it for path in files for it in faults_in(path)), key=lambda it: it.key
    )[:count]


def mirrors(path: str) -> list[str]:
    """Return the tests beside a module: of its name and of its package, else of its folder."""
    parts = Path(path.removeprefix("scbench/")).with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    named = [
        Path("tests", *parts[:i], f"test_{parts[i]}.py") for i in range(len(parts))
    ]
    found = [str(it) for it in (*named, Path("tests", *parts)) if (ROOT / it).exists()]
    while not found:
        parts = parts[:-1]
        found = (
            [str(Path("tests", *parts))]
            if (ROOT / "tests" / Path(*parts)).exists()
            else []
        )
    return found


def pytest(
    tree: Path,
    *arguments: str,
    limit: tuple[str, ...] = ("timeout", "--kill-after=9", str(LIMIT)),
) -> subprocess.CompletedProcess[str]:
    """Run tests in a copy of the tree; what does not end, or wants all memory, is killed."""
    return subprocess.run(  # noqa: S603  (this Python, on tests of our own)
        [*limit, sys.executable, "-m", "pytest", "-q", "--no-header", *arguments],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree)},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


def touch(tree: Path, faults: list[Fault], log: Path) -> None:
    """Write which quick tests evaluate the place of each fault, and how many seconds tests take."""
    (tree / "scbench" / "probe.py").write_text(PROBE.format(str(log.absolute())))
    grown: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
    for fault in sorted(faults, key=lambda it: (it.start, -it.end), reverse=True):
        path = tree / fault.path
        whole = path.read_bytes()
        end = fault.end + sum(
            size for place, size in grown[fault.path] if place < fault.end
        )
        call = f"(__import__('scbench.probe', fromlist=['hit']).hit({fault.key!r}) or ("
        part = call.encode() + whole[fault.start : end] + b"))"
        try:
            compile(whole[: fault.start] + part + whole[end:], str(path), "exec")
        except SyntaxError:  # a pattern
            continue
        path.write_bytes(whole[: fault.start] + part + whole[end:])
        grown[fault.path].append((fault.start, len(part) - (end - fault.start)))
    done = pytest(tree, "--durations=0", "--durations-min=0.01", "-vv", limit=())
    log.with_suffix(".out").write_text(done.stdout, "utf-8")


def known(log: Path) -> tuple[dict[str, set[str]], dict[str, float]]:
    """Return what `touch` wrote: for each fault the tests that come by, and their seconds."""
    tests, seconds = defaultdict(set), Counter()
    for line in log.read_text("utf-8").splitlines():
        key, _, test = line.partition(" ")
        tests[key] |= {test} - {""}
    out = log.with_suffix(".out")
    pattern = re.compile(
        r"^([\d.]+)s (?:call|setup|teardown) +(\S.*?) *$", re.MULTILINE
    )
    for took, test in pattern.findall(out.read_text("utf-8") if out.exists() else ""):
        seconds[test] += float(took)
    return tests, seconds


def affordable(tests: list[str], seconds: dict[str, float]) -> list[str]:
    """Return the first tests, which are the cheapest, up to what a fault may cost."""
    total, count = 0.0, 0
    for count, test in enumerate(tests[:MOST], 1):  # noqa: B007
        total += seconds[test]
        if total > BUDGET:
            break
    return tests[:count]


def attempt(
    tree: Path,
    fault: Fault,
    suites: list[str],
    before: list[str],
    touched: tuple[set[str], dict[str, float]],
) -> dict[str, Any]:
    """Plant a fault, and return the record of who noticed it."""
    tests, seconds = touched
    beside = tuple(mirrors(fault.path))
    ours = sorted(tests, key=lambda it: (seconds[it], it))
    near = [it for it in ours if it.startswith(beside)]
    far = [it for it in ours if not it.startswith(beside)]
    chosen_tests = {
        "beside": affordable(near, seconds) if ours else [*beside],
        "quick": affordable(far, seconds),
        "deep": ["-m", "deep", str(Path(beside[0]).parent)],
    }
    record = {
        **fault._asdict(),
        "key": fault.key,
        "caught": "",
        "by": "",
        "touch": len(tests),
    }
    path = tree / fault.path
    whole, times = path.read_bytes(), (path.stat().st_atime_ns, path.stat().st_mtime_ns)
    path.write_bytes(whole[: fault.start] + fault.after.encode() + whole[fault.end :])
    try:
        compile(path.read_bytes(), str(path), "exec")
        os.utime(
            path, (number := int(fault.key[:7], 16), number)
        )  # so that nothing stale is run
        for name in suites:
            if not chosen_tests[name]:
                continue
            (tree / "names.txt").write_text("\n".join(chosen_tests[name]), "utf-8")
            done = pytest(tree, "-x", "-n0", "@names.txt")
            if (
                done.returncode > 0 and done.returncode != 5
            ):  # 5: all are deep; below 0: a crash
                first = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, re.MULTILINE)
                by = first[1] if first else (done.stdout + done.stderr).strip()[-200:]
                return {**record, "caught": name, "by": by, "code": done.returncode}
        return {**record, "suites": [*before, *suites]}
    finally:
        path.write_bytes(whole)
        os.utime(path, ns=times)


def table(records: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Yield how many were caught by what, and every survivor."""
    counts = Counter(it["caught"] or "nothing" for it in records.values())
    caught = len(records) - counts["nothing"]
    yield f"{caught} of {len(records)} caught: " + ", ".join(
        f"{count} by {name}" for name, count in counts.most_common()
    )
    for it in records.values():
        if not it["caught"]:
            yield f"{it['path']}:{it['line']} {it['kind']}: {it['before']!r} -> {it['after']!r}"


def main() -> int:
    """Run the command line; 1 if a fault survives."""
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
    options = parser.parse_args()
    log = options.results.with_suffix(".touched")
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    lines = (
        options.results.read_text("utf-8").splitlines()
        if options.results.exists()
        else []
    )
    records = {it["key"]: it for it in map(json.loads, lines)}
    faults = [] if options.list else chosen(options.sample)
    copies = Queue[Path]()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(COPIES) as pool:
        for number in range(0 if options.list else 1 if options.touch else COPIES):
            copies.put(Path(folder, str(number), "tree"))
            shutil.copytree(
                ROOT, Path(folder, str(number), "tree"), symlinks=True, ignore=AWAY
            )
        if options.touch:
            touch(copies.get(), faults, log)
            return 0
        tests, seconds = known(log) if faults else ({}, {})

        def one(fault: Fault) -> None:
            old = records.get(fault.key, {"caught": "", "suites": []})
            suites = (
                []
                if old["caught"]
                else [s for s in options.suites if s not in old["suites"]]
            )
            if not suites:
                return
            tree = copies.get()
            touched = tests.get(fault.key, set()), seconds
            it = attempt(tree, fault, suites, old["suites"], touched)
            copies.put(tree)
            records[fault.key] = it
            with options.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(it) + "\n")
            place = f"{fault.path}:{fault.line} {fault.kind}"
            print(f"{place}: {it['caught'] or 'SURVIVES'}", flush=True)

        list(pool.map(one, faults))
    print(*table(records), sep="\n")
    return int(any(not it["caught"] for it in records.values()))


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # `--list | head` ends without a word
    sys.exit(main())
