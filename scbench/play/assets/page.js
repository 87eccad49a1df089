// Small helpers for the page: elements, requests, and the picture of an item.

/** Return an element of the page by its id. */
export function byId(id) {
  return document.getElementById(id);
}

/** Make an HTML element. Texts are never parsed as HTML. */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (name.startsWith("aria-")) made.setAttribute(name, String(value));
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value != null) made.setAttribute(name, value);
  }
  made.append(...children);
  return made;
}

/** Ask our own server; throw an Error with its sentence if it refuses. */
export async function request(path, { method = "GET", body } = {}) {
  const options = { method };
  if (body !== undefined) options.body = JSON.stringify(body);
  const response = await fetch(path, options);
  const values = await response.json();
  if (!response.ok) throw new Error(values.problem ?? `error ${response.status}`);
  return values;
}

/** Show a picture. Its SVG comes from our drawing code, which escapes all texts. */
export function showPicture(picture) {
  const views = picture.views.map((view) => {
    const figure = element("figure");
    figure.innerHTML = view.svg;
    if (view.title) figure.append(element("figcaption", {}, view.title));
    return figure;
  });
  byId("picture").replaceChildren(...views);
  byId("caption").textContent = picture.problem || picture.caption;
  const entries = picture.legend.map((entry) => {
    const line = element("li");
    line.innerHTML = entry.svg;
    line.append(entry.words);
    return line;
  });
  byId("legend").replaceChildren(...entries);
}

/** Show a verdict: the score, or why there is none, and the checks. */
export function showVerdict(verdict) {
  const parts = [];
  if (verdict.score === null) {
    parts.push(element("p", { class: "score less" }, `No score (${verdict.status})`));
  } else {
    const kind = verdict.score === 1 ? "full" : "less";
    const score = Number(verdict.score.toFixed(4));
    parts.push(element("p", { class: `score ${kind}` }, `Score ${score}`));
    if (verdict.status !== "answered") parts.push(element("p", {}, verdict.status));
  }
  if (verdict.reason) parts.push(element("p", { class: "problem" }, verdict.reason));
  // An answer from the editor has only one possible source, so only replies get this line.
  if (verdict.source && verdict.source !== "answer") {
    const repairs = verdict.repairs.length ? `, repaired: ${verdict.repairs.join(", ")}` : "";
    parts.push(element("p", { class: "quiet small" }, `Answer read from: ${verdict.source}${repairs}`));
  }
  byId("result").replaceChildren(...parts);
  const lines = [];
  verdict.verdicts.forEach((one, number) => {
    const several = verdict.verdicts.length > 1;
    if (several) lines.push(element("li", {}, `Criterion ${number + 1}: ${one.score}`));
    for (const check of one.checks) {
      const kind = check.passed === null ? "open" : check.passed ? "passed" : "failed";
      lines.push(element("li", { class: kind }, check.message));
    }
    for (const note of one.notes) lines.push(element("li", {}, note));
  });
  byId("checks").replaceChildren(...lines);
  byId("result").scrollIntoView({ block: "nearest" });
}
