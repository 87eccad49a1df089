// Edges between points; three edges that enclose no other point form a triangle of the answer.
import { label, path, plane, redraw, same, toggled } from "../kit.js";

export default function ({ params, change, say }) {
  const points = params.points;
  let edges = [];
  let first = null;
  const xs = points.map((point) => point[0]);
  const ys = points.map((point) => point[1]);
  const board = plane({
    bounds: [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)],
    name: "Points",
    move: (i, x, y, ended) => ended && press(nearest(x, y, i)),
    press_key(key, i) {
      if (key !== "Enter" && key !== " ") return false;
      press(i);
      return true;
    },
  });

  /** A drag ends at the nearest point; a click stays at its own. */
  function nearest(x, y, from) {
    const distances = points.map(([px, py]) => Math.hypot(px - x, py - y));
    const to = distances.indexOf(Math.min(...distances));
    if (to !== from && first === null) first = from;
    return to;
  }

  function press(i) {
    if (first === null) {
      first = i;
      say(`point ${i}: choose the other end`);
    } else {
      if (first !== i) edges = toggled(edges, [Math.min(first, i), Math.max(first, i)]);
      first = null;
      change({ triangles: trianglesOf(edges) });
    }
    draw();
  }

  function trianglesOf(pairs) {
    const joined = (a, b) => pairs.some((pair) => same(pair, [a, b]));
    const triangles = [];
    for (const [a, b] of pairs) {
      for (let c = b + 1; c < points.length; c++) {
        if (joined(a, c) && joined(b, c) && isEmpty(a, b, c)) triangles.push([a, b, c]);
      }
    }
    return triangles;
  }

  function isEmpty(...corners) {
    return points.every((point, i) => corners.includes(i) || !isInside(point, corners.map((corner) => points[corner])));
  }

  function draw() {
    const at = (i) => board.at(...points[i]);
    const faces = trianglesOf(edges).map((triangle) => path(triangle.map(at), { closed: true, kind: "e-fill" }));
    const lines = edges.map((pair) => path(pair.map(at)));
    const numbers = points.map((_, i) => label(at(i)[0] + 13, at(i)[1] - 11, i, "small"));
    redraw(board.layer, ...faces, ...lines, ...numbers);
    board.show(points, 6);
  }

  return {
    element: board.element,
    rules: "The triangles cover the whole area between the outermost points without overlapping. The circle through the corners of each triangle contains no other point.",
    hint: "Click two points, or drag from one to another, to draw or remove an edge. Keys: Tab to a point, Enter, Tab, Enter.",
    start: { triangles: [] },
    show(answer) {
      const sides = answer.triangles.flatMap(([a, b, c]) => [[a, b], [a, c], [b, c]].map((pair) => pair.sort((p, q) => p - q)));
      // Edges that do not belong to a triangle yet are kept while the answer grows.
      const isOurs = JSON.stringify(trianglesOf(edges)) === JSON.stringify(answer.triangles);
      if (!isOurs) edges = sides.reduce((list, pair) => (list.some((one) => same(one, pair)) ? list : [...list, pair]), []);
      draw();
    },
  };
}

function isInside([x, y], [a, b, c]) {
  const turn = (p, q) => Math.sign((q[0] - p[0]) * (y - p[1]) - (q[1] - p[1]) * (x - p[0]));
  const signs = [turn(a, b), turn(b, c), turn(c, a)];
  return signs.every((sign) => sign > 0) || signs.every((sign) => sign < 0);
}
