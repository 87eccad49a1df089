// A loop of pipes; when a joint is moved, the others follow so that every pipe keeps its length.
import { element } from "../page.js";
import { label, path, plane, redraw, rounded, svg } from "../kit.js";

// Repetitions of the correction of lengths, and the step of an arrow key in metres.
const REPETITIONS = 400;
const STEP = 0.02;
const DECIMALS = 6;

export default function ({ params, change }) {
  const count = params.pipes;
  let joints = [];
  const status = element("p", { class: "quiet" });
  const board = plane({
    bounds: [0, 0, params.side, params.side], size: 480, name: "Room",
    move: (i, x, y, ended) => pull(i, x, y, ended),
    press: (x, y) => moveAll(x, y),
    nudge: (i, dx, dy) => pull(i, joints[i][0] + dx * STEP, joints[i][1] + dy * STEP, true),
    names: (i) => `joint ${i}`,
  });

  function pull(i, x, y, ended) {
    const inRoom = (value) => Math.min(params.side, Math.max(0, value));
    const moved = joints.map((joint, j) => (j === i ? [inRoom(x), inRoom(y)] : [...joint]));
    for (let turn = 0; turn < REPETITIONS; turn++) {
      for (let k = 0; k < count; k++) straighten(moved, k, (k + 1) % count, turn < REPETITIONS - 40 ? i : -1);
    }
    if (ended) write(moved);
    else draw(moved);
  }

  /** Move the whole loop: its mean to a place, or as near as the walls permit. */
  function moveAll(...place) {
    const shift = [0, 1].map((axis) => {
      const values = joints.map((joint) => joint[axis]);
      const mean = values.reduce((sum, value) => sum + value, 0) / count;
      const [least, most] = [-Math.min(...values), params.side - Math.max(...values)];
      return Math.min(most, Math.max(least, place[axis] - mean));
    });
    write(joints.map((joint) => joint.map((value, axis) => value + shift[axis])));
  }

  /** Move the ends of one pipe until it is 1 m long; the pulled joint stays where it is. */
  function straighten(points, a, b, fixed) {
    const [dx, dy] = [points[b][0] - points[a][0], points[b][1] - points[a][1]];
    const length = Math.hypot(dx, dy) || 1e-9;
    const excess = (length - 1) / length;
    const shareOfA = a === fixed ? 0 : b === fixed ? 1 : 0.5;
    points[a][0] += dx * excess * shareOfA;
    points[a][1] += dy * excess * shareOfA;
    points[b][0] -= dx * excess * (1 - shareOfA);
    points[b][1] -= dy * excess * (1 - shareOfA);
  }

  function write(points) {
    change({ points: points.map(([x, y]) => ({ x: rounded(x, DECIMALS), y: rounded(y, DECIMALS) })) });
  }

  function draw(points) {
    joints = points;
    const places = points.map((point) => board.at(...point));
    const [x0, y1] = board.at(0, 0);
    const [x1, y0] = board.at(params.side, params.side);
    const room = svg("rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0, class: "e-frame" });
    const worst = Math.max(...points.map((point, i) => Math.abs(lengthOf(point, points[(i + 1) % points.length]) - 1)));
    status.textContent = `Largest error of a pipe's length: ${worst.toFixed(3)} m (allowed: ${params.length_tolerance} m)`;
    redraw(board.layer, room, ...placesOfRules(), path(places, { closed: true }), ...marks(points));
    board.show(points, count > 40 ? 4 : 6);
  }

  /** Draw the places that rules name: a box for the mean, a circle for joint 0, the margin. */
  function placesOfRules() {
    return params.constraints.flatMap((one) => {
      if (one.type === "centroid_box") return [rectangle(one.xmin, one.ymin, one.xmax, one.ymax, "e-note")];
      if (one.type === "avoid_margin") return [rectangle(one.margin, one.margin, params.side - one.margin, params.side - one.margin, "e-below")];
      if (one.type !== "fixed_start") return [];
      const [cx, cy] = board.at(one.x, one.y);
      return [svg("circle", { cx, cy, r: one.tolerance * board.scale, class: "e-note" })];
    });
  }

  function rectangle(xmin, ymin, xmax, ymax, kind) {
    const [x0, y1] = board.at(xmin, ymin);
    const [x1, y0] = board.at(xmax, ymax);
    return svg("rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0, class: kind });
  }

  /** Mark joint 0, and the mean of the joints where a rule is about it. */
  function marks(points) {
    const [x, y] = board.at(...points[0]);
    const parts = [label(x + 14, y, "0")];
    if (params.constraints.some((one) => one.type === "centroid_box")) {
      const mean = [0, 1].map((axis) => points.reduce((sum, point) => sum + point[axis], 0) / points.length);
      parts.push(label(...board.at(...mean), "+"));
    }
    return parts;
  }

  function lengthOf(a, b) {
    return Math.hypot(a[0] - b[0], a[1] - b[1]);
  }

  /** A regular polygon in the middle of the room, or a flat one where the room is too small. */
  function firstLoop() {
    const middle = params.side / 2;
    const radius = 0.5 / Math.sin(Math.PI / count);
    const squeeze = Math.min(1, (middle - 0.1) / radius);
    return Array.from({ length: count }, (_, i) => {
      const angle = (2 * Math.PI * i) / count;
      return { x: rounded(middle + squeeze * radius * Math.cos(angle), DECIMALS), y: rounded(middle + squeeze * radius * Math.sin(angle), DECIMALS) };
    });
  }

  /** Return what the drawing means, as far as this item has it. */
  function rules() {
    const types = params.constraints.map((one) => one.type);
    const sentences = ["The labels in the item's picture are the rules; the full prompt gives the details. 0 marks joint 0."];
    if (types.includes("fixed_start")) sentences.push("Move joint 0 into the coloured circle.");
    if (types.includes("centroid_box")) sentences.push("The mean of all joints (+) must lie in the coloured box.");
    if (types.includes("avoid_margin")) sentences.push("All joints must lie inside the dashed square.");
    return sentences.join(" ");
  }

  return {
    element: element("div", {}, status, board.element),
    rules: rules(),
    hint: "Drag joints; the rest of the loop follows. Click elsewhere to move the whole loop there. Keys: Tab to a joint, arrow keys (with Shift: ten steps).",
    start: { points: firstLoop() },
    show: (answer) => draw(answer.points.map(({ x, y }) => [x, y])),
  };
}
