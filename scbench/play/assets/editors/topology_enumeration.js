// Corner patterns: choose a class for each corner, then add the pattern to the list.
import { element } from "../page.js";
import { pieceList, redraw, label, path, same, svg } from "../kit.js";

const SIZE = 180;

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
    // Corners lie counter-clockwise in the order of their names.
    const names = [...corners].sort();
    const places = names.map((_, i) => {
      const angle = -Math.PI / 2 - (2 * Math.PI * i) / names.length;
      return [SIZE / 2 + 60 * Math.cos(angle), SIZE / 2 + 60 * Math.sin(angle)];
    });
    const marks = corners.flatMap((corner, i) => {
      const [x, y] = places[names.indexOf(corner)];
      const known = params.known?.[i] ?? "?";
      return [svg("circle", { cx: x, cy: y, r: 12, class: "e-cell" }), label(x, y, pattern[i]),
        label(x, y + 21, known === "?" ? corner : `${corner}: ${known}`, "small")];
    });
    redraw(drawing, path(places, { closed: true, kind: "e-frame" }), ...marks);
    buttons.forEach((button, i) => { button.textContent = `${corners[i]}: ${pattern[i]}`; });
  }

  return {
    element: element("div", {}, drawing, element("div", { class: "tools" }, ...buttons, add), list.element),
    hint: "Click a corner's button to change its class; add every pattern that you want in the list.",
    start: { configs: [] },
    show(answer) {
      configs = answer.configs;
      list.show(configs.map((one) => one.join(", ")));
      drawPattern();
    },
  };
}
