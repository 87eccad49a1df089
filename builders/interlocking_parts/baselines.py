"""Parts that never meet."""

from pydantic import JsonValue

from scbench.schemas.interlocking_parts import Params

_IN_PLACE = (1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1)


def baselines(params: Params) -> dict[str, JsonValue]:
    """Return one plain grid of bars, as often as there are parts."""
    bar, (low, high) = params.bar, params.gap
    pitch = bar + (low + high) / 2
    room = min(params.printing.bed[:2]) - bar
    gaps = int(room // pitch)
    end = gaps * pitch / 2
    source = (
        f"for (i = [0:{gaps}]) {{\n"
        f"  translate([i * {pitch:g} - {end:g} - {bar / 2:g}, -{end + bar / 2:g}, 0])"
        f" cube([{bar:g}, {2 * end + bar:g}, {bar:g}]);\n"
        f"  translate([-{end + bar / 2:g}, i * {pitch:g} - {end:g} - {bar / 2:g}, 0])"
        f" cube([{2 * end + bar:g}, {bar:g}, {bar:g}]);\n}}\n"
    )
    part: dict[str, JsonValue] = {
        "fileContents": source,
        "fileType": "OpenSCAD",
        "transform": list(_IN_PLACE),
    }
    return {"the same grid for every part": {"parts": [part] * params.parts}}
