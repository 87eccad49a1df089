// The boxes, as a plan or in slices; a click chooses a leaf.
import { element } from "../page.js";
import { label, panels, svg, toggled } from "../kit.js";

const SIZE = { plan: 420, slice: 200 };

export default function ({ params, change, say }) {
  const axes = params.dimension === "2D" ? ["x", "y"] : ["x", "y", "z"];
  const boxes = params.leaves.map((leaf) => ({ leaf, box: boxOf(leaf) }));
  let chosen = [];
  const shapes = [];
  const views = slices().map(([caption, inside, size]) => [caption, drawing(inside, size)]);
  const status = element("p", { class: "quiet" });

  /** Return the low and high ends of a leaf along each axis. */
  function boxOf(leaf) {
    const box = Object.fromEntries(axes.map((axis) => [axis, [0, 1]]));
    [...leaf].forEach((bit, depth) => {
      const axis = params.axis_cycle[depth % params.axis_cycle.length];
      const [low, high] = box[axis];
      const middle = (low + high) / 2;
      box[axis] = bit === "0" ? [low, middle] : [middle, high];
    });
    return box;
  }

  /** In three dimensions, one slice for each range of z in which no box begins or ends. */
  function slices() {
    if (axes.length === 2) return [["", boxes, SIZE.plan]];
    const heights = [...new Set(boxes.flatMap(({ box }) => box.z))].sort((a, b) => a - b);
    return heights.slice(0, -1).map((low, i) => {
      const high = heights[i + 1];
      const inside = boxes.filter(({ box }) => box.z[0] <= low && high <= box.z[1]);
      return [`z from ${low} to ${high}`, inside, SIZE.slice];
    });
  }

  function drawing(inside, size) {
    const at = (value) => 6 + value * (size - 12);
    const view = svg("svg", { width: size, height: size, viewBox: `0 0 ${size} ${size}`, role: "group" });
    for (const { leaf, box } of inside) {
      const [x0, x1] = box.x.map(at);
      const [y1, y0] = box.y.map((value) => size - at(value));
      const shape = svg("rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0, class: "e-cell", tabindex: 0, role: "checkbox", "aria-label": leaf });
      shape.append(svg("title", {}, leaf));
      shape.addEventListener("click", () => press(leaf));
      shape.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        press(leaf);
        event.preventDefault();
      });
      shapes.push({ leaf, shape });
      view.append(shape);
      if (x1 - x0 > leaf.length * 7) view.append(label((x0 + x1) / 2, (y0 + y1) / 2, leaf, leaf === params.target ? "small inverse" : "small"));
    }
    return view;
  }

  function press(leaf) {
    if (leaf === params.target) return;
    change({ neighbors: toggled(chosen, leaf, (a, b) => a === b) });
    say(`${leaf} ${chosen.includes(leaf) ? "chosen" : "dropped"}`);
  }

  return {
    element: element("div", {}, status, panels(views)),
    rules: `A neighbour shares a piece of a ${axes.length === 2 ? "side" : "face"} with the target; touching at ${axes.length === 2 ? "a corner" : "an edge or a corner"} does not count. Neighbours may be larger or smaller than the target.${axes.length === 2 ? "" : " A box that spans several ranges of z appears in several slices."}`,
    hint: "Click the neighbours of the target (filled). x runs to the right, y upwards. Keys: Tab, Enter.",
    start: { neighbors: [] },
    show(answer) {
      chosen = answer.neighbors;
      status.textContent = `${chosen.length} chosen`;
      for (const { leaf, shape } of shapes) {
        const kind = leaf === params.target ? "e-block" : chosen.includes(leaf) ? "e-fill" : "e-cell";
        shape.setAttribute("class", kind);
        shape.setAttribute("aria-checked", chosen.includes(leaf));
      }
    },
  };
}
