// Rectangles that are dragged on the grid; a click on a rectangle removes it.
import { grid, label, redraw, svg } from "../kit.js";

export default function ({ params, change, say }) {
  let rectangles = [];
  const board = grid({
    columns: params.width, rows: params.height, say, name: "Grid of numbers",
    drag(a, b) {
      const next = [Math.min(a.x, b.x), Math.min(a.y, b.y), Math.max(a.x, b.x), Math.max(a.y, b.y)];
      const isClick = a.x === b.x && a.y === b.y;
      const under = rectangles.filter((one) => covers(one, a.x, a.y));
      if (isClick && under.length) change({ rectangles: rectangles.filter((one) => !under.includes(one)) });
      else change({ rectangles: [...rectangles.filter((one) => !overlap(one, next)), next] });
    },
  });

  return {
    element: board.element,
    hint: "Drag from corner to corner of a rectangle; click one to remove it. Keys: arrows, Enter at the first corner, Enter at the last.",
    start: null,
    show(answer) {
      rectangles = answer?.rectangles ?? [];
      const shapes = rectangles.map(([x0, y0, x1, y1]) => svg("rect", {
        x: board.left(x0) + 3, y: board.top(y0) + 3, class: "e-fill", rx: 4,
        width: (x1 - x0 + 1) * board.cell - 6, height: (y1 - y0 + 1) * board.cell - 6,
      }));
      const numbers = params.grid.flatMap((row, y) =>
        row.map((value, x) => value && label(...board.centre(x, y), value)).filter(Boolean));
      redraw(board.layer, ...shapes, ...numbers);
    },
  };
}

const covers = ([x0, y0, x1, y1], x, y) => x0 <= x && x <= x1 && y0 <= y && y <= y1;
const overlap = (a, b) => a[0] <= b[2] && b[0] <= a[2] && a[1] <= b[3] && b[1] <= a[3];
