// A loop of pipes; when a joint is moved, the others follow so that every pipe keeps its length.
import { element } from "../page.js";
import { path, plane, redraw, rounded, svg } from "../kit.js";

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
    status.textContent = `Longest or shortest pipe: off by ${worst.toFixed(3)} m; allowed ${params.length_tolerance} m`;
    redraw(board.layer, room, ...boxes(), path(places, { closed: true }));
    board.show(points, count > 40 ? 4 : 6);
  }

  /** Boxes of the constraints, such as the one for the centroid. */
  function boxes() {
    return params.constraints.filter((one) => "xmin" in one).map((one) => {
      const [x0, y1] = board.at(one.xmin, one.ymin);
      const [x1, y0] = board.at(one.xmax, one.ymax);
      return svg("rect", { x: x0, y: y0, width: x1 - x0, height: y1 - y0, class: "e-note" });
    });
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

  return {
    element: element("div", {}, status, board.element),
    hint: "Drag joints; the rest of the loop follows. Keys: Tab to a joint, arrow keys (with Shift: ten steps).",
    start: { points: firstLoop() },
    show: (answer) => draw(answer.points.map(({ x, y }) => [x, y])),
  };
}
