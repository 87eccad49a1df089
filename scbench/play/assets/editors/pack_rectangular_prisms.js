// Prisms that are placed layer by layer: choose a size and how it is turned, then click its corner.
import { element } from "../page.js";
import { choice, grid, label, number, pieceList, redraw, svg } from "../kit.js";

export default function ({ params, change, say }) {
  const kinds = params.prisms.map((prism) => prism.size);
  const side = Math.max(...kinds.flat(), Math.ceil(Math.cbrt(volume() * 2)));
  let boxes = [];
  let kind = 0;
  let turned = [...kinds[0]];
  const sizes = choice(kinds.map((size, i) => `${params.prisms[i].count} of ${size.join(" × ")}`), (i) => {
    kind = i;
    turned = [...kinds[i]];
    drawAll();
  }, { name: "Prism" });
  const turn = element("button", { onclick: turnNext });
  const level = number("z", 0, { min: 0, max: 4 * side, change: drawAll });
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
    const ways = [[a, b, c], [b, a, c], [a, c, b], [c, a, b], [b, c, a], [c, b, a]];
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
    turn.textContent = `Turned: ${turned.join(" × ")}`;
    const z = level.value;
    const shapes = boxes.flatMap(({ XyzMin: low, XyzMax: high }, i) => {
      if (z < low[2] || z >= high[2]) return [];
      const frame = { x: board.left(low[0]) + 1, y: board.top(high[1] - 1) + 1, class: "e-fill",
        width: (high[0] - low[0]) * board.cell - 2, height: (high[1] - low[1]) * board.cell - 2 };
      return [svg("rect", frame), label(frame.x + frame.width / 2, frame.y + frame.height / 2, i)];
    });
    redraw(board.layer, ...shapes);
    const wanted = params.prisms.reduce((sum, prism) => sum + prism.count, 0);
    status.textContent = `${boxes.length} of ${wanted} prisms placed`;
    list.show(boxes.map(({ XyzMin: low, XyzMax: high }) =>
      `${high.map((value, i) => value - low[i]).join(" × ")} at ${low.join(", ")}`));
  }

  const tools = element("div", { class: "tools" }, turn, level.element);
  return {
    element: element("div", {}, sizes.element, tools, status, board.element, list.element),
    hint: "Choose a prism, turn it, choose the layer z, and click where its lowest corner goes; click a prism to remove it. Keys: arrows, Enter, T turns, + and - change the layer.",
    start: { boxes: [] },
    show(answer) {
      boxes = answer.boxes;
      drawAll();
    },
  };
}
