"use strict";
// Shows a scene from scbench/report/draw/viewer_data.py with plotly.js. Needs window.Plotly.

const scbenchViews = new WeakMap();

function scbenchShow(element, data) {
  const mode = window.matchMedia("(prefers-color-scheme: dark)");
  const view = { data, mode, frame: null };
  const draw = () => {
    const dark = mode.matches ? 1 : 0;
    return window.Plotly.react(
      element,
      scbenchTraces(data, dark),
      scbenchLayout(data, dark, scbenchCamera(element) || scbenchHome(data)),
      {
        responsive: true,
        displaylogo: false,
        displayModeBar: false,
        scrollZoom: true,
        doubleClick: "reset",
      },
    );
  };
  view.draw = draw;
  view.keys = (event) => scbenchKey(element, data, event);
  scbenchViews.set(element, view);
  mode.addEventListener("change", draw);
  element.addEventListener("keydown", view.keys);
  element.tabIndex = 0;
  element.setAttribute("role", "application");
  element.setAttribute(
    "aria-label",
    "3D view: drag or use the arrow keys to turn, + and - to zoom, 0 to return",
  );
  return draw();
}

function scbenchClose(element) {
  const view = scbenchViews.get(element);
  if (!view) return;
  view.mode.removeEventListener("change", view.draw);
  element.removeEventListener("keydown", view.keys);
  for (const name of ["role", "aria-label", "tabindex"]) element.removeAttribute(name);
  scbenchViews.delete(element);
  window.Plotly.purge(element);
}

function scbenchTraces(data, dark) {
  const paint = (role) => data.colours[role][dark];
  const traces = [];
  for (const part of data.parts) {
    const [x, y, z] = part.xyz;
    const hover = part.name
      ? { hoverinfo: "text", text: part.name }
      : { hoverinfo: "skip" };
    if (part.kind === "mesh") {
      const corner = (k) => part.faces.filter((_, n) => n % 3 === k);
      traces.push({
        type: "mesh3d",
        x, y, z,
        i: corner(0),
        j: corner(1),
        k: corner(2),
        color: paint(part.role),
        opacity: part.opacity,
        flatshading: true,
        lighting: {
          ambient: 0.78, diffuse: 0.45, specular: 0.02, roughness: 1, fresnel: 0,
          facenormalsepsilon: 1e-12, vertexnormalsepsilon: 1e-12,
        },
        lightposition: { x: -2000, y: -6000, z: 9000 },
        ...hover,
      });
      scbenchPaths(traces, part, scbenchDarker(paint(part.role)), 2, "solid", { hoverinfo: "skip" });
    } else if (part.kind === "lines") {
      const style = part.dashed ? "dash" : "solid";
      scbenchPaths(traces, part, paint(part.role), part.width + 1, style, hover);
    } else {
      const named = part.labels.length > 0;
      const dots = part.size > 0;
      traces.push({
        type: "scatter3d",
        mode: [dots ? "markers" : "", named ? "text" : ""].filter(Boolean).join("+") || "markers",
        x, y, z,
        marker: { color: paint(part.role), size: Math.max(part.size, 0.1), line: { width: 0 } },
        text: named ? part.labels.map(scbenchPlain) : part.name,
        textfont: { color: paint(part.role), size: 12 },
        textposition: dots ? "top right" : "middle center",
        hoverinfo: named || part.name ? "text" : "skip",
      });
    }
  }
  return traces;
}

function scbenchPaths(traces, part, colour, width, dash, hover) {
  if (!part.paths.length) return;
  const along = (axis) => part.paths.map((n) => (n < 0 ? null : part.xyz[axis][n]));
  traces.push({
    type: "scatter3d",
    mode: "lines",
    x: along(0), y: along(1), z: along(2),
    line: { color: colour, width, dash },
    connectgaps: false,
    ...hover,
  });
}

function scbenchLayout(data, dark, camera) {
  const paint = (role) => data.colours[role][dark];
  const axis = (n, title) => {
    if (!data.grid) return { visible: false, showspikes: false };
    return {
      title: { text: title },
      range: data.grid[n],
      color: paint("quiet"),
      gridcolor: paint("faint"),
      showbackground: false,
      zeroline: false,
      showspikes: false,
      nticks: 5,
    };
  };
  return {
    margin: { l: 0, r: 0, t: 0, b: 0 },
    showlegend: false,
    hovermode: "closest",
    paper_bgcolor: "rgba(0,0,0,0)",
    font: { family: "system-ui, sans-serif", size: 11, color: paint("ink") },
    uirevision: "kept",
    scene: {
      xaxis: axis(0, "x"),
      yaxis: axis(1, "y"),
      zaxis: axis(2, "z"),
      aspectmode: "data",
      dragmode: "turntable",
      camera,
    },
  };
}

function scbenchHome(data) {
  const [x, y, z] = data.eye.map((value) => 2 * value);
  return {
    eye: { x, y, z },
    up: { x: 0, y: 0, z: 1 },
    center: { x: 0, y: 0, z: 0 },
    projection: { type: "orthographic" },
  };
}

function scbenchCamera(element) {
  const layout = element._fullLayout;
  return layout && layout.scene && layout.scene._scene ? layout.scene._scene.getCamera() : null;
}

function scbenchKey(element, data, event) {
  const turns = { ArrowLeft: [-10, 0], ArrowRight: [10, 0], ArrowUp: [0, 10], ArrowDown: [0, -10] };
  const zooms = { "+": 0.9, "=": 0.9, "-": 1 / 0.9 };
  const turn = turns[event.key];
  const zoom = zooms[event.key];
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (!turn && !zoom && event.key !== "0") return;
  event.preventDefault();
  const camera = event.key === "0" ? scbenchHome(data) : scbenchCamera(element);
  if (!camera) return;
  const { x, y, z } = camera.eye;
  const size = Math.hypot(x, y, z);
  const [right, up] = turn || [0, 0];
  const azimuth = Math.atan2(y, x) + (right * Math.PI) / 180;
  const lift = Math.asin(z / size) + (up * Math.PI) / 180;
  const elevation = Math.min(Math.max(lift, -1.55), 1.55);
  const reach = size * (zoom || 1);
  camera.eye = {
    x: reach * Math.cos(elevation) * Math.cos(azimuth),
    y: reach * Math.cos(elevation) * Math.sin(azimuth),
    z: reach * Math.sin(elevation),
  };
  window.Plotly.relayout(element, { "scene.camera": camera });
}

function scbenchDarker(colour) {
  const part = (start) => Math.round(parseInt(colour.slice(start, start + 2), 16) * 0.45);
  return `rgb(${part(1)},${part(3)},${part(5)})`;
}

// Plotly reads a little HTML in labels; ours are plain words.
function scbenchPlain(words) {
  return words.replace(/</g, "\u2039").replace(/>/g, "\u203a");
}
