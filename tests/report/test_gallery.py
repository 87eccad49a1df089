"""The gallery: one small picture of every task, the same bytes with any fonts."""

import io

import numpy as np
import pytest
from PIL import Image

from scbench.base.errors import ReleaseError
from scbench.catalog import get_task
from scbench.report.contact_sheets import right_and_wrong
from scbench.report.draw.png import same_picture
from scbench.report.figures import answer_of
from scbench.report.gallery import Look, write_gallery


@pytest.mark.slow
def test_every_task_has_a_small_picture(installed, tmp_path):
    folder = tmp_path / "gallery"
    drawn = [*map(get_task, installed.manifest.tasks)]
    assert write_gallery(installed, folder, 2, Look()) == len(drawn)
    pictures = sorted(folder.glob("*.png"))
    assert [path.stem for path in pictures] == sorted(task.id for task in drawn)
    sizes = {path.stem: path.stat().st_size for path in pictures}
    assert max(sizes.values()) < 60_000, sizes
    assert sum(sizes.values()) < 1_200_000
    for path in pictures:
        with Image.open(path) as image:
            width, height = image.size
        assert 300 < width < 1300, path
        assert 200 < height < 1600, path
    page = (folder / "index.html").read_text("utf-8")
    snippet = (folder / "gallery.md").read_text("utf-8")
    for task in drawn:
        assert f'src="{task.id}.png"' in page
        assert f"]({task.id}.png)" in snippet
        assert task.title in snippet
    with pytest.raises(ReleaseError, match="exists"):
        write_gallery(installed, folder, 1, Look())


def test_contact_sheet_has_a_right_and_a_wrong_answer_to_every_task(
    installed, monkeypatch
):
    drawn = []
    monkeypatch.setattr(
        "scbench.report.contact_sheets.draw_each",
        lambda found, *_: drawn.extend(found) or [b"png"] * len(found),
    )
    svg = right_and_wrong(installed, dark=True)
    tasks = list(installed.manifest.tasks)
    assert svg.count("<image ") == len(drawn) == 2 * len(tasks)
    assert svg.count(": a wrong answer<") == len(tasks)
    references = set()
    for ref in installed.references():
        if ref.kind == "reference":
            references.add((ref.id, ref.answer))
    # A right answer, then a wrong one.
    for place, case in enumerate(drawn):
        assert case.task == tasks[place // 2]
        assert case.look.dark
        assert answer_of(get_task(case.task), case.answer) is not None, "unreadable"
        is_right = (case.instance_id, case.answer) in references
        assert is_right == (place % 2 == 0)


def png(pixels, mode="RGBA", **options) -> bytes:
    """A PNG file of rows of pixels."""
    file = io.BytesIO()
    image = Image.fromarray(np.array(pixels, dtype=np.uint8))
    assert image.mode == mode
    image.save(file, "PNG", **options)
    return file.getvalue()


def test_pictures_are_compared_by_their_pixels():
    pixels = [[(0, 0, 9), (9, 9, 9)]] * 50
    loose = png(pixels, "RGB", compress_level=0)
    tight = png(pixels, "RGB", compress_level=9)
    assert loose != tight
    assert same_picture(loose, tight)
    opaque = [[(0, 0, 9, 255), (9, 9, 9, 255)]] * 50
    assert same_picture(loose, png(opaque))
    assert not same_picture(loose, png([[(0, 0, 9), (9, 9, 8)]] * 50, "RGB"))
    assert not same_picture(loose, png(pixels * 2, "RGB"))
    assert not same_picture(loose, b"no picture")
    assert not same_picture(loose, loose[:60])
