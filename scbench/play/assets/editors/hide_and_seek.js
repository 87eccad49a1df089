// People on the plan, with the sniper's view next to it.
import { element } from "../page.js";
import { label, panels, path, plane, redraw, rounded, svg } from "../kit.js";

const STEP = 0.05;
const VIEW_WIDTH = 320;

export default function ({ params, change }) {
  const [width, depth, height] = params.building;
  const [personWidth, personDepth, personHeight] = params.person;
  const reach = params.max_distance;
  let people = [];
  const status = element("p", { class: "quiet" });
  const view = svg("svg", { width: VIEW_WIDTH, height: (VIEW_WIDTH * params.image[1]) / params.image[0], role: "img" });
  view.setAttribute("viewBox", `0 0 ${params.image.join(" ")}`);
  const board = plane({
    bounds: [-reach, -reach, reach, reach], size: 400, name: "Plan",
    press: (x, y) => addPerson(x, y),
    move: (i, x, y, ended) => put(i, x, y, ended),
    nudge: (i, dx, dy) => put(i, people[i][0] + dx * STEP, people[i][1] + dy * STEP, true),
    press_key(key, i) {
      if (key !== "Delete" && key !== "Backspace") return false;
      write(people.filter((_, j) => j !== i));
      return true;
    },
    names: (i) => `person ${i}`,
  });
  const add = element("button", { onclick: () => addPerson(0, depth / 2 + personDepth) }, "Add a person");
  const remove = element("button", { onclick: () => write(people.slice(0, -1)) }, "Remove the last");

  /** People stand on a raster, so that they can touch without overlapping. */
  function onRaster(...xy) {
    return xy.map((value) => rounded(Math.round(value / STEP) * STEP, 2));
  }

  function addPerson(x, y) {
    if (people.length < params.people) write([...people, onRaster(x, y)]);
  }

  function put(i, x, y, ended) {
    const moved = people.map((person, j) => (j === i ? onRaster(x, y) : person));
    if (ended) write(moved);
    else draw(moved);
  }

  function write(next) {
    change({ people: next.map((xy) => ({ xy })) });
  }

  function draw(next) {
    people = next;
    status.textContent = `${people.length} of ${params.people} people placed`;
    add.disabled = people.length >= params.people;
    const [cx, cy] = board.at(0, 0);
    const circle = svg("circle", { cx, cy, r: reach * board.scale, class: "e-thin" });
    const foot = (x, y, w, d, kind) => {
      const [left, top] = board.at(x - w / 2, y + d / 2);
      return svg("rect", { x: left, y: top, width: w * board.scale, height: d * board.scale, class: kind });
    };
    const shapes = people.map(([x, y]) => foot(x, y, personWidth, personDepth, "e-fill"));
    const numbers = people.map(([x, y], i) => label(...above(board.at(x, y)), i, "small"));
    redraw(board.layer, circle, foot(0, 0, width, depth, "e-block"), sightLine(), ...shapes, ...numbers);
    board.show(people, 4);
    drawView();
  }

  /** A line from the middle of the plan towards the sniper. */
  function sightLine() {
    const [x, y] = params.sniper;
    const length = Math.hypot(x, y);
    return path([board.at(0, 0), board.at((x / length) * reach, (y / length) * reach)], { kind: "e-thin" });
  }

  function drawView() {
    const boxes = [...people.map(([x, y]) => ({ box: [x, y, personWidth, personDepth, personHeight], kind: "e-wrong" })),
      { box: [0, 0, width, depth, height], kind: "e-block" }];
    // The building is drawn last, although people may stand in front of it: Check decides.
    const outlines = boxes.map(({ box, kind }) => path(hull(cornersOf(box).map(project)), { closed: true, kind }));
    redraw(view, ...outlines);
    zoom(boxes.flatMap(({ box }) => cornersOf(box).map(project)));
  }

  /** Show the part of the sniper's picture in which the building and the people are. */
  function zoom(points) {
    const [left, top] = [0, 1].map((axis) => Math.min(...points.map((point) => point[axis])) - 15);
    const [right, bottom] = [0, 1].map((axis) => Math.max(...points.map((point) => point[axis])) + 15);
    view.setAttribute("viewBox", `${left} ${top} ${right - left} ${bottom - top}`);
  }

  function cornersOf([x, y, w, d, h]) {
    return [-1, 1].flatMap((i) => [-1, 1].flatMap((j) => [0, 1].map((k) => [x + (i * w) / 2, y + (j * d) / 2, k * h])));
  }

  /** Return where a point is in the picture, in pixels. */
  function project(point) {
    const forward = unit(minus(params.look_at, params.sniper));
    const right = unit(cross(forward, [0, 0, 1]));
    const up = cross(right, forward);
    const ray = minus(point, params.sniper);
    const [columns, rows] = params.image;
    const scale = rows / 2 / Math.tan((params.field_of_view * Math.PI) / 360);
    const distance = dot(ray, forward);
    return [columns / 2 + (scale * dot(ray, right)) / distance, rows / 2 - (scale * dot(ray, up)) / distance];
  }

  return {
    element: element("div", {}, status, element("div", { class: "tools" }, add, remove),
      panels([["Plan: x to the right, y upwards; the line points to the sniper", board.element], ["Part of the sniper's view; people are outlined, even behind the building", view]])),
    rules: "Nobody may be seen, not even in part. People may touch each other and the building, but not overlap. They must stay inside the circle.",
    hint: "Click on the plan to place a person, drag people to move them. Keys: Tab to a person, arrow keys (with Shift: ten steps), Delete.",
    start: { people: [] },
    show: (answer) => draw(answer.people.map((person) => person.xy)),
  };
}

const above = ([x, y]) => [x, y - 14];
const minus = (a, b) => a.map((value, i) => value - b[i]);
const dot = (a, b) => a.reduce((sum, value, i) => sum + value * b[i], 0);
const cross = ([a, b, c], [d, e, f]) => [b * f - c * e, c * d - a * f, a * e - b * d];
const unit = (a) => a.map((value) => value / Math.hypot(...a));

/** Return the corners of the convex hull of points in a plane. */
function hull(points) {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list) => list.reduce((corners, point) => {
    while (corners.length > 1 && turn(corners.at(-2), corners.at(-1), point) <= 0) corners.pop();
    return [...corners, point];
  }, []);
  return [...half(sorted).slice(0, -1), ...half([...sorted].reverse()).slice(0, -1)];
}

const turn = (a, b, c) => (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]);
