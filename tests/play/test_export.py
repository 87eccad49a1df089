"""The static site: items and scripts, and no grader."""

import json

import pytest

from scbench.base.errors import ReleaseError
from scbench.play.export import write_site
from scbench.play.items import Items
from scbench.release.load import find_release


def test_site_has_its_items_and_no_answers(tmp_path):
    items = Items(find_release())
    instances = [items.instance(name) for name in ("two_segments/07", "movies/96")]
    folder = tmp_path / "site"
    assert write_site(items, instances, folder) == 2
    assert json.loads((folder / "site.json").read_text("utf-8"))["items"] == 2
    item = json.loads((folder / "items" / "1.json").read_text("utf-8"))
    assert item["instance_hash"] == instances[1].content_hash
    references = [ref for ref in items.release.references() if ref.id == "movies/96"]
    assert references
    assert "answer" not in item
    assert (folder / "assets" / "editors" / "two_segments.js").is_file()
    assert (folder / "index.html").is_file()
    with pytest.raises(ReleaseError, match="already exists"):
        write_site(items, instances, folder)
