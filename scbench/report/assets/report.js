"use strict";
(() => {
  const MOST_VIEWS = 4; // browsers limit the number of 3D contexts in a page
  const form = document.querySelector("form.filters");
  const items = [...document.querySelectorAll(".item")];
  const count = document.querySelector(".count");
  const texts = new WeakMap();
  const live = [];

  // ---- filters

  function wanted() {
    const fields = {};
    for (const [name, value] of new FormData(form)) if (value.trim()) fields[name] = value.trim();
    return fields;
  }

  function textOf(item) {
    if (!texts.has(item)) {
      const parts = [item.querySelector("summary"), ...item.querySelectorAll(".checks")];
      texts.set(item, parts.map((part) => part.textContent).join(" ").toLowerCase());
    }
    return texts.get(item);
  }

  const RESULTS = {
    short: (score) => score === null || score < 1,
    zero: (score) => score === 0,
    part: (score) => score !== null && score > 0 && score < 1,
    full: (score) => score === 1,
    none: (score) => score === null,
  };

  function fits(item, fields, words) {
    const { bucket, task, run, status } = item.dataset;
    const score = "score" in item.dataset ? Number(item.dataset.score) : null;
    if (fields.bucket && fields.bucket !== bucket) return false;
    if (fields.task && fields.task !== task) return false;
    if (fields.run && fields.run !== run) return false;
    if (fields.status && fields.status !== status) return false;
    if (fields.result && !RESULTS[fields.result](score)) return false;
    if (fields.min !== undefined && !(score !== null && score >= Number(fields.min))) return false;
    if (fields.max !== undefined && !(score !== null && score <= Number(fields.max))) return false;
    if (!words.length) return true;
    const text = textOf(item);
    return words.every((word) => text.includes(word));
  }

  function apply() {
    const fields = wanted();
    const words = (fields.q || "").toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const item of items) {
      const fit = fits(item, fields, words);
      if (item.hidden === fit) item.hidden = !fit;
      shown += fit;
    }
    const all = shown === items.length;
    count.textContent = all
      ? `${items.length} answers`
      : `${shown} of ${items.length} answers`;
    return fields;
  }

  function remember(fields) {
    const state = new URLSearchParams(fields).toString();
    const place = state ? `#${state}` : location.pathname.split("/").pop() + location.search;
    history.replaceState(null, "", place);
    // The next page opens with the same filters.
    for (const link of document.querySelectorAll("nav.pages a")) link.hash = state;
  }

  function recall() {
    const state = location.hash.slice(1);
    const target = state && !state.includes("=") ? document.getElementById(state) : null;
    if (target && target.matches(".item")) {
      target.hidden = false;
      target.open = true;
      target.scrollIntoView();
      return;
    }
    if (state && !state.includes("=")) return; // a place on the page
    const fields = new URLSearchParams(state);
    for (const field of form.elements) {
      if (!field.name) continue;
      const value = fields.get(field.name) || "";
      field.value = value;
      if (field.value !== value) field.value = ""; // no such choice on this page
    }
    remember(apply());
    if (state) form.scrollIntoView();
  }

  if (form) {
    form.hidden = false;
    let timer = 0;
    form.addEventListener("input", (event) => {
      clearTimeout(timer);
      const typed = event.target.matches("input");
      timer = setTimeout(() => remember(apply()), typed ? 120 : 0);
    });
    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("reset", () => setTimeout(() => remember(apply())));
    window.addEventListener("hashchange", recall);
    if (location.hash.length > 1) recall();
  }

  // ---- runs in the table of tasks

  const choice = document.querySelector(".choose");
  if (choice) {
    choice.hidden = false;
    choice.addEventListener("change", ({ target }) => {
      const cells = document.querySelectorAll(`[data-of="${Number(target.value)}"]`);
      for (const cell of cells) cell.hidden = !target.checked;
    });
  }

  // ---- copying

  for (const button of document.querySelectorAll(".copy")) button.hidden = false;

  async function copy(button) {
    const text = button.closest(".bar").nextElementSibling;
    const cut = text.querySelector(".cut");
    const range = document.createRange();
    range.selectNodeContents(text);
    if (cut) range.setEndBefore(cut);
    let done = false;
    try {
      await navigator.clipboard.writeText(range.toString());
      done = true;
    } catch {
      // Pages opened from disk may not write to the clipboard; the older way works there.
      const selection = getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      done = document.execCommand("copy");
      if (done) selection.removeAllRanges();
    }
    button.textContent = done ? "Copied" : "Selected: press Ctrl+C";
    setTimeout(() => { button.textContent = "Copy"; }, 2000);
  }

  // ---- turning in 3D

  let ready = null;

  async function unpack(script) {
    const bytes = Uint8Array.from(atob(script.textContent), (sign) => sign.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  }

  async function draw(item) {
    for (const script of item.querySelectorAll("script.drawing")) {
      const stage = script.parentElement;
      script.remove();
      try {
        stage.innerHTML = await unpack(script);
      } catch (error) {
        stage.textContent = "This browser cannot unpack the picture.";
        console.warn(error);
      }
    }
  }

  function load() {
    ready ??= unpack(document.getElementById("plotly")).then((text) => {
      const script = document.createElement("script");
      script.textContent = text;
      document.head.append(script);
    });
    return ready;
  }

  function close(stage) {
    const canvas = stage.querySelector(".canvas");
    if (!canvas) return;
    scbenchClose(canvas);
    canvas.remove();
    stage.classList.remove("live");
    stage.parentElement.querySelector(".turn").textContent = "Turn in 3D";
    live.splice(live.indexOf(stage), 1);
  }

  async function turn(button) {
    const view = button.closest(".view");
    const stage = view.querySelector(".stage");
    if (stage.classList.contains("live")) {
      close(stage);
      return;
    }
    stage.classList.add("live");
    button.textContent = "Loading";
    try {
      const [text] = await Promise.all([unpack(view.querySelector(".scene")), load()]);
      while (live.length >= MOST_VIEWS) close(live[0]);
      const canvas = document.createElement("div");
      canvas.className = "canvas";
      stage.append(canvas);
      live.push(stage);
      await scbenchShow(canvas, JSON.parse(text));
      button.textContent = "Back to the picture";
      canvas.focus({ preventScroll: true });
    } catch (error) {
      if (stage.querySelector(".canvas")) close(stage);
      stage.classList.remove("live");
      button.textContent = "3D does not work in this browser";
      console.warn(error);
    }
  }

  for (const button of document.querySelectorAll(".turn")) button.hidden = false;

  document.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.matches(".copy")) copy(button);
    if (button.matches(".turn")) turn(button);
  });
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches(".item")) return;
    if (event.target.open) draw(event.target);
    else for (const stage of event.target.querySelectorAll(".stage.live")) close(stage);
  }, true);
})();
