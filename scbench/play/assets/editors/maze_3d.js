// Heights that are painted onto the cells of the maze.
import { element } from "../page.js";
import { choice, grid, label, redraw, svg } from "../kit.js";

const SIGNS = [..."0123456789AB"];

export default function ({ params, change, say }) {
  const size = params.size;
  // Each end is a row and a column; if an item leaves the ends open, they start in two corners.
  const ends = params.ends ?? [[0, 0], [size - 1, size - 1]];
  let rows = [];
  let sign = "5";
  // Ends that the item names cannot be moved.
  const signs = params.ends ? SIGNS.slice(0, 10) : SIGNS;
  const palette = choice(signs, (i) => { sign = SIGNS[i]; }, { name: "Height", chosen: 5 });
  const board = grid({
    columns: size, rows: size, say, name: "Maze",
    press: (x, y) => paint(x, y, sign),
    key(name, x, y) {
      const next = name.toUpperCase();
      if (!signs.includes(next)) return false;
      palette.select(SIGNS.indexOf(next));
      paint(x, y, next);
      return true;
    },
  });

  function paint(x, y, next) {
    const old = rows[y][x];
    if (old === next) return;
    const isEnd = "AB".includes(next);
    // A and B each occur once: they move, and are never painted over.
    if ("AB".includes(old) || (isEnd && params.ends)) return;
    const cells = rows.map((row) => [...row].map((other) => (isEnd && other === next ? "0" : other)));
    cells[y][x] = next;
    change({ maze: cells.map((row) => row.join("")) });
  }

  function heightOf(shown) {
    if (shown === "A") return params.a_height;
    return shown === "B" ? params.b_height : Number(shown);
  }

  function empty() {
    const cells = Array.from({ length: size }, () => Array(size).fill("0"));
    ends.forEach(([row, column], i) => { cells[row][column] = "AB"[i]; });
    return cells.map((row) => row.join(""));
  }

  return {
    element: element("div", {}, palette.element, board.element),
    rules: `A step leads to a neighbouring cell whose height differs by at most 1. A jump leads straight over one cell to a cell of the same height; the cell between is at least 2 lower. A counts as height ${params.a_height}, B as ${params.b_height}.`,
    hint: `Choose a height and paint cells with it. Keys: arrows, then a digit${params.ends ? "" : ", A or B"}.`,
    start: { maze: empty() },
    show(answer) {
      rows = answer.maze;
      const parts = rows.flatMap((row, y) => [...row].flatMap((shown, x) => {
        const value = heightOf(shown);
        const shade = svg("rect", { x: board.left(x), y: board.top(y), width: board.cell, height: board.cell, class: "e-strong", opacity: value / 18 });
        return [shade, label(...board.centre(x, y), shown)];
      }));
      redraw(board.layer, ...parts);
    },
  };
}
