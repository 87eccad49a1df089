"""Write the badges of the README: docs/badges/NAME.svg.

::

    python tools/badges.py

The badges are files in the repository, so no page of the project loads anything from elsewhere.
"""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "badges"

# In pixels: average width of a letter, space on each side of a text, and height of a badge.
LETTER = 6.6
SPACE = 8
HEIGHT = 20
BADGE = """<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" role="img" \
aria-label="{label}: {value}"><title>{label}: {value}</title>
<rect width="{width}" height="{height}" rx="4" fill="#3c4148"/>
<path d="M{left} 0h{right_flat}a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4h-{right_flat}z" fill="{colour}"/>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="{label_x}" y="14" textLength="{label_length}">{label}</text>
<text x="{value_x}" y="14" textLength="{value_length}">{value}</text>
</g></svg>
"""
BLUE = "#0072b2"
GREEN = "#00785a"


def badges() -> dict[str, str]:
    """Return the badges as SVG files, by name."""
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    project = tomllib.loads(text)["project"]
    python = project["requires-python"].removeprefix(">=")
    return {
        "python": badge("python", f"{python}+", BLUE),
        "licence": badge("licence", project["license"], BLUE),
        "tests": badge("tests", "nox -s tests", GREEN),
        "docs": badge("docs", "tutorial", GREEN),
        "paper": badge("arXiv", "2604.09594", "#b31b1b"),
    }


def badge(label: str, value: str, colour: str) -> str:
    """Return a badge: a label, and a value on a coloured background."""
    label_length = round(len(label) * LETTER)
    value_length = round(len(value) * LETTER)
    left = label_length + 2 * SPACE
    right = value_length + 2 * SPACE
    return BADGE.format(
        label=label,
        value=value,
        colour=colour,
        width=left + right,
        height=HEIGHT,
        left=left,
        right_flat=right - 4,
        label_x=left / 2,
        value_x=left + right / 2,
        label_length=label_length,
        value_length=value_length,
    )


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name, svg in badges().items():
        (FOLDER / f"{name}.svg").write_text(svg, "utf-8")
