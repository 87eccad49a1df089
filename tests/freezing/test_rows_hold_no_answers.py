"""Every value in a row is printed in its prompt or listed here with the reason."""

import json
import re
from functools import cache

import pytest

from scbench.base.canonical import content_hash
from scbench.base.errors import PredictionsError
from scbench.catalog import available_tasks
from scbench.freezing.fresh import generate
from scbench.freezing.tables import INSTANCE_COLUMNS, instance_table
from scbench.release.load import find_release
from scbench.release.manifest import CANARY
from scbench.reward import score

OURS = [task for task in available_tasks() if task.package == "scbench"]

NUMBERED = "numbers of people, events or things that the prompt names instead"
WORDED = "the prompt says it in words of its own"
LOOKS = "how the prompt is worded or laid out, as anybody sees"
PARAMS = {
    "topology_enumeration": {"n_classes": "a numeral in words", "known": WORDED},
    "half_subdivision_neighbours": {"dimension": WORDED},
    "lego_hemispherical_shell": {"form": WORDED},
    "csg_union": {
        "solids[].kind": WORDED,
        "solids[].height": "the prompt prints both ends",
        "solids[].centred_z": "the prompt prints both ends",
    },
    "voxel_grid_projection": {"connected": WORDED},
    "polynomial_curve_fitting": {"grid[]": "large pictures are images"},
    "pipe_loop_fitting": {"constraints[].type": WORDED},
    "interlocking_parts": {
        "empty.sides[]": "follows from other lengths",
        "inner[]": "follows from the corners of the room",
        "outer.sides[]": "follows from other lengths",
        "printing.flat": "with its sign",
        "thickness.share": "in percent",
    },
    "pack_rectangular_prisms": {
        "full_marks_percent": "100, and then it needs no saying"
    },
    "largest_printable_prime": {
        "segments[]": "the prompt draws each digit, segment by segment"
    },
    "fluid_simulation": {"goal.kind": WORDED},
    "boolean": {"format": "the prompt uses its words"},
    "objects": {"anchor_format": LOOKS, "opening": LOOKS},
    "shuffle": {
        "anchor_format": LOOKS,
        "opening": LOOKS,
        "asked": NUMBERED,
        "events[][0]": "whether they swap, as the sentence says",
        "events[][1]": NUMBERED,
        "events[][2]": NUMBERED,
        "events[][3]": LOOKS,
    },
    "dates": {
        "asked": NUMBERED,
        "date_format": LOOKS,
        "style": LOOKS,
        "story": LOOKS,
        "given[][]": "places of events, and days before or after a date, with before as a minus",
        "steps[][0]": NUMBERED,
        "steps[][1]": WORDED,
        "steps[][2]": WORDED,
        "steps[][3]": WORDED,
    },
    "movies": {
        "template": LOOKS,
        "opening": LOOKS,
        "genre_weight": "not of use if only titles are printed: what is not right scores nothing",
        "theme_weight": "the same",
    },
    "word_sorting": {"case_sensitive": WORDED},
    "pattern_interference": {
        "shown": "how many terms are printed",
        "base[].kind": WORDED,
        "interference[].kind": WORDED,
        "interference[].amount": "a minus is printed as subtract",
    },
    "letter_counting": {
        "letters": "one by one",
        "words[][1]": "whether it stands in brackets",
    },
    "but_for_causation": {
        "candidates[]": NUMBERED,
        "events[][]": "other forms of the verbs that are printed",
        "outcome": NUMBERED,
        "question": WORDED,
        "rules[][0]": NUMBERED,
        "rules[][1]": WORDED,
        "rules[][2][][0]": NUMBERED,
        "rules[][2][][1]": WORDED,
        "told[][0]": NUMBERED,
        "told[][1]": WORDED,
        "style": LOOKS,
        "story": LOOKS,
    },
}
"""Values that a prompt states in another way, by task and place in ``params``."""
KINDS = {
    **dict.fromkeys(
        ["corner_order", "edge_order", "order", "format", "anchor_format"], LOOKS
    ),
    **dict.fromkeys(["case_mode", "date_format", "template", "commands"], LOOKS),
    **dict.fromkeys(
        ["goal", "figure", "form", "target", "frame", "question", "domain"], WORDED
    ),
    "known": WORDED,
    "kinds": "which kinds of solids are drawn from",
    "relation": "how solids lie to each other, as their places say",
    "rotation": "how solids are turned, as their descriptions say",
    "dimension": WORDED,
    "target_at": "whether the asked-for cell touches the rim, which its coordinates say",
    "layout": "from what distribution the printed points come",
    "obstacles": LOOKS,
    "group": LOOKS,
    "font": LOOKS,
    "wall_layout": LOOKS,
    "crossings": "which crossings are allowed",
    "constraints": WORDED,
    "cubes": LOOKS,
    "hole": LOOKS,
    "zones": LOOKS,
    "rain_place": LOOKS,
    "start": LOOKS,
}
"""Parameters of spaces whose values are words. Numbers are bounds and chances of the draw, most of
which the prompt shows; they determine the difficulty of a case, not its answer."""


def leaves(value, path=""):
    if isinstance(value, dict):
        for name, child in value.items():
            yield from leaves(child, f"{path}.{name}" if path else name)
    elif isinstance(value, list):
        for i, child in enumerate(value):
            # Places in a record matter, those in a list do not.
            kinds = {type(item) for item in value}
            yield from leaves(child, f"{path}[{i if len(kinds) > 1 else ''}]")
    else:
        yield path, value


@cache
def numbers_in(prompt):
    return {float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", prompt)}


def is_printed(value, prompt):
    """Whether a number or word is in a prompt; empty values are in every prompt."""
    if value is None or value == "":
        return True
    if isinstance(value, bool):
        return False
    if isinstance(value, int | float):
        return float(value) in numbers_in(prompt)
    return str(value).replace("_", " ").casefold() in prompt.casefold()


def rows_of(task):
    """Some of the release's rows and some fresh ones, in stored form."""
    held = list(find_release().instances([task.id]).values())
    fresh = generate(task.id, count=2, seed=5)
    return instance_table([*held[:: max(1, len(held) // 60)], *fresh]).to_pylist()


@pytest.mark.parametrize("task", OURS, ids=str)
def test_rows_contain_only_values_in_their_prompts(task):
    reviewed = PARAMS.get(task.id, {})
    parameters = (
        task.builder.space.model_fields.keys()
        - {"count"}
        - task.builder.space.unprinted
    )
    places = set()
    for row in rows_of(task):
        assert row["canary"] == CANARY
        for place, value in leaves(json.loads(row["params"])):
            places.add(place)
            assert place in reviewed or is_printed(value, row["prompt"]), (
                row["id"],
                place,
                value,
            )
        for name, value in json.loads(row["point"] or "{}").items():
            assert name in parameters, "a fact, or what tells the answer"
            if isinstance(value, str | list) and not is_printed(value, row["prompt"]):
                assert name in KINDS, (row["id"], name, value)
    assert places >= reviewed.keys(), "no row has this any more"


def test_row_hash_does_not_reveal_hidden_values():
    """Otherwise the correct one of ten shapes could be found by hashing each."""
    (instance,) = generate("svg_shapes", seed=3, shape="kite")
    row = {k: v for k, v in instance.model_dump().items() if k in INSTANCE_COLUMNS}
    del row["content_hash"]
    assert instance.content_hash == content_hash(row | {"images": []})


def test_data_set_row_names_its_hidden_values():
    (instance,) = generate("objects", seed=3)
    assert score(instance, {"answer": -1}) == 0
    with pytest.raises(PredictionsError, match="parameters that no prompt states"):
        score(instance.model_copy(update={"unprinted": None}), {"answer": -1})
