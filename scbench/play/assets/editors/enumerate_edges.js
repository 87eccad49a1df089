// Pairs of sides that are joined, for each square.
import { element } from "../page.js";
import { redraw, path, same, toggled } from "../kit.js";
import { squareDrawing, middleOf } from "../squares.js";

export default function ({ params, change }) {
  const sides = params.edge_order;
  const pairs = sides.flatMap((_, i) => sides.slice(i + 1).map((__, k) => [i, i + 1 + k]));
  let edges = params.squares.map(() => []);
  const drawings = params.squares.map((corners) => squareDrawing(corners, params.corner_order));
  const buttons = params.squares.map((_, square) => pairs.map((pair) => element("button", {
    "aria-pressed": false,
    onclick: () => change({ edges: edges.map((old, i) => (i === square ? toggled(old, pair) : old)) }),
  }, `${sides[pair[0]]} – ${sides[pair[1]]}`)));
  const rows = params.squares.map((_, i) => element("fieldset", {}, element("legend", {}, `Square ${i}`),
    drawings[i], element("div", { class: "tools" }, ...buttons[i])));
  return {
    element: element("div", {}, ...rows),
    rules: "Corners with equal numbers are in the same class, and borders separate the classes. Where a side has two different corners, one border ends on it. A pair of sides belongs in the answer only if one border joins them in every possible drawing.",
    hint: "Choose the pairs of sides that are certain to be joined; choosing none is also an answer.",
    start: { edges },
    show(answer) {
      edges = answer.edges;
      edges.forEach((joined, i) => {
        pairs.forEach((pair, j) => buttons[i][j].setAttribute("aria-pressed", joined.some((one) => same(one, pair))));
        const lines = joined.map(([a, b]) => path([middleOf(sides[a]), middleOf(sides[b])]));
        redraw(drawings[i].querySelector("g"), ...lines);
      });
    },
  };
}
