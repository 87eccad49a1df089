// Blasts that are placed on the map of the ground.
import { element } from "../page.js";
import { grid, label, number, pieceList, redraw, svg } from "../kit.js";

export default function ({ params, change, say }) {
  const heights = params.heights;
  const rows = heights.length;
  const columns = heights[0].length;
  const highest = Math.max(...heights.flat());
  const cell = Math.max(14, Math.min(40, Math.floor(560 / columns)));
  let blasts = [];
  const depth = number("depth", 1, { min: 0.01, max: highest, step: 0.1 });
  const list = pieceList((i) => write(blasts.filter((_, j) => j !== i)));
  const board = grid({
    columns, rows, cell, say, name: "Ground",
    press: (x, y) => write([...blasts, { x, y, z: depth.value }]),
  });

  function write(next) {
    change({ blasts: next });
  }

  /** The heights after the blasts, without the rock that they scatter. */
  function lowered() {
    const left = heights.map((row) => [...row]);
    for (const { x, y, z } of blasts) if (left[y]?.[x] !== undefined) left[y][x] -= z;
    return left;
  }

  return {
    element: element("div", {}, element("div", { class: "tools" }, depth.element), board.element, list.element),
    rules: "A blast lowers one cell, and its rock scatters over other cells. Cells that share an edge are level with each other if their heights differ only a little; the full prompt gives the limit. An empty plan scores 0.",
    hint: "Set the depth of the charge and click cells to blast, in order. Scattered rock is not shown: Check simulates it. Keys: arrows, Enter.",
    start: null,
    show(answer) {
      blasts = answer?.blasts ?? [];
      const parts = lowered().flatMap((row, y) => row.flatMap((value, x) => {
        const shade = svg("rect", { x: board.left(x), y: board.top(y), width: cell, height: cell, class: "e-block", style: `opacity:${Math.max(0, value / highest) * 0.7}` });
        return cell < 26 ? [shade] : [shade, label(...board.centre(x, y), Math.round(value * 10) / 10, "small")];
      }));
      redraw(board.layer, ...parts);
      list.show(blasts.map(({ x, y, z }) => `(${x}, ${y}) by ${z}`));
    },
  };
}
