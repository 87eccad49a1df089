"""The libraries that have a say in rows, references or files of a release."""

from importlib.metadata import PackageNotFoundError
from importlib.metadata import version as installed_version

LIBRARIES = (
    *("gmpy2", "highspy", "Jinja2", "manifold3d", "numpy", "openscad-evaluator", "pyarrow"),
    *("pybullet", "pydantic", "PyYAML", "shapely", "vl-convert-python"),
)


def installed(name: str) -> str:
    """Return the installed version of a library, or "not installed"."""
    try:
        return installed_version(name)
    except PackageNotFoundError:
        return "not installed"
