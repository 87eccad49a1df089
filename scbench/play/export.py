"""A static site on which visitors answer items and download a predictions file.

No grader runs on the site; grade the file with ``scbench-grade``, like any other.
"""

import json
import os
from collections.abc import Sequence
from pathlib import Path

from pydantic import JsonValue

from scbench.base.errors import ReleaseError
from scbench.base.model import Instance
from scbench.machine.files import scratch_beside
from scbench.play.checking import figure_json
from scbench.play.items import Items, item_json
from scbench.play.page_files import asset_names, editor_names, page_file
from scbench.report.figures import Figure, FigureJob, draw


def write_site(items: Items, instances: Sequence[Instance], folder: Path) -> int:
    """Write a site with some items into a new folder.

    Returns:
        The number of items.

    Raises:
        ReleaseError: the folder exists or cannot be created.
    """
    if os.path.lexists(folder):
        raise ReleaseError(f"{folder} already exists; choose a new folder")
    try:
        with scratch_beside(folder) as scratch:
            root = scratch / "site"
            (root / "assets" / "editors").mkdir(parents=True)
            (root / "items").mkdir()
            (root / "index.html").write_text(page_file("index.html"), "utf-8")
            for name in asset_names():
                (root / "assets" / name).write_text(page_file(name), "utf-8")
            for number, instance in enumerate(instances):
                text = json.dumps(exported_item(instance), ensure_ascii=False)
                (root / "items" / f"{number}.json").write_text(text, "utf-8")
            start: dict[str, JsonValue] = {
                "release": items.release.version,
                "items": len(instances),
                "editors": list(editor_names()),
            }
            (root / "site.json").write_text(json.dumps(start), "utf-8")
            root.rename(folder)
    except OSError as error:
        raise ReleaseError(f"cannot create {folder}: {error}") from None
    return len(instances)


def exported_item(instance: Instance) -> dict[str, JsonValue]:
    """Return an item with its picture, and the hash to state in predictions."""
    values = item_json(instance)
    # An editor draws the item itself, and a picture can show more than the prompt states.
    figure = Figure()
    if instance.task not in editor_names():
        figure = draw(FigureJob(instance.task, instance.all_params, None, ()))
    values["picture"] = figure_json(figure)
    values["instance_hash"] = instance.content_hash
    return values
