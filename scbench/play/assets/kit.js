// The parts of editors: a grid of cells, points to move, and lists of pieces.
//
// An editor is made by `export default function (context)` in editors/TASK.js. The context has
//   params  the parameters that the prompt states, as in the item's column `params`
//   change  to call with the next answer
//   say     to call with a sentence for people who cannot see the drawing
// and the editor is an object with
//   element  the HTML element
//   hint     a sentence or two on how to use it
//   rules    what a player must know in addition to the summary of the task; optional
//   start    the initial answer, or null
//   show     a function that draws an answer (null if there is none)
//
// Everything works by mouse and by keyboard: Tab reaches a grid or a point, arrow keys move.

import { element } from "./page.js";

const SVG = "http://www.w3.org/2000/svg";
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
// Margin of a grid for the numbers of its columns and rows, in pixels.
const MARGIN = 24;

/** Make an SVG element. */
export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Return an SVG polyline or polygon through points. */
export function path(points, { closed = false, kind = "e-line" } = {}) {
  const tag = closed ? "polygon" : "polyline";
  return svg(tag, { points: points.map((p) => p.join(",")).join(" "), class: kind });
}

/** Return text at a place. */
export function label(x, y, text, kind = "") {
  return svg("text", { x, y, class: kind }, String(text));
}

/** Return whether two lists of numbers are equal. */
export function same(a, b) {
  return a.length === b.length && a.every((value, i) => value === b[i]);
}

/** Round a number to some decimals, for answers that people can read. */
export function rounded(value, decimals = 3) {
  return Number(value.toFixed(decimals));
}

/** Draw everything again in a layer. */
export function redraw(layer, ...children) {
  layer.replaceChildren(...children);
}

/**
 * A grid of cells with a pointer and a keyboard cursor.
 *
 * press(x, y)  called for a click, for every further cell that the pressed pointer enters, and for
 *              Enter or the space bar; with the key P, arrow keys press as well until P again
 * drag(a, b)   if given, called in place of press with the first and last cell of a drag; by
 *              keyboard, Enter marks the first cell and Enter again the last
 * key(name, x, y)  called for other keys; returns whether it used the key
 *
 * zoom         size of the grid on the page, in times its own size, if its column has the width
 *
 * Returns element, layer (an SVG group to draw in), centre(x, y) and cell (the size of one), both in
 * units of the drawing.
 */
export function grid({ columns, rows, cell = 34, first = 0, press, drag, key, say, name = "Grid", up = false, zoom = 2 }) {
  // One pixel more than the cells, for the lines at the right and at the bottom.
  const width = columns * cell + MARGIN + 1;
  const height = rows * cell + MARGIN + 1;
  const board = svg("svg", { class: "e-grid", width: zoom * width, height: zoom * height, viewBox: `0 0 ${width} ${height}`, tabindex: 0, role: "application", "aria-label": `${name}: arrow keys move, Enter acts` });
  const layer = svg("g");
  const marks = svg("g");
  const cursor = { x: 0, y: 0 };
  let anchor = null;
  let pressed = null;
  let trailing = false;

  const left = (x) => MARGIN + x * cell;
  const top = (y) => MARGIN + (up ? rows - 1 - y : y) * cell;
  const centre = (x, y) => [left(x) + cell / 2, top(y) + cell / 2];
  for (let y = 0; y < rows; y++) {
    for (let x = 0; x < columns; x++) {
      board.append(svg("rect", { x: left(x), y: top(y), width: cell, height: cell, class: "e-cell" }));
    }
  }
  const every = cell < 16 ? Math.ceil(20 / cell) : 1;
  for (let x = 0; x < columns; x += every) board.append(label(left(x) + cell / 2, MARGIN / 2, x + first, "small"));
  for (let y = 0; y < rows; y += every) board.append(label(MARGIN / 2, top(y) + cell / 2, y + first, "small"));
  board.append(layer, marks);

  function showMarks() {
    const parts = [svg("rect", { x: left(cursor.x), y: top(cursor.y), width: cell, height: cell, class: "e-cursor" })];
    const end = pressed && drag ? pressed.last : cursor;
    const begin = pressed && drag ? pressed.first : anchor;
    if (begin) {
      const [x0, x1] = [Math.min(begin.x, end.x), Math.max(begin.x, end.x)];
      const [y0, y1] = [Math.min(top(begin.y), top(end.y)), Math.max(top(begin.y), top(end.y))];
      parts.push(svg("rect", { x: left(x0), y: y0, width: (x1 - x0 + 1) * cell, height: y1 - y0 + cell, class: "e-anchor" }));
    }
    redraw(marks, ...parts);
  }

  function cellAt(event) {
    const box = board.getBoundingClientRect();
    const scale = width / box.width;
    const x = Math.floor(((event.clientX - box.left) * scale - MARGIN) / cell);
    const row = Math.floor(((event.clientY - box.top) * scale - MARGIN) / cell);
    const y = up ? rows - 1 - row : row;
    const inside = x >= 0 && x < columns && row >= 0 && row < rows;
    return inside ? { x, y } : null;
  }

  board.addEventListener("pointerdown", (event) => {
    const place = cellAt(event);
    if (!place || event.button !== 0) return;
    board.setPointerCapture(event.pointerId);
    Object.assign(cursor, place);
    pressed = { first: place, last: place };
    if (!drag) press(place.x, place.y);
    showMarks();
  });
  board.addEventListener("pointermove", (event) => {
    const place = pressed && cellAt(event);
    if (!place || (place.x === pressed.last.x && place.y === pressed.last.y)) return;
    pressed.last = place;
    Object.assign(cursor, place);
    if (!drag) press(place.x, place.y, { dragged: true });
    showMarks();
  });
  board.addEventListener("pointerup", () => {
    const done = pressed;
    pressed = null;
    if (done && drag) drag(done.first, done.last);
    showMarks();
  });
  board.addEventListener("pointercancel", () => {
    pressed = null;
    showMarks();
  });
  board.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    if (arrow) {
      const dy = up ? -arrow[1] : arrow[1];
      cursor.x = Math.min(columns - 1, Math.max(0, cursor.x + arrow[0]));
      cursor.y = Math.min(rows - 1, Math.max(0, cursor.y + dy));
      if (trailing) press(cursor.x, cursor.y, { dragged: true });
      say?.(`column ${cursor.x + first}, row ${cursor.y + first}`);
    } else if (event.key === "Enter" || event.key === " ") {
      if (!drag) press(cursor.x, cursor.y);
      else if (!anchor) anchor = { ...cursor };
      else {
        drag(anchor, { ...cursor });
        anchor = null;
      }
    } else if (event.key === "Escape") anchor = null;
    else if (event.key.toLowerCase() === "p" && !drag) {
      trailing = !trailing;
      if (trailing) press(cursor.x, cursor.y);
    } else if (!key?.(event.key, cursor.x, cursor.y)) return;
    event.preventDefault();
    showMarks();
  });
  showMarks();
  return { element: board, layer, centre, left, top, cell };
}

/**
 * A plane with points that can be moved.
 *
 * bounds       [xmin, ymin, xmax, ymax] in the task's coordinates; y points up
 * background   SVG elements drawn with the same `at` function, below the points
 * move(i, x, y, ended)   called while a point is dragged and when it is dropped
 * nudge(i, dx, dy)       called for arrow keys; dx and dy are -1, 0 or 1, ten times that with Shift
 * press(x, y)  called for a click beside the points
 *
 * Returns element, layer, at(x, y) in pixels, and show(points) that draws the handles.
 */
export function plane({ bounds, size = 440, move, nudge, press, press_key, names, name = "Plane" }) {
  const [xmin, ymin, xmax, ymax] = bounds;
  const scale = (size - 40) / Math.max(xmax - xmin, ymax - ymin);
  const width = (xmax - xmin) * scale + 40;
  const height = (ymax - ymin) * scale + 40;
  const board = svg("svg", { width, height, viewBox: `0 0 ${width} ${height}`, role: "application", "aria-label": name });
  const layer = svg("g");
  const handles = svg("g");
  board.append(layer, handles);
  const at = (x, y) => [20 + (x - xmin) * scale, height - 20 - (y - ymin) * scale];
  let dragged = null;

  function placeOf(event) {
    const box = board.getBoundingClientRect();
    const ratio = width / box.width;
    const px = (event.clientX - box.left) * ratio;
    const py = (event.clientY - box.top) * ratio;
    return [xmin + (px - 20) / scale, ymin + (height - 20 - py) / scale];
  }

  board.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    const index = event.target.dataset?.point;
    if (index === undefined) {
      press?.(...placeOf(event));
      return;
    }
    dragged = Number(index);
    event.target.focus();
    board.setPointerCapture(event.pointerId);
    event.preventDefault();
  });
  board.addEventListener("pointermove", (event) => {
    if (dragged !== null) move(dragged, ...placeOf(event), false);
  });
  board.addEventListener("pointerup", (event) => {
    if (dragged === null) return;
    const index = dragged;
    dragged = null;
    move(index, ...placeOf(event), true);
    focusPoint(index);
  });
  board.addEventListener("keydown", (event) => {
    const index = event.target.dataset?.point;
    if (index === undefined) return;
    const arrow = ARROWS[event.key];
    if (arrow && nudge) {
      const factor = event.shiftKey ? 10 : 1;
      nudge(Number(index), arrow[0] * factor, -arrow[1] * factor);
    } else if (!press_key?.(event.key, Number(index))) return;
    event.preventDefault();
    focusPoint(index);
  });

  function focusPoint(index) {
    handles.querySelector(`[data-point="${index}"]`)?.focus();
  }

  function show(points, radius = 8) {
    const drawn = points.map(([x, y], i) => {
      const [cx, cy] = at(x, y);
      const title = svg("title", {}, `${names ? names(i) : `point ${i}`}: ${rounded(x)}, ${rounded(y)}`);
      return svg("circle", { cx, cy, r: radius, class: "e-handle", tabindex: 0, "data-point": i }, title);
    });
    // Handles stay in place while one is dragged, so the pointer keeps its target.
    if (handles.children.length !== drawn.length) {
      handles.replaceChildren(...drawn);
      return;
    }
    drawn.forEach((circle, i) => {
      const old = handles.children[i];
      for (const key of ["cx", "cy"]) old.setAttribute(key, circle.getAttribute(key));
      old.replaceChildren(...circle.childNodes);
    });
  }

  return { element: board, layer, at, show, scale };
}

/** A list of pieces, each with a button that removes it. */
export function pieceList(remove) {
  const list = element("ol", { class: "pieces", start: 0 });
  return {
    element: list,
    show(texts) {
      const lines = texts.map((text, i) =>
        element("li", {}, text, element("button", { onclick: () => remove(i), "aria-label": `Remove ${text}` }, "×")));
      list.replaceChildren(...lines);
    },
  };
}

/** A row of buttons of which one is chosen. */
export function choice(options, choose, { name = "Choice", chosen = 0 } = {}) {
  const buttons = options.map((option, i) =>
    element("button", { onclick: () => select(i), "aria-pressed": i === chosen }, option));
  function select(i) {
    buttons.forEach((button, j) => button.setAttribute("aria-pressed", j === i));
    choose(i);
  }
  return { element: element("div", { class: "tools", role: "group", "aria-label": name }, ...buttons), select };
}

/** A number with a label. */
export function number(text, value, { min, max, step = 1, change } = {}) {
  const box = element("input", { type: "number", value, min, max, step });
  box.addEventListener("input", () => change?.(Number(box.value)));
  return { element: element("label", {}, `${text} `, box), get value() { return Number(box.value); }, set value(next) { box.value = next; } };
}

/** Several drawings next to each other, each with a caption. */
export function panels(parts) {
  const figures = parts.map(([caption, drawing]) => element("figure", {}, drawing, element("figcaption", {}, caption)));
  return element("div", { class: "panels" }, ...figures);
}

/** Return a list with an entry added, or removed if it is there. */
export function toggled(list, entry, equal = same) {
  const kept = list.filter((other) => !equal(other, entry));
  return kept.length < list.length ? kept : [...list, entry];
}
