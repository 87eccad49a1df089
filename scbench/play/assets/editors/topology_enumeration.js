// Corner patterns: choose a class for each corner, then add the pattern to the list.
import { element } from "../page.js";
import { pieceList, redraw, label, path, same, svg } from "../kit.js";

const SIZE = 220;
// Corners of a square, counter-clockwise; those of other polygons are A, B, C ...
const SQUARE = ["bottom-left", "bottom-right", "top-right", "top-left"];

export default function ({ params, change }) {
  const corners = params.corner_order;
  let configs = [];
  let pattern = corners.map(() => 0);
  const drawing = svg("svg", { width: SIZE, height: SIZE, viewBox: `0 0 ${SIZE} ${SIZE}`, role: "img" });
  const buttons = corners.map((corner, i) => element("button", { onclick: () => turn(i) }));
  const add = element("button", { class: "main", onclick: addPattern }, "Add pattern");
  const list = pieceList((i) => change({ configs: configs.filter((_, j) => j !== i) }));

  function turn(i) {
    pattern = pattern.map((old, j) => (j === i ? (old + 1) % params.n_classes : old));
    drawPattern();
  }

  function addPattern() {
    if (!configs.some((one) => same(one, pattern))) change({ configs: [...configs, pattern] });
  }

  function drawPattern() {
    // As in the picture, the bottom side is level, and the first corner is at its left end.
    const names = corners.includes(SQUARE[0]) ? SQUARE : [...corners].sort();
    const place = (i, radius) => {
      const angle = Math.PI / 2 + Math.PI / names.length - (2 * Math.PI * i) / names.length;
      return [SIZE / 2 + radius * Math.cos(angle), SIZE / 2 + radius * Math.sin(angle)];
    };
    const marks = corners.flatMap((corner, i) => {
      const [x, y] = place(names.indexOf(corner), 65);
      const [outerX, outerY] = place(names.indexOf(corner), 92);
      const known = params.known?.[i] ?? "?";
      return [svg("circle", { cx: x, cy: y, r: 12, class: "e-cell" }), label(x, y, pattern[i]),
        label(outerX, outerY, params.known ? `${i + 1}: ${known}` : i + 1, "small")];
    });
    redraw(drawing, path(names.map((_, i) => place(i, 65)), { closed: true, kind: "e-frame" }), ...marks);
    buttons.forEach((button, i) => { button.textContent = `${i + 1} (${corners[i]}): ${pattern[i]}`; });
  }

  return {
    element: element("div", {}, drawing, element("div", { class: "tools" }, ...buttons, add), list.element),
    rules: "The areas of each class end at borders that may run in any way inside. A pattern belongs in the list if the borders cannot avoid a point where all classes meet. Corners with equal letters have the same class, and ? stands for any class; numbers are only names of classes.",
    hint: "Click a corner's button to change its class. Small numbers are the order of the corners. Add every pattern that you want in the list.",
    start: { configs: [] },
    show(answer) {
      configs = answer.configs;
      list.show(configs.map((one) => one.join(", ")));
      drawPattern();
    },
  };
}
