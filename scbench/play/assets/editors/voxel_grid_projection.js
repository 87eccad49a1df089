// The cube, layer by layer; a click chooses a cell or removes it.
import { element } from "../page.js";
import { grid, panels, redraw, same, svg, toggled } from "../kit.js";

export default function ({ params, change, say }) {
  const size = params.size;
  let cells = [];
  const count = element("p", { class: "quiet" });
  const boards = [...Array(size).keys()].map((z) => grid({
    columns: size, rows: size, cell: size > 6 ? 22 : 30, zoom: 1, say, name: `Layer z = ${z}`, up: true,
    press: (x, y) => write(toggled(cells, [x, y, z])),
  }));
  const forbidden = (x, y, z) => (params.forbidden_cells ?? []).some((cell) => same(cell, [x, y, z]));

  function write(next) {
    change({ voxels: next.map((xyz) => ({ xyz })) });
  }

  function square(board, x, y, kind) {
    return svg("rect", { x: board.left(x) + 2, y: board.top(y) + 2, width: board.cell - 4, height: board.cell - 4, class: kind });
  }

  return {
    element: element("div", {}, count, panels(boards.map((board, z) => [`z = ${z}`, board.element]))),
    rules: "Seen along each axis, the chosen cells leave no gap. No rotation or reflection of the cube, except the one that changes nothing, maps the chosen cells onto themselves.",
    hint: "Click cells in the layers; x runs to the right, y upwards. Keys: Tab to a layer, arrows, Enter.",
    start: null,
    show(answer) {
      cells = (answer?.voxels ?? []).map((voxel) => voxel.xyz);
      const goal = params.cells ? ` of ${params.cells}` : "";
      count.textContent = `${cells.length}${goal} cells chosen`;
      boards.forEach((board, z) => {
        const parts = [];
        for (let x = 0; x < size; x++) {
          for (let y = 0; y < size; y++) if (forbidden(x, y, z)) parts.push(square(board, x, y, "e-block"));
        }
        for (const [x, y, level] of cells) if (level === z) parts.push(square(board, x, y, "e-fill"));
        redraw(board.layer, ...parts);
      });
    },
  };
}
