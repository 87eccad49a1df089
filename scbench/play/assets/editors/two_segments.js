// Four ends that slide along the sides of the frame; ends 0 and 1 are one segment, 2 and 3 the other.
import { path, plane, redraw, rounded } from "../kit.js";

const STEP = 0.002;
// Ends this close to a corner, as a share of the perimeter, snap to it.
const NEAR = 0.012;

export default function ({ params, change }) {
  const corners = params.corners ?? [[0, 0], [1, 0], [1, 1], [0, 1]];
  const decimals = Math.max(params.snap_decimals ?? 3, 3) + 1;
  const sides = corners.map((a, i) => [a, corners[(i + 1) % corners.length]]);
  const lengths = sides.map(([a, b]) => Math.hypot(b[0] - a[0], b[1] - a[1]));
  const around = lengths.reduce((sum, length) => sum + length, 0);
  let ends = [];

  const xs = corners.map((corner) => corner[0]);
  const ys = corners.map((corner) => corner[1]);
  const board = plane({
    bounds: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)],
    move: (i, x, y, ended) => put(i, snapped(nearest(x, y)), ended),
    nudge: (i, dx, dy) => put(i, nearest(...ends[i]) + (dx || dy) * STEP * around, true),
    names: (i) => `end ${(i % 2) + 1} of segment ${Math.floor(i / 2) + 1}`,
  });

  // A place on the border is given by its distance from corner 0, along the border.
  const cornerPlaces = lengths.map((_, i) => lengths.slice(0, i).reduce((sum, length) => sum + length, 0));

  function snapped(place) {
    const near = cornerPlaces.find((corner) => gap(place, corner) < NEAR * around);
    return near ?? place;
  }

  function gap(a, b) {
    const between = Math.abs(a - b) % around;
    return Math.min(between, around - between);
  }

  function onBorder(place) {
    let left = ((place % around) + around) % around;
    for (let i = 0; i < sides.length; i++) {
      if (left <= lengths[i]) {
        const share = left / lengths[i];
        const [a, b] = sides[i];
        return [rounded(a[0] + share * (b[0] - a[0]), decimals), rounded(a[1] + share * (b[1] - a[1]), decimals)];
      }
      left -= lengths[i];
    }
    return [...corners[0]];
  }

  function nearest(x, y) {
    let best = { distance: Infinity, place: 0 };
    let passed = 0;
    sides.forEach(([a, b], i) => {
      const share = ((x - a[0]) * (b[0] - a[0]) + (y - a[1]) * (b[1] - a[1])) / lengths[i] ** 2;
      const t = Math.min(1, Math.max(0, share));
      const distance = Math.hypot(a[0] + t * (b[0] - a[0]) - x, a[1] + t * (b[1] - a[1]) - y);
      if (distance < best.distance) best = { distance, place: passed + t * lengths[i] };
      passed += lengths[i];
    });
    return best.place;
  }

  function put(i, place, ended) {
    const moved = ends.map((end, j) => (j === i ? onBorder(place) : end));
    if (ended) change({ segments: [[moved[0], moved[1]], [moved[2], moved[3]]] });
    else draw(moved);
  }

  function draw(points) {
    ends = points;
    const frame = path(corners.map((corner) => board.at(...corner)), { closed: true, kind: "e-frame" });
    const lines = [0, 2].map((i) => path([board.at(...points[i]), board.at(...points[i + 1])]));
    redraw(board.layer, frame, ...lines);
    board.show(points);
  }

  const firstEnds = [0.125, 0.625, 0.375, 0.875].map((share) => onBorder(share * around));
  return {
    element: board.element,
    rules: "Both segments end on the border, each on two different sides. Pieces are named by their number of sides; segments may cross or share an end.",
    hint: "Drag the four ends along the border; they snap to corners. Keys: Tab, then arrow keys (with Shift: ten steps).",
    start: { segments: [[firstEnds[0], firstEnds[1]], [firstEnds[2], firstEnds[3]]] },
    show: (answer) => draw(answer.segments.flat()),
  };
}
