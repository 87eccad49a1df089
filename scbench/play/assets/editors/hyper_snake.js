// The path of the snake, in slices of the box; arrow keys steer along the axes.
import { element } from "../page.js";
import { grid, panels, path, redraw, same, svg } from "../kit.js";

// Keys that move down and up along each further axis.
const FURTHER_KEYS = [["PageDown", "PageUp"], ["-", "+"], [",", "."], ["[", "]"]];

export default function ({ params, change, say }) {
  const { size, start, walls, food } = params;
  let cells = [start];
  const further = size.slice(2);
  const slices = [];
  forEachPlace(further, (rest) => slices.push(rest));
  const boards = slices.map((rest) => grid({
    columns: size[0], rows: size[1] ?? 1, cell: further.length ? 26 : 34, zoom: further.length ? 1 : 2, say, name: `Slice ${rest.join(", ")}`,
    press: (x, y) => go(size.length === 1 ? [x] : [x, y, ...rest]),
  }));
  const count = element("p", { class: "quiet" });
  const buttons = size.flatMap((_, axis) => [-1, 1].map((by) =>
    element("button", { onclick: () => move(axis, by) }, `axis ${axis} ${by > 0 ? "+" : "−"}1`)));
  const views = boards.map((board, i) => [slices[i].map((value, axis) => `axis ${axis + 2} = ${value}`).join(", "), board.element]);
  const whole = element("div", { tabindex: -1 }, count, element("div", { class: "tools" }, ...buttons), panels(views));
  // Keys steer before a board moves its own cursor.
  whole.addEventListener("keydown", steer, true);

  function forEachPlace(sizes, action, rest = []) {
    if (rest.length === sizes.length) action(rest);
    else for (let i = 0; i < sizes[rest.length]; i++) forEachPlace(sizes, action, [...rest, i]);
  }

  function steer(event) {
    const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, -1], ArrowDown: [1, 1] };
    FURTHER_KEYS.forEach(([down, up], i) => Object.assign(steps, { [down]: [i + 2, -1], [up]: [i + 2, 1] }));
    const step = event.key === "Backspace" ? "back" : steps[event.key];
    if (!step || event.ctrlKey || event.metaKey) return;
    if (step === "back") write(cells.slice(0, -1));
    else move(...step);
    event.preventDefault();
    event.stopPropagation();
  }

  function move(axis, by) {
    if (axis >= size.length) return;
    go(cells.at(-1).map((value, i) => (i === axis ? value + by : value)));
  }

  function go(next) {
    const place = cells.findIndex((cell) => same(cell, next));
    if (place >= 0) {
      write(cells.slice(0, place + 1));
      return;
    }
    const distance = cells.at(-1).reduce((sum, value, i) => sum + Math.abs(value - next[i]), 0);
    const isInside = next.every((value, i) => value >= 0 && value < size[i]);
    const isWall = walls.some((wall) => same(wall, next));
    if (distance === 1 && isInside && !isWall) write([...cells, next]);
    else say("The snake cannot go there.");
  }

  function write(next) {
    if (next.length) change({ path: next.map((pos) => ({ pos })) });
  }

  return {
    element: whole,
    rules: "Each move goes to a neighbouring cell: one coordinate changes by 1. Filled cells are walls, coloured squares are food. Moves into a wall, out of the box or onto the snake are not possible here.",
    hint: "Click the next cell, or an earlier one to go back. Keys in a slice: arrows for axes 0 and 1, Page Up and Page Down for axis 2, + and - for axis 3, Backspace to go back.",
    start: { path: [{ pos: start }] },
    show(answer) {
      cells = answer.path.map((step) => step.pos);
      count.textContent = `${cells.length} ${cells.length === 1 ? "cell" : "cells"}`;
      boards.forEach((board, i) => redraw(board.layer, ...drawn(board, slices[i])));
    },
  };

  function drawn(board, rest) {
    const here = (cell) => same(cell.slice(2), rest);
    const square = (kind, inset) => (cell) => svg("rect", {
      x: board.left(cell[0]) + inset, y: board.top(cell[1] ?? 0) + inset,
      width: board.cell - 2 * inset, height: board.cell - 2 * inset, class: kind,
    });
    const parts = [...walls.filter(here).map(square("e-block", 0)), ...food.filter(here).map(square("e-note", 4))];
    cells.forEach((cell, i) => {
      if (!here(cell)) return;
      const centre = board.centre(cell[0], cell[1] ?? 0);
      const before = cells[i - 1];
      if (before && here(before)) parts.push(path([board.centre(before[0], before[1] ?? 0), centre]));
      const isHead = i === cells.length - 1;
      parts.push(svg("circle", { cx: centre[0], cy: centre[1], r: isHead ? 7 : 3, class: "e-strong" }));
    });
    return parts;
  }
}
