"""Hooks and fixtures that tests of all folders share."""

import ctypes
import fcntl
import gc
import json
import os
import pickle
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import TextIO

import hypothesis
import polars as pl
import pytest
from pebble import CONSTS
from pydantic import BaseModel

from scbench.base.canonical import sha256
from scbench.base.errors import ScbenchError
from scbench.catalog import Task, get_task
from scbench.freezing import freeze
from scbench.freezing.freeze import build_release
from scbench.freezing.frozen_task import FrozenTask
from scbench.freezing.verify import gallery
from scbench.grading.rows.columns import column_types
from scbench.grading.workers import IMPORTS
from scbench.machine.contexts import CONTEXTS
from scbench.machine.physics import VARIABLE
from scbench.release.load import Release, find_release
from scbench.schemas.base import AnswerModel, ParamsModel

pytest_plugins = ["depth", "release_fixtures"]
pytest.register_assert_rewrite("contract")

ROOT = Path(__file__).resolve().parent.parent
REAL = ROOT.parent / "shared" / "real"
CASES = ROOT.parent / "shared" / "cases"

PYBULLET_IS_PUBLISHED = sys.version_info < (3, 12) and platform.system() == "Linux"
"""Whether the extra ``test`` installs PyBullet here, as pyproject.toml has it."""
HAS_PYBULLET = PYBULLET_IS_PUBLISHED or bool(
    find_spec("pybullet") or os.environ.get(VARIABLE)
)
"""Whether PyBullet must be available: from an extra, or in another Python that is set."""


FEW_EXAMPLES = 40
"""The number of examples for a property in a quick run, unless its test sets another."""

FRUGAL = {"MALLOC_ARENA_MAX": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}
FRUGAL |= {"_RJEM_MALLOC_CONF": "narenas:2,dirty_decay_ms:0,muzzy_decay_ms:0"}
"""Makes libraries return memory immediately instead of keeping some for each thread."""
TRIM = getattr(ctypes.CDLL(None), "malloc_trim", lambda _: 0)

PAPER = ROOT / "tests" / "data" / "paper"

_CONTRAST = """
const linear = v => v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4;
const lum = rgb => rgb.map(v => linear(v / 255))
  .reduce((sum, v, i) => sum + v * [.2126, .7152, .0722][i], 0);
const parse = text => text.match(/[\\d.]+/g).map(Number);
const ground = node => {
  for (; node; node = node.parentElement) {
    const [r, g, b, a = 1] = parse(getComputedStyle(node).backgroundColor);
    if (a > 0) return [r, g, b];
  }
  return [255, 255, 255];
};
// The bar on which a text of a chart lies, if any.
const barBelow = (node, chart) => {
  const text = node.getBoundingClientRect();
  const x = (text.left + text.right) / 2, y = (text.top + text.bottom) / 2;
  return [...chart.querySelectorAll('[aria-roledescription="bar"]')].find(bar => {
    const box = bar.getBoundingClientRect();
    return box.left < x && x < box.right && box.top < y && y < box.bottom;
  });
};
const faint = [];
for (const node of document.querySelectorAll('main *, header *, footer *')) {
  if (![...node.childNodes].some(c => c.nodeType === 3 && c.textContent.trim())) continue;
  const drawn = node.closest('figure.chart svg');
  if (!node.offsetParent && !drawn || ['title', 'style'].includes(node.tagName)) continue;
  // A chart for other widths is not displayed.
  if (drawn && !node.getBoundingClientRect().width) continue;
  const [r, g, b] = parse(getComputedStyle(node)[drawn ? 'fill' : 'color']);
  const bar = drawn && barBelow(node, drawn);
  const below = bar ? parse(getComputedStyle(bar).fill) : ground(node);
  const [high, low] = [lum([r, g, b]), lum(below)].sort((a, b) => b - a);
  if ((high + .05) / (low + .05) < 4.5) faint.push(node.outerHTML.slice(0, 120));
}
return faint;
"""
"""Finds texts with less contrast than WCAG 2.2 requires at level AA."""

_NUMBERS = count()


def pytest_configure(config):
    """Draw the same few examples in every quick run, and a hundred new ones if marks are named.

    There is no limit on the time for one example, which depends on the machine.
    """
    is_quick = not config.option.markexpr
    hypothesis.settings.register_profile(
        "scbench",
        deadline=None,
        derandomize=is_quick,
        max_examples=FEW_EXAMPLES if is_quick else 100,
        print_blob=True,
        suppress_health_check=[hypothesis.HealthCheck.too_slow],
    )
    hypothesis.settings.load_profile("scbench")
    # Without bytecode, every process that a test starts would compile every module again.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
    for name, value in FRUGAL.items():  # the processes that run tests inherit it
        os.environ.setdefault(name, value)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item, nextitem):
    """Return memory after each module, because the next one does not need it.

    Surviving objects are exempt from garbage collection. Otherwise it would take longer with every
    module, up to seconds.
    """
    yield
    if nextitem is None or nextitem.path != item.path:
        gc.collect()
        gc.freeze()
        TRIM(0)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Turn off garbage collection while pytest collects: there is no garbage, and it takes a third
    of the time.

    Later garbage collections skip the collected objects.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def pytest_unconfigure():
    """Let Python free all objects at exit; libraries report objects that it cannot free."""
    gc.unfreeze()


def pytest_collection_modifyitems(items):
    """Run tests of verdicts first, so that verifying the newest release need not judge again.

    Drop tests of real models' answers if these answers are not next to the checkout.
    """
    items.sort(key=lambda item: item.path.name != "test_verdicts.py")
    if not REAL.is_dir():
        items[:] = [item for item in items if "real_rows" not in item.fixturenames]
    if not CASES.is_dir():
        items[:] = [item for item in items if "stored_cases" not in item.fixturenames]


@pytest.hookimpl(wrapper=True)
def pytest_pyfunc_call():
    """Skip tests that need PyBullet if it is not installed; the reason is the grader's message.

    Any other answer that cannot be graded fails its test. If code reports such an answer in a
    message instead of an error, the test can raise an error with that message, or use `ungraded`.
    """
    try:
        return (yield)
    except ScbenchError as error:
        if HAS_PYBULLET or "needs PyBullet" not in str(error):
            raise
        pytest.skip(str(error))


@pytest.fixture(scope="session")
def ungraded() -> frozenset[str]:
    """The tasks that cannot be graded under this Python."""
    return frozenset() if HAS_PYBULLET else frozenset({"terrain_levelling"})


@pytest.fixture(scope="session")
def real_rows() -> list[tuple[dict, dict]]:
    """Real model answers, each with the score that a correct grader gives."""
    predictions, expected = (
        [json.loads(line) for line in (REAL / name).read_text("utf-8").splitlines()]
        for name in ("predictions.jsonl", "expected.jsonl")
    )
    return list(zip(predictions, expected, strict=True))


@pytest.fixture(scope="session")
def stored_cases() -> list[tuple[str, dict]]:
    """Answers that older graders judged wrongly, each with the name of its folder."""
    cases = []
    for folder in ("holes", "wronged"):
        for path in sorted((CASES / folder).glob("*.json")):
            case = json.loads(path.read_text("utf-8"))
            cases.append((folder, case))
    return cases


@pytest.fixture(scope="session")
def parity_release(once: Callable[[str, Callable[[Path], object]], Path]) -> Release:
    """A release of a real task and the plugin's task, whose grader misbehaves on demand."""
    tasks = [get_task("parity"), get_task("enumerate_edges")]
    folder = once("parity", lambda folder: build_release("0.0.1", folder, tasks))
    return find_release(str(folder))


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Use an empty cache folder for this test run, also in commands."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(shared(tmp_path_factory) / "cache"))
        yield


@pytest.fixture(scope="session", autouse=True)
def quick_pools() -> None:
    """Let pools of processes notice calls and results sooner, since tests open hundreds."""
    CONSTS.sleep_unit = 0.01


@pytest.fixture(scope="session", autouse=True)
def preloaded_workers() -> None:
    """Make the fork server import the grading code, whichever test starts it.

    Only pools that grade ask for that, and the server imports nothing after its start. If a pool
    that draws came first, every worker would import everything again.
    """
    CONTEXTS["forkserver"].set_forkserver_preload([*IMPORTS])


@pytest.fixture(scope="session", autouse=True)
def drawn_once(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Draw a task's picture once for all processes, because it takes most of the time of a release.

    Everything that it shows (instances, answers, scores) is part of the name of the stored file.
    """
    folder = shared(tmp_path_factory) / "drawn"
    folder.mkdir(exist_ok=True)
    draw = freeze.pictures

    def pictures(frozen: Sequence[FrozenTask], workers: int) -> dict[str, bytes]:
        files = {}
        for part in frozen:
            rows = [row.content_hash for row in part.instances]
            path = folder / sha256(repr((part.task.id, rows, part.references)))
            if not path.exists():
                new = path.with_suffix(f".{os.getpid()}")
                new.write_bytes(pickle.dumps(draw([part], workers)))
                new.rename(path)
            files |= pickle.loads(path.read_bytes())  # noqa: S301  (our own)
        return files

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(freeze, "pictures", pictures)
        patch.setattr(gallery, "pictures", pictures)
        yield


@pytest.fixture(scope="session")
def once(
    tmp_path_factory: pytest.TempPathFactory,
) -> Callable[[str, Callable[[Path], object]], Path]:
    """A function that returns a file, made by the first test process that needs it."""
    base = shared(tmp_path_factory)

    def made(name: str, make: Callable[[Path], object]) -> Path:
        path = base / name
        with locked(base / f"{name}.lock"):
            if not path.exists():
                make(path)
        return path

    return made


def shared(factory: pytest.TempPathFactory) -> Path:
    """Return the folder for files that all processes of a test run share."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


@contextmanager
def locked(path: Path) -> Iterator[TextIO]:
    """Lock a file while the block runs; only one process at a time can lock it."""
    with path.open("a+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.seek(0)
        yield lock


def make_results(*rows: dict) -> pl.DataFrame:
    """Results as scbench-grade writes them; rows need to state only unusual values."""
    usual = {"setting": "no_tools", "sample": 0, "status": "answered", "model": "m"}
    usual |= {
        "instance_hash": "x",
        "grader_version": 1,
        "release": "9.9.9",
        "release_hash": "h",
    }
    usual |= {
        "checks": "[]",
        "metrics": "{}",
        "failed_checks": [],
        "notes": [],
        "repairs": [],
    }
    usual |= {"reason": "", "subtask": 0, "task": "two_segments", "floor": 0.0}
    full = []
    for given in rows:
        row = dict.fromkeys(column_types()) | usual | given
        task = get_task(row["task"])
        number = row["subtask"] if task.scores == 1 else 0
        full.append(row | {"id": f"{task.id}/{number:02d}", "bucket": task.bucket})
    return pl.DataFrame(full, schema=column_types())


@pytest.fixture(scope="session", name="make_results")
def _make_results() -> Callable[..., pl.DataFrame]:
    return make_results


@pytest.fixture(scope="session")
def paper_numbers() -> dict:
    """The paper's tables and the numbers stored for them."""
    return json.loads((PAPER / "paper_tables.json").read_text("utf-8"))


@pytest.fixture(scope="session")
def paper_results(paper_numbers) -> pl.DataFrame:
    """The published scores of the paper's six runs, as if every item had been answered."""
    scores = json.loads((PAPER / "paper_scores.json").read_text("utf-8"))
    return make_results(
        *(
            {
                "model": model["key"],
                "setting": setting,
                "task": task,
                "subtask": i,
                "score": score,
            }
            for model in paper_numbers["models"]
            for setting in ("no_tools", "tools")
            for task, found in scores[model[f"{setting}_run"]].items()
            for i, score in enumerate(map(float, found))
        )
    )


def chromium(base: Path) -> tuple[str, str]:
    """Return Chromium and its driver, or skip with the reason.

    If tests run as root, as on a fresh CI machine, Debian's packages are installed: once for all
    test processes, and with a time limit.
    """
    with locked(base / "chromium.lock") as lock:
        failed = lock.read()
        programs = shutil.which("chromium"), shutil.which("chromedriver")
        if (
            None in programs
            and not failed
            and os.geteuid() == 0
            and shutil.which("apt-get")
        ):
            failed = _apt_get("update") or _apt_get(
                "install", "--no-install-recommends", "chromium", "chromium-driver"
            )
            lock.write(failed)
            programs = shutil.which("chromium"), shutil.which("chromedriver")
    if programs[0] is None or programs[1] is None:
        pytest.skip(
            "Chromium and its driver are not installed (Debian: chromium chromium-driver)"
            + (f", and cannot be: {failed}" if failed else "")
        )
    return programs


def _apt_get(*command: str) -> str:
    """Run apt-get; return the error, if any."""
    limits = (
        "Acquire::Retries=1",
        "Acquire::http::Timeout=20",
        "DPkg::Lock::Timeout=60",
    )
    options = [part for limit in limits for part in ("-o", limit)]
    try:
        done = subprocess.run(
            ["apt-get", "-q", "-y", *options, *command],
            env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
            capture_output=True,
            text=True,
            check=False,
            timeout=300,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return (
        ""
        if done.returncode == 0
        else f"apt-get {command[0]}: {done.stderr.strip()[-300:]}"
    )


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SimpleNamespace]:
    """Headless Chromium: ``open`` a file, then use its ``driver``, ``errors`` and ``requests``.

    A page can be opened at an anchor: ``open(path, "#there")``. ``open`` returns when the page is
    complete. ``errors`` returns the console errors since then, including violations of the content
    security policy. ``requests`` returns every requested address except the page's own. ``shot``
    takes a screenshot in light or dark mode. ``scripts`` turns scripts on or off. ``sized`` sets
    the width and mode of the window while a block runs. ``looks`` returns how much wider than the
    window the page is, and the texts with too little contrast.
    """
    program, driver_program = chromium(shared(tmp_path_factory))
    from selenium import webdriver  # noqa: PLC0415  (wanted by few tests)
    from selenium.webdriver.support.wait import WebDriverWait  # noqa: PLC0415

    options = webdriver.ChromeOptions()
    options.binary_location = program
    for name in (
        "headless=new",
        "no-sandbox",
        "disable-quic",
        "no-first-run",
        "use-angle=swiftshader",
        "enable-unsafe-swiftshader",  # 3D without a graphics card
        "disable-gpu-compositing",  # flat content is drawn faster without it
        "disable-background-networking",
        "disable-component-update",
        "disable-sync",
        "disable-dev-shm-usage",
        "window-size=1200,900",
        "force-color-profile=srgb",
        f"user-data-dir={tmp_path_factory.mktemp('chromium')}",
    ):
        options.add_argument(f"--{name}")
    options.set_capability(
        "goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"}
    )
    driver = webdriver.Chrome(options, webdriver.ChromeService(driver_program))
    opened = ""

    def open_page(path: Path, place: str = "") -> None:
        nonlocal opened
        driver.get("about:blank")
        for kind in ("browser", "performance"):
            driver.get_log(kind)
        opened = path.as_uri()
        driver.get(f"{opened}{place}")
        # On a busy machine the driver now and then comes back from a long page that is half read.
        WebDriverWait(driver, 60, 0.05).until(
            lambda _: driver.execute_script(
                "return document.readyState === 'complete' && location.href.startsWith("
                "arguments[0])",
                opened,
            )
        )

    def errors() -> list[str]:
        return [
            line["message"]
            for line in driver.get_log("browser")
            if line["level"] == "SEVERE"
        ]

    def requests() -> list[str]:
        events = (
            json.loads(line["message"])["message"]
            for line in driver.get_log("performance")
        )
        sent = (
            event for event in events if event["method"] == "Network.requestWillBeSent"
        )
        urls = [event["params"]["request"]["url"] for event in sent]
        return [
            url
            for url in urls
            if url != opened and not url.startswith(("data:", "blob:"))
        ]

    def scripts(*, run: bool) -> None:
        driver.execute_cdp_cmd(
            "Emulation.setScriptExecutionDisabled", {"value": not run}
        )

    def shot(path: Path, mode: str = "light") -> bytes:
        features = [{"name": "prefers-color-scheme", "value": mode}]
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        driver.save_screenshot(str(path))
        return path.read_bytes()

    @contextmanager
    def sized(width: int, mode: str) -> Iterator[None]:
        features = [{"name": "prefers-color-scheme", "value": mode}]
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        try:
            yield
        finally:
            driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
            driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})

    def looks(width: int, mode: str) -> tuple[int, list[str]]:
        wide = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        with sized(width, mode):
            return driver.execute_script(f"return {wide}"), driver.execute_script(
                _CONTRAST
            )

    yield SimpleNamespace(
        driver=driver,
        open=open_page,
        errors=errors,
        requests=requests,
        scripts=scripts,
        shot=shot,
        sized=sized,
        looks=looks,
    )
    driver.quit()


@pytest.fixture
def write_lines(tmp_path: Path) -> Callable[..., Path]:
    """A function that writes predictions (objects, or text unchanged) to a file."""

    def write(*lines: object, name: str = "predictions.jsonl") -> Path:
        path = tmp_path / name
        texts = (line if isinstance(line, str) else json.dumps(line) for line in lines)
        path.write_text("".join(f"{text}\n" for text in texts), "utf-8")
        return path

    return write


class MadeUpParams(ParamsModel):
    pass


class MadeUpAnswer(AnswerModel):
    values: list[float]


@pytest.fixture
def make_task(monkeypatch) -> Iterator[Callable[..., tuple[Task, BaseModel]]]:
    """A function that makes a task with this grader, and the parameters of its only instance."""

    def make(grade, *, scores: int = 1) -> tuple[Task, BaseModel]:
        package = f"made_up_{next(_NUMBERS)}"  # modules are kept by name
        schema = ModuleType(f"{package}.schemas.made_up")
        grader = ModuleType(f"{package}.graders.made_up")
        schema.Params = MadeUpParams
        schema.Answer = MadeUpAnswer
        grader.grade, grader.VERSION = grade, 1
        monkeypatch.setitem(sys.modules, schema.__name__, schema)
        monkeypatch.setitem(sys.modules, grader.__name__, grader)
        task = Task(
            "made_up", "Made up", "planning", "partial", package=package, scores=scores
        )
        return task, MadeUpParams()

    return make
