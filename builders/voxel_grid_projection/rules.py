"""The rules on single cells, as lines of a prompt."""

from collections.abc import Iterator

from scbench.graders.voxel_grid_projection import find_forbidden
from scbench.schemas.voxel_grid_projection import Params

# Maximum number of cells in a line of the list.
_CELLS_IN_LINE = 6


def extra_rules(params: Params, *, sums: bool = True) -> str:
    """Return the rules on single cells, one or more lines each.

    Without ``sums``, the forbidden sums are not listed, because they reveal the size of the cube.
    """
    return "".join(f"{rule}\n" for rule in _rules(params, sums=sums))


def _rules(params: Params, *, sums: bool) -> Iterator[str]:
    digit = params.forbidden_digit
    residue = params.forbidden_residue
    if digit is not None:
        yield f"- The sum x + y + z of a chosen cell does not contain the digit {digit}."
    if residue is not None:
        yield (
            f"- The sum x + y + z of a chosen cell does not leave the remainder "
            f"{residue.remainder} when it is\n  divided by {residue.modulus}."
        )
    if sums and (digit is not None or residue is not None):
        forbidden_sums, _ = find_forbidden(params)
        numbers = ", ".join(map(str, sorted(forbidden_sums)))
        yield f"  The forbidden sums are {numbers or 'none in this cube'}."
    if params.forbidden_cells:
        yield "- These cells (x, y, z) are forbidden:"
        cells = [f"({x}, {y}, {z})" for x, y, z in params.forbidden_cells]
        for start in range(0, len(cells), _CELLS_IN_LINE):
            yield "  " + " ".join(cells[start : start + _CELLS_IN_LINE])
    if params.connected:
        yield (
            "- The chosen cells are connected: each can be reached from every other by steps "
            "between chosen\n  cells that share a face."
        )
