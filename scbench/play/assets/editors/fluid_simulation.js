// Earthworks, drawn by dragging on the map of the world.
import { element } from "../page.js";
import { choice, grid, label, number, pieceList, redraw, svg } from "../kit.js";

const MATERIALS = ["Air", "Rock"];

export default function ({ params, change, say }) {
  const { width, height } = params;
  let earthworks = [];
  let material = "Air";
  const materials = choice(["Dig (Air)", "Build (Rock)"], (i) => { material = MATERIALS[i]; }, { name: "Material" });
  const low = number("from z", params.rock_layers - 1, { min: 0, max: height - 1 });
  const high = number("to z", params.rock_layers - 1, { min: 0, max: height - 1 });
  const list = pieceList((i) => write(earthworks.filter((_, j) => j !== i)));
  const board = grid({
    columns: width, rows: width, cell: Math.max(9, Math.floor(440 / width)), say, name: "Map", up: true,
    drag: (a, b) => write([...earthworks, {
      xyzMin: [Math.min(a.x, b.x), Math.min(a.y, b.y), low.value],
      xyzMax: [Math.max(a.x, b.x), Math.max(a.y, b.y), high.value],
      material,
    }]),
  });

  function write(next) {
    change({ earthworks: next });
  }

  /** Return the top layer of rock in every column, before loose rock falls. */
  function surface() {
    const isRock = (box) => (box.material ?? "Rock") === "Rock";
    const boxes = [...params.ground.map((box) => ({ low: box.low, high: box.high, rock: isRock(box) })),
      ...earthworks.map((box) => ({ low: box.xyzMin, high: box.xyzMax, rock: isRock(box) }))];
    return Array.from({ length: width }, (_, x) => Array.from({ length: width }, (__, y) => {
      const column = Array.from({ length: height }, (___, z) => z < params.rock_layers);
      for (const box of boxes) {
        const isOver = box.low[0] <= x && x <= box.high[0] && box.low[1] <= y && y <= box.high[1];
        if (isOver) for (let z = box.low[2]; z <= box.high[2]; z++) column[z] = box.rock;
      }
      return column.lastIndexOf(true);
    }));
  }

  function rectangle(a, b, kind, extra = {}) {
    return svg("rect", { x: board.left(a[0]), y: board.top(b[1]), class: kind, ...extra,
      width: (b[0] - a[0] + 1) * board.cell, height: (b[1] - a[1] + 1) * board.cell });
  }

  return {
    element: element("div", {}, materials.element, element("div", { class: "tools" }, low.element, high.element), board.element, list.element),
    rules: `At first, layers z = 0 to ${params.rock_layers - 1} are rock; z = 0 is the bottom. First a drop falls on every column, then rain falls on the crosses, round by round, until no more water stays. Water flows down and sideways, and leaves at the edge of the world. Rock without support falls before the rain.${params.protected.length ? " The full prompt says what may not change in the framed zones." : ""}`,
    hint: "Choose dig or build and the layers, then drag a rectangle on the map. The stronger the grey, the higher the rock; crosses are rain. Keys: arrows, Enter at both corners.",
    start: { earthworks: [] },
    show(answer) {
      earthworks = answer.earthworks;
      const parts = surface().flatMap((column, x) => column.map((top, y) =>
        rectangle([x, y], [x, y], "e-block", { style: `opacity:${(top + 1) / height * 0.8}` })));
      for (const zone of params.protected) parts.push(rectangle(zone.low, zone.high, "e-wrong"));
      for (const box of earthworks) parts.push(rectangle(box.xyzMin, box.xyzMax, "e-thin"));
      for (const [x, y] of params.rain) parts.push(label(...board.centre(x, y), "×"));
      redraw(board.layer, ...parts);
      list.show(earthworks.map((box) => `${box.material} from ${box.xyzMin.join(", ")} to ${box.xyzMax.join(", ")}`));
    },
  };
}
