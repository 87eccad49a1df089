"""Draw the row of small pictures at the top of the README: docs/strip/TASK.png.

::

    python tools/picture_strip.py

Each picture is a panel from the gallery of the newest release, without words, cropped to a square.
The README shows them at half their size, so that they are sharp on any display and wrap on narrow
ones.
"""

import re
from io import BytesIO
from pathlib import Path

from PIL import Image, ImageChops

from scbench.catalog import all_tasks
from scbench.release.load import Release, find_release
from scbench.report.draw.colours import style_sheet
from scbench.report.draw.png import with_palette
from scbench.report.gallery import Case, case_picture, cases
from scbench.report.sheet import rendered, sheet_png

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "strip"

# Tasks in the row, and the number of the panel shown for each.
PANELS = {
    "lego_hemispherical_shell": 0,
    "hamiltonian_loop": 0,
    "interlocking_parts": 0,
    "terrain_levelling": 3,
}
# Side of a picture and width of its empty margin, in pixels.
SIDE = 340
EDGE = 6
# Scale at which a panel is drawn before it is cropped and reduced.
SCALE = 3


def strip(release: Release) -> dict[str, bytes]:
    """Return the pictures as PNG files, by task."""
    catalog = all_tasks()
    tasks = [catalog[name] for name in PANELS]
    instances = list(release.instances(list(PANELS)).values())
    chosen = cases(tasks, instances, release.references())
    # Without words, system fonts do not matter, so no separate process is needed.
    return {case.task: draw(case) for case in chosen}


def draw(case: Case) -> bytes:
    """Return one picture as a PNG file."""
    panel = case_picture(case).panels[PANELS[case.task]]
    svg = rendered(panel, dark=False).svg
    without_words = re.sub(r"<text\b.*?</text>", "", svg, flags=re.DOTALL)
    start, body = without_words.split(">", 1)
    start = start.replace("<svg", '<svg xmlns="http://www.w3.org/2000/svg"', 1)
    styled = f"{start}><style>{style_sheet(dark=False)}</style>{body}"
    return square(sheet_png(styled, SCALE))


def square(png: bytes) -> bytes:
    """Crop the empty margins of a picture, and centre it on a square."""
    with Image.open(BytesIO(png)) as image:
        content = Image.new("RGB", image.size, "white")
        content.paste(image, mask=image.convert("RGBA").getchannel("A"))
    empty = Image.new("RGB", content.size, "white")
    content = content.crop(ImageChops.difference(content, empty).getbbox())
    content.thumbnail((SIDE - 2 * EDGE, SIDE - 2 * EDGE), Image.Resampling.LANCZOS)
    result = Image.new("RGB", (SIDE, SIDE), "white")
    place = ((SIDE - content.width) // 2, (SIDE - content.height) // 2)
    result.paste(content, place)
    file = BytesIO()
    result.save(file, "PNG")
    return with_palette(file.getvalue())


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for task, data in strip(find_release()).items():
        (FOLDER / f"{task}.png").write_bytes(data)
