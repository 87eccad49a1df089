// A tour that is drawn from cell to cell; the last cell joins the first by itself.
import { grid, path, redraw, same, svg } from "../kit.js";

export default function ({ params, change, say }) {
  const size = params.size;
  let tour = [];
  const board = grid({
    columns: size, rows: size, first: 1, cell: size > 16 ? 24 : 32, say, name: "Grid",
    press(x, y) {
      const next = [x + 1, y + 1];
      const place = tour.findIndex((cell) => same(cell, next));
      const last = tour.at(-1);
      const isNear = !last || Math.abs(last[0] - next[0]) + Math.abs(last[1] - next[1]) === 1;
      // Going back removes cells; a click far away from the end starts over.
      if (place >= 0) write(tour.slice(0, place + 1));
      else write(isNear ? [...tour, next] : [next]);
    },
  });

  function write(cells) {
    change({ steps: cells.map((xy) => ({ xy })) });
  }

  return {
    element: board.element,
    rules: "Each step goes to the next free cell up, down, left or right, and the last one returns to the start. Filled cells are blocked.",
    hint: "Press on a cell and drag through its neighbours; go back to remove cells. Keys: arrows, P starts and ends drawing.",
    start: null,
    show(answer) {
      tour = (answer?.steps ?? []).map((step) => step.xy);
      const blocks = params.blocked.map(([x, y]) => svg("rect", {
        x: board.left(x - 1), y: board.top(y - 1), width: board.cell, height: board.cell, class: "e-block",
      }));
      const points = tour.map(([x, y]) => board.centre(x - 1, y - 1));
      const parts = [path(points)];
      if (points.length > 1) parts.push(path([points.at(-1), points[0]], { kind: "e-thin" }));
      if (points.length) parts.push(svg("circle", { cx: points.at(-1)[0], cy: points.at(-1)[1], r: 6, class: "e-strong" }));
      redraw(board.layer, ...blocks, ...parts);
    },
  };
}
