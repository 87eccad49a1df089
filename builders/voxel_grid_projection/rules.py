"""The rules on single cells, as a prompt says them."""

from collections.abc import Iterator

from scbench.graders.voxel_grid_projection import forbidden
from scbench.schemas.voxel_grid_projection import Params

# Cells in a line of the list.
_CELLS_IN_LINE = 6


def extra_rules(params: Params, *, sums: bool = True) -> Iterator[str]:
    """Yield the rules on single cells; without sums, for who does not know how large they get."""
    digit = params.forbidden_digit
    residue = params.forbidden_residue
    if digit is not None:
        yield f"- No chosen cell has a sum x + y + z in which the digit {digit} occurs."
    if residue is not None:
        yield (
            f"- No chosen cell has a sum x + y + z that leaves the remainder {residue.remainder} "
            f"when it is divided by {residue.modulus}."
        )
    if sums and (digit is not None or residue is not None):
        forbidden_sums, _ = forbidden(params)
        numbers = ", ".join(map(str, sorted(forbidden_sums)))
        yield f"  The forbidden sums are {numbers or 'none in this grid'}."
    if params.forbidden_cells:
        yield "- None of these cells, given as (x, y, z), is chosen:"
        cells = [f"({x}, {y}, {z})" for x, y, z in params.forbidden_cells]
        for start in range(0, len(cells), _CELLS_IN_LINE):
            yield "  " + " ".join(cells[start : start + _CELLS_IN_LINE])
    if params.connected:
        yield (
            "- The chosen cells hang together: from each one every other can be reached by steps "
            "through\n  shared faces, from chosen cell to chosen cell."
        )
