// Prisms that are placed layer by layer: choose a size and how it is turned, then click its corner.
import { element } from "../page.js";
import { choice, grid, label, number, pieceList, redraw, svg } from "../kit.js";

export default function ({ params, change, say }) {
  const kinds = params.prisms.map((prism) => prism.size);
  const side = Math.max(...kinds.flat(), Math.ceil(Math.cbrt(volume() * 2)));
  let boxes = [];
  let kind = 0;
  let turned = [...kinds[0]];
  const kindLabels = kinds.map(() => element("span"));
  const sizes = choice(kindLabels, (i) => {
    kind = i;
    turned = [...kinds[i]];
    drawAll();
  }, { name: "Prism" });
  const turn = element("button", { onclick: turnNext });
  const level = number("Layer z", 0, { min: 0, max: 4 * side, change: drawAll });
  const status = element("p", { class: "quiet" });
  const list = pieceList((i) => write(boxes.filter((_, j) => j !== i)));
  const board = grid({
    columns: side, rows: side, cell: side > 20 ? 16 : 24, say, name: "Layer", up: true,
    press: (x, y, { dragged } = {}) => !dragged && place(x, y),
    key(name) {
      if (name.toLowerCase() === "t") turnNext();
      else if (name === "+") level.value += 1;
      else if (name === "-") level.value = Math.max(0, level.value - 1);
      else return false;
      drawAll();
      return true;
    },
  });

  function volume() {
    return params.prisms.reduce((sum, { size, count }) => sum + count * size[0] * size[1] * size[2], 0);
  }

  function turnNext() {
    const [a, b, c] = kinds[kind];
    const all = [[a, b, c], [b, a, c], [a, c, b], [c, a, b], [b, c, a], [c, b, a]];
    // With equal edges, some orientations are the same, and turning would stop at these.
    const ways = all.filter((way, i) => all.findIndex((other) => other.join() === way.join()) === i);
    const place = ways.findIndex((way) => way.join() === turned.join());
    turned = ways[(place + 1) % ways.length];
    drawAll();
  }

  function place(x, y) {
    const z = level.value;
    const under = boxes.findIndex(({ XyzMin: low, XyzMax: high }) =>
      [x, y, z].every((value, i) => low[i] <= value && value < high[i]));
    if (under >= 0) write(boxes.filter((_, i) => i !== under));
    else write([...boxes, { XyzMin: [x, y, z], XyzMax: [x + turned[0], y + turned[1], z + turned[2]] }]);
  }

  function write(next) {
    change({ boxes: next });
  }

  function drawAll() {
    turn.textContent = `Turn (now ${turned.join(" × ")})`;
    const z = level.value;
    const below = boxes.filter(({ XyzMax: high }) => high[2] === z).map(({ XyzMin: low, XyzMax: high }) =>
      svg("rect", { ...footprint(low, high), class: "e-below" }));
    const shapes = boxes.flatMap(({ XyzMin: low, XyzMax: high }, i) => {
      if (z < low[2] || z >= high[2]) return [];
      const frame = footprint(low, high);
      return [svg("rect", { ...frame, class: "e-fill" }), label(frame.x + frame.width / 2, frame.y + frame.height / 2, i)];
    });
    redraw(board.layer, ...below, ...shapes);
    const wanted = params.prisms.reduce((sum, prism) => sum + prism.count, 0);
    status.textContent = `${boxes.length} of ${wanted} prisms placed${bounds()}`;
    kindLabels.forEach((kindLabel, i) => {
      const placed = boxes.filter((box) => sorted(edgesOf(box)).join() === sorted(kinds[i]).join()).length;
      kindLabel.textContent = `${placed} of ${params.prisms[i].count}: ${kinds[i].join(" × ")}`;
    });
    list.show(boxes.map(({ XyzMin: low, XyzMax: high }) =>
      `${high.map((value, i) => value - low[i]).join(" × ")} at ${low.join(", ")}`));
  }

  function footprint(low, high) {
    return { x: board.left(low[0]) + 1, y: board.top(high[1] - 1) + 1,
      width: (high[0] - low[0]) * board.cell - 2, height: (high[1] - low[1]) * board.cell - 2 };
  }

  /** Return the size of the box around all prisms, in words. */
  function bounds() {
    if (!boxes.length) return "";
    const edges = [0, 1, 2].map((i) =>
      Math.max(...boxes.map((box) => box.XyzMax[i])) - Math.min(...boxes.map((box) => box.XyzMin[i])));
    return `, in a box of ${edges.join(" × ")}`;
  }

  const tools = element("div", { class: "tools" }, turn, level.element);
  return {
    element: element("div", {}, sizes.element, tools, status, board.element, list.element),
    rules: "Prisms may be turned, must not overlap, and must all be placed. The box is the smallest one around them.",
    hint: "You see one layer of the box from above. Choose a prism, turn it, choose the layer of its bottom, and click where its lower left corner goes; click a prism to remove it. Dashed: prisms that end just below this layer. Keys: arrows, Enter, T turns, + and - change the layer.",
    start: { boxes: [] },
    show(answer) {
      boxes = answer.boxes;
      drawAll();
    },
  };
}

const edgesOf = ({ XyzMin: low, XyzMax: high }) => high.map((value, i) => value - low[i]);
const sorted = (values) => [...values].sort((a, b) => a - b);
