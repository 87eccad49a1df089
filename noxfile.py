"""Sessions of nox: the tests under every Python and with the oldest dependencies, and more.

::

    nox -s everything            # what plain pytest skips, under the Python of nox
    pipx run nox                 # all sessions with an interpreter on this machine
    pipx run nox -s tests-3.13   # one session
    pipx run nox -s oldest -- tests/graders -x
    pipx run nox -s docs         # the documentation site, in build/docs
"""

import re
import sys
import tomllib
from pathlib import Path

import nox

PYTHONS = ("3.11", "3.12", "3.13", "3.14")
ROOT = Path(__file__).resolve().parent

nox.options.error_on_missing_interpreters = False
nox.options.reuse_existing_virtualenvs = True


def oldest_versions() -> list[str]:
    """Return a line ``name==version`` for the lower bound of each dependency except the tools."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [*project["dependencies"]]
    for name in sorted(extras.keys() - {"test", "benchmark", "docs"}):
        wanted += extras[name]
    lines = set()
    for requirement in wanted:
        name, version = re.match(
            r"([\w.-]+)(?:\[\w+\])?>=([\w.]+)", requirement
        ).groups()
        lines.add(f"{name}=={version}")
    return sorted(lines)


STATIC_CHECKS = (
    ("ruff", "check"),
    ("ruff", "format", "--check"),
    ("mypy", "scbench"),
    ("lint-imports",),
)


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run all tests with the newest dependencies."""
    session.install(".[test]", "./tests/plugin")
    session.run("pytest", "-n", "auto", "-m", "deep or not deep", *session.posargs)


@nox.session(venv_backend="none", default=False)
def everything(session: nox.Session) -> None:
    """Check style, types and layers, and run the deep tests, in the environment of nox itself."""
    here = Path(sys.executable).parent
    for name, *arguments in (
        *STATIC_CHECKS,
        ("pytest", "-n", "4", "-m", "deep", "--durations=30", *session.posargs),
    ):
        session.run(str(here / name), *arguments)


@nox.session(python=PYTHONS[0])
def oldest(session: nox.Session) -> None:
    """Run the tests with the lowest version of each dependency that pyproject.toml allows."""
    bounds = Path(session.create_tmp(), "oldest.txt")
    bounds.write_text("\n".join(oldest_versions()) + "\n", "utf-8")
    session.install("--constraint", str(bounds), ".[test]", "./tests/plugin")
    # Their version of anyio includes a plugin that nothing here uses and that makes pytest warn.
    session.run(
        "pytest",
        "-n",
        "auto",
        "-p",
        "no:anyio",
        "-m",
        "deep or not deep",
        *session.posargs,
    )


@nox.session(python=PYTHONS[0])
def weekly(session: nox.Session) -> None:
    """Run the tests with the lowest and with the newest versions; meant for a weekly schedule."""
    session.notify("oldest", session.posargs)
    session.notify(f"tests-{PYTHONS[0]}", session.posargs)


@nox.session(python=PYTHONS[0])
def lint(session: nox.Session) -> None:
    """Check style, types and layers."""
    session.install("-e", ".[test]")
    for command in STATIC_CHECKS:
        session.run(*command)


@nox.session(python=PYTHONS[0])
def docs(session: nox.Session) -> None:
    """Build the documentation site; Sphinx warnings, and anything pages would fetch, are errors.

    Only the installation needs a network; ``--no-install`` skips it.
    """
    session.install("-c", "constraints.txt", "-e", ".[docs]")
    sources, site = Path(session.create_tmp(), "sources"), ROOT / "build" / "docs"
    session.run("python", "tools/docs_site.py", str(sources))
    session.run("sphinx-build", "-W", "--keep-going", "-q", str(sources), str(site))
    session.run("python", "tools/docs_site.py", "--check", str(site))


@nox.session(python=PYTHONS[1])
def harbor(session: nox.Session) -> None:
    """Validate the Harbor tasks and the exported evaluations with the models of both packages."""
    session.install(".[test]", "harbor==0.25.0", "every-eval-ever>=0.3")
    session.run(
        "pytest", "tests/integrations/test_harbor.py", "tests/formats/test_exports.py"
    )


@nox.session(python=PYTHONS[0])
def packages(session: nox.Session) -> None:
    """Build both packages, and test the one built from source in an empty environment."""
    session.install("build", "twine")
    dist = Path(session.create_tmp(), "dist")
    session.run("python", "-m", "build", "--outdir", str(dist))
    files = sorted(map(str, dist.iterdir()))
    session.run("twine", "check", "--strict", *files)
    session.install(
        "--force-reinstall", next(file for file in files if file.endswith(".tar.gz"))
    )
    with session.chdir(session.create_tmp()):
        session.run("scbench-grade", "--self-test", "--quiet")
