// One of three names for each square.
import { element } from "../page.js";
import { choice } from "../kit.js";
import { squareDrawing } from "../squares.js";

const NAMES = ["known behaviour", "three domains meeting", "ambiguous"];

export default function ({ params, change }) {
  let labels = params.squares.map(() => null);
  const choices = params.squares.map((_, i) => choice(NAMES, (name) => {
    change({ labels: labels.map((old, j) => (j === i ? NAMES[name] : old ?? NAMES[0])) });
  }, { name: `Square ${i}`, chosen: -1 }));
  const rows = params.squares.map((corners, i) => element("fieldset", {}, element("legend", {}, `Square ${i}`),
    squareDrawing(corners, params.corner_order), choices[i].element));
  return {
    element: element("div", {}, ...rows),
    rules: "Corners with equal numbers are in the same class, and borders separate the classes. Known: one drawing is possible, without a junction. Three domains: one drawing is possible, with three borders that meet. Ambiguous: several drawings are possible.",
    hint: "Choose a name for every square. A square without a choice gets the first name.",
    start: null,
    show(answer) {
      labels = answer?.labels ?? params.squares.map(() => null);
      choices.forEach((one, i) => [...one.element.children].forEach((button, j) =>
        button.setAttribute("aria-pressed", labels[i] === NAMES[j])));
    },
  };
}
