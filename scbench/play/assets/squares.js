// Drawings of squares with a class at each corner, for two tasks.

import { label, svg } from "./kit.js";

const SIDE = 90;
const EDGE = 22;
const PLACES = {
  "top-left": [EDGE, EDGE],
  "top-right": [EDGE + SIDE, EDGE],
  "bottom-left": [EDGE, EDGE + SIDE],
  "bottom-right": [EDGE + SIDE, EDGE + SIDE],
};
const MIDDLES = {
  left: [EDGE, EDGE + SIDE / 2],
  right: [EDGE + SIDE, EDGE + SIDE / 2],
  top: [EDGE + SIDE / 2, EDGE],
  bottom: [EDGE + SIDE / 2, EDGE + SIDE],
};

/** Return the middle of a side, in pixels of the drawing. */
export function middleOf(side) {
  return MIDDLES[side];
}

/** Return a square with its corners' classes, and a group to draw in. */
export function squareDrawing(classes, order) {
  const width = SIDE + 2 * EDGE;
  const drawing = svg("svg", { width, height: width, viewBox: `0 0 ${width} ${width}`, role: "img" });
  drawing.append(svg("rect", { x: EDGE, y: EDGE, width: SIDE, height: SIDE, class: "e-frame" }), svg("g"));
  order.forEach((corner, i) => {
    const [x, y] = PLACES[corner];
    drawing.append(svg("circle", { cx: x, cy: y, r: 11, class: "e-cell" }), label(x, y, classes[i]));
  });
  return drawing;
}
